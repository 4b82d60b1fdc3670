"""The checks and the test runner of `scripts/`: each is shown what it must catch."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import check_dependencies
import check_tree
import run_tests


def workspace(**edges):
    """Cargo metadata of crates named by `edges`, each with a list of `(dependency, kind)`."""
    return {
        "packages": [
            {"name": name, "dependencies": [{"name": below, "kind": kind} for below, kind in dependencies]}
            for name, dependencies in edges.items()
        ]
    }


ALLOWED = {"low": set(), "middle": {"low"}, "high": {"low", "middle"}}


def test_allowed_edges_pass():
    metadata = workspace(low=[], middle=[("low", None)], high=[("middle", None), ("serde", None)])
    assert list(check_dependencies.faults(metadata, ALLOWED)) == []


@pytest.mark.parametrize("kind", [None, "build"])
def test_upward_edge_is_named(kind):
    metadata = workspace(low=[("middle", kind)], middle=[])
    assert list(check_dependencies.faults(metadata, ALLOWED)) == ["low must not depend on middle"]


def test_unknown_crate_is_named():
    (fault,) = check_dependencies.faults(workspace(stray=[]), ALLOWED)
    assert fault.startswith("stray is not in the list")


def test_tests_may_reach_sideways_but_not_up():
    sideways = workspace(low=[], middle=[], high=[("middle", "dev")])
    assert list(check_dependencies.faults(sideways, ALLOWED)) == []
    up = workspace(low=[("high", "dev")], middle=[("low", None)], high=[("middle", None)])
    (fault,) = check_dependencies.faults(up, ALLOWED)
    assert fault.startswith("the tests of low use high")


def test_hosts_machine_paths_and_indexes_are_seen():
    assert check_tree.HOST.search("see https://" + "pypi" + ".org/simple")
    assert not check_tree.HOST.search("the crates of the registry")
    for place in ("/" + "work/main", "cd /" + "tmp/scratch", '"/' + 'root/.cache"'):
        assert check_tree.MACHINE.search(place), place
    for text in ("$root/work/x", "demos/work/file", "a /" + "work and"):
        assert not check_tree.MACHINE.search(text), text
    assert check_tree.INDEX.search("--extra-index" + "-url")


def test_documents_name_paths_by_link_and_code_span():
    text = "[a](docs/a.md#part) `crates/inkle/` `make test` `x.launch` [site](https://example.com/x) `README.md`"
    assert list(check_tree.named_paths(text)) == ["docs/a.md", "crates/inkle/", "README.md"]


def test_junit_counts_tests_that_skip_themselves(tmp_path):
    report = tmp_path / "junit.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="c" name="good"/>'
        '<testcase classname="c" name="bad"><failure>no</failure></testcase>'
        '<testcase classname="c" name="error"><error>no</error></testcase>'
        '<testcase classname="c" name="marked"><skipped message="no torch"/></testcase>'
        '<testcase classname="c" name="itself"><system-out>\nskipped: no CUDA driver\n</system-out></testcase>'
        "</testsuite></testsuites>"
    )
    outcome = run_tests.read_junit(report, "rust", content=False)
    assert (outcome.passed, outcome.failed) == (1, 2)
    assert outcome.skips == {"c::marked": "no torch", "c::itself": "no CUDA driver"}


def test_missing_report_is_not_content(tmp_path):
    assert not run_tests.read_junit(tmp_path / "none.xml", "rust", content=True).content


def test_libtest_output_is_counted():
    printed = (
        "test cuda::copies ... ok\n\nsuccesses:\n\n---- cuda::copies stdout ----\nskipped: no CUDA driver\n\n"
        "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"
        "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n"
    )
    outcome = run_tests.read_libtest(printed, "rust", content=False)
    assert (outcome.passed, outcome.failed, len(outcome.skips)) == (3, 2, 2)
    assert outcome.skips["cuda::copies"] == "no CUDA driver"


@pytest.mark.parametrize(("failed", "content", "code"), [(0, True, 0), (1, False, 1), (0, False, 1)])
def test_summary_closes_with_plain_counts(capsys, failed, content, code):
    outcomes = [
        run_tests.Outcome("rust", passed=2, failed=failed, skips={"t": "no GPU"}, content=content),
        run_tests.Outcome("python", passed=3),
    ]
    assert run_tests.close(outcomes) == code
    printed = capsys.readouterr().out
    assert printed.endswith(f"\n5 passed, {failed} failed, 1 skipped\n")
    assert "skipped 1: no GPU" in printed
