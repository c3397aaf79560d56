"""What an outcome does to its test."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jitperf.judge.outcome import Effect, Finding, Outcome, Verdict
from pytest_jitperf.judge.strictness import effect_of

PASS, WARN, SKIP, FAIL = Effect.PASS, Effect.WARN, Effect.SKIP, Effect.FAIL


def verdict(*outcomes: Outcome) -> Verdict:
    return Verdict(findings=tuple(Finding(outcome=each, sentence=each.value) for each in outcomes))


def test_every_outcome_has_its_word_and_its_effect() -> None:
    assert {each.value: (each.effect, effect_of(verdict(each), strict=True, missing="warn")) for each in Outcome} == {
        "reference": (PASS, PASS),
        "ok": (PASS, PASS),
        "ok (same program)": (PASS, PASS),
        "improved": (PASS, PASS),
        "new": (WARN, FAIL),
        "not gated": (WARN, FAIL),
        "environment changed": (WARN, FAIL),
        "inputs changed": (WARN, FAIL),
        "inconclusive": (WARN, FAIL),
        "no such device": (SKIP, FAIL),
        "not measured": (FAIL, FAIL),
        "NOT FASTER": (FAIL, FAIL),
        "OVER BUDGET": (FAIL, FAIL),
        "REGRESSED": (FAIL, FAIL),
        "WRONG RESULT": (FAIL, FAIL),
    }


@pytest.mark.parametrize(("missing", "effect"), [("ok", PASS), ("warn", WARN), ("fail", FAIL)])
def test_a_missing_baseline_does_what_the_option_says_and_fails_under_strict(missing: Any, effect: Effect) -> None:
    assert effect_of(verdict(Outcome.NEW), strict=False, missing=missing) is effect
    assert effect_of(verdict(Outcome.NEW), strict=True, missing=missing) is FAIL


def test_the_worst_finding_decides_in_whatever_order_they_stand() -> None:
    mixed = verdict(Outcome.OK, Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.WRONG_RESULT, Outcome.NEW)

    assert mixed.outcome is Outcome.WRONG_RESULT
    assert [each.outcome for each in mixed.failures] == [Outcome.WRONG_RESULT, Outcome.REGRESSED]
    assert [each.outcome for each in mixed.unsettled] == [Outcome.INCONCLUSIVE, Outcome.NEW]
    assert effect_of(mixed, strict=False, missing="ok") is FAIL
    assert effect_of(verdict(Outcome.OK, Outcome.INCONCLUSIVE), strict=False, missing="ok") is WARN


def test_a_finding_that_is_insisted_on_fails_and_keeps_its_word() -> None:
    insisted = Finding(outcome=Outcome.IMPROVED, sentence="better", insisted=True)
    found = Verdict(findings=(Finding(outcome=Outcome.INCONCLUSIVE, sentence="unclear"), insisted))

    assert (found.worst, found.failures, found.failed) == (insisted, (insisted,), True)
    assert effect_of(found, strict=False, missing="ok") is FAIL
