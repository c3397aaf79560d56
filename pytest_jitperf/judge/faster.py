"""Whether a strategy is as much faster than another as it should be, by a race in this run."""

from __future__ import annotations

from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import resolution, with_limit
from pytest_jitperf.plan import Plan

__all__ = ["faster_findings"]


def faster_findings(plan: Plan, evidence: Evidence) -> list[Finding]:
    """A finding for each strategy that this one should be faster than.

    Args:
        plan: With the factors.
        evidence: With the races: run time of the other over that of this one.
    """
    return [_finding(plan, other, factor, evidence) for other, factor in plan.faster_than.items()]


def _finding(plan: Plan, other: str, factor: float, evidence: Evidence) -> Finding:
    found = evidence.faster.get(other)
    rule = f"faster_than {plan.strategy_name}: {other} x{factor:g} (marker)"
    if found is None or isinstance(found, str):
        reason = found or ("a wrong result is not raced" if evidence.wrong else "it was not raced")
        sentence = f"not measured: faster_than {other} could not be raced: {reason}"
        return Finding(outcome=Outcome.NOT_MEASURED, sentence=sentence, rule=rule, short=f"not raced with {other}")
    estimate, low, high, _ = with_limit(found, factor)
    core = ", on one core" if found.one_core else ""
    said = f"x{estimate} (x{low} ... x{high}) as fast as {other}{core}"
    expected = f"at least x{factor:g} expected"
    short = f"x{estimate} as fast as {other}"
    if found.decided and found.high < factor:
        outcome, sentence = Outcome.NOT_FASTER, f"not fast enough: {said}, {expected}"
    elif found.decided and found.low > factor:
        outcome, sentence, short = Outcome.OK, f"fast enough: {said}, {expected}", ""
    else:
        outcome = Outcome.INCONCLUSIVE
        sentence = (
            f"faster_than {other} inconclusive: {said} after {found.rounds} round{'' if found.rounds == 1 else 's'} in "
            f"{found.seconds:.1f} s{resolution(found)}, {expected}; --jitperf-max-time gives it more time"
        )
    return Finding(outcome=outcome, sentence=sentence, ratio=found, limit=factor, rule=rule, short=short)
