"""A program that computes nothing is no improvement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.emptiness import EMPTY, emptied, is_empty
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.judge.verdict import Evidence, judge
from pytest_jitperf.measurement import Comparison, Measurement, Program, Ratio
from pytest_jitperf.plan import Plan
from pytest_jitperf.settings import Settings

WORK = {"parameter": 1, "fusion": 1, "sine": 1}
NOTHING = {"parameter": 1, "constant": 1, "broadcast": 1}


def program(operations: dict[str, int]) -> Program:
    return Program(fingerprint="sha256:" + "c" * 64, inputs="x: f32[64]", operations=operations)


@pytest.mark.parametrize(
    ("operations", "empty"),
    [
        (NOTHING, True),
        ({"parameter": 2, "copy": 1, "tuple": 1}, True),
        (WORK, False),
        ({"parameter": 1, "transpose": 1}, False),
        ({"custom-call lapack_spotrf_ffi": 1}, False),
        ({}, False),
    ],
    ids=["constant", "its arguments", "work", "moves data", "a library's", "not known"],
)
def test_it_has_no_operation_that_computes(operations: dict[str, int], empty: bool) -> None:
    assert (is_empty(program(operations)), is_empty(None)) == (empty, False)


def test_it_is_not_gated_where_the_baselines_program_did_compute(
    plan_for: Callable[..., Plan],
    measure: Callable[..., Measurement],
    record: Callable[..., Entry],
    ratio: Callable[..., Ratio],
) -> None:
    faster = Comparison(same=False, run=ratio(0.1, 0.09, 0.11), xla=ratio(1, 0.99, 1.01), old_operations=WORK)

    verdict = judge(plan_for(), measure(program=program(NOTHING)), record(), Evidence(program=faster))

    reason = "the compiled program computes nothing any more"
    assert (verdict.outcome, verdict.worst.short, verdict.notes) == (Outcome.NOT_GATED, reason, ())
    assert verdict.worst.sentence == (
        f"not gated: {reason}, so what it takes says nothing about the function; is its result still returned?"
    )
    assert Outcome.IMPROVED in {each.outcome for each in verdict.findings}


@pytest.mark.parametrize(
    "comparison",
    [
        None,
        Comparison(same=True, how="optimised", old_operations=WORK),
        Comparison(same=False, old_operations=NOTHING),
        Comparison(same=False),
    ],
    ids=["not compared", "the same", "it did not either", "not known"],
)
def test_else_it_is_a_note_alone(comparison: Comparison | None) -> None:
    assert emptied(program(NOTHING), comparison) == []


def test_what_computes_is_not_held_up(ratio: Callable[..., Ratio]) -> None:
    assert emptied(program(WORK), Comparison(same=False, old_operations=WORK)) == []


@pytest.mark.parametrize(("settings", "recorded"), [({}, False), ({"mode": "update"}, True)], ids=["new", "update"])
def test_the_note_is_there_without_a_baseline_too(
    plan_for: Callable[..., Plan], measure: Callable[..., Measurement], settings: dict[str, Any], recorded: bool
) -> None:
    plan = plan_for(settings=replace(Settings(), **settings))

    verdict = judge(plan, measure(program=program(NOTHING)), None, Evidence())

    assert (verdict.outcome is Outcome.OK, verdict.notes) == (recorded, (EMPTY,))
