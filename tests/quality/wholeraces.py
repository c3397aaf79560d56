"""Whole races, by the package's own `race`, on machines whose clocks are turned by what their calls take."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.race import Side, race
from replays import side_of
from rulemath import Verdicts
from trials import RUN_LIMIT, RUN_PLANTED


@dataclass(slots=True, kw_only=True)
class Machine:
    """A machine whose clocks are turned by what its calls take: 1 ms at a ratio of 1, and noise."""

    kind: str
    rng: np.random.Generator
    wall: int = 0
    cpu: int = 0
    pinned: bool = False
    state: float = 0.0
    load_until: int = 0
    loaded: bool = False
    drawn: list[float] = field(default_factory=list)

    def side(self, ratio: float) -> Side:
        def call(given: Any) -> None:
            self.wall += round(1e6 * ratio * math.exp(self.noise()))
            self.cpu += round(1e6 * ratio * math.exp(0.02 * self.normal()))

        return Side(call=call)

    def clocks(self) -> Clocks:
        return Clocks(wall=lambda: self.wall, process=lambda: self.cpu)

    def normal(self) -> float:
        if not self.drawn:
            self.drawn = self.rng.normal(size=4096).tolist()
        return self.drawn.pop()

    def noise(self) -> float:
        """Logarithm of by how much longer a call takes now."""
        if self.kind == "quiet, 2 %":
            return 0.02 * self.normal()
        if self.kind == "10 % a call":
            return 0.1 * self.normal()
        if self.kind == "two speeds, 20 % apart":
            return math.copysign(0.1, self.normal()) + 0.01 * self.normal()
        if self.kind == "AR(1) 0.6 over calls, 10 %":
            self.state = 0.6 * self.state + 0.08 * self.normal()
            return self.state
        if self.kind == "threads that spin, busy":
            # Most calls wait for threads that wait for a core; on one core none does.
            spins = not self.pinned and self.normal() > -0.3
            return 0.03 * self.normal() + (2.3 + 1.5 * min(abs(self.normal()), 2.0) if spins else 0.0)
        # Load comes for about 0.3 s and goes for as long; a call has to wait for its core, on one core less often.
        if self.wall >= self.load_until:
            self.loaded = not self.loaded
            self.load_until = self.wall + round(3e8 * self.rng.exponential())
        waits = self.loaded and abs(self.normal()) > (1.0 if self.pinned else 0.3)
        return 0.02 * self.normal() + (math.log1p(abs(self.normal())) if waits else 0.0)

    def threads(self) -> dict[int, tuple[int, int]]:
        """A busy machine has threads wait for half of the time."""
        return {1: (self.cpu, self.wall // 2)} if self.kind.endswith("busy") else {}

    @contextmanager
    def one_core(self, rng: random.Random) -> Iterator[bool]:
        self.pinned = True
        yield True
        self.pinned = False


MACHINES = (
    "quiet, 2 %",
    "10 % a call",
    "two speeds, 20 % apart",
    "AR(1) 0.6 over calls, 10 %",
    "load comes and goes",
    "threads that spin, busy",
)


def whole_races(kind: str, ratio: float, races: int, seed: int) -> tuple[Verdicts, list[float]]:
    """Runs races of 1 ms calls by `race` itself, with both its stages; sides, rounds and seconds."""
    sides, taken, seconds = [], [], []
    for number in range(races):
        machine = Machine(kind=kind, rng=np.random.default_rng([seed, MACHINES.index(kind), number]))
        found = race(
            machine.side(ratio),
            machine.side(1.0),
            limit=math.exp(RUN_LIMIT),
            max_seconds=5.0,
            block=lambda result: None,
            rng=random.Random(f"{kind} {number}"),
            clocks=machine.clocks(),
            pin=machine.one_core,
            threads=machine.threads,
        )
        sides.append(side_of(found, RUN_LIMIT))
        taken.append(found.rounds)
        seconds.append(found.seconds)
    return Verdicts(np.array(sides), np.array(taken)), seconds


def whole_row(kind: str, races: int, seed: int) -> list[str]:
    limit, _ = whole_races(kind, math.exp(RUN_LIMIT), max(races // 4, 1), seed)
    same, seconds = whole_races(kind, 1.0, races, seed)
    planted, more_seconds = whole_races(kind, math.exp(RUN_PLANTED), races, seed)
    return [
        kind,
        f"{races}",
        limit.error(-1, 1),
        same.error(1),
        f"{100 * same.share(-1):.1f}",
        f"{np.median(seconds):.2f}",
        planted.error(-1),
        f"{100 * planted.share(1):.1f}",
        f"{np.median(more_seconds):.2f}",
    ]
