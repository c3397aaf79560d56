"""How much worse than the baseline is still fine: marker before command line before ini file before default."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer"])
def test_unmarked(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"], tolerance={"peak_bytes": "3 B"})
def test_marked(jitperf):
    jitperf(library.f, X)
"""


def smaller_before(tests: Any) -> None:
    for test in tests.values():
        test["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = 60


@pytest.mark.parametrize(
    ("ini", "option", "rules"),
    [
        ("", "", {"marked": "tolerance peak_bytes=3 B (marker)"}),
        (
            "jitperf_tolerance = peak_bytes=2B\n",
            "",
            {
                "marked": "tolerance peak_bytes=3 B (marker)",
                "unmarked": "tolerance peak_bytes=2 B (ini jitperf_tolerance)",
            },
        ),
        (
            "jitperf_tolerance = peak_bytes=2B\n",
            "--jitperf-tolerance=peak_bytes=1B",
            {
                "marked": "tolerance peak_bytes=3 B (marker)",
                "unmarked": "tolerance peak_bytes=1 B (--jitperf-tolerance)",
            },
        ),
    ],
    ids=["default", "ini", "option"],
)
def test_the_rule_that_set_the_limit_is_printed(project: Any, ini: str, option: str, rules: dict[str, str]) -> None:
    project.pytester.makeini(f"[pytest]\npythonpath = .\n{ini}")
    project.write_tests(TESTS)
    project.record()
    edited = project.edit_baseline(smaller_before)
    result = project.quick_run(*([option] if option else []))
    project.assert_messages(
        result,
        {
            f"test_{name}[outer]": f"peak_bytes regressed: 60 B -> 64 B, x1.07, allowed 6? B\n  strategy outer, "
            f"device cpu; "
            f"__jitperf__/test_g.json, test_{name} / outer / cpu\n*  rule  {rule}\n*"
            f'  accept it with   pytest "test_g.py::test_{name}[outer]" --jitperf-update\ntest_g.py:*: Regressed'
            for name, rule in rules.items()
        },
    )
    result.assert_outcomes(passed=2 - len(rules), failed=len(rules))
    assert project.baseline.read_bytes() == edited


def test_the_command_that_is_printed_accepts_it(project: Any) -> None:
    project.write_tests(TESTS)
    project.record()
    project.edit_baseline(smaller_before)
    accepted = project.quick_run("test_g.py::test_marked[outer]", "--jitperf-update")
    accepted.stdout.fnmatch_lines(
        ["__jitperf__/test_g.json: 1 written", "  test_marked / outer / cpu:*", "*peak_bytes 60 B -> 64 B"]
    )
    project.quick_run().assert_outcomes(passed=2)
