"""``inner:each``: one item for each helper, so that one sees which of them is worth its jit."""

from __future__ import annotations

import re
from typing import Any

LIBRARY = """
import jax.numpy as jnp

def dear(x):
    for _ in range(20):
        x = jnp.sin(x) + 0.5 * x
    return x

def cheap(x):
    return x * 2

def f(x):
    return cheap(dear(x))
"""

TEST = """
    @pytest.mark.jitperf(strategies=["eager", "inner:each"], inner=["library.dear", library.cheap])
    def test_f(jitperf):
        jitperf(library.f, X)
    """


def test_each_helper_is_jitted_alone_and_told_what_it_contributes(project: Any) -> None:
    project.write_library(LIBRARY)
    project.write_tests(TEST)
    project.record()
    assert sorted(project.entries()) == [
        "test_f / main / eager",
        "test_f / main / inner:cheap",
        "test_f / main / inner:dear",
    ]
    result = project.run("--jitperf-guide")
    result.assert_outcomes(passed=3)
    text = result.stdout.str()
    launches = dict(re.findall(r"^  (\S+) .* (\d+)   (?:reference|ok)", text, re.MULTILINE))
    assert launches == {"eager": "61", "inner:cheap": "61", "inner:dear": "2"}
    assert re.search(
        r"- of eager's [\d.]+ [mu]s a call, each helper jitted alone: dear saves [\d.]+ [mu]s a", " ".join(text.split())
    )


def test_one_may_be_named_and_selected(project: Any) -> None:
    project.write_library(LIBRARY)
    project.write_tests(TEST.replace('"inner:each"', '"inner:dear"'))
    project.quick_run().assert_outcomes(passed=2)
    project.write_tests(TEST)
    project.quick_run("--jitperf-strategies=inner:dear").assert_outcomes(passed=1, deselected=2)
    project.quick_run("--jitperf-strategies=inner:each").assert_outcomes(passed=2, deselected=1)


def test_a_name_that_is_no_helper_is_told(project: Any) -> None:
    project.write_library(LIBRARY)
    project.write_tests(TEST.replace('"inner:each"', '"inner:daer"'))
    result = project.quick_run()
    result.stdout.fnmatch_lines(['*strategies: unknown strategy "inner:daer"; did you mean "inner:dear"?*'])


def test_without_helpers_it_says_what_it_needs(project: Any) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["inner:each"])
        def test_f(jitperf):
            jitperf(library.f, X)
        """
    )
    result = project.quick_run()
    result.stdout.fnmatch_lines(
        ['jitperf marker (function test_f): strategies: "inner:each" needs inner=, which names the functions to jit']
    )


def test_a_parameter_that_takes_a_helper_away_is_told(project: Any) -> None:
    project.write_library(LIBRARY)
    less = 'pytest.param(1, marks=pytest.mark.jitperf(inner={"library.dear": None}))'
    parametrized = f'@pytest.mark.parametrize("n", [{less}])\n    @pytest.mark.jitperf(strategies'
    project.write_tests(
        TEST.replace("@pytest.mark.jitperf(strategies", parametrized).replace("(jitperf)", "(jitperf, n)")
    )
    result = project.quick_run()
    result.stdout.fnmatch_lines(['*strategies: "inner:dear" has no helper left: inner= here is cheap'])


def test_one_helper_is_raced_against_another(project: Any) -> None:
    project.write_library(LIBRARY)
    alone = TEST.replace('"eager", ', "")
    project.write_tests(alone.replace("inner=", 'faster_than={"inner:dear": {"inner:cheap": 1.5}}, inner='))
    project.run().assert_outcomes(passed=2)
    project.write_tests(alone.replace("inner=", 'faster_than={"inner:cheap": {"inner:dear": 1.5}}, inner='))
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["not fast enough: x0.* as fast as inner:dear, at least x1.5 expected"])
