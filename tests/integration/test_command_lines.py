"""pytest's own switches go on meaning what they mean."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
def test_over(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_good(jitperf):
    jitperf(library.f, X)
"""


# Output that is captured passes for that of a terminal, and every measurement for a long one.
ON_A_TERMINAL = """
import pytest
import pytest_jitperf.report.progress

@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(pytest_jitperf.report.progress, "_QUIET_SECONDS", 0)

def pytest_sessionstart(session):
    # pytest has it both ways, as a value and as a method.
    session.config.pluginmanager.get_plugin("terminalreporter").isatty = lambda: True
"""


def test_the_first_failure_can_stop_the_run(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("-x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 by limits)*"])


@pytest.mark.parametrize(
    "options", [("-q",), ("-qq",), ("--tb=no",), ("-q", "--no-header", "--no-summary"), ("-vv",)], ids=" ".join
)
def test_quiet_and_loud_runs_record_the_same(project: Any, options: tuple[str, ...]) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update", *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    # Without a traceback the short summary still says what failed.
    assert ("over budget" in result.stdout.str()) == ("--no-summary" not in options)
    assert list(project.entries()) == ["test_good / main / outer"]


def test_very_quiet_there_is_no_table_and_still_what_was_done(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("-qq", "--jitperf-guide", "--jitperf-update", "--tb=no")
    result.stdout.fnmatch_lines(
        [
            "__jitperf__/test_g.json: 1 written",
            "  test_good / outer / cpu: new",
            "2 measured, 1 failed and not recorded",
        ],
        consecutive=True,
    )
    result.stdout.no_fnmatch_line("*= jitperf*")
    result.stdout.no_fnmatch_line("*launches*")


def test_a_test_that_is_named_twice_is_counted_once_and_its_neighbours_are_no_orphans(project: Any) -> None:
    project.write_tests(TESTS)
    before = project.record("-k", "good")
    project.write_tests(TESTS.replace("test_good", "test_new"))
    result = project.quick_run("test_g.py::test_new", "test_g.py::test_new", "--jitperf-prune")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["1 measured, 0 gated, 1 without a baseline"])
    assert project.baseline.read_bytes() == before


@pytest.mark.parametrize("color", ["yes", "no"])
def test_colours_are_pytests_own_and_every_line_of_ours_is_plain(project: Any, color: str) -> None:
    project.write_tests(TESTS)
    result = project.quick_run(f"--color={color}", "-s")
    assert ("\x1b" in result.stdout.str()) == (color == "yes")
    lines = result.outlines
    table = lines[next(n for n, line in enumerate(lines) if "= jitperf" in line) :]
    assert "\x1b" not in "".join(table[: next(n for n, line in enumerate(table) if "2 measured" in line)])


def test_on_a_narrow_terminal_nothing_of_ours_runs_over(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    project.pytester.makeconftest(ON_A_TERMINAL)
    project.write_tests(
        """
        @pytest.mark.jitperf(inner=[library.f], expected_calls=1_000)
        def test_g(jitperf):
            jitperf(library.g, X)
        """
    )
    result = project.quick_run(
        "--jitperf-guide", "--jitperf-update", "--jitperf-json=the_results_of_this_very_run.json"
    )
    first = next(n for n, line in enumerate(result.outlines) if "= jitperf" in line)
    assert max(map(len, result.outlines[first:])) == 60
    result.stdout.fnmatch_lines(["  both * ok", "      same program as outer", "  - *", "results written to *"])


def test_what_is_shown_of_the_progress_leaves_the_line_as_pytest_would_have_it(project: Any) -> None:
    if not hasattr(pytest.TerminalReporter, "write_raw"):
        pytest.skip("before pytest 9 nothing is shown")
    project.pytester.makeconftest(ON_A_TERMINAL)
    project.write_tests(TESTS.replace(', peak_bytes="1 B"', ""))
    result = project.quick_run("--jitperf-missing=ok", "--color=no")
    (line,) = (line for line in result.outlines if line.startswith("test_g.py "))
    assert "[compiling, " in line
    assert screen(line) == "test_g.py ..".ljust(72) + " [100%]"


def screen(line: str) -> str:
    """What a terminal shows of a line."""
    shown: list[str] = []
    place = 0
    for letter in line:
        if letter != "\b":
            shown[place : place + 1] = [letter]
        place += -1 if letter == "\b" else 1
    return "".join(shown)


def test_without_a_terminal_reporter_the_baseline_is_written_all_the_same(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update", "-p", "no:terminal", "-k", "good")
    assert (result.ret, result.outlines, result.errlines) == (pytest.ExitCode.OK, [], [])
    assert list(project.entries()) == ["test_good / main / outer"]


def test_without_one_errors_are_told_all_the_same(project: Any) -> None:
    project.write_tests(TESTS)
    (project.pytester.mkdir("__jitperf__") / "programs").write_text("in the way")
    result = project.quick_run("--jitperf-update", "-p", "no:terminal", "-k", "good")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR *__jitperf__/test_g.json cannot be written: *"])


def test_the_junit_file_holds_numbers_and_outcome(project: Any) -> None:
    project.write_tests(TESTS)
    project.quick_run("--junitxml=junit.xml")
    cases = ElementTree.parse(project.pytester.path / "junit.xml").iter("testcase")
    found = {
        case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")} for case in cases
    }
    assert list(found) == ["test_over[outer]", "test_good[outer]"]
    over, good = found.values()
    assert (over["jitperf.main.outcome"], good["jitperf.main.outcome"]) == ("OVER BUDGET", "new")
    assert [(case["jitperf.main.strategy"], case["jitperf.main.device_kind"]) for case in (over, good)] == [
        ("outer", "cpu")
    ] * 2
    assert (over["jitperf.main.gated_by"], good["jitperf.main.gated_by"]) == ("limits", "nothing")
    assert (over["jitperf.main.peak_bytes"], over["jitperf.main.launches"]) == ("64", "1")
    assert float(good["jitperf.main.run"] or 0) > 0


def test_strict_markers_and_strict_config_know_the_plugin(project: Any) -> None:
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_missing = ok\njitperf_max_time = 2 s\n")
    project.write_tests(TESTS)
    project.quick_run("--strict-markers", "--strict-config", "-k", "good").assert_outcomes(passed=1, deselected=1)


def test_blocked_as_a_plugin_the_marker_does_no_harm(project: Any) -> None:
    project.write_tests("@pytest.mark.jitperf(strategies=['outer'])\ndef test_f():\n    pass\n")
    project.quick_run("-p", "no:jitperf").assert_outcomes(passed=1)
