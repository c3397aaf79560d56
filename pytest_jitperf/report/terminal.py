"""The table of a run and its closing lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tabulate import tabulate

from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.row import Row
from pytest_jitperf.session import Written
from pytest_jitperf.strategies import BUILTIN
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["count_line", "heading", "table", "written_lines"]

_WIDTH = 80
_HEADERS = ("", "compile", "run", "launches", "", "")


def heading(rows: Sequence[Row]) -> str:
    """The title of the section: devices and versions."""
    kinds = ", ".join(dict.fromkeys(row.device_kind for row in rows if row.device_kind)) or "nothing measured"
    versions = ", ".join(dict.fromkeys(f"jax {row.jax}" for row in rows if row.jax))
    return f"jitperf: {kinds}{', ' if versions else ''}{versions}"


def table(rows: Iterable[Row]) -> list[str]:
    """The lines of the table: per device and test, one line per strategy.

    Strategies stand in the order of the built-in ones, others after them by name, whatever order they ran in.
    """
    ordered = sorted(rows, key=lambda row: (row.device_kind, row.file, row.test, row.measurement, _place(row)))
    many_kinds = len({row.device_kind for row in ordered}) > 1
    lines: list[str] = []
    for (kind, file, test, measurement), group in groupby(
        ordered, key=lambda row: (row.device_kind, row.file, row.test, row.measurement)
    ):
        found = list(group)
        name = f"{file}::{test}" + (f" / {measurement}" if measurement != "main" else "")
        lines.append(f"{name}  ({kind})" if many_kinds and kind else name)
        cells = [_cells(row, found) for row in found]
        printed = tabulate(
            [each[:4] for each in cells],
            headers=_HEADERS[:4],
            tablefmt="plain",
            colalign=("left", "right", "right", "right"),
            disable_numparse=True,
        ).splitlines()
        lines.append(f"  {printed[0]}".rstrip())
        for line, (*_, word, note) in zip(printed[1:], cells, strict=True):
            lines += _with_verdict(f"  {line}", word, note)
    return lines


def _with_verdict(line: str, word: str, note: str) -> list[str]:
    """The verdict behind the numbers; what does not fit in 80 columns goes below, indented."""
    whole = f"{line}   {word}{'   ' if note else ''}{note}".rstrip()
    if len(whole) <= _WIDTH or not note:
        return [whole]
    lines = [f"{line}   {word}".rstrip()]
    words = note.split(" ")
    current = "     "
    for each in words:
        if len(current) + 1 + len(each) > _WIDTH and current.strip():
            lines.append(current)
            current = "     "
        current = f"{current} {each}"
    return [*lines, current]


def _cells(row: Row, group: Sequence[Row]) -> tuple[str, str, str, str, str, str]:
    notes = [row.note] if row.note and row.outcome != Outcome.OK_SAME.value else []
    twin = next((other for other in group if other is not row and _is_twin(row, other)), None)
    if twin is not None:
        notes.append(f"same program as {twin.strategy}")
    notes += [note for note in row.notes if row.outcome != Outcome.NO_DEVICE.value]
    return (
        row.strategy,
        format_quantity(row.compile, Unit.SECONDS),
        format_quantity(row.run, Unit.SECONDS),
        format_quantity(row.launches, Unit.COUNT),
        row.outcome,
        "; ".join(notes),
    )


def _is_twin(row: Row, other: Row) -> bool:
    return bool(row.optimised) and row.optimised == other.optimised and _place(other) < _place(row)


def _place(row: Row) -> tuple[int, str]:
    return (BUILTIN.index(row.strategy), "") if row.strategy in BUILTIN else (len(BUILTIN), row.strategy)


def count_line(rows: Sequence[Row], unmeasured: int, update: bool) -> list[str]:
    """The closing lines: how many were measured, how many gated and how, and why any was not.

    Args:
        rows: All rows of the run.
        unmeasured: Marked items that gave no row.
        update: Whether the run records instead of gating.
    """
    measured = [row for row in rows if row.outcome != Outcome.NO_DEVICE.value]
    gated = [row for row in measured if row.gated_by]
    ways = [
        (sum(row.gated_by == "same program" for row in gated), "same program"),
        (sum(row.gated_by == "race" for row in gated), "raced"),
        (sum(row.gated_by == "counts" for row in gated), "by counts"),
        (sum(row.gated_by == "stored times" for row in gated), "by stored times"),
    ]
    how = ", ".join(f"{count} {word}" for count, word in ways if count)
    parts = [f"{len(measured)} measured"]
    if not update:
        parts.append(f"{len(gated)} gated{f' ({how})' if how else ''}")
        for outcome, text in (
            (Outcome.REFERENCE, "reference"),
            (Outcome.NEW, "without a baseline"),
            (Outcome.INPUTS_CHANGED, "with changed inputs"),
            (Outcome.ENVIRONMENT_CHANGED, "in a changed environment"),
            (Outcome.INCONCLUSIVE, "inconclusive"),
            (Outcome.NOT_GATED, "not gated"),
        ):
            count = sum(row.outcome == outcome.value for row in measured)
            if count or outcome is Outcome.NEW:
                parts.append(f"{count} {text}")
        failed = sum(Outcome(row.outcome).effect is Effect.FAIL for row in measured)
        if failed:
            parts.append(f"{failed} failed")
    absent = len(rows) - len(measured)
    if absent:
        parts.append(f"{absent} skipped (no such device)")
    if unmeasured:
        parts.append(f"{unmeasured} not measured (skipped or failed before)")
    lines = [", ".join(parts)]
    moved = sum(row.moved and Outcome(row.outcome).effect is not Effect.FAIL for row in measured)
    if moved and not update:
        lines.append(
            f"{moved} {'program has' if moved == 1 else 'programs have'} moved on since recorded and will be raced in "
            "every run; record with --jitperf-update"
        )
    compiles = sum(row.compiles for row in measured)
    cut = [sentence for row in measured for sentence in row.cut]
    if cut:
        lines.append(f"{compiles} extra compilations; cut for lack of time: {', '.join(dict.fromkeys(cut))}")
    return lines


def written_lines(written: Written, shown: Callable[[Path], str]) -> list[str]:
    """What became of the baselines: each change old -> new, entries of tests that are gone, errors.

    Args:
        written: What was done.
        shown: Writes a path for people.
    """
    lines: list[str] = []
    for result in written.results:
        name = shown(result.path)
        unchanged = f", {len(result.unchanged)} unchanged" if result.unchanged else ""
        removed = f", {len(result.removed)} removed" if result.removed else ""
        lines.append(f"{name}: {len(result.changed)} written{unchanged}{removed}")
        for key, changes in result.changed.items():
            lines.append(f"  {key}: {changes[0] if len(changes) == 1 else ''}".rstrip())
            if len(changes) > 1:
                lines += [f"    {change}" for change in changes]
        lines += [f"  {key}: removed" for key in result.removed]
    for path, keys in written.orphans.items():
        names = ", ".join(str(key) for key in keys[:5]) + (f" and {len(keys) - 5} more" if len(keys) > 5 else "")
        lines.append(f"{shown(path)}: {len(keys)} without a test: {names}; remove with --jitperf-prune")
    lines += [f"ERROR {error}" for error in written.errors]
    return lines
