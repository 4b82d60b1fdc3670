"""The Rust test binaries that hold tests for an NVIDIA GPU: those of a file with `cuda` in its name, and those with
a test that has it in its own.

    python scripts/cuda_tests.py pack FOLDER FLAGS OF CARGO...    build, strip and pack them for another machine
"""

import json
import lzma
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILTER = "cuda"


def is_whole(name):
    """Whether every test of the binary called `name` is one for a GPU."""
    return FILTER in name.partition("--")[2]


def arguments(name):
    """What picks the tests for a GPU from the binary called `name`."""
    return [] if is_whole(name) else [FILTER]


def build(flags):
    """Build every test of the workspace; `(name, path)` of those binaries that hold tests for a GPU."""
    command = ["cargo", "test", "--workspace", "--locked", "--no-run", "--tests", "--lib", "--message-format=json"]
    done = subprocess.run([*command, *flags], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or not message["executable"] or not message["profile"]["test"]:
            continue
        package = Path(message["manifest_path"]).parent.name
        name = f"{package}--{message['target']['name']}"
        listed = subprocess.run([message["executable"], "--list", *arguments(name)], capture_output=True, text=True)
        if ": test" in listed.stdout:
            yield name, Path(message["executable"])


def pack(folder, flags):
    """Put the stripped, compressed binaries into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, binary in build(flags):
        print(f"packing {name}", flush=True)
        stripped = folder / name
        subprocess.run(["strip", "-o", stripped, binary], check=True)
        with open(stripped, "rb") as plain, lzma.open(f"{stripped}.xz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        stripped.unlink()


def unpack(folder):
    """The binaries packed in `folder`, unpacked beside their archives: `(name, path)`."""
    for archive in sorted(folder.glob("*.xz")):
        binary = archive.with_suffix("")
        if not binary.exists() or binary.stat().st_mtime < archive.stat().st_mtime:
            with lzma.open(archive) as packed, open(binary, "wb") as plain:
                shutil.copyfileobj(packed, plain)
            binary.chmod(0o755)
        yield binary.name, binary


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "pack":
        sys.exit(__doc__)
    pack(Path(sys.argv[2]), sys.argv[3:])
