"""Several pairs of fresh executables: the verdict is on the programs, and not on the luck of two executables."""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_jitperf.measurement import Ratio
from pytest_jitperf.probe.block import Side
from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.fresh import race_afresh


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Off, as it is during a comparison; else each pair would collect."""
    gc.disable()
    yield
    gc.enable()


@dataclass
class Compiler:
    """Compiles executables whose calls take 1 ms of a clock that is turned by hand, give or take their luck."""

    ratio: float
    luck: Callable[[], float] = lambda: 0.0
    seconds: float = 1e-3
    now: int = 0
    pairs: int = 0
    calls: list[str] = field(default_factory=list)

    def executable(self, name: str, seconds: float) -> Side:
        takes = seconds * math.exp(self.luck())

        def call(given: Any) -> None:
            self.calls.append(name)
            self.now += round(takes * 1e9)

        return Side(call=call)

    def pair(self) -> tuple[Side, Side]:
        self.pairs += 1
        return self.executable("new", self.ratio * self.seconds), self.executable("old", self.seconds)

    def race(self, *known: float, most: int = 1000, **options: Any) -> Ratio:
        given: dict[str, Any] = {"limit": 1.01, "max_seconds": 5.0} | options
        return race_afresh(
            self.pair,
            known=known,
            may_compile=lambda: self.pairs < most,
            block=lambda result: None,
            rng=random.Random(0),
            clocks=Clocks(wall=lambda: self.now, process=lambda: self.now),
            **given,
        )


def about(value: float) -> Any:
    return pytest.approx(value, abs=1e-4)


def lucky(seed: int, sd: float = 0.0064) -> Callable[[], float]:
    """Luck of one executable, so that ratios of two vary by 0.9 % unless told otherwise."""
    rng = random.Random(seed)
    return lambda: rng.gauss(0, sd)


def test_six_pairs_that_agree_decide_and_those_known_count() -> None:
    compiler = Compiler(1.0)
    found = compiler.race(1.0)
    assert (found.rounds, found.executables, compiler.pairs, found.decided) == (6, 6, 5, True)
    assert found.low < 1.0 < found.high < 1.01
    assert Compiler(1.0).race(1.0, 1.0, 1.0).rounds == 6


def test_on_one_core_each_pair_is_pinned_while_it_is_raced_and_its_fastest_calls_count() -> None:
    """All calls but one in five wait for twenty times as long; while a pair is compiled nothing is pinned."""
    pinned: list[bool] = [False]
    compiling: list[bool] = []

    @contextmanager
    def pin(rng: random.Random) -> Iterator[bool]:
        pinned.append(True)
        yield True
        pinned.append(False)

    @dataclass
    class Busy(Compiler):
        def pair(self) -> tuple[Side, Side]:
            compiling.append(pinned[-1])
            return super().pair()

        def executable(self, name: str, seconds: float) -> Side:
            def call(given: Any) -> None:
                self.calls.append(name)
                waits = len(self.calls) % 5 != 0
                self.now += round(seconds * 1e9 * (20 if waits else 1)) if pinned[-1] else 10**9

            return Side(call=call)

    found = Busy(1.05).race(1.05, pin=pin)
    assert (found.decided, found.estimate, found.rounds) == (True, about(1.05), 6)
    assert (compiling, pinned) == ([False] * 5, [False, *[True, False] * 5])


def test_pairs_that_agree_are_taken_to_vary_by_a_third_of_a_percent() -> None:
    """7.98 is the quantile of t with 5 degrees of freedom for a quarter of 0.001."""
    found = Compiler(1.05).race(1.05)
    half = 7.98 * 0.003 / math.sqrt(6)
    assert (found.estimate, found.low) == (about(1.05), about(1.05 * math.exp(-half)))


def test_each_pair_is_raced_for_a_twentieth_of_the_time() -> None:
    found = Compiler(1.0).race(1.0)
    assert found.seconds == pytest.approx(5 * 0.25, rel=0.05)


def test_both_sides_of_a_pair_run_equally_often() -> None:
    compiler = Compiler(1.0)
    compiler.race(1.0)
    assert compiler.calls.count("new") == compiler.calls.count("old")


@pytest.mark.parametrize("seed", range(5))
def test_the_luck_of_single_executables_is_no_regression(seed: int) -> None:
    """Of programs that are equally fast, the first pair differs by twice what is allowed."""
    found = Compiler(1.0, lucky(seed)).race(1.02)
    assert not (found.decided and found.low > 1.01)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_slower_by_more_than_luck_is_found(seed: int) -> None:
    found = Compiler(1.03, lucky(seed)).race(1.02)
    assert (found.decided, found.low > 1.01) == (True, True)


def test_there_is_no_verdict_on_fewer_than_six_pairs() -> None:
    compiler = Compiler(2.0)
    found = compiler.race(2.0, most=3)
    assert (found.rounds, found.decided, compiler.pairs) == (4, False, 3)
    assert 1.9 < found.low < 2.0


def test_without_time_to_compile_the_pair_that_is_known_is_known_to_five_percent() -> None:
    """5.62 is the quantile of t with 8 degrees of freedom for a quarter of 0.001; a pair varies by 0.9 %."""
    found = Compiler(1.0).race(1.02, most=0)
    assert (found.rounds, found.decided, found.seconds) == (1, False, 0.0)
    assert (found.low, found.high) == (about(1.02 * math.exp(-5.62 * 0.009)), about(1.02 * math.exp(5.62 * 0.009)))


def test_it_ends_when_the_time_for_racing_is_up() -> None:
    """At the limit nothing is ever clear."""
    found = Compiler(1.01, lucky(1)).race(1.01)
    assert not found.decided
    assert found.seconds == pytest.approx(5.0, rel=0.06)


def test_slow_calls_are_given_three_rounds_a_pair() -> None:
    """Calls of 50 ms: a warm one and a timed one, three times a side, and two calls to find out what they cost."""
    compiler = Compiler(1.0, seconds=0.05)
    compiler.race(1.0, most=1)
    assert compiler.calls.count("new") == 2 + 3 * 2
