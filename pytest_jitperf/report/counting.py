"""What a run closes with: how many were measured, how many gated and how, and why any was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_jitperf.baseline.ages import PROMISED_MONTHS, months_apart
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.report.standing import Standing, failing, standing
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

__all__ = ["count_sentences"]

_WAYS = (
    ("same program", "same program"),
    ("race", "raced"),
    ("counts", "by counts"),
    ("stored times", "by stored times"),
    ("limits", "by limits"),
)
# Why a row is not gated.
_REASONS = (
    (Outcome.REFERENCE, "reference"),
    (Outcome.NEW, "without a baseline"),
    (Outcome.INPUTS_CHANGED, "with changed inputs"),
    (Outcome.ENVIRONMENT_CHANGED, "in a changed environment"),
    (Outcome.INCONCLUSIVE, "inconclusive"),
    (Outcome.NOT_GATED, "not gated"),
)


def count_sentences(rows: Sequence[Row], unmeasured: int, update: bool) -> list[str]:
    """The closing sentences, without their full stops: the counts, programs that moved on or are lost, what was cut.

    Each row is gated or counted under the reason why not; those that failed, as expected or not, are among them.

    Args:
        rows: All rows of the run.
        unmeasured: Marked items that gave no row.
        update: Whether the run records instead of gating.
    """
    failed = failing(rows)
    absent = sum(row.outcome == Outcome.NO_DEVICE.value and standing(row) is not Standing.FAILED for row in rows)
    measured = [row for row in rows if row.outcome != Outcome.NO_DEVICE.value]
    parts = [f"{len(measured)} measured"]
    if not update:
        parts += _gated(measured)
    not_recorded = " and not recorded" if update else ""
    if failed:
        parts.append(f"{len(failed)} failed{not_recorded}")
    expected = sum(row.failed and row.status == Status.XFAILED.value for row in measured)
    if expected:
        parts.append(f"{expected} failed as expected{not_recorded}")
    if absent:
        parts.append(f"{absent} skipped (no such device)")
    if unmeasured:
        parts.append(f"{unmeasured} not measured (skipped or failed before)")
    sentences = [", ".join(parts)]
    moved = sum(row.moved and not row.failed for row in measured)
    if moved and not update:
        moves = "program has" if moved == 1 else "programs have"
        sentences.append(
            f"{moved} {moves} moved on since recorded and will be raced in every run; record with --jitperf-update"
        )
    if not update:
        sentences += _stored(measured)
    compiles = sum(row.compiles for row in measured)
    cut = dict.fromkeys(sentence for row in measured for sentence in row.cut)
    if cut:
        extra = "1 extra compilation" if compiles == 1 else f"{compiles} extra compilations"
        sentences.append(f"{extra}; cut for lack of time: {', '.join(cut)}")
    return sentences


def _stored(measured: Sequence[Row]) -> list[str]:
    """What is wrong with stored programs that no verdict has rested on: it will matter once the code changes."""
    sentences = []
    lost = list(dict.fromkeys(reason for row in measured if row.gated_by == "same program" for reason in row.lost))
    if lost:
        programs = "1 stored program" if len(lost) == 1 else f"{len(lost)} stored programs"
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        sentences.append(f"{programs} could not be raced against if the code changed: {lost[0]}{more}")
    for (old, new), count in Counter((row.aged, row.jax) for row in measured if row.aged).items():
        entries = "1 entry" if count == 1 else f"{count} entries"
        sentences.append(
            f"the programs of {entries} were exported by jax {old}, about {months_apart(old, new)} months before jax "
            f"{new}, and JAX promises to read them for {PROMISED_MONTHS}; export them anew with --jitperf-update"
        )
    return sentences


def _gated(measured: Sequence[Row]) -> list[str]:
    reasons = {outcome.value for outcome, _ in _REASONS}
    gated = [row for row in measured if row.gated_by and row.outcome not in reasons]
    ways = [(sum(row.gated_by == way for row in gated), word) for way, word in _WAYS]
    how = ", ".join(f"{count} {word}" for count, word in ways if count)
    parts = [f"{len(gated)} gated{f' ({how})' if how else ''}"]
    for outcome, text in _REASONS:
        count = sum(row.outcome == outcome.value for row in measured)
        if count or outcome is Outcome.NEW:
            parts.append(f"{count} {text}")
    return parts
