"""Which part of compiling moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.compiling import compile_parts
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Comparison, Measurement, Ratio

COMPILE = Finding(outcome=Outcome.REGRESSED, sentence="", metric="compile")
TRACE = Finding(outcome=Outcome.REGRESSED, sentence="", metric="trace")
XLA = Ratio(estimate=4.0, low=3.9, high=4.1, rounds=5, seconds=1, decided=True)
CHANGED = Comparison(same=False, xla=XLA, old_xla_seconds=0.05)

Split = Callable[..., list[str]]


@pytest.fixture
def split(measure: Callable[..., Measurement], record: Callable[..., Entry]) -> Split:
    """Splits the compile time of a program whose trace took 6 ms and whose lowering took 4 ms when it was recorded."""

    def parts(
        comparison: Comparison,
        relative: Mapping[str, float],
        calls: int | None,
        finding: Finding,
        again: Mapping[str, float] | None = None,
        **environment: Any,
    ) -> list[str]:
        host = {**measure().host, "trace_calls": calls} if calls is not None else {}
        cpu = {
            f"{name}_cpu": replace(measure().timed[f"{name}_cpu"], median=value / 100)
            for name, value in relative.items()
        }
        measured = measure(
            relative=relative,
            host=host,
            timed={**measure().timed, **cpu},
            environment=replace(measure().environment, **environment),
        )
        return compile_parts(measured, record(), Evidence(program=comparison, trace_again=again), [finding])

    return parts


def test_the_part_that_made_the_difference_comes_first_with_its_share(split: Split) -> None:
    assert split(CHANGED, {"trace": 3.6, "lower": 2.4}, 60_000, COMPILE) == [
        "compile: xla 50 ms -> 200 ms (75 % of the change), trace 6 ms -> 36 ms, lower 4 ms -> 24 ms CPU time; "
        "trace_calls 10,000 -> 60,000"
    ]


def test_as_many_python_calls_leave_the_work_between_them(split: Split) -> None:
    same = Comparison(same=True)

    # What the second look finds counts.
    assert split(same, {"trace": 9.9, "lower": 0.4}, 10_000, TRACE, {"trace": 18.6, "lower": 0.4}) == [
        "trace: trace 6 ms -> 186 ms (100 % of the change), lower 4 ms -> 4 ms CPU time; "
        "trace_calls 10,000 as before: Python takes longer between its calls"
    ]


@pytest.mark.parametrize(
    ("calls", "witness"), [(10_000, "; trace_calls 10,000 as before"), (None, "")], ids=["as before", "not counted"]
)
def test_xla_takes_no_blame_from_python(split: Split, calls: int | None, witness: str) -> None:
    assert split(CHANGED, {"trace": 0.6, "lower": 0.4}, calls, COMPILE) == [
        f"compile: xla 50 ms -> 200 ms (100 % of the change), trace 6 ms -> 6 ms, lower 4 ms -> 4 ms CPU time{witness}"
    ]


def test_traces_of_another_python_or_jax_are_not_compared(split: Split) -> None:
    assert split(CHANGED, {"trace": 3.6, "lower": 2.4}, 60_000, COMPILE, jax="0.12.0") == [
        "compile: xla 50 ms -> 200 ms CPU time; trace and lower are not compared with those of Python 3.11 and jax "
        "0.10.2"
    ]


def test_nothing_is_said_where_no_such_time_moved_or_none_is_known(split: Split) -> None:
    run = Finding(outcome=Outcome.REGRESSED, sentence="", metric="run")

    assert split(CHANGED, {"trace": 3.6, "lower": 2.4}, 60_000, run) == []
    assert split(Comparison(same=False), {"trace": 3.6, "lower": 2.4}, 60_000, COMPILE, jax="0.12.0") == []


def test_nothing_is_said_of_what_was_not_compared(
    measure: Callable[..., Measurement], record: Callable[..., Entry]
) -> None:
    assert compile_parts(measure(), record(), Evidence(), [COMPILE]) == []
