"""Tests that something else than pytest runs: measured where that makes sense, else refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

ASYNCHRONOUS = """
import asyncio

@pytest.mark.asyncio
@pytest.mark.jitperf(strategies=["outer"])
async def test_good(jitperf):
    await asyncio.sleep(0)
    y = jitperf(library.f, X)
    await asyncio.sleep(0)
    assert y.shape == X.shape

@pytest.mark.asyncio
@pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
async def test_over(jitperf):
    jitperf(library.f, X)
"""

GIVEN = """
from hypothesis import given, strategies

@pytest.mark.jitperf(strategies=["outer"])
@given(n=strategies.integers(1, 5))
def test_given(jitperf, n):
    jitperf(library.f, jnp.ones(n))
"""

THREADS = """
import threading

@pytest.mark.jitperf(strategies=["outer"])
def test_threads(jitperf):
    def slow(x):
        other = threading.Thread(target=second)
        other.start()
        other.join()
        return library.f(x)

    def second():
        with pytest.raises(Exception, match="another thread of this process is measuring at this moment"):
            jitperf.measure(library.f, args=(X,), name="second")

    jitperf(slow, X)
"""


def test_asynchronous_tests_are_measured_and_judged(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pytest_asyncio")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly")
    project.pytester.makeini("[pytest]\npythonpath = .\nasyncio_default_fixture_loop_scope = function\n")
    project.write_tests(ASYNCHRONOUS)
    result = project.quick_run("--jitperf-missing=ok")
    result.assert_outcomes(passed=1, failed=1)
    project.assert_messages(result, {"test_over[outer]": "peak_bytes over budget: 64 B, budget 1 B*"})


def test_a_test_with_drawn_inputs_is_refused(project: Any) -> None:
    pytest.importorskip("hypothesis")
    project.write_tests(GIVEN)
    result = project.quick_run()
    result.assert_outcomes(errors=1)
    project.assert_messages(
        result,
        {"test_given[outer]": "test_g.py::test_given[outer]: jitperf cannot measure a test under @given, *NotMeasured"},
    )


def test_one_thread_measures_at_a_time(project: Any) -> None:
    project.write_tests(THREADS)
    project.quick_run("--jitperf-missing=ok").assert_outcomes(passed=1)


def test_a_sentence_stays_a_sentence_where_something_else_than_the_plugin_catches_it(project: Any) -> None:
    if int(pytest.__version__.partition(".")[0]) < 9:
        pytest.skip("subtests came with pytest 9")
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"])
        def test_twice(jitperf, subtests):
            with subtests.test("first"):
                jitperf(library.f, X)
            with subtests.test("second"):
                jitperf(library.f, X)
        """
    )
    result = project.quick_run("--jitperf-missing=ok")
    result.stdout.fnmatch_lines(
        [">           jitperf(library.f, X)", "E           *MeasurementError: this test measured 'main' already; *"]
    )
    result.stdout.no_fnmatch_line("*pytest_jitperf/*")
