"""What a verdict does to its test, given how strict the run is."""

from __future__ import annotations

from typing import Literal

from pytest_jitperf.judge.outcome import Effect, Finding, Outcome, Verdict

__all__ = ["effect_of"]


def effect_of(verdict: Verdict, *, strict: bool, missing: Literal["ok", "warn", "fail"]) -> Effect:
    """The effect of a verdict.

    ======================  =======================  ==============
    outcome                 usually                  under strict
    ======================  =======================  ==============
    new                     as ``missing`` says      fails
    other warnings          warns                    fails
    passing or failing      as they are              as they are
    ======================  =======================  ==============

    Args:
        verdict: The verdict.
        strict: Whether what could not be gated fails.
        missing: What a test without a baseline does.
    """
    effects = [_effect(each, strict, missing) for each in verdict.findings]
    order = [Effect.FAIL, Effect.SKIP, Effect.WARN, Effect.PASS]
    return next(effect for effect in order if effect in effects)


def _effect(finding: Finding, strict: bool, missing: Literal["ok", "warn", "fail"]) -> Effect:
    effect = finding.effect
    if strict and effect in (Effect.WARN, Effect.SKIP):
        return Effect.FAIL
    if finding.outcome is Outcome.NEW:
        return {"ok": Effect.PASS, "warn": Effect.WARN, "fail": Effect.FAIL}[missing]
    return effect
