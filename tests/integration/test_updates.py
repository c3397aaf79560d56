"""What an update writes: entries of items all of whose reports passed, and not a byte of any other."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer"])
def test_a(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_b(jitperf):
    jitperf(library.f, X)
"""

CHANGED = "\nold = f\n\ndef f(x):\n    return old(old(x))\n"

BAD = """
@pytest.fixture
def bad_teardown():
    yield
    raise RuntimeError("at the end")

@pytest.mark.jitperf(strategies=["outer"])
def test_fails(jitperf):
    jitperf(library.f, X)
    assert X is None

@pytest.mark.xfail
@pytest.mark.jitperf(strategies=["outer"])
def test_xfails(jitperf):
    jitperf(library.f, X)
    assert X is None

@pytest.mark.xfail
@pytest.mark.jitperf(strategies=["outer"])
def test_xpasses(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_skips(jitperf):
    jitperf(library.f, X)
    pytest.skip("not today")

@pytest.mark.jitperf(strategies=["outer"])
def test_teardown(jitperf, bad_teardown):
    jitperf(library.f, X)
"""

SUBTEST = """
@pytest.mark.jitperf(strategies=["outer"])
def test_subtest(jitperf, subtests):
    jitperf(library.f, X)
    with subtests.test():
        assert X is None
"""


def entry_bytes(project: Any, test: str) -> bytes:
    """The lines of a test's entries."""
    text: str = project.baseline.read_text()
    return text[text.index(f'    "{test}": ') :].partition("\n    }")[0].encode()


def test_a_partial_update_leaves_the_bytes_of_other_entries(project: Any, library: str) -> None:
    project.write_tests(TESTS)
    project.record()
    before = entry_bytes(project, "test_a"), entry_bytes(project, "test_b")
    project.write_library(library + CHANGED)
    result = project.quick_run("--jitperf-update", "-k", "test_b")
    result.stdout.fnmatch_lines(
        ["__jitperf__/test_g.json: 1 written", "  test_b / outer / cpu:", "    program changed"]
    )
    after = entry_bytes(project, "test_a"), entry_bytes(project, "test_b")
    assert (after[0] == before[0], after[1] == before[1]) == (True, False)


def test_only_what_passed_as_a_whole_is_stored(project: Any) -> None:
    has_subtests = int(pytest.__version__.partition(".")[0]) >= 9
    project.write_tests(TESTS + BAD + (SUBTEST if has_subtests else ""))
    result = project.quick_run("--jitperf-update")
    assert list(project.entries()) == ["test_a / main / outer", "test_b / main / outer"]
    result.stdout.fnmatch_lines(["__jitperf__/test_g.json: 2 written"])


def test_a_failure_reported_within_an_item_counts_against_it(project: Any) -> None:
    project.pytester.makeconftest(
        """
        import pytest

        def pytest_runtest_call(item):
            if "test_b" in item.name:
                report = pytest.TestReport(item.nodeid, item.location, {}, "failed", "a part of it", "call")
                item.ihook.pytest_runtest_logreport(report=report)
        """
    )
    project.write_tests(TESTS)
    project.quick_run("--jitperf-update").assert_outcomes(passed=2, failed=1)
    assert list(project.entries()) == ["test_a / main / outer"]


def test_what_passed_before_the_run_was_stopped_is_stored(project: Any) -> None:
    project.write_tests(TESTS.replace("def test_b(jitperf):", "def test_b(jitperf):\n    assert X is None"))
    result = project.quick_run("--jitperf-update", "-x")
    result.assert_outcomes(passed=1, failed=1)
    assert list(project.entries()) == ["test_a / main / outer"]


def test_so_is_what_passed_before_ctrl_c(project: Any) -> None:
    project.write_tests(TESTS.replace("def test_b(jitperf):", "def test_b(jitperf):\n    raise KeyboardInterrupt"))
    result = project.run("--jitperf-update")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert list(project.entries()) == ["test_a / main / outer"]


def test_a_directory_that_cannot_be_read_is_told_before_anything_is_measured(project: Any) -> None:
    project.write_tests(TESTS)
    (project.pytester.path / "__jitperf__").write_text("in the way")
    result = project.quick_run("--jitperf-update")
    project.assert_messages(
        result, {f"test_{name}[outer]": "*__jitperf__/test_g.json cannot be read: Not a directory; *" for name in "ab"}
    )
    result.assert_outcomes(errors=2)
    assert (project.pytester.path / "__jitperf__").read_text() == "in the way"


def test_a_file_that_cannot_be_written_is_an_error_at_the_end(project: Any) -> None:
    project.write_tests(TESTS)
    (project.pytester.path / "__jitperf__").mkdir()
    (project.pytester.path / "__jitperf__" / "programs").write_text("in the way")
    result = project.quick_run("--jitperf-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["ERROR *__jitperf__/test_g.json cannot be written: *"])
    assert not project.baseline.exists()
