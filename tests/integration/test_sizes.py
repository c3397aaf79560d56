"""A sweep over sizes: one item a strategy, one table, baselines of each size, and a growth that can be gated."""

from __future__ import annotations

import re
from typing import Any

import pytest

GROWING = """
import jax.numpy as jnp

def pairwise(x):
    return jnp.abs(x[:, None] - x[None, :]).sum(-1)

def smooth(x):
    for _ in range(30):
        x = jnp.sin(x) + 0.5 * x
    return x
"""


def sweep(function: str, more: str = "", sizes: str = "1000, 250, 500, 2000") -> str:
    return f"""
        SIZES = {{n: lambda n=n: (jnp.linspace(0.0, 1.0, n),) for n in ({sizes})}}

        @pytest.mark.jitperf(strategies=["outer"], sizes=SIZES{more})
        def test_sweep(jitperf):
            y = jitperf(library.{function})
            assert y.shape == (max(SIZES),)
    """


def test_each_size_is_recorded_and_gated_and_the_growth_is_told(project: Any) -> None:
    project.write_library(GROWING)
    project.write_tests(sweep("pairwise"))
    project.record()
    names = sorted(project.entries())
    assert names == [f"test_sweep / {n} / outer" for n in ("1000", "2000", "250", "500")]
    result = project.quick_run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "test_g.py::test_sweep",
            "  outer 250 * ok (same program)",
            "  outer 500 * ok (same program)",
            "  outer 1000 * ok (same program)",
            "  outer 2000 * ok (same program)",
            "  growth outer: run *",
            "4 measured, 4 gated (4 same program), 0 without a baseline",
        ]
    )


def test_a_growth_within_its_limit_passes(project: Any) -> None:
    project.write_library(GROWING)
    project.write_tests(sweep("smooth", ', growth="5"'))
    project.quick_run().assert_outcomes(passed=1)


def test_a_growth_that_is_too_steep_fails(project: Any) -> None:
    """The limit is far below what it is, so that it is so on a busy machine too."""
    project.write_library(GROWING)
    project.write_tests(sweep("pairwise", ', growth="0.4"', "250, 500, 1000, 2000, 4000, 6000"))
    result = project.quick_run()
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert re.search(
        r"^growth over budget: run grows as n\^\d\.\d\d \(n\^\d\.\d\d \.\.\. (n\^\d\.\d\d|\?)\) from 250 to 6000, "
        r"allowed n\^0\.4$",
        text,
        re.MULTILINE,
    )
    assert "rule  budget growth=0.4 (marker)" in text


def test_sizes_with_names_count_elements_and_a_second_measurement_has_its_own(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # where a line is broken hangs on the numbers
    project.write_tests(
        """
        SIZES = {
            "small": lambda: jnp.ones(8),
            "large": lambda: ((jnp.ones(64),), {}),
            "huge": lambda: (jnp.ones(512),),
        }

        @pytest.mark.jitperf(strategies=["outer"], sizes=SIZES)
        def test_named(jitperf):
            jitperf(library.f)
            jitperf.measure(library.g, name="second")
        """
    )
    result = project.quick_run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "test_g.py::test_named",
            "  outer small *",
            "  outer large *",
            "  outer huge *",
            "  growth outer: run *; n is the number of elements*",
            "test_g.py::test_named / second",
            "  outer small *",
        ]
    )


def test_arguments_beside_sizes_are_refused(project: Any) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"], sizes={8: lambda: jnp.ones(8), 16: lambda: jnp.ones(16)})
        def test_both(jitperf):
            jitperf(library.f, X)
        """
    )
    result = project.quick_run()
    project.assert_messages(
        result,
        {
            "test_both[outer]": "jitperf() got args, and the marker's sizes= makes the arguments; write  jitperf(f)\n"
            "test_g.py:*: NotMeasured"
        },
    )


def test_disabled_it_is_called_once_with_the_largest_size(project: Any) -> None:
    project.write_library(GROWING)
    project.write_tests(sweep("smooth"))
    result = project.quick_run("--jitperf-disable")
    result.assert_outcomes(passed=1)


def test_the_growth_is_a_property_of_the_junit_file(project: Any) -> None:
    project.write_library(GROWING)
    project.write_tests(sweep("pairwise"))
    project.quick_run("--junitxml=report.xml")
    text = (project.pytester.path / "report.xml").read_text(encoding="utf-8")
    assert re.search(r'name="jitperf\.main\.growth" value="(n\^|hardly)', text)
    assert 'name="jitperf.2000.run"' in text


def test_sizes_that_make_the_same_arguments_are_refused(project: Any) -> None:
    """The classic slip: a lambda in a comprehension takes the last value of the loop."""
    project.write_library(GROWING)
    project.write_tests(sweep("smooth").replace("lambda n=n:", "lambda:"))
    project.assert_messages(
        project.quick_run(),
        {
            "test_sweep[outer]": 'sizes "250" and "500" make the same arguments; a lambda that is made in a loop takes '
            "the loop's last value, unless it is written  lambda n=n: ...\ntest_g.py:*: NotMeasured"
        },
    )
