"""State of one pytest run and of its items in this process, and where things are as the user would type it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jitperf.probe import clock

if TYPE_CHECKING:
    from pytest_jitperf.baseline.store import Baseline
    from pytest_jitperf.fixture import Jitperf
    from pytest_jitperf.layers import Spec
    from pytest_jitperf.rehearsing import Rehearsing
    from pytest_jitperf.session import Gathered, Written
    from pytest_jitperf.settings import Settings

__all__ = ["FIXTURE", "MOST_BASELINES", "RUN", "STATE", "Case", "Run", "State", "case_of"]

FIXTURE = "jitperf"
MOST_BASELINES = 16
"""So many files are kept: more than one, since xdist and shuffled tests go from file to file."""


@dataclass(slots=True)
class Run:
    """One pytest run in this process.

    Attributes:
        settings: What the options say.
        rootdir: pytest's root directory.
        invocation_dir: Where pytest was started.
        worker: Whether this is an xdist worker, which neither writes nor prints.
        gathered: Rows of the run, once there are any.
        written: What happened to the baselines at the end.
        baselines: Files read last, by path.
        references: Reference results, once there are any.
        deselected: Test files that something was left out of.
        lines: What hooks add to the reports, once all tests have run.
        rehearsing: Who waits for this process where it only rehearses an item of another one, or None.
        started: When the run began, ns of the wall clock.
        process: Number of the process in which it began.
        collected: How many items of each test file were collected.
    """

    settings: Settings
    rootdir: Path
    invocation_dir: Path
    worker: bool
    gathered: Gathered | None = None
    written: Written | None = None
    baselines: dict[Path, Baseline] = field(default_factory=dict)
    references: Any = None
    deselected: set[Path] = field(default_factory=set)
    lines: tuple[str, ...] = ()
    rehearsing: Rehearsing | None = None
    started: int = field(default_factory=clock.perf_counter_ns)
    collected: Counter[Path] = field(default_factory=Counter)
    process: int = field(default_factory=os.getpid)

    def gather(self) -> Gathered:
        """The rows of the run."""
        from pytest_jitperf.session import Gathered

        if self.gathered is None:
            self.gathered = Gathered()
        return self.gathered

    def baseline(self, path: Path) -> Baseline:
        """A baseline file, read once by the tests of one file; of a large suite not all are kept.

        Raises:
            BaselineError: It cannot be read.
        """
        from pytest_jitperf.baseline import store

        if path not in self.baselines:
            if len(self.baselines) == MOST_BASELINES:
                del self.baselines[next(iter(self.baselines))]
            self.baselines[path] = store.read(path)
        return self.baselines[path]

    def baseline_path(self, item: pytest.Item) -> Path:
        """Where the baseline of an item's test file is."""
        from pytest_jitperf.baseline.store import baseline_path

        directory = Path(self.settings.baseline_dir) if self.settings.baseline_dir else None
        return baseline_path(item.path, directory, self.rootdir)

    def shown(self, path: Path) -> str:
        """A path as one would type it where pytest was started."""
        try:
            return Path(os.path.relpath(path, self.invocation_dir)).as_posix()
        except ValueError:  # on another drive
            return path.as_posix()

    def typed_nodeid(self, item: pytest.Item) -> str:
        """The node id with its path from where pytest was started, so that a printed command works there."""
        from pytest_jitperf.markers import own_id

        _, separator, rest = item.nodeid.partition("::")
        case = case_of(item)
        if case is not None:
            # Without the number of a repetition, which there is with an option of its plugin only.
            ids = "-".join(filter(None, (own_id(item, case.id), case.id)))
            rest = f"{rest.partition('[')[0]}[{ids}]"
        return f"{self.shown(item.path)}{separator}{rest}"


@dataclass(frozen=True, slots=True, repr=False)
class Case:
    """What one item stands for: the parameter of the fixture.

    Attributes:
        strategy: Name of the strategy.
        device: As asked for; empty for the default device.
        id: What it adds to the test's id.
        error: Why the test could not be expanded; empty where it could.
    """

    strategy: str
    device: str
    id: str
    error: str = ""

    def __repr__(self) -> str:
        """What ``--setup-show`` prints behind the fixture."""
        return self.id


@dataclass(slots=True)
class State:
    """One item while it runs.

    Attributes:
        case: What it stands for; None where it does not use the fixture.
        demanded: Whether the marker stands on the function itself, so that something must be measured.
        spec: What its markers say.
        fixture: What the test was given.
        skipped: Why it was skipped for lack of a device.
    """

    case: Case | None
    demanded: bool
    spec: Spec | None = None
    fixture: Jitperf | None = None
    skipped: str = ""


RUN = pytest.StashKey[Run]()
STATE = pytest.StashKey[State]()


def case_of(item: pytest.Item) -> Case | None:
    """What an item stands for, or None where it does not use the fixture."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get(FIXTURE) if callspec is not None else None
    return case if isinstance(case, Case) else None
