"""The text of a failure: what, how much, why, by which rule, and how to accept it."""

from __future__ import annotations

from pytest_jitperf.judge.outcome import Outcome, Verdict
from pytest_jitperf.measurement import Measurement

__all__ = ["accept_command", "failure_text"]

_ACCEPTABLE = frozenset(
    {Outcome.REGRESSED, Outcome.NEW, Outcome.INPUTS_CHANGED, Outcome.ENVIRONMENT_CHANGED, Outcome.NOT_GATED}
)
_LINES_OF_WHY = 2


def accept_command(nodeid: str) -> str:
    """The command that records this item's numbers as its baseline."""
    quoted = nodeid.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return f'pytest "{quoted}" --jitperf-update'


def failure_text(
    verdict: Verdict, *, nodeid: str, strategy: str, measured: Measurement | None, where: str, verbose: bool
) -> str:
    """Writes the failure of one measurement.

    Args:
        verdict: What fails; under strict, where no finding fails by itself, the worst one.
        nodeid: Of the item.
        strategy: Name of the strategy.
        measured: The measurement, or None where there is none.
        where: File and entry of the baseline.
        verbose: Whether all of the explanation is printed, or its two weightiest lines.

    Returns:
        Several lines, the first of which says what failed.
    """
    failures = verdict.failures or (verdict.worst,)
    lines = [failures[0].sentence]
    device = f", device {measured.device_kind}" if measured is not None else ""
    lines.append(f"  strategy {strategy}{device}; {where}")
    for each in failures[1:]:
        lines.append(f"  also  {each.sentence}")
    why = verdict.why if verbose else verdict.why[:_LINES_OF_WHY]
    lines += [f"  why   {line}" for line in why]
    if len(why) < len(verdict.why):
        lines.append(f"        ({len(verdict.why) - len(why)} more with -vv)")
    rules = dict.fromkeys(each.rule for each in failures if each.rule)
    lines += [f"  rule  {rule}" for rule in rules]
    unconfirmed = [
        each
        for each in failures
        if each.metric == "run"
        and each.ratio is not None
        and each.outcome is Outcome.REGRESSED
        and not each.ratio.confirmed
    ]
    if unconfirmed:
        lines.append("  note  not confirmed with fresh executables: the time for extra compiling was used up")
    if measured is not None:
        lines += [f"  note  {note}" for note in measured.notes]
    if any(each.outcome in _ACCEPTABLE for each in failures):
        lines.append(f"  accept it with   {accept_command(nodeid)}")
    return "\n".join(lines)
