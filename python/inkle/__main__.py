"""The ``inkle`` command: ``inkle cache list``, ``python -m inkle cache list``; ``inkle help`` tells the rest."""

import sys


def main():
    """Runs the command that this process was started with, and gives its exit code."""
    from inkle._native import run_command

    return run_command(["inkle", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
