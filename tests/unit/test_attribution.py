"""Whose doing a change is where the compiler changed too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.attribution import Subject, code_part, compiler_effects, compiler_part, then_and_now
from pytest_jitperf.judge.differences import Traits
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Comparison, Measurement, Ratio, Sample

MIB = 2**20
COMPILER = "jaxlib 0.10.2 -> 0.12.0"
RUN = Ratio(estimate=1.22, low=1.2, high=1.24, rounds=9, seconds=1, decided=True)
EQUAL = replace(RUN, estimate=1.0, low=0.99, high=1.01)
MEMORY = Finding(outcome=Outcome.REGRESSED, sentence="", metric="peak_bytes")
TIME = Finding(outcome=Outcome.REGRESSED, sentence="", metric="run", ratio=RUN)

Measure = Callable[..., Measurement]
Record = Callable[..., Entry]


def subject(stored: float, replayed: float | None, now: float, *, equations: int = 20, **comparison: Any) -> Subject:
    """A program of so much memory as recorded, as compiled again, and today."""
    old = {} if replayed is None else {"peak_bytes": replayed * MIB}
    found = Comparison(**{"same": False, "old_exact": old, **comparison})
    kept = {"peak_bytes": stored * MIB, "jaxpr_eqns": 20}
    return Subject(
        comparison=found,
        stored=kept,
        before=Traits(exact=old or kept),
        now=Traits(exact={"peak_bytes": now * MIB, "jaxpr_eqns": equations}),
    )


@pytest.mark.parametrize(
    ("found", "moved", "said"),
    [
        (
            subject(4, 6, 6),
            [MEMORY],
            "jaxlib 0.10.2 -> 0.12.0: the baseline's own program has it too, peak_bytes 4 MiB -> 6 MiB",
        ),
        (
            subject(4, None, 6, same=True, how="fingerprint"),
            [MEMORY],
            "jaxlib 0.10.2 -> 0.12.0: the baseline's own program has it too, peak_bytes 4 MiB -> 6 MiB",
        ),
        (
            subject(4, 6, 6, run=RUN),
            [TIME, MEMORY],
            "jaxlib 0.10.2 -> 0.12.0 is not the cause of run, compared with it on both sides; of peak_bytes it is the "
            "cause: 4 MiB -> 6 MiB in the baseline's own program",
        ),
        (
            subject(4, 5, 6, run=RUN),
            [TIME, MEMORY],
            "jaxlib 0.10.2 -> 0.12.0 is not the cause of run, compared with it on both sides; of peak_bytes it is a "
            "part: 4 MiB -> 5 MiB in the baseline's own program",
        ),
        (
            subject(4, 6, 6, run=RUN),
            [MEMORY, TIME],
            "jaxlib 0.10.2 -> 0.12.0: the baseline's own program has it too, peak_bytes 4 MiB -> 6 MiB; it is not the "
            "cause of run, compared with it on both sides",
        ),
        (
            subject(4, 4, 6),
            [MEMORY],
            "jaxlib 0.10.2 -> 0.12.0 is not the cause: the baseline's own program still has peak_bytes 4 MiB",
        ),
        (
            subject(4, 4.01, 6, run=RUN),
            [TIME, MEMORY],
            "jaxlib 0.10.2 -> 0.12.0 is not the cause: the baseline's own program was compiled and run with it too, "
            "and still has peak_bytes 4.01 MiB",
        ),
        (
            subject(4, 5, 6),
            [MEMORY],
            "jaxlib 0.10.2 -> 0.12.0 is a part of it: peak_bytes of the baseline's own program 4 MiB -> 5 MiB",
        ),
        (
            subject(4, 4, 4, run=RUN),
            [TIME],
            "jaxlib 0.10.2 -> 0.12.0 is not the cause: the baseline's own program was compiled and run with it too",
        ),
        (
            subject(4, None, 6, cannot="no program was stored"),
            [MEMORY],
            "jaxlib 0.10.2 -> 0.12.0 may be the cause: the baseline's own program could not be compiled again (no "
            "program was stored)",
        ),
    ],
    ids=[
        "the same new value",
        "the same program",
        "memory is, time is not",
        "memory is in part, time is not",
        "memory is and comes first",
        "the old value",
        "nearly the old value",
        "in between",
        "raced under one compiler",
        "unknown",
    ],
)
def test_the_compiler_is_the_cause_of_what_the_old_program_has_too(
    found: Subject, moved: list[Finding], said: str
) -> None:
    assert compiler_part(COMPILER, found, moved) == said


GAINED = "the program changed: dot 1 -> 2"


@pytest.mark.parametrize(
    ("found", "jax_changed", "said"),
    [
        (subject(4, 6, 9, run=EQUAL), False, "the code, with the same XLA on both sides: peak_bytes 6 MiB -> 9 MiB, "
         "run x1.00; the program changed: dot 1 -> 2"),
        (subject(4, 6, 6, run=RUN), True, "jax's lowering or the code (as many jaxpr equations as before, 20), with "
         "the same XLA on both sides: peak_bytes the same, run x1.22; the program changed: dot 1 -> 2"),
        (subject(4, 6, 9, equations=960, xla=RUN), True, "the code or jax's lowering (jaxpr equations 20 -> 960), with "
         "the same XLA on both sides: peak_bytes 6 MiB -> 9 MiB, xla x1.22; the program changed: dot 1 -> 2"),
        (subject(4, None, 9), False, "the code; the program changed: dot 1 -> 2"),
        (subject(4, None, 6, same=True, how="fingerprint"), True,
         "neither the code nor jax's lowering: the program before XLA is the same"),
        (subject(4, 6, 6, same=True, how="optimised"), False, "not the code: XLA makes the same program of today's"),
        (subject(4, 4, 6, same=True, how="optimised"), False, "the code, with the same XLA on both sides: peak_bytes "
         "4 MiB -> 6 MiB; the program changed: dot 1 -> 2"),
    ],
    ids=[
        "the code",
        "lowering first where the jaxpr is as long",
        "the code first where it is not",
        "not compiled again",
        "the same before XLA",
        "the same after XLA",
        "the same after XLA, but for what it captures",
    ],
)  # fmt: skip
def test_the_code_answers_for_what_differs_under_one_compiler(found: Subject, jax_changed: bool, said: str) -> None:
    assert code_part(found, [MEMORY], GAINED, jax_changed=jax_changed) == said


def test_equations_that_were_not_counted_tell_nothing() -> None:
    found = replace(subject(4, 4, 6), stored={"peak_bytes": 4 * MIB})

    assert code_part(found, [MEMORY], GAINED, jax_changed=True) == (
        "the code or jax's lowering, with the same XLA on both sides: peak_bytes 4 MiB -> 6 MiB; "
        "the program changed: dot 1 -> 2"
    )


def test_what_the_compiler_made_of_the_old_program_is_told_with_its_times() -> None:
    stored = {"temp_bytes": 0, "flops": 1000.0, "jaxpr_eqns": 3}
    now = {"temp_bytes": MIB, "flops": 1500.0, "jaxpr_eqns": 7}
    found = Subject(comparison=Comparison(same=True), stored=stored, before=Traits(exact=stored), now=Traits(exact=now))

    assert compiler_effects(found, [MEMORY], {"run": (0.001, 0.002)}) == [
        "temp memory 0 B -> 1 MiB",
        "flops x1.5",
        "run 1 ms -> 2 ms",
    ]


def seconds(value: float) -> Sample:
    return Sample(median=value, low=value, high=value, rounds=1)


@pytest.mark.parametrize(
    ("comparison", "times"),
    [
        (Comparison(same=True), {"run": (0.001, 0.003), "xla": (0.02, 0.04)}),
        (Comparison(same=True, old_xla_seconds=0.05), {"run": (0.001, 0.003), "xla": (0.02, 0.05)}),
        (Comparison(same=False, run=replace(RUN, estimate=1.5), old_xla_seconds=0.05),
         {"run": (0.001, 0.002), "xla": (0.02, 0.05)}),
        (Comparison(same=False), {}),
    ],
    ids=["the same program", "compiled again", "raced", "not compared"],
)  # fmt: skip
def test_times_of_the_old_program_are_those_of_then_and_of_today(
    measure: Measure, record: Record, comparison: Comparison, times: Any
) -> None:
    measured = measure(timed={"run": seconds(0.003), "xla_cpu": seconds(0.04)})
    entry = record(timed={"run": seconds(0.001), "xla_cpu": seconds(0.02)})

    assert then_and_now(measured, entry, comparison) == times
    elsewhere = replace(measured, environment=replace(measured.environment, machine="another"))
    assert then_and_now(elsewhere, entry, comparison) == {}
