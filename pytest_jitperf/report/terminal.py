"""The table of a run and its closing lines."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tabulate import tabulate

from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import UpdateResult
from pytest_jitperf.metrics import unit_of
from pytest_jitperf.report.counting import count_sentences
from pytest_jitperf.report.grouping import Group, custom_metrics, groups, one_line
from pytest_jitperf.report.guide import advise, choice, recommendation
from pytest_jitperf.report.sweep import cheapest_by_size, growth_lines, rows_by_strategy
from pytest_jitperf.row import Row
from pytest_jitperf.session import Written
from pytest_jitperf.units import Unit, format_quantity
from pytest_jitperf.unstable import unstable_part

__all__ = ["WIDTH", "count_line", "folded", "heading", "table", "written_lines"]

WIDTH = 80
"""Columns of a terminal of which no more is known; no line of ours is made longer on a wider one."""

_MOST_NAMED = 5
_HEADERS = ("", "compile", "run", "launches")


def heading(rows: Sequence[Row]) -> str:
    """The title of the section: devices and versions."""
    kinds = ", ".join(dict.fromkeys(row.device_kind for row in rows if row.device_kind)) or "nothing measured"
    versions = ", ".join(dict.fromkeys(f"jax {row.jax}" for row in rows if row.jax))
    return f"jitperf: {kinds}{', ' if versions else ''}{versions}"


def table(rows: Iterable[Row], *, verbose: bool = False, width: int = WIDTH) -> list[str]:
    """The lines of the table: per device and test, one line per strategy, and which of them to choose.

    Args:
        rows: All rows of the run.
        verbose: Whether what was compiled again stands below a strategy.
        width: Columns that a line may take.
    """
    lines: list[str] = []
    for sweep, found in groupby(groups(rows), key=lambda group: group.sweep):
        if not sweep:
            for group in found:
                lines += [group.title, *_strategies(group.rows, [group], verbose, width), *_guide(group, width)]
            continue
        sizes = list(found)
        lines += [sweep, *_strategies(rows_by_strategy(sizes), sizes, verbose, width)]
        for text in growth_lines(sizes):
            lines += _wrapped(text, width, "         ", "  growth ")
        for text in cheapest_by_size(sizes):
            lines += _wrapped(text, width, "         ", "  guide  ")
    return lines


def _strategies(rows: Sequence[Row], groups: Sequence[Group], verbose: bool, width: int) -> list[str]:
    """One line per row, under a line of headers."""
    group_of = {id(row): group for group in groups for row in group.rows}
    cells = [_cells(row, group_of[id(row)]) for row in rows]
    custom = custom_metrics(rows)
    printed = tabulate(
        [[*each[:4], *_custom(row, custom)] for row, each in zip(rows, cells, strict=True)],
        headers=[*_HEADERS, *custom],
        tablefmt="plain",
        colalign=("left", *["right"] * (3 + len(custom))),
        disable_numparse=True,
    ).splitlines()
    lines = [f"  {printed[0]}".rstrip()]
    for row, line, (*_, word, note) in zip(rows, printed[1:], cells, strict=True):
        lines += _with_verdict(f"  {line}", word, note, width)
        if verbose:
            lines += [each for text in row.compiled for each in _wrapped(one_line(text), width, "        ", "      ")]
    return lines


def _custom(row: Row, names: Sequence[str]) -> list[str]:
    return [format_quantity(row.metrics.get(name), unit_of(name)) for name in names]


def _guide(group: Group, width: int) -> list[str]:
    """Where to put the jit, for each device on which there is a choice."""
    lines: list[str] = []
    for advice in advise(group):
        label = f"  guide {advice.device}  " if advice.device else "  guide  "
        indent = " " * len(label)
        lines += _wrapped(choice(advice), width, indent, label)
        if advice.expected_calls is not None:
            lines += _wrapped(recommendation(advice), width, indent)
    return lines


def _with_verdict(line: str, word: str, note: str, width: int) -> list[str]:
    """The verdict behind the numbers; what does not fit beside them goes below, indented."""
    whole = f"{line}   {word}{'   ' if note else ''}{note}".rstrip()
    if len(whole) <= width:
        return [whole]
    below = _wrapped(note, width, "      ")
    beside = f"{line}   {word}".rstrip()
    return [beside, *below] if len(beside) <= width else [line.rstrip(), f"      {word}", *below]


def _wrapped(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Lines of at most that many columns; a word that is longer has a line of its own."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cells(row: Row, group: Group) -> tuple[str, ...]:
    return (
        group.name_of(row),
        format_quantity(row.compile, Unit.SECONDS),
        format_quantity(row.run, Unit.SECONDS),
        format_quantity(row.launches, Unit.COUNT),
        row.outcome,
        one_line("; ".join(group.notes_on(row))),
    )


def count_line(rows: Sequence[Row], unmeasured: int, update: bool, width: int = WIDTH) -> list[str]:
    """The closing lines: see ``count_sentences``."""
    return [line for sentence in count_sentences(rows, unmeasured, update) for line in _wrapped(sentence, width)]


def written_lines(written: Written, shown: Callable[[Path], str], width: int | None = None) -> list[str]:
    """What became of the baselines: each change old -> new, entries of tests that are gone, errors.

    Args:
        written: What was done.
        shown: Writes a path for people.
        width: Columns to keep within; None for any.
    """
    return [line for text in _written(written, shown) for line in folded(text, width)]


def folded(text: str, width: int | None) -> list[str]:
    """A line as it is where it fits; else its words on several, below the first of them a little further in."""
    if width is None or len(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()))
    return _wrapped(text.lstrip(), width, f"{indent}  ", indent)


def _written(written: Written, shown: Callable[[Path], str]) -> list[str]:
    lines: list[str] = []
    for result in written.results:
        name = shown(result.path)
        unchanged = f", {len(result.unchanged)} unchanged" if result.unchanged else ""
        removed = f", {len(result.removed)} removed" if result.removed else ""
        lines.append(f"{name}: {len(result.changed)} written{unchanged}{removed}")
        for key, changes in result.changed.items():
            if len(changes) == 1:
                lines.append(f"  {key}: {changes[0]}")
            else:
                lines += [f"  {key}:", *(f"    {change}" for change in changes)]
        lines += [f"  {key}: removed" for key in result.removed]
        lines += _unstable_ids(result)
    for path, keys in written.orphans.items():
        now = written.renamed.get(path)
        keep = f"rename it to {now.name} if its tests are there now, else " if now is not None else ""
        cure = f"{keep}remove with --jitperf-prune"
        lines.append(f"{shown(path)}: {_entries(keys)} without a test: {_named(keys)}; {cure}")
    for path, keys in written.unmeasured.items():
        whose = "its test no longer measures" if len(keys) == 1 else "their tests no longer measure"
        lines.append(f"{shown(path)}: {_entries(keys)} that {whose}: {_named(keys)}; remove with --jitperf-prune")
    lines += [
        f"{shown(path)}: its test file is gone, and it cannot be read; restore the test file, or delete it"
        for path in written.lost
    ]
    for folder, names in written.unreferred.items():
        refers = f"{_programs(names)} that no entry refers to any more; remove with --jitperf-prune"
        lines.append(f"{shown(folder)}: {refers}")
    lines += [f"{shown(folder)}: {_programs(names)} removed" for folder, names in written.pruned.items()]
    lines += [f"ERROR {error}" for error in written.errors]
    return lines


def _programs(names: Sequence[str]) -> str:
    return "1 stored program" if len(names) == 1 else f"{len(names)} stored programs"


def _unstable_ids(result: UpdateResult) -> list[str]:
    """Entries that no later run will find again."""
    found = {key.test: part for key in result.changed if (part := unstable_part(key.test))}
    if not found:
        return []
    (first, *_), count = found.values(), len(found)
    ids, hold = ("1 id", "holds") if count == 1 else (f"{count} ids", "hold")
    return [f"  {ids} of these {hold} what changes from run to run ({first}): give the parameters ids of their own"]


def _entries(keys: Sequence[Key]) -> str:
    return "1 entry" if len(keys) == 1 else f"{len(keys)} entries"


def _named(keys: Sequence[Key]) -> str:
    more = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    return f"{', '.join(map(str, keys[:_MOST_NAMED]))}{more}"
