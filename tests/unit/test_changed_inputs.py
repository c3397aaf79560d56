"""Other inputs are not compared, but for what they do not decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.outcome import Outcome, Verdict
from pytest_jitperf.judge.verdict import Evidence, judge
from pytest_jitperf.measurement import Environment, Measurement
from pytest_jitperf.plan import Plan

AGAIN = ("every call: f, cfg: another Plain (reuse one object, or give its class __eq__ and __hash__)",)


@pytest.fixture
def judged(
    plan_for: Callable[..., Plan], measure: Callable[..., Measurement], record: Callable[..., Entry]
) -> Callable[..., Verdict]:
    """Judges a call of another static value: ``judged(compilations, retraces)``; the baseline compiled once."""

    def make(compilations: int, retraces: tuple[str, ...], strategy: str = "outer", **changes: object) -> Verdict:
        host = {**measure().host, "compilations": compilations, "launches": 4}
        measured = measure(inputs="x: f32[64]; cfg: static Plain #2", host=host, **changes)
        entry = record(inputs="x: f32[64]; cfg: static Eq #1")
        return judge(plan_for(strategy), measured, entry, Evidence(retraces=retraces))

    return make


def test_what_now_compiles_again_in_every_call_fails(judged: Callable[..., Verdict]) -> None:
    verdict = judged(2, AGAIN)

    assert [(each.outcome, each.metric, each.short) for each in verdict.findings] == [
        (Outcome.REGRESSED, "compilations", "compilations 1 -> 2"),
        (Outcome.INPUTS_CHANGED, "", ""),
    ]
    assert verdict.worst.sentence == "compilations regressed: 1 -> 2, x2.00, allowed 1"
    assert verdict.why == (f"compiled again: {AGAIN[0]}", "on the host: compilations 1 -> 2, launches 1 -> 4")
    assert (verdict.gated_by, verdict.notes) == (
        "counts",
        ("inputs changed: cfg: static Eq #1 -> static Plain #2; nothing else was compared",),
    )


@pytest.mark.parametrize(
    ("compilations", "retraces"),
    [(1, ()), (2, ("input 2: f, cfg: static 3 -> 4 (trace it, or keep to few values)",)), (1, AGAIN)],
    ids=["compiled once", "for another input", "as it did before"],
)
def test_else_nothing_is_compared(judged: Callable[..., Verdict], compilations: int, retraces: tuple[str, ...]) -> None:
    verdict = judged(compilations, retraces)

    assert ([each.outcome for each in verdict.findings], verdict.gated_by) == ([Outcome.INPUTS_CHANGED], "")


@pytest.mark.parametrize(
    ("before", "today", "fails"),
    [
        ("x: f32[64]; n: weak i32[]", "x: f32[64]; n: static int #1", True),
        ("x: f32[64]; cfg.lr: f32[]; cfg['n']: i32[]", "x: f32[64]; cfg: static Config #1", True),
        ("x: f32[64]; n: weak i32[]", "x: f32[128]; n: static int #1", False),
        ("x: f32[64]; n: weak i32[]; m: i32[]", "x: f32[64]; n: static int #1", False),
        ("x: f32[64]; n: static int #1", "x: f32[64]; n: weak i32[]", False),
        ("x: f32[64]; n: static int #1", "x: f32[64]; n: static int #2", False),
        ("x: f32[64]", "x: f32[64]; n: static int #1", False),
    ],
    ids=["a number", "leaves of one argument", "another shape too", "another is gone", "now traced", "value", "new"],
)
def test_what_was_traced_and_is_static_now_fails_where_it_compiles_more_often(
    plan_for: Callable[..., Plan],
    measure: Callable[..., Measurement],
    record: Callable[..., Entry],
    before: str,
    today: str,
    *,
    fails: bool,
) -> None:
    again = ("input 2: f, n: static 3 -> 4 (trace it, or keep to few values)",)
    measured, entry = measure(inputs=today, host={**measure().host, "compilations": 2}), record(inputs=before)

    verdict = judge(plan_for("outer"), measured, entry, Evidence(retraces=again))

    failed = [Outcome.REGRESSED] if fails else []
    assert [each.outcome for each in verdict.findings] == [*failed, Outcome.INPUTS_CHANGED]


def test_counts_of_another_jax_say_nothing(judged: Callable[..., Verdict], environment: Environment) -> None:
    verdict = judged(2, AGAIN, environment=replace(environment, jax="0.11.0"))

    assert [each.outcome for each in verdict.findings] == [Outcome.INPUTS_CHANGED]


def test_what_changed_around_the_code_is_named_beside_them(
    plan_for: Callable[..., Plan],
    measure: Callable[..., Measurement],
    record: Callable[..., Entry],
    environment: Environment,
) -> None:
    measured = measure(inputs="x: f64[64]", environment=replace(environment, x64=True))

    verdict = judge(plan_for(), measured, record(), Evidence())

    assert verdict.worst.sentence == (
        "inputs changed: f32[64] -> f64[64] (x64 False -> True); nothing was compared, record the new inputs with "
        "--jitperf-update"
    )
