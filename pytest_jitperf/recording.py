"""Baselines written from results that were recorded elsewhere, by the rules of an update in place.

A results file may come from anybody. Where an entry goes is therefore made from the name of its test file, which has to
be there, and never leaves the root directory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath

from pytest_jitperf.baseline.atomic import real_path
from pytest_jitperf.baseline.programs import program_directory
from pytest_jitperf.baseline.store import baseline_path
from pytest_jitperf.baseline.update import update
from pytest_jitperf.errors import BaselineError, ResultsError
from pytest_jitperf.results import Results
from pytest_jitperf.row import Row
from pytest_jitperf.session import Written, entries_of, look_for_programs
from pytest_jitperf.status import Status
from pytest_jitperf.wording import show

__all__ = ["LeftOut", "Recorded", "baseline_of", "record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was not written.

    Attributes:
        nodeid: Of the item.
        reason: Why, a few words.
    """

    nodeid: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What was done.

    Attributes:
        written: Baselines that were updated, and why others could not be.
        left_out: Items of which nothing was written, since they did not pass or measured nothing.
    """

    written: Written = field(default_factory=Written)
    left_out: tuple[LeftOut, ...] = ()


def record(results: Results, root: Path, baseline_dir: Path | None, *, stored_times: bool = False) -> Recorded:
    """Writes what an update may store of the results.

    Args:
        results: Recorded anywhere.
        root: The project's root directory, absolute: pytest's where they were recorded.
        baseline_dir: Directory for all baselines, absolute or relative to ``root``; None for beside the tests.
        stored_times: Whether timings are a gate and follow the machine.
    """
    written = Written()
    left_out: dict[LeftOut, None] = {}
    by_file: dict[Path, list[Row]] = defaultdict(list)
    wrong: dict[str, None] = {}
    for row in results.rows:
        reason = _why_left_out(row)
        if reason:
            left_out[LeftOut(nodeid=row.nodeid, reason=reason)] = None
            continue
        try:
            by_file[baseline_of(row, root, baseline_dir)].append(row)
        except (BaselineError, ResultsError) as error:
            wrong[str(error)] = None
    for item in results.unmeasured:
        left_out[LeftOut(nodeid=item.nodeid, reason=f"not measured ({item.status.value})")] = None
    written.errors += wrong
    for path in sorted(by_file):
        # Legs of a matrix of versions share an entry; each adds its own counts to it.
        for rows in _by_versions(by_file[path]):
            entries, files = entries_of(rows)
            try:
                written.results.append(update(path, entries, files=files, stored_times=stored_times))
            except BaselineError as error:
                written.errors.append(str(error))
    look_for_programs(written, {each.path.parent for each in written.results if each.changed}, prune=False)
    return Recorded(written=written, left_out=tuple(left_out))


def baseline_of(row: Row, root: Path, baseline_dir: Path | None) -> Path:
    """Where the entry of a row goes.

    Args:
        row: From a results file.
        root: The project's root directory, absolute.
        baseline_dir: Directory for all baselines, or None for beside the tests.

    Raises:
        ResultsError: It would lie outside of where baselines may be, there is no such test file, or the row was
            recorded with its baseline elsewhere.
    """
    file, windows = PurePosixPath(row.file), PureWindowsPath(row.file)
    odd = ".." in windows.parts or windows.drive or windows.root or file.is_absolute()
    if odd or file.suffix != ".py" or "\0" in row.file:
        raise ResultsError(f"{show(row.file)} is no path of a test file within the root directory; nothing is written")
    if not (root / file).is_file():
        raise ResultsError(
            f"{file} is not in {root}; run this in the root directory of the project, give --root, or take the version "
            "of the code that was measured"
        )
    path = baseline_path(root / file, baseline_dir, root)
    if baseline_dir is None and row.baseline != path.relative_to(root).as_posix():
        seen = f"as {row.baseline}" if row.baseline else "outside of the root directory"
        raise ResultsError(f"{file} was measured with its baseline {seen}; give --baseline-dir as it was given there")
    base = real_path(root if baseline_dir is None else root / baseline_dir)
    folder = real_path(path).parent
    for place in (folder, real_path(program_directory(folder))):
        if not place.is_relative_to(base):
            raise ResultsError(f"{path} leads out of {base} through a symbolic link; nothing is written there")
    return path


def _by_versions(rows: Iterable[Row]) -> Sequence[Sequence[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.environment.host_key if row.environment is not None else ""].append(row)
    return list(found.values())


def _why_left_out(row: Row) -> str:
    """Why an update may not store a row; empty where it may."""
    if row.acceptable and row.entry is not None:
        return ""
    if not row.device_kind:
        return row.outcome
    if row.entry is None:
        return "nothing to store was recorded"
    if row.status == Status.PASSED.value:
        return "its run was stopped before it ended"
    return f"{row.status} ({row.outcome})" if row.failed else row.status
