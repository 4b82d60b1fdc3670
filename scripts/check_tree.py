"""Fails when a tracked file names a package registry's host or a place on somebody's machine, is a source file
that is too long, or is a document that points at a path which is not there.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "TESTING.md", "CHANGELOG.md")
LONGEST_SOURCE, LONGEST_ARCHITECTURE = 800, 300
SOURCES = (".rs", ".py", ".cu", ".sh")

# Put together here, so that this file does not hold what it looks for.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("crates", "io"),
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("deb", "debian", "org"),
        ("apt", "llvm", "org"),
        ("conda", "anaconda", "org"),
    )
]
HOST = re.compile("|".join(re.escape(host) for host in HOSTS))
MACHINE = re.compile(r"(?<![\w.$}*])/(?:" + "|".join(("work", "farm", "root", "home", "tmp", "Users")) + r")/[\w.]")
INDEX = re.compile("|".join(("--index" + "-url", "extra-index" + "-url", "replace" + "-with")))
# What documents may name though it is there only once something was built or run.
MADE = re.compile(r"^(?:\./)?(?:out|build|dist|target|\.venv|\.bench-venv)(?:/|$)")
CODE_SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
PATH = re.compile(r"^[\w.\-/]+$")


def tracked():
    """Paths of the tracked files, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return [Path(name.decode()) for name in listed.split(b"\0") if name and (ROOT / name.decode()).is_file()]


def named_paths(text):
    """Paths that a document names: targets of links, and code spans that look like one."""
    yield from (target for target in LINK.findall(text) if "://" not in target)
    for span in CODE_SPAN.findall(text):
        looks = PATH.match(span) and (
            "/" in span.strip("/") or span.endswith("/") or re.search(r"\.(md|toml|py|rs|sh)$", span)
        )
        if looks and not span.startswith(("/", "-")):
            yield span


def faults():
    for path in tracked():
        try:
            text = (ROOT / path).read_text()
        except UnicodeDecodeError:
            continue
        lines = text.splitlines()
        # File tests are data, some of it generated.
        if path.suffix in SOURCES and "filetests" not in path.parts and len(lines) > LONGEST_SOURCE:
            yield f"{path}: {len(lines)} lines; past {LONGEST_SOURCE}, split it by meaning"
        if path.name == "ARCHITECTURE.md" and len(lines) > LONGEST_ARCHITECTURE:
            yield f"{path}: {len(lines)} lines, more than {LONGEST_ARCHITECTURE}"
        if path.suffix != ".lock":
            for number, line in enumerate(lines, 1):
                for what, pattern in (
                    ("a registry's host", HOST),
                    ("a path of one machine", MACHINE),
                    ("a package index", INDEX),
                ):
                    if match := pattern.search(line):
                        yield f"{path}:{number}: {what}: {match.group(0)}"
        if str(path) in DOCUMENTS:
            for named in named_paths(text):
                if not MADE.match(named) and not (ROOT / named).exists():
                    yield f"{path}: names {named}, which is not there"


def main():
    found = list(faults())
    for fault in found:
        print(f"tracked files: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
