"""The summary of a run in Markdown, as GitHub shows it below a workflow run and others in a comment.

What needs attention comes first and open, what is fine last and folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tabulate import tabulate

from pytest_jitperf.judge.outcome import Outcome, weight
from pytest_jitperf.judge.ratios import span
from pytest_jitperf.metrics import unit_of
from pytest_jitperf.report.account import account_of
from pytest_jitperf.report.counting import count_sentences
from pytest_jitperf.report.grouping import Group, custom_metrics, groups
from pytest_jitperf.report.markup import code, fenced, fenced_lines, prose
from pytest_jitperf.report.standing import Standing, failing, standing
from pytest_jitperf.report.sweep import rows_by_strategy
from pytest_jitperf.report.terminal import heading
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["summary"]

_HEADERS = ("strategy", "compile", "run", "launches", "run against the baseline", "outcome", "")
_ALIGNMENT = ("left", "right", "right", "right", "right", "left", "left")
# Behind the launches.
_BEFORE_CUSTOM = 4
# What may be missing from a whole table.
_OPTIONAL = (4, 6)
# What closes a summary that had to be cut.
_CLOSING_BYTES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Tests that stand alike.

    Attributes:
        opening: Before the blocks.
        blocks: One for each test.
        closing: Behind the blocks.
        kind: What they are called where they are counted.
    """

    opening: str = ""
    blocks: Sequence[str]
    closing: str = ""
    kind: str


def summary(
    rows: Sequence[Row],
    unmeasured: Mapping[str, Status],
    *,
    update: bool = False,
    most_bytes: int | None = None,
    lines: Sequence[str] = (),
) -> str:
    """The summary of a run.

    Args:
        rows: All rows of the run.
        unmeasured: Node ids of marked items that gave no row, and how they ended.
        update: Whether the run recorded instead of gating.
        most_bytes: How long it may be, in UTF-8; None where it may be of any length. What does not fit is left out,
            the least important first, and the summary says so.
        lines: What hooks add.

    Returns:
        Markdown; empty where not even its head fits.
    """
    tests = [(title, found) for title, found in _tests(rows)]
    by_standing = {each: [test for test in tests if _worst(test[1]) is each] for each in Standing}
    lost = [nodeid for nodeid, status in unmeasured.items() if status in (Status.FAILED, Status.ERROR)]
    fine = by_standing[Standing.FINE]
    of_fine = f"{len(fine)} tests are fine" if len(fine) != 1 else "1 test is fine"
    parts = [
        _Part(blocks=[_block(*each) for each in by_standing[Standing.FAILED]], kind="failed"),
        _Part(
            opening="### Not measured",
            blocks=[f"- {code(nodeid)} {unmeasured[nodeid].value}" for nodeid in lost],
            kind="not measured",
        ),
        _Part(
            opening="### Unsettled",
            blocks=[_block(*each) for each in by_standing[Standing.UNSETTLED]],
            kind="unsettled",
        ),
        _Part(blocks=[fenced_lines(lines)] if lines else [], kind="block of what hooks add"),
        _Part(
            opening=f"<details>\n<summary>{of_fine}</summary>",
            blocks=[_block(*each) for each in fine],
            closing="</details>",
            kind="fine",
        ),
    ]
    head = _head(rows, unmeasured, lost, update=update)
    return _fitted(head, [part for part in parts if part.blocks], most_bytes)


def _head(rows: Sequence[Row], unmeasured: Mapping[str, Status], lost: Sequence[str], *, update: bool) -> str:
    """Heading and the counts that the terminal closes with."""
    open_rows = sum(standing(row) is Standing.UNSETTLED for row in rows)
    words = [
        f"{count} {word}"
        for count, word in ((len(failing(rows)), "failed"), (len(lost), "without a measurement"))
        if count
    ] or ["recorded" if update else "passed"]
    if open_rows:
        words.append(f"{open_rows} unsettled")
    sentences = count_sentences(rows, len(unmeasured), update)
    where = heading(rows).removeprefix("jitperf: ")
    return f"## jitperf: {', '.join(words)}\n\n**{prose(sentences[0])}.** " + prose(
        ". ".join([f"On {where}" if rows else where.capitalize(), *sentences[1:]]) + "."
    )


def _tests(rows: Iterable[Row]) -> Iterable[tuple[str, list[Group]]]:
    """Title and groups of each test; the sizes of a sweep are one."""
    for sweep, found in groupby(groups(rows), key=lambda group: group.sweep):
        if sweep:
            yield sweep, list(found)
        else:
            yield from ((group.title, [group]) for group in found)


def _worst(found: Sequence[Group]) -> Standing:
    order = list(Standing)
    return max((standing(row) for group in found for row in group.rows), key=order.index)


def _block(title: str, found: Sequence[Group]) -> str:
    """One test: what is to be said of its strategies, and its table."""
    group_of = {id(row): group for group in found for row in group.rows}
    rows = rows_by_strategy(found)
    accounts = [
        _account(row, group_of[id(row)].name_of(row))
        for standing_of in (Standing.FAILED, Standing.UNSETTLED)
        for row in rows
        if standing(row) is standing_of
    ]
    custom = custom_metrics(rows)
    table = _table([_cells(row, group_of[id(row)], custom) for row in rows], custom)
    return "\n\n".join([f"#### {code(title)}", *accounts, table])


def _account(row: Row, name: str) -> str:
    account = account_of(row)
    labelled = (("also", account.also), ("why", account.why), ("rule", account.rules), ("note", account.notes))
    lines = [f"{label}: {text}" for label, texts in labelled for text in texts]
    said = [f"{code(name)} **{prose(row.outcome)}**: {prose(account.sentence)}"]
    if lines:
        said.append("\n".join(f"- {prose(line)}" for line in lines))
    if account.accept:
        said.append(f"Accept it with\n\n{fenced(account.accept, 'sh')}")
    return "\n\n".join(said)


def _cells(row: Row, group: Group, custom: Sequence[str]) -> tuple[str, ...]:
    raced = _raced(row)
    # What stands in a column of its own is not said twice.
    notes = [part for note in group.notes_on(row) for part in note.split("; ") if part != raced]
    return (
        group.name_of(row),
        format_quantity(row.compile, Unit.SECONDS),
        format_quantity(row.run, Unit.SECONDS),
        format_quantity(row.launches, Unit.COUNT),
        raced.removeprefix("run "),
        row.outcome,
        "; ".join(notes),
        *(format_quantity(row.metrics.get(name), unit_of(name)) for name in custom),
    )


def _raced(row: Row) -> str:
    """Run time against the baseline: of the whole, or of the helper that weighs most."""
    found = [each for each in row.findings if each.metric == "run" and each.ratio is not None]
    if not found:
        return ""
    raced = min(found, key=lambda each: (bool(each.helper), weight(each)))
    # Where it is open, the few words give the resolution in place of the interval.
    return span(raced.ratio) if raced.outcome is Outcome.INCONCLUSIVE and raced.ratio is not None else raced.short


def _table(rows: Sequence[Sequence[str]], custom: Sequence[str]) -> str:
    """The table of a test; metrics of the user's own, which stand last in a row, go beside those of the plugin."""
    known = [n for n in range(len(_HEADERS)) if n not in _OPTIONAL or any(row[n] for row in rows)]
    own = range(len(_HEADERS), len(_HEADERS) + len(custom))
    shown = [*known[:_BEFORE_CUSTOM], *own, *known[_BEFORE_CUSTOM:]]
    headers, alignment = (*_HEADERS, *map(code, custom)), (*_ALIGNMENT, *["right"] * len(custom))
    return tabulate(
        [[prose(row[n]) for n in shown] for row in rows],
        headers=[headers[n] for n in shown],
        tablefmt="pipe",
        colalign=[alignment[n] for n in shown],
        disable_numparse=True,
    )


def _fitted(head: str, parts: Sequence[_Part], most_bytes: int | None) -> str:
    """Everything, or as much from the beginning as there is room for, with a sentence on the rest."""
    whole = _joined([head, *(text for part in parts for text in (part.opening, *part.blocks, part.closing))])
    if most_bytes is None or _size(whole) <= most_bytes:
        return whole
    room = most_bytes - _size(head) - _CLOSING_BYTES
    if room < 0:
        return ""
    texts, left_out = [head], list[str]()
    for part in parts:
        room -= _size(part.opening) + _size(part.closing) + 4
        taken = 0
        while taken < len(part.blocks) and not left_out and room >= _size(part.blocks[taken]) + 2:
            room -= _size(part.blocks[taken]) + 2
            taken += 1
        if taken:
            texts += [part.opening, *part.blocks[:taken], part.closing]
        if taken < len(part.blocks):
            left_out.append(f"{len(part.blocks) - taken} {part.kind}")
    closing = f"Tests left out, since there is room for {most_bytes:,} bytes only: {', '.join(left_out)}."
    return _joined([*texts, f"{closing} The log has them all."])


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts)) + "\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
