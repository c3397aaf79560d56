"""What a run gathers from its reports, and what it does with it at the end: write baselines, print the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_jitperf.baseline import programs
from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import UpdateResult, update
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.judge.outcome import ACCEPTABLE, Effect
from pytest_jitperf.leftovers import Leftovers, Measured, leftovers, perhaps_renamed, without_test_file
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status, status_of

__all__ = ["ATTRIBUTE", "Gathered", "Written", "entries_of", "look_for_programs"]

ATTRIBUTE = "jitperf"
"""Name under which rows travel on a report."""


@dataclass(slots=True)
class _Item:
    """The last attempt of one item in one process."""

    rows: list[Row] = field(default_factory=list)
    marked: bool = False
    clean: bool = True
    finished: bool = False
    status: Status = Status.PASSED
    only_judged: bool = True

    def seen(self) -> Iterator[Row]:
        """Its rows, each with how the item ended and whether an update may store it."""
        for row in self.rows:
            acceptable = self.finished and row.entry is not None and (self.clean or self._may_be_accepted)
            yield replace(row, status=self.status.value, acceptable=acceptable)

    @property
    def _may_be_accepted(self) -> bool:
        """Whether it failed, and by nothing but a comparison with what an update replaces."""
        failing = [each for row in self.rows for each in row.findings if each.effect is Effect.FAIL]
        return (
            self.status is Status.FAILED
            and self.only_judged
            and all(each.insisted or each.outcome in ACCEPTABLE for each in failing)
        )


@dataclass(slots=True)
class Written:
    """What happened to the baselines at the end of a run.

    Attributes:
        results: One per file that was updated.
        orphans: Entries that belong to no test any more, by file.
        renamed: Baselines of test files that are gone, and where the same tests are now, without a baseline.
        unmeasured: Entries of tests that are there and no longer measure them, by file.
        lost: Baselines of test files that are gone, which cannot be read either.
        unreferred: Names of stored programs that no entry refers to any more, by folder of baselines.
        pruned: Those that were removed, likewise.
        errors: Why a file could not be written or read.
    """

    results: list[UpdateResult] = field(default_factory=list)
    orphans: dict[Path, tuple[Key, ...]] = field(default_factory=dict)
    renamed: dict[Path, Path] = field(default_factory=dict)
    unmeasured: dict[Path, tuple[Key, ...]] = field(default_factory=dict)
    lost: list[Path] = field(default_factory=list)
    unreferred: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    pruned: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


class Gathered:
    """Rows and outcomes of a run, by item; the last attempt of a rerun item counts.

    Where several processes run the same item (``--dist each``) one of them stands for it: the last, unless it failed in
    another.
    """

    def __init__(self) -> None:
        self._attempts: dict[str, dict[str, _Item]] = {}
        self._whole: dict[str, dict[str, set[str]]] = {}

    def knows(self, nodeid: str) -> bool:
        """Whether an item was marked, so that its further reports matter."""
        return nodeid in self._attempts

    def add(
        self,
        nodeid: str,
        when: str,
        *,
        outcome: str,
        xfail: bool,
        payload: Mapping[str, Any] | None,
        worker: str = "",
    ) -> None:
        """Takes one report.

        Args:
            nodeid: Of the item.
            when: ``"setup"``, ``"call"`` or ``"teardown"``; anything else is what xdist reports of an item in which its
                worker died.
            outcome: ``"passed"``, ``"failed"`` or ``"skipped"``.
            xfail: Whether it belongs to an expected failure.
            payload: What the plugin put on it, or None; empty for a set-up that passed.
            worker: The process that ran it; empty where there is only one.
        """
        attempts = self._attempts.setdefault(nodeid, {})
        died = when not in ("setup", "call", "teardown")
        if died and attempts:
            # Whose report it is only its set-up said: the last that there was.
            worker = next(reversed(attempts))
        if when == "setup" or worker not in attempts:
            attempts[worker] = _Item()
        item = attempts[worker]
        status = status_of(when, outcome, xfail=xfail)
        item.clean = item.clean and status is Status.PASSED
        item.status = max(item.status, status, key=lambda each: each.rank)
        if outcome == "failed" and not (payload and payload.get("judged")):
            item.only_judged = False
        item.finished = item.finished or when == "teardown"
        item.marked = item.marked or died
        if payload:
            item.marked = True
            # Each report of an item, those of its subtests too, brings all that was measured so far.
            rows = [Row.from_json(each) for each in payload["rows"]]
            item.rows = [row for row in item.rows if _place(row) not in map(_place, rows)] + rows

    def add_collected(self, files: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Takes what a process collected whole: baseline path to test key to strategies."""
        for path, tests in files.items():
            known = self._whole.setdefault(path, {})
            for test, strategies in tests.items():
                known.setdefault(test, set()).update(strategies)

    @property
    def _items(self) -> dict[str, _Item]:
        """What stands for each item, by node id."""
        return {
            nodeid: next((each for each in attempts.values() if not each.clean), [*attempts.values()][-1])
            for nodeid, attempts in self._attempts.items()
        }

    @property
    def rows(self) -> list[Row]:
        """All rows, in the order of their items."""
        return [row for item in self._items.values() for row in item.seen()]

    @property
    def unmeasured(self) -> dict[str, Status]:
        """Node ids of marked items that gave no row, and how they ended."""
        return {nodeid: item.status for nodeid, item in self._items.items() if item.marked and not item.rows}

    @property
    def anything(self) -> bool:
        """Whether there was a marked item."""
        return any(item.marked for item in self._items.values())

    def write(self, *, stored_times: bool, prune: bool, update_entries: bool, beside_tests: bool = True) -> Written:
        """Updates the baselines with the rows of items all of whose reports passed, and looks for orphans.

        Args:
            stored_times: Whether timings are a gate and follow the machine.
            prune: Whether orphans are removed, and programs that no entry refers to.
            update_entries: Whether entries are written at all.
            beside_tests: Whether baselines lie beside their test files, so that one can be missed.
        """
        written = Written()
        # Nothing is left to collect of a file that is not there: whatever its baseline holds is without a test.
        lost = without_test_file(self._whole) if beside_tests else frozenset()
        collected: dict[str, Mapping[str, Collection[str]]] = {**{path: {} for path in lost}, **self._whole}
        by_file: dict[str, list[Row]] = defaultdict(list)
        if update_entries:
            for item in self._items.values():
                if item.clean and item.finished:
                    for row in item.rows:
                        if row.entry is not None:
                            by_file[row.baseline].append(row)
        done = self._measured_whole()
        for path in sorted({*by_file, *collected, *done}):
            try:
                self._write_file(
                    Path(path),
                    by_file.get(path, []),
                    collected.get(path),
                    done.get(path, {}),
                    written,
                    stored_times=stored_times,
                    prune=prune,
                )
            except BaselineError as error:
                # No test is judged by it, so it is nobody's failure, unless something was to be done to it.
                if path in lost and not prune:
                    written.lost.append(Path(path))
                else:
                    written.errors.append(str(error))
        for old in map(Path, () if update_entries else lost):
            new = perhaps_renamed(old, written.orphans.get(old, ()), self._whole)
            if new is not None:
                written.renamed[old] = new
        folders = {each.path.parent for each in written.results if each.changed or each.removed}
        look_for_programs(written, folders | {Path(path).parent for path in collected} if prune else folders, prune)
        return written

    def _measured_whole(self) -> Mapping[str, Measured]:
        """What tests measured whose bodies ran to their ends, by baseline."""
        found: dict[str, dict[tuple[str, str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
        for item in self._items.values():
            if item.finished and (item.status is Status.PASSED or (item.status is Status.FAILED and item.only_judged)):
                for row in item.rows:
                    if row.baseline:
                        found[row.baseline][row.test, row.strategy, row.device_kind].add(row.measurement)
        return found

    def _write_file(
        self,
        path: Path,
        rows: Iterable[Row],
        collected: Mapping[str, Collection[str]] | None,
        measured: Measured,
        written: Written,
        *,
        stored_times: bool,
        prune: bool,
    ) -> None:
        entries, files = entries_of(rows)
        found = leftovers(read(path), collected, measured, entries) if path.exists() else Leftovers()
        removed = (*found.gone, *found.unmeasured) if prune else found.replaced
        if entries or removed:
            written.results.append(update(path, entries, removed, files, stored_times=stored_times))
        for keys, named in ((found.gone, written.orphans), (found.unmeasured, written.unmeasured)):
            kept = tuple(key for key in keys if key not in removed)
            if kept:
                named[path] = kept


def look_for_programs(written: Written, folders: Iterable[Path], prune: bool) -> None:
    """Finds stored programs that no entry refers to, and removes them where that is asked for.

    Args:
        written: Told what was found.
        folders: Folders of baselines.
        prune: Whether it is asked for.
    """
    for folder in sorted(folders):
        try:
            names = programs.prune(folder) if prune else programs.unreferenced(folder)
        except BaselineError as error:
            # What a file refers to that cannot be read nobody knows.
            if prune and str(error) not in written.errors:
                written.errors.append(str(error))
            continue
        if names:
            (written.pruned if prune else written.unreferred)[folder] = names


def entries_of(rows: Iterable[Row]) -> tuple[dict[Key, Entry], dict[str, bytes]]:
    """What an update stores of the rows of one test file: entries by key, and the programs they name by file name."""
    entries: dict[Key, Entry] = {}
    files: dict[str, bytes] = {}
    for row in sorted(rows, key=_device_index, reverse=True):
        # Devices of one kind share an entry; sorted this way, the lowest index has the last word.
        entry, programs = row.to_store()
        if entry is not None:
            entries[row.key] = entry
            files.update(programs)
    return entries, files


def _place(row: Row) -> tuple[Key, str]:
    """What a row is about."""
    return row.key, row.device


def _device_index(row: Row) -> int:
    index = row.device.rpartition(":")[2]
    return int(index) if index.isdecimal() else 0
