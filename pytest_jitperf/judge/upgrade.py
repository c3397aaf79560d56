"""What a changed environment did to a program that the code did not change."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.attribution import after_xla, then_and_now
from pytest_jitperf.judge.environments import changed
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.ratios import span
from pytest_jitperf.measurement import Comparison, Measurement
from pytest_jitperf.units import Unit, format_change

__all__ = ["raced_in_another", "same_in_another", "slower_in_another"]

# A stored time is worth little, so only a move by more than half is worth a word.
_MOVED = 1.5


def same_in_another(measured: Measurement, entry: Entry, noun: str, comparison: Comparison | None) -> Finding | None:
    """Says that the environment changed around the same program, and what that did to it.

    Args:
        measured: Today's measurement.
        entry: The baseline's entry.
        noun: What is the same, in the singular or plural: ``"the program"``.
        comparison: Of the one program; None where there are several.

    Returns:
        Nothing where the environment is the same.
    """
    differs = changed(entry, measured.environment)
    if not differs:
        return None
    when = "after" if comparison is not None and comparison.how == "optimised" else "before"
    verb = "are" if noun.endswith("s") else "is"
    effects = [each.text for each in after_xla(entry.exact, measured.exact)]
    effect = f"; today's XLA changed its {', '.join(effects)}" if effects else ""
    times = then_and_now(measured, entry, comparison) if comparison is not None else {}
    took = f"; recorded -> now, on this machine: {_written(times)}" if times else ""
    return Finding(
        outcome=Outcome.ENVIRONMENT_CHANGED,
        sentence=f"environment changed: {differs}; {noun} {when} XLA {verb} the same{effect}{took}",
        short=differs,
    )


def raced_in_another(measured: Measurement, entry: Entry, comparison: Comparison) -> list[Finding]:
    """Says that the environment changed around another program, which may have come of that.

    What the race found is then true of today's environment only.
    """
    differs = changed(entry, measured.environment)
    if not differs or comparison.run is None:
        return []
    sentence = f"environment changed: {differs}; the program is another one, and both were compiled in today's"
    return slower_in_another(measured, entry, comparison) or [
        Finding(outcome=Outcome.ENVIRONMENT_CHANGED, sentence=sentence, short=differs)
    ]


def slower_in_another(measured: Measurement, entry: Entry, comparison: Comparison) -> list[Finding]:
    """Warns where the baseline's own program takes more than half longer than when it was recorded on this machine.

    The race cannot see that, for both of its sides have been compiled by the same XLA.
    """
    differs = changed(entry, measured.environment)
    then, now = then_and_now(measured, entry, comparison).get("run", (0.0, 0.0))
    stored, run, ratio = entry.timed.get("run"), measured.timed.get("run"), comparison.run
    if not differs or stored is None or run is None or ratio is None:
        return []
    if now <= _MOVED * then or run.low / ratio.estimate <= stored.high:
        return []
    change = format_change(then, now, Unit.SECONDS)
    sentence = (
        f"environment changed: {differs}; on this machine the baseline's own program takes {change} now, and today's "
        f"{span(ratio)} of that"
    )
    return [Finding(outcome=Outcome.ENVIRONMENT_CHANGED, sentence=sentence, short=differs)]


def _written(times: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {format_change(then, now, Unit.SECONDS)}" for name, (then, now) in times.items())
