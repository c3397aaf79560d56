"""What git knows of the run times that the baselines of a run held before, for the HTML report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_jitperf.baseline.history import Series, series
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.versions import FileHistory, file_history
from pytest_jitperf.errors import JitperfError
from pytest_jitperf.judge.changepoints import MissingLibrary
from pytest_jitperf.judge.trend import trend
from pytest_jitperf.report.historyplot import Step
from pytest_jitperf.row import Row

__all__ = ["pasts"]

_METRIC = "run"
# The newest commits that changed a file: what fits into a plot, and what a large repository gives in no time.
_MOST_COMMITS = 60


def pasts(rows: Iterable[Row], root: Path) -> dict[tuple[str, Key], tuple[Step, ...]]:
    """The recordings of each entry, oldest first, by baseline file and key.

    Nothing is said of files that git does not have, or where there is no git: there is a report without them too.

    Args:
        rows: Of a run; their baselines are relative to ``root``.
        root: pytest's root directory, or where results made elsewhere are looked at.
    """
    found: dict[tuple[str, Key], tuple[Step, ...]] = {}
    for baseline in sorted({row.baseline for row in rows if row.baseline}):
        try:
            history = file_history(root / baseline, _MOST_COMMITS)
        except JitperfError:
            continue
        for each in series(history.baselines, _METRIC):
            found[baseline, each.key] = _steps(history, each)
    return found


def _steps(history: FileHistory, found: Series) -> tuple[Step, ...]:
    try:
        changed = {each.version for each in trend(found).changes}
    except MissingLibrary:
        changed = set()
    steps = []
    for point in found.recordings:
        commit = history.versions[point.version].commit
        steps.append(
            Step(
                place=point.version,
                commit=commit.short if commit is not None else "",
                date=commit.date if commit is not None else "",
                seconds=point.value,
                changed=point.version in changed,
            )
        )
    return tuple(steps)
