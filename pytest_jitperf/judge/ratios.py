"""A raced or paired ratio against the largest one that is allowed."""

from __future__ import annotations

from typing import Literal

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Ratio, Settled
from pytest_jitperf.units import Tolerance, Unit, format_change

__all__ = ["largest_run_ratio", "ratio_finding", "resolution", "span", "with_limit"]

_LARGEST = 1000.0


def largest_run_ratio(tolerance: Tolerance, new: float | None) -> float:
    """The ratio new / old up to which a tolerance lets a time pass, by its share or by its absolute amount.

    A race knows today's time and the ratio, so the amount is turned into a ratio through today's time:
    ``new - old <= amount`` is ``new / old <= 1 / (1 - amount / new)``.

    Example:
        ``5 % and 1 ms`` at 4 ms today lets x1.33 pass, since 4 ms is within 1 ms of 3 ms; at 100 ms, x1.05.

    Args:
        tolerance: Of ``run``; its amount in seconds.
        new: Today's time, seconds, or None where it is not known; then only the share counts.

    Returns:
        At least 1; 1000 where the whole of today's time is within the amount.
    """
    share = 1 + tolerance.relative
    if not new or not tolerance.absolute:
        return share
    left = 1 - tolerance.absolute / new
    return max(share, 1 / left if left > 1 / _LARGEST else _LARGEST)


def ratio_finding(
    metric: str,
    ratio: Ratio,
    limit: float,
    rule: str,
    *,
    new: float | None = None,
    old: float | None = None,
    kind: Literal["rounds", "pairs"] = "rounds",
    of: str = "",
    believed: bool | None = None,
    remedy: str = "",
) -> Finding:
    """Judges a ratio.

    Args:
        metric: What was compared.
        ratio: New over old.
        limit: The largest that passes, 1 or more.
        rule: What set it.
        new: Seconds of today, or None where only the ratio is known.
        old: Seconds of the baseline as they would be today, or None.
        kind: Rounds of a race, or pairs of recompiles.
        of: What kind of time it is, behind the numbers: ``"CPU time"``.
        remedy: What is said of an open verdict in place of the option that gives it more time.
        believed: Whether the interval may decide; where None, whether the race said that it is clear of its limit.
    """
    clear = ratio.decided if believed is None else believed
    factors = with_limit(ratio, limit)
    core = ", on one core" if ratio.one_core else ""
    said = f"x{factors[0]} (x{factors[1]} ... x{factors[2]}){core}"
    change = "" if old is None or new is None else f"{format_change(old, new, Unit.SECONDS)}{of and ' '}{of}, "
    allowed = f"allowed x{factors[3]}"
    # A regression that fresh executables do not show is not the program's.
    luck = ""
    if ratio.first is not None:
        luck = f"; slower with the first executables (x{ratio.first:.2f}), not with fresh ones"
    short = f"{metric} {said}"
    if clear and ratio.low > limit:
        outcome, sentence = Outcome.REGRESSED, f"{metric} regressed: {change}{said}, {allowed}"
    elif clear and ratio.high < 1 / limit:
        outcome, sentence = Outcome.IMPROVED, f"{metric} improved: {change}{said}; record it with --jitperf-update"
    elif clear and ratio.high < limit:
        outcome, sentence = Outcome.OK, f"{metric} {said}, {allowed}{luck}"
    else:
        known = resolution(ratio)
        option = "--jitperf-max-time" if kind == "rounds" else "--jitperf-max-compile"
        outcome = Outcome.INCONCLUSIVE
        noun = kind.removesuffix("s") if ratio.rounds == 1 else kind
        if kind == "rounds" and ratio.executables == ratio.rounds:
            noun = "pair of executables" if ratio.rounds == 1 else "pairs of executables"
        sentence = (
            f"{metric} inconclusive: {said} after {ratio.rounds} {noun} in {ratio.seconds:.1f} s{known}, "
            f"{allowed}{luck}; {remedy or f'{option} gives it more time'}"
        )
        short = f"{metric} x{factors[0]}{core}{known}"
    return Finding(
        outcome=outcome,
        sentence=sentence,
        metric=metric,
        old=old,
        new=new,
        ratio=ratio,
        limit=limit,
        rule=rule,
        short=short,
    )


def span(ratio: Ratio) -> str:
    """``x1.22 (x1.20 ... x1.24)``."""
    return f"x{ratio.estimate:.2f} (x{ratio.low:.2f} ... x{ratio.high:.2f})"


def with_limit(ratio: Ratio, limit: float) -> tuple[str, ...]:
    """Estimate, low, high and limit, with as many decimals as it takes to tell the ends from the limit."""
    written: tuple[str, ...] = ()
    for digits in (2, 3, 4, 6):
        written = tuple(f"{value:.{digits}f}" for value in (ratio.estimate, ratio.low, ratio.high, limit))
        ends_apart = all(text != written[3] for text in written[1:3])
        if ends_apart and (limit == 1 or written[3] != f"{1:.{digits}f}"):
            break
    return written


def resolution(found: Ratio | Settled) -> str:
    """``", resolution +-3 %"``; empty where too little is known for one."""
    if not 0 < found.low <= found.estimate <= found.high:
        return ""
    width = max(found.high / found.estimate, found.estimate / found.low) - 1
    return f", resolution +-{width:.0%}".replace("%", " %") if width < 10 else ""
