"""Mistakes in a marker: each is the error of its own test, says what to write, and leaves all others alone."""

from __future__ import annotations

from typing import Any

GOOD = """
def test_ordinary():
    pass

@pytest.mark.jitperf(strategies=["outer"])
def test_good(jitperf):
    jitperf(library.f, X)
"""

WRONG = """
import unittest

@pytest.mark.jitperf(startegies=["outer"], strategies=["outer"])
def test_keyword(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"], run=5)
def test_no_unit(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"], run="5 parsecs", peak_bytes="-1 B")
def test_two_mistakes(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["oter"])
def test_strategy(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"], devices=["gup"])
def test_device(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["inner"])
def test_no_inner(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf("outer")
def test_positional(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
@pytest.mark.parametrize(
    "n", [1, pytest.param(2, marks=pytest.mark.jitperf(strategies=["eager"]))]
)
def test_param(jitperf, n):
    jitperf(library.f, X)

class TestUnit(unittest.TestCase):
    @pytest.mark.jitperf
    def test_method(self):
        pass

    def test_other(self):
        pass

@pytest.mark.jitperf
class TestUnitClass(unittest.TestCase):
    def test_method(self):
        pass
"""

MESSAGES = {
    "test_keyword[outer]": 'jitperf marker (function test_keyword): unknown keyword startegies=; did you mean "strateg'
    'ies"? Valid: strategies, inner, *, run, *\ntest_g.py:19: test_g.py::test_keyword[outer]',
    "test_no_unit[outer]": 'jitperf marker (function test_no_unit): run=5 has no unit; write "5 s" or "5 ms"\n'
    "test_g.py:23: *",
    "test_two_mistakes[outer]": 'jitperf marker (function test_two_mistakes): run="5 parsecs" has unknown unit '
    '"parsecs"'
    "; a time is in ns, us, ms, s, min or h\n"
    'jitperf marker (function test_two_mistakes): peak_bytes="-1 B" is below zero; write "64 MiB"\ntest_g.py:27: *',
    "test_strategy[invalid]": 'jitperf marker (function test_strategy): strategies: unknown strategy "oter"; did you '
    'mean "outer"? Valid: eager, outer, inner, both; another one needs Strategy("oter", build)\ntest_g.py:31: *',
    "test_device[invalid]": 'jitperf marker (function test_device): devices: unknown device "gup"; did you mean "gpu"? '
    "Valid: cpu, gpu, *\ntest_g.py:35: *",
    "test_no_inner[inner]": 'jitperf marker (function test_no_inner): strategies: "inner" needs inner=, which '
    "names the "
    "functions to jit\ntest_g.py:39: *",
    "test_positional[eager]": "jitperf marker (function test_positional): positional arguments are not accepted, got "
    '"outer"; write strategies=["outer"]\ntest_g.py:43: *',
    "test_positional[outer]": "jitperf marker (function test_positional): positional arguments are not accepted, *",
    "test_param[2-outer]": "jitperf marker (pytest.param): strategies= in pytest.param comes too late to say "
    "which items "
    "there are; put it on the test\ntest_g.py:47: *",
    "TestUnitClass.test_method": "test_g.py::TestUnitClass::test_method: jitperf cannot measure methods of unittest.*",
    "TestUnit.test_method": "test_g.py::TestUnit::test_method: jitperf cannot measure methods of unittest.TestCase, "
    "since pytest gives them no fixtures. Make it a plain function, or a method of a plain class.\n"
    "test_g.py:55: NotMeasured",
}


def test_each_mistake_is_told_and_the_other_tests_go_on(project: Any) -> None:
    project.write_tests(GOOD)
    recorded = project.record()

    project.write_tests(GOOD + WRONG)
    gated = project.quick_run()
    project.assert_messages(gated, MESSAGES)
    gated.assert_outcomes(passed=4, errors=11, warnings=1)
    gated.stdout.fnmatch_lines(["*outer * ok (same program)", "2 measured, 1 gated (1 same program), 1 without *"])
    assert project.baseline.read_bytes() == recorded

    updated = project.quick_run("--jitperf-update")
    updated.assert_outcomes(passed=4, errors=11)
    assert list(project.entries()) == ["test_good / main / outer", "test_param[1] / main / outer"]


def test_a_misspelt_helper_is_told_under_the_strategies_that_do_not_need_it(project: Any) -> None:
    project.write_tests(
        """
@pytest.mark.jitperf(strategies=["outer"], inner=["library.nosuch"])
def test_outer(jitperf):
    jitperf(library.f, X)
"""
    )

    result = project.quick_run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["jitperf marker: inner helper library.nosuch cannot be found: library has no *"])


def test_an_id_that_changes_from_run_to_run_is_told(project: Any) -> None:
    project.write_tests(
        """
@pytest.mark.parametrize("x", [X], ids=["<Net object at 0x7f3b2c1d0e80>"])
@pytest.mark.jitperf(strategies=["outer"])
def test_net(jitperf, x):
    jitperf(library.f, x)
"""
    )

    result = project.quick_run()

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*no baseline yet*Its id holds '0x7f3b2c1d0e80', which changes from run to run: *"])
