"""Times the import of the module under test with numpy already imported."""

import json
import os
import time
from importlib import import_module

import numpy  # noqa: F401  (imported first on purpose)

start = time.perf_counter()
import_module(os.environ.get("BENCH_MODULE", "inkle"))
print(json.dumps({"import_s": time.perf_counter() - start}))
