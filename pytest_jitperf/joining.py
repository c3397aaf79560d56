"""Several results joined into one: shards of a test suite, legs of a matrix, a rerun of what failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_jitperf.errors import ResultsError
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.results import Results, Unmeasured, in_order, leg
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status
from pytest_jitperf.wording import listed

__all__ = ["Joined", "join", "refuse_mixed"]

Named = tuple[str, Results]
"""The name of a file, for what is said of it, and what is in it."""

_Leg = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Results of several files as one.

    Attributes:
        results: Everything of all of them.
        conflicts: Where they said different things of one item: which, by whom, and what was taken.
    """

    results: Results
    conflicts: tuple[str, ...] = ()


def refuse_mixed(given: Sequence[Named]) -> None:
    """Refuses results of which some were recorded with ``--jitperf-update``: their outcomes do not mean the same.

    Raises:
        ResultsError: They are mixed.
    """
    updates = [name for name, each in given if each.mode == "update"]
    gates = [name for name, each in given if each.mode == "gate"]
    if updates and gates:
        verb = "was" if len(updates) == 1 else "were"
        raise ResultsError(
            f"{listed(updates)} {verb} recorded with --jitperf-update and {listed(gates)} without it, so outcomes do "
            "not mean the same in them; join files of one kind"
        )


def join(given: Sequence[Named]) -> Joined:
    """Joins results.

    What several files have of one item on one device, under the same versions of Python and jax, are attempts at the
    same thing, of which the one given last counts: a rerun replaces what failed. All else stands side by side. An item
    that measured nothing is left out where a file given later measured it, and, where it was merely skipped (for lack
    of a device, say), where any file did. The order of the files decides nothing else.

    Args:
        given: At least one.
    """
    attempts: dict[_Leg, list[tuple[str, tuple[Row, ...]]]] = {}
    measured_by: dict[str, int] = {}
    for number, (name, results) in enumerate(given):
        for place, rows in _by_leg(results.rows).items():
            attempts.setdefault(place, []).append((name, rows))
            if not _absent(rows):
                measured_by[place[0]] = number
    # One that measured nothing replaces none that did, whatever the files are given in which order.
    attempts = {place: [each for each in tries if not _absent(each[1])] or tries for place, tries in attempts.items()}
    conflicts = [text for place in sorted(attempts) if (text := _conflict(place, attempts[place]))]
    kept = [
        row
        for place, tries in attempts.items()
        for row in tries[-1][1]
        if not (_absent(tries[-1][1]) and place[0] in measured_by)
    ]
    unmeasured: dict[str, Unmeasured] = {}
    for number, (name, results) in enumerate(given):
        for item in results.unmeasured:
            later = measured_by.get(item.nodeid, -1)
            if later < 0 or (item.status is not Status.SKIPPED and later <= number):
                unmeasured[item.nodeid] = item
            elif item.status is not Status.SKIPPED:
                conflicts.append(
                    f"{one_line(item.nodeid)}: {item.status.value} in {name} without a measurement, measured in "
                    f"{given[later][0]}; the latter was taken"
                )
    results = Results(
        plugin=", ".join(sorted({each.plugin for _, each in given})),
        mode=given[0][1].mode,
        rows=in_order(kept),
        unmeasured=tuple(unmeasured[nodeid] for nodeid in sorted(unmeasured)),
        # What several of them say alike is said once.
        lines=tuple(dict.fromkeys(line for _, each in given for line in each.lines)),
    )
    return Joined(results=results, conflicts=tuple(conflicts))


def _by_leg(rows: Iterable[Row]) -> dict[_Leg, tuple[Row, ...]]:
    found: dict[_Leg, list[Row]] = defaultdict(list)
    for row in rows:
        found[leg(row)].append(row)
    return {place: tuple(each) for place, each in found.items()}


def _absent(rows: Iterable[Row]) -> bool:
    """Whether nothing was measured for lack of a device."""
    return all(row.outcome == Outcome.NO_DEVICE.value for row in rows)


def _conflict(place: _Leg, tries: Sequence[tuple[str, tuple[Row, ...]]]) -> str:
    """What is said of several attempts; nothing where there was one, or where they are the very same."""
    if all(rows == tries[0][1] for _, rows in tries):
        return ""
    nodeid, _, kind, _ = place
    said = listed(f"{_words(rows)} in {name}" for name, rows in tries)
    return f"{one_line(nodeid)} on {one_line(kind)}: {said}; the last was taken"


def _words(rows: Sequence[Row]) -> str:
    words = dict.fromkeys(row.outcome for row in rows)
    return f"{rows[0].status} ({', '.join(words)})"
