"""Calls against an absolute limit, on a machine whose clocks are turned by hand."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_jitperf.measurement import Settled
from pytest_jitperf.probe.absolute import settled_run
from pytest_jitperf.probe.block import Side
from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.idle import Span

Factor = Callable[[], float]

# What the lower end is lower by, since load makes a call compute longer.
LESS = math.exp(-0.03)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def about(value: float, rel: float | None = None) -> Any:
    return pytest.approx(value, rel=rel)


def settled(estimate: float, low: float, high: float, **changes: Any) -> Settled:
    """As expected, but for rounding."""
    return Settled(**{"estimate": about(estimate), "low": about(low * LESS), "high": about(high), **changes})


@dataclass
class Machine:
    """A machine on which nothing takes time but a call: ``seconds`` when idle, of which ``threads`` compute together.

    Attributes:
        seconds: Of a call when the machine is idle.
        load: Factor by which the wall time is longer, drawn for each call.
        noise: Factor on all clocks, drawn for each call.
        threads: CPU time of a call is this many times its seconds.
        spins: Factor on the CPU time of each thread, for threads that spin while they wait.
        alone: Seconds of a call on one core, or None for all threads one after the other.
    """

    seconds: float
    load: Factor = lambda: 1.0
    noise: Factor = lambda: 1.0
    threads: float = 1.0
    spins: float = 1.0
    alone: float | None = None
    wall: float = 0.0
    cpu: float = 0.0
    pinned: bool = False
    calls: list[str] = field(default_factory=list)
    last: Span | None = None

    def call(self, given: Any) -> None:
        self.calls.append("on one core" if self.pinned else "")
        noise, load = self.noise(), self.load()
        whole = self.threads * self.seconds
        if self.pinned:
            seconds = whole if self.alone is None else self.alone
            least, most, cpu = seconds, seconds, seconds
        else:
            least, most, cpu = self.seconds * self.spins, whole * self.spins, whole * self.spins
        wall = max(self.seconds, least) * noise * load
        self.wall += wall
        self.cpu += cpu * noise
        self.last = Span(wall=wall, least=min(least * noise, wall), most=min(most * noise, wall))

    @contextmanager
    def pin(self, rng: random.Random) -> Iterator[bool]:
        self.pinned = True
        yield True
        self.pinned = False

    def watch(self, function: Callable[[], Any]) -> tuple[Span, Any]:
        result = function()
        assert self.last is not None
        return self.last, result

    def settle(self, limit: float, **options: Any) -> Settled:
        given: dict[str, Any] = {"max_seconds": 5.0, "pin": self.pin, "expected": self.seconds, **options}
        clocks = Clocks(wall=lambda: round(self.wall * 1e9), process=lambda: round(self.cpu * 1e9))
        return settled_run(
            Side(call=self.call),
            limit=limit,
            block=lambda result: None,
            rng=random.Random(0),
            clocks=clocks,
            watch=self.watch,
            **given,
        )


@contextmanager
def never_pins(rng: random.Random) -> Iterator[bool]:
    yield False


def noisy(sd: float, seed: int = 0) -> Factor:
    rng = random.Random(seed)
    return lambda: math.exp(rng.gauss(0, sd))


# A quiet machine


@pytest.mark.parametrize("seconds", [2e-5, 5e-4, 5e-3])
def test_what_is_below_its_limit_is_so_after_15_rounds_on_all_cores(seconds: float) -> None:
    machine = Machine(seconds)
    found = machine.settle(2 * seconds)
    assert found == settled(seconds, seconds, seconds, rounds=15, seconds=about(machine.wall))
    assert set(machine.calls) == {""}
    assert found.seconds < 0.5


@pytest.mark.parametrize("seconds", [2e-5, 5e-4, 5e-3])
def test_what_is_above_its_limit_has_to_be_so_on_one_core_too(seconds: float) -> None:
    machine = Machine(seconds)
    found = machine.settle(seconds / 2)
    assert found == settled(seconds, seconds, seconds, rounds=30, seconds=about(machine.wall))
    assert machine.calls[-1] == "on one core"


def test_a_program_of_several_threads_is_over_its_limit_by_its_wall_time_and_not_by_its_cpu_time() -> None:
    """5 ms with two threads, 10 ms with one; it may well be below 7 ms, and is above 4."""
    assert Machine(5e-3, threads=2).settle(7e-3).high == about(5e-3)
    assert Machine(5e-3, threads=2).settle(4e-3).low == about(5e-3 * LESS)


def test_one_core_convicts_nobody() -> None:
    """Between 4.9 and 5.1 ms on all cores, at a limit of 5 ms; on one core it takes 10."""
    found = Machine(5e-3, threads=2, noise=noisy(0.02)).settle(5e-3)
    assert found.low < 5e-3 < found.high < 5.2e-3
    assert (found.timed_out, found.one_core) == (True, False)


def test_what_lies_at_its_limit_takes_all_the_time_and_stays_undecided() -> None:
    machine = Machine(1e-3, noise=noisy(0.03))
    found = machine.settle(1e-3)
    assert 0.9e-3 < found.low < 1e-3 < found.high < 1.05e-3
    assert (found.timed_out, found.seconds) == (True, about(5.0, rel=0.02))


# A busy machine


def test_a_call_that_computes_less_than_its_limit_is_below_it_however_long_it_waits() -> None:
    found = Machine(5e-3, load=lambda: 3.0).settle(6e-3)
    assert found == settled(5e-3, 5e-3, 5e-3, rounds=15, seconds=about(found.seconds))


def test_load_does_not_hide_what_is_over() -> None:
    found = Machine(5e-3, load=lambda: 3.0).settle(4e-3)
    assert found.low == about(5e-3 * LESS)


def test_load_makes_no_program_of_several_threads_look_over() -> None:
    """5 ms when idle, of two threads; on a busy machine 15 ms of wall and 10 ms of CPU time. The limit is 7 ms."""
    found = Machine(5e-3, threads=2, load=lambda: 3.0).settle(7e-3)
    assert (found.low, found.high, found.timed_out) == (about(5e-3 * LESS), about(10e-3), True)


def test_short_calls_count_by_the_fastest_of_a_block() -> None:
    """One in three is interrupted for ten times its own time, with both clocks running, as by threads that spin."""
    rng = random.Random(0)
    found = Machine(5e-4, noise=lambda: 10.0 if rng.random() < 1 / 3 else 1.0).settle(1e-3)
    assert found.high < 1e-3
    assert found.low == about(5e-4 * LESS)


def test_threads_that_spin_while_they_wait_for_each_other_are_told_on_one_core() -> None:
    """9 ms of CPU time in each thread, of a program that takes 0.55 ms without any other thread to wait for."""
    machine = Machine(3e-3, threads=2, spins=3.0, alone=5.5e-4)
    found = machine.settle(1e-3)
    assert (found.one_core, found.estimate, found.high) == (True, about(5.5e-4), about(5.5e-4))


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_with_room_is_not_broken_by_noise(seed: int) -> None:
    """Each call waits for none to three times its own time, and its CPU time varies by a tenth."""
    rng = random.Random(seed)
    machine = Machine(2e-3, load=lambda: 1 + 3 * rng.random(), noise=noisy(0.1, seed), threads=1 + seed % 2)
    found = machine.settle(2.2e-3, max_seconds=1.0)
    assert found.low < 2.2e-3


# Slow calls


def test_slow_calls_take_three_rounds() -> None:
    machine = Machine(0.3)
    found = machine.settle(1.0)
    assert (found.rounds, machine.calls) == (3, [""] * 3)
    assert 0.2 < found.low < 0.3 < found.high < 0.4


def test_slow_calls_that_are_over_take_three_rounds_on_one_core_more() -> None:
    machine = Machine(0.3)
    found = machine.settle(0.15)
    assert found.low > 0.15
    assert machine.calls == [""] * 3 + ["on one core"] * 3


def test_slow_calls_that_are_undecided_stay_on_all_cores_unless_one_core_frees_them() -> None:
    """Half a second in each of two threads, which spin, and a hundredth of that with one; then without spinning."""
    spinning = Machine(0.5, threads=2, noise=noisy(0.2), alone=5e-3).settle(0.5)
    assert (spinning.one_core, spinning.high < 0.5) == (True, True)
    machine = Machine(0.5, threads=2, noise=noisy(0.2))
    assert machine.settle(0.5).timed_out
    assert machine.calls.count("on one core") == 1


def test_a_call_of_a_minute_is_made_once_more_and_not_on_one_core() -> None:
    machine = Machine(60.0)
    found = machine.settle(30.0)
    assert machine.calls == [""]
    assert 30.0 < found.low < 60.0 < found.high


def test_a_call_of_a_minute_near_its_limit_is_undecided() -> None:
    found = Machine(60.0).settle(55.0)
    assert (found.low < 55.0 < found.high, found.timed_out, found.rounds) == (True, True, 1)


# Where there is less to go by


@pytest.mark.parametrize(("limit", "over"), [(5e-4, True), (2e-3, False)])
def test_without_one_core_to_go_to_all_cores_decide(limit: float, over: bool) -> None:
    found = Machine(1e-3).settle(limit, pin=never_pins)
    assert (found.low > limit, found.rounds) == (over, 15)


def test_on_an_accelerator_the_wall_clock_alone_is_heard() -> None:
    """The host computes for a tenth of the time."""
    machine = Machine(1e-3, threads=0.1)
    assert machine.settle(5e-4, pin=None).low == about(1e-3 * LESS)
    assert set(machine.calls) == {""}
