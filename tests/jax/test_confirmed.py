"""A regression is the program's, and not that of two executables: simulated ones, and real ones."""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.measurement import Comparison, Ratio
from pytest_jitperf.probe import fresh
from pytest_jitperf.probe.block import Side
from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.compare import Stored
from pytest_jitperf.probe.confirmed import ConfirmedRace
from pytest_jitperf.probe.measure import Probed


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Off, as it is during a comparison; else each race would collect."""
    gc.disable()
    yield
    gc.enable()


@dataclass
class Workshop:
    """Makes executables whose calls take what is said, by a clock that is turned by hand.

    Attributes:
        ratio: Of the programs, new over old.
        luck: By what factor the next executables of the new program are slower, the first one included.
        compiles: How many more may be compiled.
        wobble: By what share calls of the first new executable vary.
    """

    ratio: float
    luck: list[float]
    compiles: int = 1000
    wobble: float = 0.0
    now: int = 0
    made: int = 0
    told: list[str] = field(default_factory=list)

    def run(self, limit: float) -> tuple[Ratio, str]:
        new = Made(self, "new", 1e-3 * self.ratio * self.luck.pop(0), self.wobble)
        racing = ConfirmedRace(
            limit=limit,
            max_seconds=5.0,
            block=lambda result: None,
            rng=random.Random(0),
            pin=None,
            afresh=lambda made: made.fresh(),
            may_compile=lambda: self.made < self.compiles,
            may_compile_more=lambda: self.made < self.compiles,
            progress=self.told.append,
            clocks=Clocks(wall=lambda: self.now, process=lambda: self.now),
        )
        return racing.run(new, Made(self, "old", 1e-3))


@dataclass
class Made:
    """An executable."""

    workshop: Workshop
    name: str
    seconds: float
    wobble: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(1))

    def side(self) -> Side:
        return Side(call=lambda given: self.result())

    def result(self) -> None:
        self.workshop.now += round(self.seconds * 1e9 * (1 + self.rng.gauss(0, self.wobble)))

    def fresh(self) -> Made:
        self.workshop.made += 1
        if self.name == "old":
            return Made(self.workshop, "old", 1e-3)
        luck = self.workshop.luck.pop(0) if self.workshop.luck else 1.0
        return Made(self.workshop, "new", 1e-3 * self.workshop.ratio * luck)


def about(value: float) -> Any:
    return pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("ratio", "limit", "rounds"), [(1.0, 1.10, 14), (1.0, 1.03, 15), (1.05, 1.10, 14), (0.5, 1.01, 14)]
)
def test_what_is_clearly_fine_takes_one_race_and_no_compile(ratio: float, limit: float, rounds: int) -> None:
    workshop = Workshop(ratio, [1.0])
    found, cut = workshop.run(limit)
    assert (found.decided, found.high < limit, found.rounds, found.executables) == (True, True, rounds, 1)
    assert (workshop.made, cut) == (0, "")


@pytest.mark.parametrize(("ratio", "limit", "rounds"), [(1.2, 1.10, 25), (1.05, 1.03, 26), (1.2, 1.01, 25)])
def test_a_clear_regression_takes_two_races_and_one_fresh_pair(ratio: float, limit: float, rounds: int) -> None:
    workshop = Workshop(ratio, [1.0])
    found, cut = workshop.run(limit)
    assert (found.confirmed, found.low > limit, found.rounds, found.executables) == (True, True, rounds, 2)
    assert (found.first, workshop.made, cut) == (None, 2, "")


def test_the_interval_of_a_confirmed_regression_holds_those_of_both_races() -> None:
    found, _ = Workshop(1.2, [1.0, 1.05]).run(1.10)
    assert found.confirmed
    assert (found.low, found.estimate, found.high) == (about(1.2), about(1.2 * 1.05), about(1.2 * 1.05))


def test_a_regression_that_is_not_confirmed_for_lack_of_time_says_so() -> None:
    found, cut = Workshop(1.2, [1.0], compiles=0).run(1.10)
    assert (found.decided, found.confirmed) == (True, False)
    assert cut == "confirmation with fresh executables (max-compile)"


def test_a_regression_of_the_first_executables_alone_is_none_of_the_program() -> None:
    """The first one is slower by 12 %, as no other is: six fresh pairs show it, and what was found at first is told."""
    workshop = Workshop(1.0, [1.12])
    found, cut = workshop.run(1.10)
    assert (found.decided, found.confirmed, found.executables, cut) == (True, False, 6, "")
    assert (found.first, workshop.made) == (about(1.12), 12)
    assert found.low < 1.0 < found.high < 1.02


@pytest.mark.parametrize(("limit", "several"), [(1.04, True), (1.10, False)])
def test_what_is_left_open_at_a_small_limit_is_asked_of_other_executables(limit: float, several: bool) -> None:
    """The first one lies at the limit, the program 2 % above it."""
    ratio = limit * 1.02
    found, cut = Workshop(ratio, [limit / ratio], wobble=0.05).run(limit)
    assert (found.decided, found.confirmed, found.executables > 5, cut) == (several, several, several, "")
    found, cut = Workshop(ratio, [limit / ratio], compiles=0, wobble=0.05).run(limit)
    assert (found.decided, found.executables, cut) == (False, 1, "")


def test_several_pairs_say_whether_the_program_is_slower_when_the_first_two_do_not_agree() -> None:
    """Around x1.105, the second one below the limit of x1.10, as by luck it may be."""
    workshop = Workshop(1.11, [1.0, 0.989, 1.001, 0.999, 1.002, 0.998, 1.001])
    found, cut = workshop.run(1.10)
    assert (found.first, found.executables > 5, cut) == (about(1.11), True, "")
    assert found.low < 1.108 < found.high


@pytest.mark.parametrize("seed", range(4))
def test_programs_of_equal_speed_are_not_slower_than_one_percent_by_luck(seed: int) -> None:
    rng = random.Random(seed)
    luck = [1.015, *(math.exp(rng.gauss(0, 0.003)) for _ in range(40))]
    found, cut = Workshop(1.0, luck).run(1.01)
    assert (found.executables >= 6, cut) == (True, "")
    assert not (found.decided and found.low > 1.01)


def test_within_a_small_limit_is_what_several_pairs_agree_on() -> None:
    workshop = Workshop(1.0, [1.0])
    found, cut = workshop.run(1.01)
    assert (found.decided, found.high < 1.01, found.executables, found.first) == (True, True, 6, None)
    assert (workshop.made, cut) == (10, "")
    assert "racing fresh executables, pair 6" in workshop.told


def test_beyond_a_small_limit_is_what_several_pairs_agree_on() -> None:
    found, cut = Workshop(1.02, [1.0]).run(1.01)
    assert (found.decided, found.confirmed, found.low > 1.01, found.executables, cut) == (True, True, True, 6, "")


def test_a_small_limit_is_left_open_without_time_to_compile() -> None:
    found, cut = Workshop(1.0, [1.0], compiles=0).run(1.01)
    assert (found.decided, found.executables) == (False, 1)
    assert found.low < 0.97 < 1.03 < found.high
    assert cut == "further fresh executables (max-compile)"


def layers(count: int, scale: float) -> Callable[[Any], Any]:
    def net(x: Any) -> Any:
        return jax.lax.fori_loop(0, count, lambda _, x: jnp.tanh(x @ x) * scale, x)

    return net


def test_real_programs_that_do_the_same_work_are_not_told_apart_by_one_percent(
    measured: Callable[..., Probed],
    stored: Callable[..., Stored],
    compared: Callable[..., Comparison],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fresh, "_MOST_PAIRS", 7)
    x = jnp.full((32, 32), 0.1)
    new, old = measured(layers(20, 0.5), x), measured(layers(20, 0.25), x)
    found = compared(new, stored(old), run_limit=1.01, race_seconds=2.0)
    assert found.run is not None
    assert found.run.executables >= 6
    assert found.compiles == 2 + 2 * (found.run.executables - 1)
    assert not (found.run.decided and found.run.low > 1.01)


def test_twice_the_work_is_beyond_one_percent_after_two_pairs(
    measured: Callable[..., Probed], stored: Callable[..., Stored], compared: Callable[..., Comparison]
) -> None:
    x = jnp.full((32, 32), 0.1)
    new, old = measured(layers(60, 0.5), x), measured(layers(20, 0.5), x)
    found = compared(new, stored(old), run_limit=1.01, race_seconds=5.0)
    assert found.run is not None
    assert (found.run.confirmed, found.run.executables, found.compiles) == (True, 2, 4)
