"""Fails when a crate of this workspace depends on one that it should not know.

Crates depend downwards only. `ALLOWED` says which crates of the workspace each one may build on, by normal and
build dependencies. Tests may reach further, so a development dependency only has to point at a crate that does
not itself build on the crate under test; `TESTS_REACH_UP` lists the exceptions. A crate that `ALLOWED` does not name
fails too: add it deliberately.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FRONT = {"inkle-diag", "inkle-ir", "inkle-frontend"}
COMPILER = FRONT | {"inkle-python", "inkle-prelude", "inkle-adjoint", "inkle-codegen"}
REPLAY = {"inkle-diag", "inkle-ir", "inkle-runtime", "inkle-graph"}
LIBRARY = COMPILER | REPLAY | {"inkle-module", "inkle-macros", "inkle-value"}

ALLOWED = {
    "inkle-diag": set(),
    "inkle-ir": {"inkle-diag"},
    "inkle-frontend": {"inkle-diag", "inkle-ir"},
    "inkle-python": FRONT,
    "inkle-macros": {"inkle-diag", "inkle-frontend"},
    "inkle-prelude": FRONT | {"inkle-python"},
    "inkle-adjoint": {"inkle-diag", "inkle-ir"},
    "inkle-codegen": {"inkle-diag", "inkle-ir"},
    # No compiler below this line and above the next: what runs kernels runs them without LLVM too.
    "inkle-runtime": {"inkle-diag", "inkle-ir"},
    "inkle-graph": {"inkle-diag", "inkle-ir", "inkle-runtime"},
    "inkle-replay": REPLAY,
    "inkle-leapp": REPLAY,
    "inkle-onnx-op": REPLAY | {"inkle-replay", "inkle-leapp"},
    "inkle-torch-op": REPLAY | {"inkle-replay", "inkle-leapp"},
    "inkle-module": COMPILER | {"inkle-runtime", "inkle-graph"},
    # Built-ins that the host calls are compiled.
    "inkle-value": {"inkle-ir", "inkle-module"},
    "inkle-remote": {"inkle-module"},
    "inkle-export": LIBRARY | {"inkle-replay"},
    "inkle": LIBRARY | {"inkle-export", "inkle-replay"},
    "inkle-build": {"inkle", "inkle-graph"},
    "inkle-robot": {"inkle", "inkle-build"},
    "inkle-cli": LIBRARY | {"inkle", "inkle-export", "inkle-replay"},
    # What kernels are measured against: it knows nothing of them.
    "inkle-bench-expert": set(),
    "inkle-py": LIBRARY | {"inkle", "inkle-cli", "inkle-export", "inkle-remote", "inkle-replay"},
}

# The checker's file tests start from Python source and call the library, as its users do.
TESTS_REACH_UP = {("inkle-frontend", "inkle-python"), ("inkle-frontend", "inkle-prelude")}


def edges(metadata):
    """`(crate, the crate it depends on, whether only its tests do)` within the workspace."""
    crates = {package["name"] for package in metadata["packages"]}
    for package in metadata["packages"]:
        for dependency in package["dependencies"]:
            if dependency["name"] in crates:
                yield package["name"], dependency["name"], dependency["kind"] == "dev"


def faults(metadata, allowed):
    """What is wrong with the crates' dependencies, a sentence each."""
    found = list(edges(metadata))
    built_on = {}
    for crate, dependency, for_tests in found:
        if not for_tests:
            built_on.setdefault(crate, set()).add(dependency)

    def reaches(crate, goal):
        below = built_on.get(crate, set())
        return goal in below or any(reaches(each, goal) for each in below)

    for package in metadata["packages"]:
        if package["name"] not in allowed:
            yield f"{package['name']} is not in the list of crates; say there what it may depend on"
    for crate, dependency, for_tests in found:
        if for_tests and reaches(dependency, crate) and (crate, dependency) not in TESTS_REACH_UP:
            yield f"the tests of {crate} use {dependency}, which is built on {crate}: they belong in {dependency}"
        elif not for_tests and dependency not in allowed.get(crate, {dependency}):
            yield f"{crate} must not depend on {dependency}"


def main():
    command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--locked"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    found = list(faults(json.loads(done.stdout), ALLOWED))
    for fault in found:
        print(f"crate dependencies: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
