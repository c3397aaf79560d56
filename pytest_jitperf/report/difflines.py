"""Two states of baselines side by side, in lines for people."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from pytest_jitperf.baseline.changes import Difference
from pytest_jitperf.baseline.comparison import EntryChange, surroundings
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["entry_title", "lines_of"]

Paint = Callable[[str, str], str]
"""Colours a text, or leaves it as it is: ``paint(text, "red")``."""

_HEADINGS: tuple[tuple[str, Callable[[EntryChange], bool]], ...] = (
    ("another program, the same numbers", lambda each: each.state == "changed" and each.program_changed),
    ("neither program nor numbers", lambda each: each.state == "changed"),
    ("added", lambda each: each.state == "added"),
    ("removed", lambda each: each.state == "removed"),
)


def lines_of(
    changed: Sequence[EntryChange], old: str, new: str, total: int, paint: Paint, width: int | None
) -> list[str]:
    """Writes what differs.

    Args:
        changed: In the order of ``compare``.
        old: Name of the old side.
        new: Name of the new side.
        total: How many entries there are on either side.
        paint: Colours a text.
        width: Columns to keep within; None for any.
    """
    title = _wrapped(f"{old} -> {new}: {_counted(changed, total)}", width, "")
    lines = [paint(each, "bold") for each in title]
    moved = [each for each in changed if each.numbers_moved]
    for each in moved:
        lines += ["", *_entry(each, paint, width)]
    rest = [each for each in changed if not each.numbers_moved]
    for heading, belongs in _HEADINGS:
        found = [each for each in rest if belongs(each)]
        rest = [each for each in rest if each not in found]
        if found:
            lines += ["", paint(heading, "bold")]
        for each in found:
            lines += _wrapped(entry_title(each), width, "  ")
            lines += [line for note in _notes(each) for line in _wrapped(note, width, "    ")]
    around = surroundings(changed)
    if around:
        lines += ["", paint("around the code", "bold")]
    for text, count in around:
        lines += _wrapped(f"{one_line(text)}  ({count} {_entries(count)})", width, "  ")
    return lines


def entry_title(change: EntryChange) -> str:
    """``tests/__jitperf__/test_step.json, test_step / outer / cpu``."""
    return f"{one_line(change.place.file)}, {change.place.key}"


def _counted(changed: Sequence[EntryChange], total: int) -> str:
    if not changed:
        return f"no difference in {total} {_entries(total)}"
    states = [each.state for each in changed]
    parts = [f"{states.count(state)} {state}" for state in ("changed", "added", "removed") if state in states]
    return f"{', '.join(parts)} of {total} {_entries(total)}"


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"


def _entry(change: EntryChange, paint: Paint, width: int | None) -> Iterator[str]:
    yield from _wrapped(entry_title(change), width, "")
    for note in _notes(change):
        yield from _wrapped(note, width, "  ")
    moved = [each for each in change.differences if each.moved]
    texts = [one_line(each.text) for each in moved]
    # One long line (a helper with its signature) does not push the ratios of all others to the right.
    column = max((len(text) for text in texts if len(text) <= 50), default=0)
    for each, text in zip(moved, texts, strict=True):
        ratio = _ratio(each)
        yield f"  {text:{column}}  {paint(ratio, 'red' if (each.ratio or 0) > 1 else 'green')}".rstrip()
    alike = [each for each in change.differences if each.kind == "number" and not each.moved and each.where == ""]
    if alike:
        told = ", ".join(f"{each.name} {_ratio(each)}" for each in alike)
        yield from _wrapped(f"may be noise: {told}", width, "  ")


def _notes(change: EntryChange) -> list[str]:
    """What is no number, and is not told for all entries together."""
    return [one_line(each.text) for each in change.differences if each.kind in ("inputs", "program", "stored")]


def _ratio(difference: Difference) -> str:
    return "" if difference.ratio is None else format_quantity(difference.ratio, Unit.FACTOR)


def _wrapped(text: str, width: int | None, indent: str) -> list[str]:
    if width is None or len(indent) + len(text) <= width:
        return [f"{indent}{text}"]
    return textwrap.wrap(
        text,
        max(width, 30),
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
