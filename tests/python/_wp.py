"""The module under test: inkle, or the one named by INKLE_MODULE (Warp, to check a test against the original)."""

import atexit
import importlib
import os
import shutil
import tempfile

MODULE = os.environ.get("INKLE_MODULE", "inkle")
ON_WARP = MODULE == "warp"

# Every run starts with an empty kernel cache, unless the caller (or the parent process) chose one.
for _name in ("INKLE_CACHE_PATH", "WARP_CACHE_PATH"):
    if _name not in os.environ:
        os.environ[_name] = tempfile.mkdtemp(prefix="inkle_pytest_")
        atexit.register(shutil.rmtree, os.environ[_name], ignore_errors=True)

wp = importlib.import_module(MODULE)
wp.config.quiet = True
# Warp compiles a backward pass for every kernel; modules that test gradients switch it on.
wp.config.enable_backward = False
