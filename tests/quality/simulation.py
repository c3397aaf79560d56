"""What the rules of a race achieve: how often a verdict is wrong, by kind of noise, against the 0.1 % they promise.

    python tests/quality/simulation.py [--races 20000] [--seed 0]

Simulated machines, real rules. For each rule and each kind of noise, races are run at a true ratio that is the limit,
where every verdict is wrong; with unchanged code; and with a planted regression. An achieved error is printed with its
95 % upper bound (Clopper and Pearson); "decided" is the share of the other verdicts that are not ``inconclusive``.

The arithmetic of many races at once is done here, with arrays. A sample of each cell's races is run through the
package's own functions as well, and the command ends with an error where they say something else.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaincinv, stdtrit
from tabulate import tabulate

from noise import NOISES, Array, orders
from pytest_jitperf.judge import stats
from pytest_jitperf.judge.stats import ERROR, PAIR_SD, error_spent, median_interval
from pytest_jitperf.probe import fresh, paired, rounds
from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.race import Side, race

RUN_LIMIT, RUN_PLANTED = math.log(1.10), math.log(1.20)
COMPILE_LIMIT, COMPILE_PLANTED = math.log(1.25), math.log(1.50)
SMALL_LIMIT, SMALL_PLANTED = math.log(1.01), math.log(1.03)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What came of many races.

    Attributes:
        side: 1 where the ratio was found above the limit, -1 below, 0 where it was left open.
        rounds: After how many rounds.
    """

    side: Array
    rounds: Array

    def share(self, side: int) -> float:
        return float((self.side == side).mean())

    def error(self, *sides: int) -> str:
        """Share of verdicts for these sides, with its upper bound."""
        wrong, races = int(np.isin(self.side, sides).sum()), len(self.side)
        return f"{100 * wrong / races:.3f} (< {100 * upper_bound(wrong, races):.3f})"


def upper_bound(hits: int, trials: int) -> float:
    """The largest share that lets so few hits happen in 5 % of cases (Clopper and Pearson)."""
    return 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 0.95))


# The rules, for many races at once


def looks(first: int, most: int, following: Callable[[int], int]) -> Iterator[int]:
    """Rounds after which there is a look; the last round is one."""
    look = first
    while look < most:
        yield look
        look = max(look + 1, following(look))
    yield most


def by_median(new: Array, old: Array, limit: float, *, error: float) -> Verdicts:
    """`rounds.many_rounds`, looked at as a race does."""
    ratios = new - old
    races, most = ratios.shape
    above, below = np.cumsum(ratios > limit, axis=1), np.cumsum(ratios < limit, axis=1)
    side, taken = np.zeros(races, int), np.full(races, most)
    for count in looks(1, most, lambda n: n + 1 + n // 50):
        needed = _needed(count, error)
        may_be = (side == 0) & ((above[:, count - 1] >= needed) | (below[:, count - 1] >= needed))
        if needed > count or not may_be.any():
            continue
        seen = ratios[may_be, :count]
        ordered = np.sort(seen, axis=1)
        margin = _margins(seen)
        low, high = ordered[:, count - needed] - margin, ordered[:, needed - 1] + margin
        found = np.where(low > limit, 1, np.where(high < limit, -1, 0))
        side[may_be], taken[may_be] = found, np.where(found != 0, count, most)
    return Verdicts(side, taken)


def _needed(count: int, error: float) -> int:
    """How many rounds on one side convict; one more than there are where none do."""
    _, low, _ = median_interval([float(n) for n in range(count)], error)
    return count + 1 if math.isinf(low) else count - int(low)


def _margins(ratios: Array) -> Array:
    """`judge.stats.serial_margin` of each race."""
    count = ratios.shape[1]
    centred = ratios.argsort(axis=1).argsort(axis=1) - (count - 1) / 2
    shown = (centred[:, 1:] * centred[:, :-1]).sum(axis=1) / (centred**2).sum(axis=1)
    serial = np.clip(shown + stats._SERIAL_ERRORS / math.sqrt(count), 0, stats._SERIAL_MOST)
    low, high = np.quantile(ratios, [0.25, 0.75], axis=1)
    margins: Array = stats._HALF_WIDTH * (high - low) / math.sqrt(count) * (np.sqrt((1 + serial) / (1 - serial)) - 1)
    return margins


def by_t(
    new: Array,
    old: Array,
    limit: float,
    *,
    at: Sequence[int],
    floor: float,
    prior_df: float,
    error: float,
    sides: bool = True,
    near: tuple[int, float] = (0, 0.0),
) -> Verdicts:
    """`judge.stats.paired_interval` at the looks ``at``, as races of few rounds and pairs of compiles use it.

    ``near``: as long as there are fewer rounds, what is above the limit by less is not believed.
    """
    ratios = new - old
    races, most = ratios.shape
    side, taken = np.zeros(races, int), np.full(races, most)
    for look, count in enumerate(at, 1):
        seen = ratios[:, :count]
        mean, spread = seen.mean(axis=1), np.full(races, floor)
        if count > 1:
            spread = np.maximum(spread, seen.std(axis=1, ddof=1))
        if sides and 1 < count < 8:
            own = (each[:, :count].var(axis=1, ddof=1) for each in (new, old))
            spread = np.maximum(spread, np.sqrt(sum(own)))
        half = stdtrit(prior_df + count - 1, 1 - error_spent(error, look) / 2) * spread / math.sqrt(count)
        above = (mean - half > limit) & ((count >= near[0]) | (mean > limit + near[1])) & (count > 1)
        found = np.where(side != 0, 0, np.where(above, 1, np.where(mean + half < limit, -1, 0)))
        side, taken = np.where(found != 0, found, side), np.where(found != 0, count, taken)
    return Verdicts(side, taken)


# The package's own rules, for one race


def play_rule(rule: rounds.Rule, new: Sequence[float], old: Sequence[float], limit: float) -> tuple[int, int]:
    """Side and rounds of one race that is judged by the rule."""
    seen, most = rounds.Rounds(), len(new)
    at = set(looks(1, most, lambda n: n + 1 + n // 50))
    for count in range(1, most + 1):
        seen.wall.new.append(new[count - 1])
        seen.wall.old.append(old[count - 1])
        if count in at:
            (_, low, _), decided = rule.judge(seen, limit)
            if decided:
                return (1 if low > limit else -1), count
    return 0, most


def play_compiles(new: Sequence[float], old: Sequence[float], limit: float, *, max_seconds: float) -> tuple[int, int]:
    """Side and pairs of one comparison of compile times."""
    news, olds = iter(np.exp(new).tolist()), iter(np.exp(old).tolist())
    found = paired.paired_costs(
        news.__next__,
        olds.__next__,
        limit=math.exp(limit),
        max_seconds=max_seconds,
        rng=random.Random(0),
        first=(next(news), next(olds)),
        max_pairs=len(new),
        clocks=Clocks(wall=lambda: 0, process=lambda: 0),
    )
    return _side_of(found, limit), found.rounds


def play_executables(new: Sequence[float], old: Sequence[float], limit: float) -> tuple[int, int]:
    """Side and pairs of one race of fresh executables."""
    clock, ratios = [0], iter(np.exp(np.subtract(new, old)).tolist())

    def takes(seconds: float) -> Side:
        def call(given: Any) -> None:
            clock[0] += round(seconds * 1e9)

        return Side(call=call)

    left = [len(new) - 1]

    def may_compile() -> bool:
        left[0] -= 1
        return left[0] >= 0

    found = fresh.race_afresh(
        lambda: (takes(1e-3 * next(ratios)), takes(1e-3)),
        known=[next(ratios)],
        limit=math.exp(limit),
        max_seconds=6.0,  # long enough for all of them
        may_compile=may_compile,
        block=lambda result: None,
        rng=random.Random(0),
        clocks=Clocks(wall=lambda: clock[0], process=lambda: clock[0]),
    )
    return _side_of(found, limit), found.rounds


def _side_of(ratio: Any, limit: float) -> int:
    return 0 if not ratio.decided else 1 if math.log(ratio.low) > limit else -1


# The table


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A rule, and what it is tested with.

    Attributes:
        title: For the table.
        limit: Logarithm of the limit.
        planted: Logarithm of a regression.
        size: Of the noise on one side.
        rounds: At the most.
        many: The rule for many races at once.
        one: The package's own, for one race: side and rounds.
        by_turns: Whether every other round is run in the order that the one before it was not.
        noises: Kinds of noise.
    """

    title: str
    limit: float
    planted: float
    size: float
    rounds: int
    many: Callable[[Array, Array, float], Verdicts]
    one: Callable[[Sequence[float], Sequence[float], float], tuple[int, int]]
    by_turns: bool = True
    noises: Sequence[str] = tuple(NOISES)

    def played(self, noise: str, ratio: float, races: int, seed: int, checked: int) -> Verdicts:
        """Plays races at a true ratio, and some of them by the package's own rule too.

        Raises:
            AssertionError: The two do not agree.
        """
        rng = np.random.default_rng([seed, list(NOISES).index(noise)])
        new, old = NOISES[noise](rng, orders(rng, races, self.rounds, by_turns=self.by_turns), self.size)
        verdicts = self.many(new + ratio, old, self.limit)
        for race_number in range(min(checked, races)):
            own = self.one((new[race_number] + ratio).tolist(), old[race_number].tolist(), self.limit)
            here = int(verdicts.side[race_number]), int(verdicts.rounds[race_number])
            if own != here:
                raise AssertionError(f"{self.title}, {noise}: {own} by the package, {here} by the simulation")
        return verdicts

    def row(self, noise: str, races: int, seed: int, checked: int) -> list[str]:
        limit, same, planted = (
            self.played(noise, ratio, races, seed, checked) for ratio in (self.limit, 0.0, self.planted)
        )
        return [
            noise,
            f"{races}",
            limit.error(-1, 1),
            same.error(1),
            f"{100 * same.share(-1):.1f}",
            f"{np.median(same.rounds):.0f}",
            planted.error(-1),
            f"{100 * planted.share(1):.1f}",
        ]

    def headers(self) -> list[str]:
        limit, planted = math.exp(self.limit), math.exp(self.planted)
        return [
            f"{self.title}, %",
            "races",
            f"x{limit:.2f}: any verdict",
            "x1.00: slower",
            "decided",
            "rounds",
            f"x{planted:.2f}: fine",
            "decided",
        ]


def _few(title: str, most: int, first_look: int) -> Trial:
    error = ERROR * 0.92 / 2
    rule = rounds.Rule(interval=rounds.few_rounds(error, first_look), first_look=first_look, balanced=True)
    many = partial(
        by_t,
        at=range(first_look, most + 1),
        floor=rounds._ROUND_SD,
        prior_df=rounds._ROUND_PRIOR_DF,
        error=error,
    )
    return Trial(
        title=title,
        limit=RUN_LIMIT,
        planted=RUN_PLANTED,
        size=0.05,
        rounds=most,
        many=many,
        one=partial(play_rule, rule),
    )


def _compiles(title: str, first_look: int, prior_df: float, max_seconds: float) -> Trial:
    most = 12
    at = list(looks(first_look, most, lambda n: int(n * paired._MORE_TO_SEE)))
    return Trial(
        title=title,
        limit=COMPILE_LIMIT,
        planted=COMPILE_PLANTED,
        size=0.03,
        rounds=most,
        many=partial(
            by_t, at=at, floor=PAIR_SD, prior_df=prior_df, error=ERROR, near=(paired._PAIRS_WHEN_NEAR, paired._NEAR)
        ),
        one=partial(play_compiles, max_seconds=max_seconds),
    )


def _executables(title: str, size: float) -> Trial:
    most = 20
    at = list(looks(fresh.FIRST_LOOK, most, lambda n: int(n * fresh._MORE_TO_SEE)))
    many = partial(by_t, at=at, floor=fresh._LEAST_SD, prior_df=0.0, error=ERROR, sides=False)
    noises = ("normal", "heavy tails (t, 2 df)", "two speeds", "interference")
    return Trial(
        title=title,
        limit=SMALL_LIMIT,
        planted=SMALL_PLANTED,
        size=size,
        rounds=most,
        many=many,
        one=play_executables,
        noises=noises,
    )


MANY_ERROR = ERROR * 0.92
TRIALS = (
    Trial(
        title="many rounds",
        limit=RUN_LIMIT,
        planted=RUN_PLANTED,
        size=0.05,
        rounds=200,
        many=partial(by_median, error=MANY_ERROR),
        one=partial(play_rule, rounds.Rule(interval=rounds.many_rounds(MANY_ERROR))),
        by_turns=False,
    ),
    _few("up to 24 rounds", 24, 6),
    _few("up to 6 rounds", 6, 6),
    _few("3 rounds", 3, 3),
    _compiles("cheap compiles", 3, paired._CHEAP_DF, 1000.0),
    _compiles("dear compiles", 1, paired._DEAR_DF, 60.0),
    _executables("executables, 0.9 %", 0.009 / math.sqrt(2)),
    _executables("executables, 0.3 %", 0.003 / math.sqrt(2)),
)


# Whole races


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
        # Load comes for about 0.3 s and goes for as long; a call has to wait for its core, on one core less often.
        if self.wall >= self.load_until:
            self.loaded = not self.loaded
            self.load_until = self.wall + round(3e8 * self.rng.exponential())
        waits = self.loaded and abs(self.normal()) > (1.0 if self.pinned else 0.3)
        return 0.02 * self.normal() + (math.log1p(abs(self.normal())) if waits else 0.0)

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
        )
        sides.append(_side_of(found, RUN_LIMIT))
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


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start = time.perf_counter()
    gc.disable()  # each race would collect
    print(f"promised: {ERROR:.1%} of verdicts wrong, whatever the true ratio; in brackets, 95 % upper bounds\n")
    for trial in TRIALS:
        rows = [trial.row(noise, arguments.races, arguments.seed, checked=8) for noise in trial.noises]
        print(tabulate(rows, headers=trial.headers(), disable_numparse=True), end="\n\n", flush=True)
    headers = [
        "whole races of 1 ms calls, %",
        "races",
        "x1.10: any verdict (1/4 of them)",
        "x1.00: slower",
        "decided",
        "s",
        "x1.20: fine",
        "decided",
        "s",
    ]
    rows = [whole_row(kind, max(arguments.races // 50, 1), arguments.seed) for kind in MACHINES]
    print(tabulate(rows, headers=headers, disable_numparse=True))
    print(f"\n{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
