"""The text of a failure: what, how much, why, by which rule, and how to accept it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pytest_jitperf.judge.outcome import ACCEPTABLE, Finding, Outcome, Verdict
from pytest_jitperf.measurement import Measurement

__all__ = ["accept_command", "command_in", "failure_text", "unconfirmed"]

_LINES_OF_WHY = 2
_ACCEPT = "  accept it with   "
_UNCONFIRMED = (
    "not confirmed with fresh executables: the time for extra compiling was used up; "
    "--jitperf-max-compile gives it more"
)
_SPECIAL = frozenset('"$`\\!')


def accept_command(nodeid: str, options: Sequence[str] = ()) -> str:
    """The command that records this item's numbers as its baseline, quoted for a POSIX shell.

    Args:
        nodeid: Of the item.
        options: Options of this run without which the item or its baseline would not be found.
    """
    quoted = shlex.quote(nodeid) if _SPECIAL & {*nodeid} else f'"{nodeid}"'
    return " ".join(["pytest", quoted, *map(shlex.quote, options), "--jitperf-update"])


def failure_text(
    verdict: Verdict,
    *,
    nodeid: str,
    strategy: str,
    measured: Measurement | None,
    where: str,
    verbose: bool,
    options: Sequence[str] = (),
) -> str:
    """Writes the failure of one measurement.

    Args:
        verdict: What fails; under strict, where no finding fails by itself, all that is unsettled.
        nodeid: Of the item.
        strategy: Name of the strategy.
        measured: The measurement, or None where there is none.
        where: File and entry of the baseline.
        verbose: Whether all of the explanation is printed, or its two weightiest lines.
        options: See ``accept_command``.

    Returns:
        Several lines, the first of which says what failed.
    """
    failures = verdict.failures or verdict.unsettled or (verdict.worst,)
    lines = [failures[0].sentence]
    device = f", device {measured.device_kind}" if measured is not None else ""
    lines.append(f"  strategy {strategy}{device}; {where}")
    lines += [f"  also  {each.sentence}" for each in failures[1:]]
    why = verdict.why if verbose else verdict.why[:_LINES_OF_WHY]
    lines += [f"  why   {line}" for line in why]
    if len(why) < len(verdict.why):
        lines.append(f"        ({len(verdict.why) - len(why)} more with -vv)")
    lines += [f"  rule  {rule}" for rule in dict.fromkeys(each.rule for each in failures if each.rule)]
    if doubt := unconfirmed(failures):
        lines.append(f"  note  {doubt}")
    notes = (*measured.notes, *verdict.notes) if measured is not None else verdict.notes
    lines += [f"  note  {note}" for note in notes]
    if all(_can_be_accepted(each, measured) for each in failures):
        lines.append(f"{_ACCEPT}{accept_command(nodeid, options)}")
    return "\n".join(lines)


def command_in(failure: str) -> str:
    """The command in the text of a failure that accepts it; empty where recording anew does not put it right."""
    return next((line.removeprefix(_ACCEPT) for line in failure.splitlines() if line.startswith(_ACCEPT)), "")


def unconfirmed(findings: Sequence[Finding]) -> str:
    """Says so where a race alone makes one of them fail; empty elsewhere. Compile times have their repeats within."""
    return _UNCONFIRMED if any(map(_rests_on_one_race, findings)) else ""


def _can_be_accepted(finding: Finding, measured: Measurement | None) -> bool:
    """Whether recording anew puts it right; what cannot be stored stays ungated however often it is recorded."""
    program = measured.program if measured is not None else None
    stored = program is None or not program.no_artifact
    return finding.outcome in ACCEPTABLE and (finding.outcome is not Outcome.NOT_GATED or stored)


def _rests_on_one_race(finding: Finding) -> bool:
    raced = (finding.metric == "run" and finding.outcome is Outcome.REGRESSED) or finding.outcome is Outcome.NOT_FASTER
    return raced and finding.ratio is not None and not finding.ratio.confirmed
