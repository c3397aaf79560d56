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


def test_without_a_terminal_reporter_the_baseline_is_written_all_the_same(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update", "-p", "no:terminal", "-k", "good")
    assert result.ret == pytest.ExitCode.OK
    assert list(project.entries()) == ["test_good / main / outer"]


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
