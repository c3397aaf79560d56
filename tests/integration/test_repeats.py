"""With pytest-repeat every repetition is held against the one baseline of its test."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pytest_repeat")

TESTS = """
@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.jitperf(strategies=["outer"])
def test_n(jitperf, n):
    jitperf(library.f, jnp.ones(n))

@pytest.mark.repeat(2)
@pytest.mark.jitperf(strategies=["outer"])
def test_marked(jitperf):
    jitperf(library.f, X)
"""


def test_repetitions_are_one_test(project: Any, slower: str) -> None:
    project.write_tests(TESTS)
    recorded = project.quick_run("--count=2", "--jitperf-update")
    assert list(project.entries()) == [f"{test} / main / outer" for test in ("test_marked", "test_n[8]", "test_n[9]")]
    recorded.stdout.fnmatch_lines(
        ["test_g.py::test_marked", "  outer * ok   2 times", "__jitperf__/test_g.json: 3 written", "6 measured"]
    )

    project.write_tests(TESTS.replace('strategies=["outer"]', 'strategies=["outer"], fail_on_improvement=True'))
    project.edit_baseline(lambda tests: tests["test_n[8]"]["main"]["outer"]["cpu"]["exact"].update(peak_bytes=2**30))
    gated = project.quick_run("--count=3", "-k", "test_n")

    gated.assert_outcomes(failed=3, passed=3)
    # A command that works without the option that repeats.
    gated.stdout.fnmatch_lines(
        ['  accept it with   pytest "test_g.py::test_n[[]8-outer[]]" --jitperf-update', "  outer * 3 times"]
    )
