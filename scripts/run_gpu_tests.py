"""Runs the tests of Rust and of Python that need an NVIDIA GPU, and closes with one summary.

Rust tests are those of a file with `cuda` in its name or with it in their own, Python tests those that run on the
device `cuda:0`. Where there is no cargo, the Rust tests are the binaries of build/gpu. A test that sees no GPU here
is a failure.
"""

import os
import shutil
import sys

import cuda_tests
from run_tests import ROOT, Outcome, close, python_outcomes, read_libtest, run_shown

BUNDLE = ROOT / "build/gpu"
ON_GPU = ["tests/python", "--device", "cuda:0", "-k", "cuda"]
# Errors of memory and of synchronisation end the program with this code.
SANITIZER = ["compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "99", "--target-processes", "all"]


def rust_outcomes():
    binaries = cuda_tests.build([]) if shutil.which("cargo") else cuda_tests.unpack(BUNDLE / "tests")
    for name, binary in binaries:
        # Tests may read files of their crate, whose folder cargo would run them in.
        folder = ROOT / "crates" / name.partition("--")[0]
        # One at a time: a test that unloads code waits for the GPU inside the driver, and holds up one that
        # looks at work in flight.
        flags = ["--show-output", "--test-threads=1", *cuda_tests.arguments(name)]
        code, printed = run_shown([str(binary), *flags], folder)
        yield read_libtest(printed, name, code == 0)


def sanitized():
    """The Python tests once more under compute-sanitizer; its own verdict is the only test counted."""
    if shutil.which("compute-sanitizer") is None:
        return Outcome("sanitizer", skips={"compute-sanitizer": "compute-sanitizer is not installed"})
    code, _ = run_shown([*SANITIZER, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ON_GPU])
    return Outcome("sanitizer", passed=int(code == 0), failed=int(code != 0))


def main():
    outcomes = [*rust_outcomes(), *python_outcomes(ON_GPU)]
    if os.environ.get("SANITIZE") == "1":
        outcomes.append(sanitized())
    code = close(outcomes)
    blind = [test for outcome in outcomes for test, reason in outcome.skips.items() if reason.startswith("no CUDA")]
    if blind or not any(outcome.passed for outcome in outcomes):
        print(f"test-gpu: {len(blind)} tests saw no GPU on a machine that has one", file=sys.stderr)
        code = 1
    sys.exit(code)


if __name__ == "__main__":
    main()
