"""What is asked for in one call of the fixture, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.judge.growth import Growth
from pytest_jitperf.judge.outcome import Verdict
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.sizes import Place, Size

__all__ = ["Asked", "Tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call of the fixture.

    Attributes:
        name: Name of the measurement within the test.
        function: The user's function.
        args: Positional arguments.
        kwargs: Keyword arguments.
        make_args: Builds arguments per call, or None.
        inputs: A sequence of inputs whose compilations are counted, or None.
        device: The one device to measure on, as asked for.
        size: Where it is one size of a sweep, which; ``name`` is that of the sweep then.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    make_args: Callable[[], Any] | None = None
    inputs: Sequence[Any] | None = None
    device: str = ""
    size: Size | None = None

    @property
    def measurement(self) -> str:
        """Name of the measurement: of a sweep ``name``, that of one of its sizes."""
        if self.size is None:
            return self.name
        return self.size.label if self.name == "main" else f"{self.name}/{self.size.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A measurement with its verdict.

    Attributes:
        key: Key of the baseline entry.
        measurement: What was measured.
        entry: What the baseline holds, or None.
        verdict: What was made of it.
        result: What the user's function returned.
        compiles: Extra compilations spent on the comparison and on budgets.
        compare_seconds: Wall time that the comparison took beyond compiling.
        cut: What was left out for lack of time, one sentence each.
        moved: Whether the program is no longer the baseline's although the test passes.
        lost: Why stored programs of the entry are of no use, should the code change.
        compiled: What was compiled, for whom wants to know more: over a sequence of inputs how often, and what again.
        place: Where it stands in a sweep, or None.
        growth: Of the run time over the sweep, with its largest size; None elsewhere and where there is no telling.
        recorded: What an update would store, and the programs it names by file name; None where nothing is recorded.
    """

    key: Key
    measurement: Measurement
    entry: Entry | None
    verdict: Verdict
    result: Any
    compiles: int = 0
    compare_seconds: float = 0.0
    cut: tuple[str, ...] = ()
    moved: bool = False
    lost: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    place: Place | None = None
    growth: Growth | None = None
    recorded: tuple[Entry, Mapping[str, bytes]] | None = None
