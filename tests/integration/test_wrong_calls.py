"""Tests that measure nothing, or ask for what cannot be measured: each fails alone, and says what to write."""

from __future__ import annotations

from typing import Any

LIBRARY = """
import jax.numpy as jnp

def f(x):
    return 2 * x + jnp.sin(x)

def unused(x):
    return x

def power(x, n):
    for _ in range(n):
        x = x * x
    return x

def cube(x):
    return power(x, 3)

def broken(x):
    return x + no_such_name
"""

GOOD = """
def test_ordinary():
    pass

@pytest.mark.jitperf(strategies=["outer"])
def test_good(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
class TestInherited:
    def test_without_fixture(self):
        pass

    def test_without_call(self, jitperf):
        pass

def test_fixture_alone(jitperf):
    jitperf(library.f, X)

@pytest.fixture
def measured(jitperf):
    return jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_other_fixture(measured):
    assert measured.shape == (8,)

@pytest.mark.jitperf(strategies=["outer"])
def test_names(jitperf):
    jitperf(library.f, X)
    jitperf.measure(library.f, args=(X,), name="second")
"""

WRONG = """
@pytest.mark.jitperf
def test_without_fixture():
    pass

@pytest.mark.jitperf(strategies=["outer"])
def test_without_call(jitperf):
    pass

def test_late(request):
    request.getfixturevalue("jitperf")

@pytest.mark.jitperf(strategies=["outer"])
def test_result_given(jitperf):
    jitperf(library.f(X))

@pytest.mark.jitperf(strategies=["outer"])
def test_same_name(jitperf):
    jitperf(library.f, X)
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_caught(jitperf):
    with pytest.raises(Exception):
        jitperf(library.f(X))

@pytest.mark.jitperf(strategies=["inner"], inner=["library.nosuch"])
def test_no_such_helper(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["inner"], inner=["nolib.f"])
def test_no_such_module(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["inner"], inner=[library.unused])
def test_uncalled_helper(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_static(jitperf):
    jitperf(library.power, X, 3)

@pytest.mark.jitperf(strategies=["inner"], inner=[library.power])
def test_static_of_helper(jitperf):
    jitperf(library.cube, X)

@pytest.mark.jitperf(strategies=[Strategy("three", lambda f: 3)])
def test_strategy(jitperf):
    jitperf(library.f, X)
"""

MESSAGES = {
    "test_without_fixture": "not measured: the test is marked, but it does not use the jitperf fixture; call  "
    "jitperf(f, x)  in it\ntest_g.py:41: NotMeasured",
    "test_without_call[outer]": "not measured: the test is marked, but it never calls jitperf(); call  "
    "jitperf(f, x)  in "
    "it\ntest_g.py:45: NotMeasured",
    "test_late": "jitperf must be an argument of the test, or of a fixture that it names: "
    'request.getfixturevalue("jitperf'
    '") comes after the test was expanded into one item per strategy.',
    "test_result_given[outer]": "jitperf() got ArrayImpl as the function to measure. Give the function and its "
    "arguments, "
    "not its result:  jitperf(f, x)  instead of  jitperf(f(x))\ntest_g.py:52: NotMeasured",
    "test_same_name[outer]": "this test measured 'main' already; give each measurement a name:  jitperf.measure(..., "
    'name="second")\ntest_g.py:56: NotMeasured',
    "test_caught[outer]": "not measured: the test is marked, but jitperf() raised an error that the test caught\n"
    "test_g.py:61: NotMeasured",
    "test_no_such_helper[inner]": "jitperf marker: inner helper library.nosuch cannot be found: library has no "
    '"nosuch".\ntest_g.py:66: *',
    "test_no_such_module[inner]": 'jitperf marker: inner helper nolib.f cannot be found: there is no module "nolib"*\n'
    "test_g.py:70: *",
    "test_uncalled_helper[inner]": "inner helper library.unused was never called by f. *\ntest_g.py:74: NotMeasured",
    "test_static[outer]": 'outer needs a static argument: power got n=3 (int). Add  jit={"static_argnames": '
    '["n"]}  to the '
    "marker\ntest_g.py:78: NotMeasured",
    "test_static_of_helper[inner]": "inner needs a static argument: library.power got n=3 (int). Add  "
    'inner={"library.power": {"static_argnames": ["n"]}}  to the marker\ntest_g.py:82: NotMeasured',
    "test_strategy[three]": "strategy 'three': build(f) returned int, expected a callable\ntest_g.py:86: NotMeasured",
}


def test_each_mistake_is_told_and_the_other_tests_go_on(project: Any) -> None:
    project.write_library(LIBRARY)
    project.write_tests(GOOD)
    recorded = project.record()
    assert sorted(project.entries()) == [
        "test_fixture_alone / main / eager",
        "test_fixture_alone / main / outer",
        "test_good / main / outer",
        "test_names / main / outer",
        "test_names / second / outer",
        "test_other_fixture / main / outer",
    ]

    project.write_tests(GOOD + WRONG)
    gated = project.quick_run()
    project.assert_messages(gated, MESSAGES)
    gated.assert_outcomes(passed=8, failed=10, errors=2)
    assert project.baseline.read_bytes() == recorded

    updated = project.quick_run("--jitperf-update", "-k", "not good")
    updated.assert_outcomes(passed=7, failed=10, errors=2, deselected=1)
    assert project.baseline.read_bytes() == recorded


def test_an_exception_of_the_function_is_shown_without_frames_of_the_plugin(project: Any) -> None:
    project.write_library(LIBRARY)
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["eager", "outer", "inner", "both"], inner=[library.broken])
        def test_broken(jitperf):
            jitperf(library.broken, X)
        """
    )
    result = project.quick_run()
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["E  *NameError: name 'no_such_name' is not defined", "library.py:19: NameError"])
    result.stdout.no_fnmatch_line("*pytest_jitperf*")
    result.stdout.no_fnmatch_line("*_trial*")


def test_a_test_that_fails_before_it_measures_fails_for_its_own_reason(project: Any) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
        def test_assert(jitperf):
            jitperf(library.f, X)
            assert X.shape == (9,)

        @pytest.mark.jitperf(strategies=["outer"])
        def test_skip(jitperf):
            pytest.skip("not today")
        """
    )
    result = project.quick_run()
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["E       assert (8,) == (9,)"])
    result.stdout.no_fnmatch_line("*over budget*")
