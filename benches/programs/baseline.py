"""What a process that only imports numpy costs; prints when it was done."""

import json
import time

import numpy  # noqa: F401  (its import is what is measured)

print(json.dumps({"done_ns": time.monotonic_ns()}))
