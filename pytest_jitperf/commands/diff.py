"""``jitperf diff``: what differs between two states of baselines, or two results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from pytest_jitperf.baseline.changes import Difference
from pytest_jitperf.baseline.comparison import EntryChange, Snapshot, compare
from pytest_jitperf.commands.output import add_output, key_fields, key_object, print_fields, print_json, style_for
from pytest_jitperf.commands.shared import complain
from pytest_jitperf.commands.sides import sides
from pytest_jitperf.report.difflines import lines_of

__all__ = ["HELP", "add_arguments", "run"]

HELP = "compare two baselines, two results, or two git revisions of baselines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.usage = "%(prog)s [-h] [--json | --table] [A B | REVISION [REVISION]] [-- PATH ...]"
    parser.add_argument(
        "operands",
        nargs="*",
        metavar="A B",
        help="two baseline files, folders, or results of --jitperf-json; or what git has: one revision for what the "
        "work tree has changed since (none: HEAD), two, A..B, or A...B for what B did since it parted from A; then "
        "the baseline files or folders to look at",
    )
    add_output(
        parser,
        lines="file, test, measurement, strategy, device kind, what happened (added,\n"
        "removed, changed), and of a number the metric, which of several, old, new, new / old. Any other difference\n"
        "stands in the place of the metric.",
        exit_codes="0 no difference, 1 differences, 2 something could not be compared.",
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        JitperfError: What is to be compared is not there.
    """
    behind: Sequence[str] = given.behind
    operands = given.operands[: len(given.operands) - len(behind)]
    old, new = sides(operands, behind)
    changed = compare(old, new)
    style = style_for(given)
    if style.form == "json":
        print_json({"old": old.name, "new": new.name, "entries": [_plain(each) for each in changed]})
    elif style.form == "lines":
        for each in changed:
            _print(each)
    else:
        for line in lines_of(changed, old.name, new.name, _total(old, new), style.paint, style.width):
            print(line)
    wrong = (*old.wrong, *new.wrong)
    for reason in wrong:
        complain(reason)
    return 2 if wrong else 1 if changed else 0


def _total(old: Snapshot, new: Snapshot) -> int:
    return len({*old.entries, *new.entries})


def _print(change: EntryChange) -> None:
    about = (change.place.file, *key_fields(change.place.key), change.state)
    nothing = (None,) * 4
    for each in change.differences:
        if each.kind == "number":
            print_fields(*about, each.name, each.where, each.old, each.new, _rounded(each.ratio))
        else:
            print_fields(*about, each.text, *nothing)
    if not change.differences:
        print_fields(*about, None, *nothing)


def _plain(change: EntryChange) -> dict[str, Any]:
    numbers = [each for each in change.differences if each.kind == "number"]
    around = [each for each in change.differences if each.kind in ("environment", "machine")]
    return {
        "file": change.place.file,
        **key_object(change.place.key),
        "state": change.state,
        "program_changed": change.program_changed,
        "numbers": [_number(each) for each in numbers],
        "environment": [{"name": each.name, "old": each.before, "new": each.after} for each in around],
        "changes": [each.text for each in change.differences],
    }


def _number(difference: Difference) -> dict[str, Any]:
    return {
        "metric": difference.name,
        "of": difference.where,
        "unit": difference.unit.name.lower(),
        "old": difference.old,
        "new": difference.new,
        "ratio": _rounded(difference.ratio),
        "moved": difference.moved,
    }


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else float(f"{ratio:.4g}")
