"""The module under test: inkle, or the one named by INKLE_MODULE (Warp, to check a test against the original)."""

import importlib
import os
import tempfile

MODULE = os.environ.get("INKLE_MODULE", "inkle")
ON_WARP = MODULE == "warp"

# Every run starts with an empty kernel cache, unless the caller chose one.
for _name in ("INKLE_CACHE_PATH", "WARP_CACHE_PATH"):
    os.environ.setdefault(_name, os.path.join(tempfile.gettempdir(), f"inkle_pytest_{os.getpid()}", "kernels"))

wp = importlib.import_module(MODULE)
wp.config.quiet = True
# Backward passes are a later issue's business; Warp would compile one for every kernel.
wp.config.enable_backward = False
