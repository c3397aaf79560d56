"""Donation is a promise about memory: losing it fails, however small the memory is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.differences import Traits, differences
from pytest_jitperf.judge.outcome import Outcome, Verdict
from pytest_jitperf.judge.verdict import Evidence, judge
from pytest_jitperf.measurement import Comparison, Measurement, Program
from pytest_jitperf.plan import Plan

KIB = 2**10
NOW, BEFORE = (
    Program(fingerprint="sha256:" + "c" * 64, inputs="x: f32[64]", donated=(0,)),
    StoredProgram(fingerprint="sha256:" + "a" * 64, donated=(0,)),
)
CHANGED = Evidence(program=Comparison(same=False))


@pytest.fixture
def judged(
    plan_for: Callable[..., Plan], measure: Callable[..., Measurement], record: Callable[..., Entry]
) -> Callable[..., Verdict]:
    """Judges a changed program by its memory alone: ``judged(before, now, program=..., tolerance=...)``."""

    def make(before: dict[str, float], now: dict[str, float], program: Program = NOW, **marker: Any) -> Verdict:
        measured, entry = measure(exact=now, program=program), record(exact=before, program=BEFORE)
        verdict = judge(plan_for(**marker), measured, entry, CHANGED)
        return replace(verdict, findings=tuple(each for each in verdict.findings if "bytes" in each.metric))

    return make


def said(verdict: Verdict) -> list[str]:
    return [each.sentence for each in verdict.findings]


def test_memory_that_no_result_takes_over_any_more_fails(judged: Callable[..., Verdict]) -> None:
    before = {"peak_bytes": 64 * KIB, "unused_donation_bytes": 0}

    verdict = judged(before, {"peak_bytes": 96 * KIB, "unused_donation_bytes": 64 * KIB})

    assert said(verdict) == [
        "peak_bytes 64 KiB -> 96 KiB",
        "unused_donation_bytes regressed: 0 B -> 64 KiB, allowed 0 B",
    ]
    assert verdict.why[0] == (
        "unused_donation_bytes: donation lost: donated memory that no result takes over 0 B -> 64 KiB"
    )


def test_without_the_donation_nothing_of_it_is_unused_and_the_peak_may_grow_by_its_share_alone(
    judged: Callable[..., Verdict],
) -> None:
    before, now = {"peak_bytes": 64 * KIB, "unused_donation_bytes": 0}, {"peak_bytes": 128 * KIB}

    verdict = judged(before, now, replace(NOW, donated=()))

    assert said(verdict) == [
        "peak_bytes regressed: 64 KiB -> 128 KiB, x2.00, allowed 67.2 KiB",
        "unused_donation_bytes 0 B -> 0 B",
    ]
    assert verdict.findings[0].rule == (
        "tolerance peak_bytes=5 % and 64 KiB (default), of which the amount is not allowed where fewer arguments are "
        "donated"
    )


@pytest.mark.parametrize(
    ("program", "marker"),
    [
        (NOW, {}),
        (replace(NOW, donated=()), {"tolerance": {"peak_bytes": "64 KiB"}}),
        # What is donated is known of programs that could be stored.
        (replace(NOW, donated=(), fingerprint=None), {}),
    ],
    ids=["as much is donated", "the marker allows it", "not known"],
)
def test_else_a_small_peak_may_grow_by_the_amount(
    judged: Callable[..., Verdict], program: Program, marker: dict[str, Any]
) -> None:
    verdict = judged({"peak_bytes": 64 * KIB}, {"peak_bytes": 128 * KIB}, program, **marker)

    assert [each.outcome for each in verdict.findings] == [Outcome.OK]


def test_a_donation_that_is_used_again_is_told_as_well() -> None:
    lost, kept = (Traits(exact={"unused_donation_bytes": size}) for size in (64 * KIB, 0))

    assert [each.text for each in differences(lost, kept)] == ["donated memory that no result takes over 64 KiB -> 0 B"]
    assert differences(kept, Traits()) == []
