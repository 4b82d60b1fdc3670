"""Runs the tests of Rust and of Python and closes with one summary of both.

Rust tests run under cargo-nextest when it is installed, else under `cargo test`; documentation examples always
under `cargo test --doc`. A test that cannot run on this machine (a GPU test without a GPU) prints a line
`skipped: <reason>` and returns; such tests pass as far as the runner knows, and are counted as skipped here.

    python scripts/run_tests.py [rust] [python] [-- ARGUMENTS FOR PYTEST]
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = re.compile(r"^\s*skipped: ([^;\n]*)", re.MULTILINE)


@dataclass
class Outcome:
    """What one runner did: counts, the reasons of skipped tests by test, and whether the runner was content."""

    name: str
    passed: int = 0
    failed: int = 0
    skips: dict[str, str] = field(default_factory=dict)
    content: bool = True


def read_junit(path, name, content):
    """The outcome that a JUnit file of nextest or pytest tells."""
    outcome = Outcome(name, content=content)
    if not path.exists():
        outcome.content = False
        return outcome
    for case in ElementTree.parse(path).iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        printed = "".join(case.findtext(stream) or "" for stream in ("system-out", "system-err"))
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
        elif skipped is not None:
            outcome.skips[test] = skipped.get("message") or "no reason given"
        elif match := SKIPPED.search(printed):
            outcome.skips[test] = match.group(1)
        else:
            outcome.passed += 1
    return outcome


def run_shown(command, folder=ROOT):
    """Run `command` in `folder`, pass its output on as it comes, and return its exit code and output."""
    print("==", " ".join(command), flush=True)
    printed = []
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        for line in child.stdout:
            sys.stdout.write(line)
            printed.append(line)
    sys.stdout.flush()
    return child.returncode, "".join(printed)


def read_libtest(printed, name, content):
    """The outcome that the output of `cargo test` tells."""
    outcome = Outcome(name, content=content)
    for passed, failed, ignored in re.findall(
        r"^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored", printed, re.M
    ):
        outcome.passed += int(passed)
        outcome.failed += int(failed)
        outcome.skips.update((f"{name} ignored {n + 1}", "#[ignore]") for n in range(int(ignored)))
    # `--show-output` heads the output of each test with its name.
    shown = re.split(r"^---- (\S+) stdout ----$", printed, flags=re.M)
    for test, output in zip(shown[1::2], shown[2::2], strict=True):
        if match := SKIPPED.search(output):
            outcome.skips[test] = match.group(1)
            outcome.passed -= 1
    return outcome


# What is off unless a program asks for it: bridges of the crate `inkle`, and the stores that wheels have.
FEATURES = "--features=inkle/glam,inkle/miette,inkle/nalgebra,inkle/ndarray,inkle-remote/stores"


def has_subcommand(*command):
    return subprocess.run(["cargo", *command, "--version"], capture_output=True).returncode == 0


def rust_outcomes():
    if has_subcommand("nextest"):
        # Where nextest keeps it, wherever cargo is told to build.
        report = ROOT / "target/nextest/default/junit.xml"
        report.unlink(missing_ok=True)
        code, _ = run_shown(["cargo", "nextest", "run", "--workspace", FEATURES, "--locked", "--no-tests=pass"])
        yield read_junit(report, "rust", code == 0)
    else:
        command = ["cargo", "test", "--workspace", FEATURES, "--locked", "--no-fail-fast", "--lib", "--bins", "--tests"]
        code, printed = run_shown([*command, "--", "--show-output"])
        yield read_libtest(printed, "rust", code == 0)
    command = ["cargo", "test", "--workspace", FEATURES, "--locked", "--no-fail-fast", "--doc", "--quiet"]
    code, printed = run_shown(command)
    yield read_libtest(printed, "rust examples", code == 0)
    code, printed = run_shown(["scripts/check_features.sh"])
    yield read_libtest(printed, "rust features", code == 0)


def python_outcomes(arguments):
    report = ROOT / "build/pytest.xml"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    code, _ = run_shown([sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments])
    yield read_junit(report, "python", code == 0)


def close(outcomes):
    """Print the summary; the exit code."""
    print("\n== summary")
    reasons = {}
    for outcome in outcomes:
        counts = f"{outcome.passed:6} passed {outcome.failed:4} failed {len(outcome.skips):4} skipped"
        note = "" if outcome.content or outcome.failed else "   (the runner itself failed: see above)"
        print(f"{outcome.name:14} {counts}{note}")
        for test, reason in outcome.skips.items():
            reasons.setdefault(reason, []).append(test)
    for reason, tests in sorted(reasons.items()):
        print(f"skipped {len(tests)}: {reason}")
        for test in tests[:5]:
            print(f"    {test}")
        if len(tests) > 5:
            print(f"    and {len(tests) - 5} more")
    passed, failed = sum(o.passed for o in outcomes), sum(o.failed for o in outcomes)
    print(f"\n{passed} passed, {failed} failed, {sum(len(o.skips) for o in outcomes)} skipped")
    return 0 if failed == 0 and all(o.content for o in outcomes) else 1


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    wanted, for_pytest = set(arguments[:split]) or {"rust", "python"}, arguments[split + 1 :]
    if unknown := wanted - {"rust", "python"}:
        sys.exit(f"run_tests: {', '.join(sorted(unknown))} is neither rust nor python")
    outcomes = []
    if "rust" in wanted:
        outcomes += rust_outcomes()
    if "python" in wanted:
        outcomes += python_outcomes(for_pytest)
    sys.exit(close(outcomes))


if __name__ == "__main__":
    main()
