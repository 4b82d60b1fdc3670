"""Runs every demo in a process of its own, so that each pays for its own import and compilation."""

import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main():
    start = time.perf_counter()
    for demo in ("denoise.py", "observations.py", "pipeline.py"):
        done = subprocess.run([sys.executable, str(FOLDER / demo), *sys.argv[1:]])
        if done.returncode != 0:
            sys.exit(done.returncode)
        print(flush=True)
    print(f"all demos took {time.perf_counter() - start:.1f} s, pictures in out/")


if __name__ == "__main__":
    main()
