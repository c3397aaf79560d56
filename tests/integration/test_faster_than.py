"""``faster_than``: two strategies raced in this run, without a baseline."""

from __future__ import annotations

from typing import Any

TESTS = """
@pytest.mark.jitperf(faster_than={"outer": {"eager": 1.5}})
def test_true(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(faster_than={"eager": {"outer": 1.5}})
def test_false(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(strategies=["outer"], faster_than={"outer": {"eager": 1.5}})
def test_other_is_no_strategy(jitperf):
    jitperf(library.g, X)
"""


def test_a_strategy_that_is_not_as_much_faster_fails(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-missing=ok", "--jitperf-max-time=3 s")
    project.assert_messages(
        result,
        {
            "test_false[eager]": "not fast enough: x0.* (x0.* ... x0.*) as fast as outer, at least x1.5 expected\n"
            "  strategy eager, device cpu; *\n  rule  faster_than eager: outer x1.5*\ntest_g.py:14: NotFaster",
            "test_other_is_no_strategy[outer]": 'jitperf marker: faster_than: "eager" is not a strategy of this test, '
            "which has outer\n*",
        },
    )
    result.assert_outcomes(passed=3, failed=1, errors=1)
    result.stdout.fnmatch_lines(["  eager * NOT FASTER*"])


def test_each_item_races_both_sides_itself(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("test_g.py::test_false[eager]")
    assert list(project.messages(result)) == ["test_false[eager]"]
    result.assert_outcomes(failed=1)
