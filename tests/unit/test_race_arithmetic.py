"""Races, samples and pairs on a machine whose clocks are turned by hand."""

from __future__ import annotations

import gc
import math
import random
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any

import pytest
from scipy.special import stdtrit

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Ratio, Sample
from pytest_jitperf.probe import clock
from pytest_jitperf.probe.block import Cost, Pace, cost_of, pace_for, run_block
from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.paired import paired_costs
from pytest_jitperf.probe.race import Side, race, sample
from pytest_jitperf.probe.rounds import Rounds, Rule, Sides, few_rounds, many_rounds

LIMIT = 1.10


def about(value: Any, rel: float | None = None, abs: float | None = None) -> Any:
    """``pytest.approx``, typed so that it can stand inside a Ratio or a Sample."""
    return pytest.approx(value, rel=rel, abs=abs)


def no_wait(result: Any) -> None:
    """Waits for a result that is there already."""


@dataclass
class Machine:
    """A machine on which nothing takes any time but what is said to."""

    wall: int = 0
    cpu: int = 0
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    log: list[str] = field(default_factory=list)

    @property
    def clocks(self) -> Clocks:
        return Clocks(wall=lambda: self.wall, process=lambda: self.cpu)

    def spend(self, seconds: float, cpu: float | None = None) -> None:
        self.wall += round(seconds * 1e9)
        self.cpu += round((seconds if cpu is None else cpu) * 1e9)

    def side(
        self,
        name: str,
        seconds: Callable[[], float] | float,
        cpu: Callable[[], float] | float | None = None,
        prepare: Callable[[], Any] | None = None,
        before: Callable[[], None] | None = None,
    ) -> Side:
        def call(given: Any) -> str:
            self.log.append(name)
            wall = seconds() if callable(seconds) else seconds
            self.spend(wall, cpu() if callable(cpu) else cpu)
            return name

        return Side(call=call, prepare=prepare, before=before)

    def noisy(self, seconds: float, sd: float) -> Callable[[], float]:
        return lambda: seconds * math.exp(self.rng.gauss(0, sd))

    def race(self, new: Side, old: Side, **options: Any) -> Ratio:
        given: dict[str, Any] = {"limit": LIMIT, "max_seconds": 5.0, "pin": never_pins, "threads": dict} | options
        return race(new, old, block=no_wait, rng=random.Random(1), clocks=self.clocks, **given)


@contextmanager
def never_pins(rng: random.Random) -> Iterator[bool]:
    yield False


@pytest.fixture
def machine() -> Machine:
    return Machine()


# Races of fast calls


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.05, 1.15, 3.0])
def test_a_race_without_noise_takes_14_rounds_and_tells_the_ratio(machine: Machine, ratio: float) -> None:
    found = machine.race(machine.side("new", ratio * 1e-3), machine.side("old", 1e-3))
    assert found == Ratio(
        estimate=about(ratio),
        low=about(ratio),
        high=about(ratio),
        rounds=14,
        seconds=about(machine.wall * 1e-9),
        decided=True,
    )


def test_a_clear_case_on_1_ms_calls_takes_an_eighth_of_a_second(machine: Machine) -> None:
    """14 rounds of two blocks of four calls, and two calls a side to find out what they cost."""
    assert machine.race(machine.side("new", 1e-3), machine.side("old", 1e-3)).seconds == about(0.116)


def test_noise_of_a_tenth_leaves_no_doubt_about_a_fifth_more(machine: Machine) -> None:
    found = machine.race(machine.side("new", machine.noisy(1.2e-3, 0.1)), machine.side("old", machine.noisy(1e-3, 0.1)))
    assert found.decided
    assert LIMIT < found.low < 1.2 < found.high


def test_a_ratio_at_the_limit_is_undecided_when_the_time_is_up(machine: Machine) -> None:
    found = machine.race(
        machine.side("new", machine.noisy(LIMIT * 1e-3, 0.03)), machine.side("old", machine.noisy(1e-3, 0.03))
    )
    assert not found.decided
    assert found.low < LIMIT < found.high < 1.13
    assert found.seconds == about(5.0, rel=0.01)


def test_a_limit_below_one_asks_whether_the_new_side_is_that_much_faster(machine: Machine) -> None:
    found = machine.race(machine.side("new", 0.4e-3), machine.side("old", 1e-3), limit=0.5)
    assert found.decided
    assert found.high < 0.5


def test_drift_slows_both_sides_and_leaves_the_ratio_alone(machine: Machine) -> None:
    """The machine gets slower by half a percent with every call, thirtyfold over the race."""
    speed = [1.0]

    def call(seconds: float) -> float:
        speed[0] *= 1.005
        return seconds * speed[0]

    found = machine.race(
        machine.side("new", partial(call, 1e-4)), machine.side("old", partial(call, 1e-4)), max_seconds=60
    )
    assert found.decided
    assert found.estimate == about(1.0, abs=0.05)


def test_both_orders_occur_and_each_block_has_its_own_warm_calls(machine: Machine) -> None:
    """A block of 1 ms calls is a warm call and 3 timings; finding out the cost takes two calls a side."""
    machine.race(machine.side("new", 1e-3), machine.side("old", 1e-3))
    calls = machine.log[4:]
    blocks = [calls[n : n + 4] for n in range(0, len(calls), 4)]
    assert [len(set(block)) for block in blocks] == [1] * 28
    assert {tuple(pair) for pair in zip([b[0] for b in blocks[::2]], [b[0] for b in blocks[1::2]], strict=True)} == {
        ("new", "old"),
        ("old", "new"),
    }


@pytest.mark.parametrize(("seconds", "calls"), [(3e-4, 6), (5e-4, 4)])
def test_short_blocks_have_five_timings_and_longer_ones_three(machine: Machine, seconds: float, calls: int) -> None:
    machine.race(machine.side("new", seconds), machine.side("old", seconds))
    assert len(machine.log) == 2 * 2 + 14 * 2 * calls


def test_the_first_calls_of_a_block_are_not_timed(machine: Machine) -> None:
    """After the other side's turn a call is four times as slow, twice where calls are short."""

    def cold(name: str) -> float:
        return 1e-4 if machine.log[-3:] == [name] * 3 else 4e-4

    found = machine.race(machine.side("new", lambda: cold("new")), machine.side("old", lambda: 1e-4), limit=1.5)
    assert found.estimate == about(1.0)


@pytest.mark.parametrize("takes", [0.0, 5e-3])
def test_making_inputs_is_not_timed_and_each_call_gets_its_own(machine: Machine, takes: float) -> None:
    given: list[Any] = []

    def prepare() -> object:
        machine.spend(takes)
        return object()

    def call(value: object) -> None:
        given.append(value)
        machine.spend(1e-5)

    found = machine.race(Side(call=call, prepare=prepare), machine.side("old", 1e-5))
    assert (found.decided, found.estimate) == (True, about(1.0))
    assert len({id(value) for value in given}) == len(given) > 15


def test_what_is_done_before_a_block_is_done_once_a_block_and_not_timed(machine: Machine) -> None:
    def clear(name: str) -> None:
        machine.log.append(f"clear {name}")
        machine.spend(5e-3)

    found = machine.race(
        machine.side("new", 1e-3, before=lambda: clear("new")), machine.side("old", 1e-3, before=lambda: clear("old"))
    )
    assert (found.decided, found.estimate) == (True, about(1.0))
    turns = [name for name, last in zip(machine.log, ["", *machine.log], strict=False) if name != last]
    assert turns[::2] == [f"clear {name}" for name in turns[1::2]]
    assert machine.log.count("clear new") == found.rounds + 1


def test_results_are_dropped_before_the_next_call(machine: Machine) -> None:
    class Result:
        pass

    alive: weakref.WeakSet[Result] = weakref.WeakSet()
    at_once: list[int] = []

    def call(given: None) -> Result:
        at_once.append(len(alive))
        machine.spend(1e-5)
        result = Result()
        alive.add(result)
        return result

    side = Side(call=call)
    machine.race(side, side)
    assert set(at_once) == {0}


def test_every_result_is_waited_for(machine: Machine) -> None:
    """Calls return at once; the time passes where their results are waited for."""
    costs = {"new": 2e-5, "old": 1e-5}
    found = race(
        machine.side("new", 0.0),
        machine.side("old", 0.0),
        limit=LIMIT,
        max_seconds=5,
        block=lambda result: machine.spend(costs[result]),
        rng=random.Random(1),
        clocks=machine.clocks,
        pin=never_pins,
    )
    assert found.estimate == about(2.0)


def test_progress_is_told_about_once_a_second(machine: Machine) -> None:
    told: list[str] = []
    machine.race(
        machine.side("new", machine.noisy(LIMIT * 1e-3, 0.01)),
        machine.side("old", machine.noisy(1e-3, 0.01)),
        progress=told.append,
    )
    assert 3 <= len(told) <= 5
    assert told[0].startswith("race: ")
    assert told[0].endswith("rounds, x1.10")


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_off_during_a_race_and_left_as_it_was_even_by_a_call_that_fails(
    machine: Machine, was_on: bool
) -> None:
    seen = []

    def call(given: None) -> None:
        seen.append(gc.isenabled())
        raise ValueError("the program's own")

    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(ValueError, match="the program's own"):
            machine.race(Side(call=call), Side(call=call))
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False]


# The stage on one core


@dataclass
class Cores:
    """Stands for the pinning: tells whether the process is on one core at the time."""

    pinned: bool = False
    times: int = 0

    @contextmanager
    def pin(self, rng: random.Random) -> Iterator[bool]:
        self.pinned = True
        self.times += 1
        try:
            yield True
        finally:
            self.pinned = False


def busy(machine: Machine, cores: Cores, seconds: float, cpu: float | None = None) -> dict[str, Any]:
    """A call that other load makes three times as slow, or not, until it is on one core."""
    used = seconds if cpu is None else cpu
    return {
        "seconds": lambda: seconds if cores.pinned else seconds * machine.rng.choice([0.6, 1, 2, 3]),
        "cpu": lambda: used,
    }


@pytest.mark.parametrize("ratio", [1.0, 1.2])
def test_what_is_undecided_at_half_the_time_is_decided_on_one_core(machine: Machine, ratio: float) -> None:
    cores = Cores()
    found = machine.race(
        machine.side("new", **busy(machine, cores, ratio * 2e-3)),
        machine.side("old", **busy(machine, cores, 2e-3)),
        pin=cores.pin,
    )
    assert (found.decided, found.one_core, found.rounds, found.estimate) == (True, True, 19, about(ratio))
    assert 2.5 < found.seconds < 3.5
    assert (cores.times, cores.pinned) == (1, False)


def test_on_one_core_the_fastest_call_of_a_block_counts(machine: Machine) -> None:
    """Half of the calls have to wait, for three times their own time; of five, one hardly ever does not get through."""
    cores = Cores()

    def waits(seconds: float) -> Callable[[], float]:
        return lambda: seconds * machine.rng.choice([1, 3] if cores.pinned else [0.6, 1, 2, 3])

    found = machine.race(
        machine.side("new", waits(1.2e-3), cpu=lambda: 1e-3 * machine.rng.random()),
        machine.side("old", waits(1e-3), cpu=lambda: 1e-3 * machine.rng.random()),
        pin=cores.pin,
    )
    assert (found.decided, found.one_core, found.estimate, found.low) == (True, True, about(1.2), about(1.2))
    assert found.rounds < 25


def test_the_time_is_up_on_one_core_too(machine: Machine) -> None:
    """The ratio is the limit itself."""
    side = machine.side("same", 1e-3)
    found = machine.race(side, side, limit=1.0, pin=Cores().pin)
    assert (found.decided, found.seconds) == (False, about(5.0, rel=0.01))


def test_calls_that_one_core_makes_slow_are_judged_there_by_few_rounds(machine: Machine) -> None:
    cores = Cores()

    def call() -> float:
        first = len(machine.log) <= 4
        return 0.1 if cores.pinned else 0.02 * (1 if first else machine.rng.choice([1, 3]))

    found = machine.race(machine.side("new", call), machine.side("old", call), pin=cores.pin)
    assert (found.decided, found.one_core, found.rounds, found.estimate) == (True, True, 5, about(1.0))


def test_what_is_clear_on_all_cores_is_never_pinned(machine: Machine) -> None:
    cores = Cores()
    assert machine.race(machine.side("new", 1e-3), machine.side("old", 1e-3), pin=cores.pin).decided
    assert cores.times == 0


def test_one_core_decides_nothing_against_the_cpu_clock(machine: Machine) -> None:
    """The wall clock says a fifth slower, the CPU clock says the same."""
    cores = Cores()
    found = machine.race(
        machine.side("new", **busy(machine, cores, 2.4e-3, cpu=2e-3)),
        machine.side("old", **busy(machine, cores, 2e-3, cpu=2e-3)),
        pin=cores.pin,
    )
    assert (found.decided, found.one_core) == (False, False)
    assert found.low < LIMIT < found.high


def test_one_core_decides_nothing_where_all_cores_say_otherwise(machine: Machine) -> None:
    """A program that lost its parallelism: three times as slow on all cores, which one core cannot see.

    The limit of 3 keeps the first stage from deciding.
    """
    cores = Cores()

    def new() -> float:
        return 1e-3 if cores.pinned else 3e-3 * math.exp(machine.rng.gauss(0, 0.1))

    found = machine.race(machine.side("new", new, cpu=1e-3), machine.side("old", 1e-3), limit=3.0, pin=cores.pin)
    assert (found.decided, found.one_core, found.estimate) == (False, False, about(3.0, rel=0.05))


def test_the_cpu_clock_decides_on_one_core_where_the_wall_clock_cannot(machine: Machine) -> None:
    """Waiting makes calls ten times as slow or as fast; what they use is always a fifth more."""
    cores = Cores()
    found = machine.race(
        machine.side("new", machine.noisy(1.2e-3, 1.0), cpu=1.2e-4),
        machine.side("old", machine.noisy(1e-3, 1.0), cpu=1e-4),
        pin=cores.pin,
    )
    assert (found.decided, found.one_core, found.low, found.high) == (True, True, *[about(1.2)] * 2)


def test_a_platform_that_cannot_pin_races_on_to_the_end(machine: Machine) -> None:
    """It goes on with the rounds it has: 5 s of rounds of 8.4 ms."""
    found = machine.race(
        machine.side("new", machine.noisy(LIMIT * 1e-3, 0.03)), machine.side("old", machine.noisy(1e-3, 0.03))
    )
    assert (found.decided, found.one_core, found.rounds) == (False, False, about(595, rel=0.02))
    assert found.seconds == about(5.0, rel=0.01)


@pytest.mark.parametrize("ratio", [1.0, 1.2])
def test_calls_that_are_slow_only_because_their_threads_wait_for_each_other_go_to_one_core(
    machine: Machine, ratio: float
) -> None:
    cores = Cores()

    def spins(seconds: float) -> Callable[[], float]:
        return lambda: seconds if cores.pinned else seconds * machine.rng.choice([100, 1000, 2000])

    found = machine.race(machine.side("new", spins(ratio * 1e-3)), machine.side("old", spins(1e-3)), pin=cores.pin)
    assert (found.decided, found.one_core, found.rounds, found.estimate) == (True, True, 19, about(ratio))
    assert cores.times == 1


def test_rounds_that_take_much_longer_than_they_were_made_for_go_to_one_core_at_once(machine: Machine) -> None:
    """The first calls are lucky; the error that nobody has used goes along."""
    cores = Cores()

    def spins(seconds: float) -> Callable[[], float]:
        return lambda: seconds if cores.pinned or len(machine.log) <= 4 else seconds * machine.rng.choice([10, 100])

    found = machine.race(machine.side("new", spins(1.2e-3)), machine.side("old", spins(1e-3)), pin=cores.pin)
    assert (found.decided, found.one_core, found.rounds, found.estimate) == (True, True, 15, about(1.2))
    assert found.seconds < 2


@dataclass
class Waiting:
    """Threads that wait for a core for half of the time."""

    machine: Machine

    def __call__(self) -> dict[int, tuple[int, int]]:
        return {1: (self.machine.cpu, self.machine.wall // 2)}


def test_on_a_busy_machine_threads_that_spin_are_raced_on_one_core_alone(machine: Machine) -> None:
    cores = Cores()

    def spins(seconds: float) -> Callable[[], float]:
        return lambda: seconds if cores.pinned else seconds * machine.rng.choice([10, 100])

    found = machine.race(
        machine.side("new", spins(1.2e-3)), machine.side("old", spins(1e-3)), pin=cores.pin, threads=Waiting(machine)
    )
    assert (found.decided, found.one_core, found.rounds, found.estimate) == (True, True, 15, about(1.2))
    assert (found.seconds < 1, cores.times, cores.pinned) == (True, 1, False)


def test_on_a_busy_machine_a_program_that_lost_its_threads_is_raced_on_all_cores_first(machine: Machine) -> None:
    """On one core it is as fast as the other one, whose threads spin while they wait for each other."""
    cores = Cores()
    found = machine.race(
        machine.side("new", 0.02),
        machine.side("old", lambda: 0.02 if cores.pinned else 0.06 * math.exp(machine.rng.gauss(0, 0.1))),
        pin=cores.pin,
        threads=Waiting(machine),
        limit=0.2,
    )
    assert (found.decided, found.one_core, found.estimate) == (True, False, about(0.33, rel=0.1))


def test_calls_that_are_no_faster_on_one_core_stay_on_all(machine: Machine) -> None:
    cores = Cores()
    seen = []

    def call() -> float:
        seen.append(cores.pinned)
        return 0.3 * math.exp(machine.rng.gauss(0, 0.3))

    found = machine.race(machine.side("new", call), machine.side("old", call), pin=cores.pin)
    assert (found.decided, found.one_core) == (False, False)
    assert seen.count(True) == 1
    assert seen[-1] is False
    assert found.seconds == about(5.0, abs=1.0)


def test_without_a_pin_there_is_one_stage_which_needs_14_rounds(machine: Machine) -> None:
    found = machine.race(machine.side("new", 1e-3), machine.side("old", 1e-3), pin=None)
    assert (found.rounds, found.decided, found.one_core) == (14, True, False)


@pytest.mark.parametrize(
    ("wall", "cpu", "one_core", "says"),
    [
        ((0.0, 0.0), (0.0, 0.0), False, "below"),
        ((0.2, 0.2), (0.2, 0.2), False, "above"),
        ((0.2, 0.2), (0.0, 0.0), False, "above"),  # parallelism lost: the CPU clock may not object
        ((0.2, 0.2), (0.0, 0.0), True, "open"),  # on one core it may
        ((0.2, 0.2), (0.0, 0.2), True, "above"),  # and does not where it has nothing clear to say
        ((-0.1, 0.15), (0.0, 0.0), True, "below"),  # it decides where the wall clock leans its way
        ((-0.1, 0.15), (0.0, 0.0), False, "below"),
        ((0.05, 0.3), (0.0, 0.0), True, "open"),  # and not where the wall clock leans the other way
        ((-0.1, 0.3), (0.0, 0.3), True, "open"),
    ],
)
def test_two_clocks_make_one_verdict(
    wall: tuple[float, float], cpu: tuple[float, float], one_core: bool, says: str
) -> None:
    limit = math.log(LIMIT)
    rule = Rule(interval=lambda new, old: (sum(new) / 2, min(new), max(new)), cpu=True, one_core=one_core)
    rounds = Rounds(wall=Sides(new=list(wall), old=[0.0, 0.0]), cpu=Sides(new=list(cpu), old=[0.0, 0.0]))
    (_, low, high), decided = rule.judge(rounds, limit)
    assert decided == (says != "open")
    assert not decided or says == ("above" if low > limit else "below" if high < limit else "across")


def test_a_cpu_clock_that_stands_still_is_no_witness() -> None:
    rounds = Rounds()
    rounds.add((1.2, 1.0), (0.0, 0.0))
    assert rounds == Rounds(wall=Sides(new=[math.log(1.2)], old=[0.0]), cpu=Sides())
    assert Rule(interval=lambda new, old: (new[0], 0.15, 0.2), cpu=True).judge(rounds, math.log(LIMIT))[1]


# Slow calls


@pytest.mark.parametrize("ratio", [1.0, 1.3])
def test_calls_of_a_second_are_decided_after_three_each(machine: Machine, ratio: float) -> None:
    """A round varies by 1.5 % at least; 9.40 is the quantile of t with 3 + 2 degrees of freedom for 0.115 of 0.001."""
    found = machine.race(machine.side("new", ratio), machine.side("old", 1.0))
    half = 9.40 * 0.015 / math.sqrt(3)
    assert found == Ratio(
        estimate=about(ratio),
        low=about(ratio * math.exp(-half), rel=1e-3),
        high=about(ratio * math.exp(half), rel=1e-3),
        rounds=3,
        seconds=about(3 * (1 + ratio)),
        decided=True,
    )
    assert sorted(machine.log) == ["new"] * 3 + ["old"] * 3


def test_a_fifth_more_shows_in_three_calls_of_a_second(machine: Machine) -> None:
    assert machine.race(machine.side("new", 1.2), machine.side("old", 1.0)).low > LIMIT


@pytest.mark.parametrize(("seconds", "rounds", "took"), [(0.05, 6, 1.4), (0.1, 6, 2.6), (0.2, 6, 2.4), (0.4, 6, 4.8)])
def test_the_first_verdict_on_slow_calls_is_at_the_sixth_round_where_there_is_time_for_six(
    machine: Machine, seconds: float, rounds: int, took: float
) -> None:
    """Up to 0.1 s, a block has a warm call, and finding out what a call costs is not yet a round."""
    found = machine.race(machine.side("new", seconds), machine.side("old", seconds))
    assert (found.rounds, found.decided, found.seconds) == (rounds, True, about(took))


def test_when_the_time_is_up_before_the_sixth_round_the_verdict_is_on_what_there_is(machine: Machine) -> None:
    """The first call tells that there is time for six; then it takes longer to make what it is called with."""

    def prepare() -> None:
        machine.spend(0.2 if len(machine.log) > 1 else 0.0)

    found = machine.race(machine.side("new", 0.4, prepare=prepare), machine.side("old", 0.4, prepare=prepare))
    assert (found.rounds, found.decided, found.seconds) == (5, True, about(5.6))


def test_half_of_the_slow_rounds_are_in_either_order(machine: Machine) -> None:
    machine.race(machine.side("new", 0.4), machine.side("old", 0.4))
    pairs = [tuple(machine.log[n : n + 2]) for n in range(0, 12, 2)]
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert first == second[::-1]


def test_going_second_on_a_machine_that_slows_down_is_not_taken_for_being_slow(machine: Machine) -> None:
    """Whoever goes second takes a fifth more: at the limit of x1.10, the same order three times would be a verdict."""

    def call() -> float:
        return 1.0 if len(machine.log) % 2 else 1.2

    found = machine.race(machine.side("new", call), machine.side("old", call))
    assert not found.decided


def test_rounds_that_agree_by_luck_do_not_convict_where_the_sides_vary() -> None:
    """All ratios are x1.2, and the machine was at three speeds meanwhile."""
    old = [0.0, 0.3, -0.2]
    new = [each + math.log(1.2) for each in old]
    assert few_rounds(1e-3)([math.log(1.2)] * 3, [0.0] * 3)[1] > math.log(LIMIT)
    assert few_rounds(1e-3)(new, old)[1] < math.log(LIMIT)
    # From the eighth on, the ratios speak for themselves.
    assert few_rounds(1e-3)(new * 3, old * 3)[1] > math.log(LIMIT)


def test_rounds_that_hang_together_need_to_be_farther_from_the_limit() -> None:
    """The same ratios, once mixed and once ascending: what is clear of 0 in the first case is not in the second."""
    ascending = [0.2 + 0.01 * n for n in range(20)]
    mixed = random.Random(3).sample(ascending, 20)
    plain = many_rounds(1e-3)(mixed, [0.0] * 20)
    assert plain[0] == about(many_rounds(1e-3)(ascending, [0.0] * 20)[0])
    assert many_rounds(1e-3)(ascending, [0.0] * 20)[1] < 0 < plain[1]


def test_calls_of_3_s_may_take_longer_than_allowed_for_three_rounds(machine: Machine) -> None:
    found = machine.race(machine.side("new", 3.0), machine.side("old", 3.0))
    assert (found.rounds, found.decided, found.seconds) == (3, True, about(18.0))


def test_calls_of_50_ms_have_no_time_for_two_stages(machine: Machine) -> None:
    """25 rounds fit. With two stages to come, t decides at the sixth; with one, the median does at the 14th."""
    rounds = [
        machine.race(machine.side("new", 0.05), machine.side("old", 0.05), pin=pin).rounds for pin in (never_pins, None)
    ]
    assert rounds == [6, 14]


@pytest.mark.parametrize(("pin", "decided"), [(never_pins, True), (None, False)])
def test_the_cpu_clock_decides_on_slow_calls_unless_they_run_on_an_accelerator(
    machine: Machine, pin: Any, decided: bool
) -> None:
    found = machine.race(
        machine.side("new", cycle([0.3, 0.9, 0.5]).__next__, cpu=0.5),
        machine.side("old", 0.6, cpu=0.5),
        pin=pin,
    )
    assert (found.decided, found.estimate == about(1.0)) == (decided, decided)


def test_calls_of_20_s_are_made_once_each_and_leave_the_matter_open_with_the_resolution_of_a_single_round(
    machine: Machine,
) -> None:
    cores = Cores()
    found = machine.race(machine.side("new", 20.0), machine.side("old", 20.0), pin=cores.pin)
    assert cores.times == 0
    assert (found.rounds, found.decided, found.seconds) == (1, False, about(40.0))
    assert sorted(machine.log) == ["new", "old"]
    assert 0.75 < found.low < 1.0 < found.high < 1.3


def test_a_slow_race_that_is_too_noisy_is_undecided(machine: Machine) -> None:
    found = machine.race(
        machine.side("new", machine.noisy(1.0, 0.3), cpu=machine.noisy(1.0, 0.3)),
        machine.side("old", machine.noisy(1.0, 0.3), cpu=machine.noisy(1.0, 0.3)),
    )
    assert not found.decided
    assert found.low < 1 < found.high < math.inf


# Clocks


class Frozen:
    """A clock that advances by the same number of ns with every reading."""

    def __init__(self, step: int) -> None:
        self.now, self.step = 10**12, step

    def __call__(self) -> int:
        self.now += self.step
        return self.now


STANDS_STILL = r"^clock did not advance: a .* took -?\d+ ns\. .*do not freeze time"


@pytest.mark.parametrize("step", [0, -1, 1])
def test_a_clock_that_does_not_advance_is_an_error_and_not_a_hang(step: int) -> None:
    clocks = Clocks(wall=Frozen(step), process=lambda: 0)
    side = Side(call=no_wait)
    with pytest.raises(MeasurementError, match=STANDS_STILL):
        race(side, side, limit=1, max_seconds=5, block=no_wait, rng=random.Random(0), clocks=clocks, pin=never_pins)
    with pytest.raises(MeasurementError, match=STANDS_STILL):
        sample(side, block=no_wait, clocks=clocks)


def test_a_clock_that_stops_halfway_is_an_error(machine: Machine) -> None:
    def call(given: None) -> None:
        if machine.wall < 10**8:
            machine.spend(1e-3)

    with pytest.raises(MeasurementError, match="clock did not advance: a call took 0 ns"):
        machine.race(Side(call=call), Side(call=call))


def test_a_race_ends_by_count_on_a_clock_that_jumps_back(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between calls the clock jumps back, so that the time is never up; at the limit, the answer is never clear."""
    monkeypatch.setattr("pytest_jitperf.probe.course._MOST_ROUNDS", 100)

    def jump_back() -> None:
        machine.wall = 0

    side = machine.side("same", 1e-3, prepare=jump_back)
    found = machine.race(side, side, limit=1.0, pin=None)
    assert (found.rounds, found.decided) == (100, False)


def test_the_clocks_are_those_of_before_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen in the time module, and in every name of the clock module that is a function of time's."""
    real = {name: getattr(time, name) for name in ("perf_counter_ns", "process_time_ns", "thread_time_ns")}
    for name, function in real.items():
        monkeypatch.setattr(time, name, lambda: 10**12)
        for held, value in list(vars(clock).items()):
            if value is function:
                monkeypatch.setattr(clock, held, lambda: 10**12)
    for read in (
        clock.perf_counter_ns,
        clock.process_time_ns,
        clock.thread_time_ns,
        clock.CLOCKS.wall,
        clock.CLOCKS.process,
    ):
        first = read()
        assert sum(range(10_000)) > 0
        assert read() > first != 10**12


# Blocks and samples


@pytest.mark.parametrize(
    ("cost", "room", "pace"),
    [
        (Cost(call=5e-6), 0.0625, Pace(warm=2, timings=5, batch=40, seconds=1.01e-3)),
        (Cost(call=5e-6, prepare=5e-6, batches=False), 0.0625, Pace(warm=2, timings=5, batch=1, seconds=7e-5)),
        (Cost(call=1.9e-4), 0.0625, Pace(warm=2, timings=5, batch=1, seconds=1.33e-3)),
        (Cost(call=1e-3), 0.0625, Pace(warm=1, timings=5, batch=1, seconds=6e-3)),
        (Cost(call=1.5e-2), 0.0625, Pace(warm=1, timings=3, batch=1, seconds=6e-2)),
        (Cost(call=5e-2), 0.0625, Pace(warm=1, timings=1, batch=1, seconds=0.1)),
        (Cost(call=1e-3, before=0.02), 0.0625, Pace(warm=1, timings=25, batch=1, seconds=0.046)),
    ],
)
def test_pace(cost: Cost, room: float, pace: Pace) -> None:
    found = pace_for(cost, room)
    assert (found.warm, found.timings, found.batch) == (pace.warm, pace.timings, pace.batch)
    assert found.seconds == about(pace.seconds)


def test_a_block_gives_seconds_per_call_by_both_clocks(machine: Machine) -> None:
    side = machine.side("a", iter([9.0, 9.0, 1e-3, 3e-3, 2e-3, 2e-3]).__next__, cpu=4e-3)
    block = run_block(side, Pace(warm=2, timings=2, batch=2, seconds=0.0), no_wait, machine.clocks)
    assert (block.wall, block.cpu) == (about((2e-3, 2e-3)), about((4e-3, 4e-3)))


def test_the_cost_of_a_fast_call_is_taken_over_a_batch_and_that_of_a_slow_one_from_a_single_call(
    machine: Machine,
) -> None:
    assert cost_of(machine.side("fast", 1e-6), no_wait, machine.clocks).call == about(1e-6)
    assert machine.log.count("fast") == 1 + 1 + 4 + 16 + 64 + 256
    assert cost_of(machine.side("slow", 2.0, cpu=3.0), no_wait, machine.clocks) == Cost(call=2.0, cpu=3.0)
    assert machine.log.count("slow") == 1


def test_a_sample_of_a_fast_call_takes_a_fifth_of_a_second_at_most(machine: Machine) -> None:
    times = iter([1e-3] * 3 + [1e-3, 2e-3, 3e-3] * 100)
    found = sample(machine.side("fast", times.__next__), block=no_wait, clocks=machine.clocks)
    assert (found.median, found.low, found.high) == (about(2e-3), about(1e-3), about(3e-3))
    assert 0.2 <= machine.wall * 1e-9 < 0.21


def test_a_sample_ends_after_200_rounds(machine: Machine) -> None:
    found = sample(machine.side("fast", 1e-5), block=no_wait, max_seconds=60, clocks=machine.clocks)
    assert found == Sample(median=about(1e-5), low=about(1e-5), high=about(1e-5), rounds=200)


def test_a_sample_of_a_slow_call_is_one_call(machine: Machine) -> None:
    found = sample(machine.side("slow", 20.0), block=no_wait, clocks=machine.clocks)
    assert found == Sample(median=20.0, low=20.0, high=20.0, rounds=1)
    assert machine.log == ["slow"]


def test_a_sample_makes_the_rounds_asked_for_though_they_take_longer(machine: Machine) -> None:
    found = sample(machine.side("call", 0.15), block=no_wait, min_rounds=5, clocks=machine.clocks)
    assert found.rounds == 5


# Pairs of builds


@dataclass
class Builds:
    """Builds that cost what is said, and the machine they run on."""

    machine: Machine
    new: Callable[[], float]
    old: Callable[[], float]

    def compare(self, **options: Any) -> Ratio:
        def build(name: str, cost: Callable[[], float]) -> float:
            seconds = cost()
            self.machine.log.append(name)
            self.machine.spend(seconds)
            return seconds

        given: dict[str, Any] = {"limit": 1.25, "max_seconds": 120.0} | options
        return paired_costs(
            lambda: build("new", self.new),
            lambda: build("old", self.old),
            rng=random.Random(2),
            clocks=self.machine.clocks,
            **given,
        )


def test_a_dear_pair_that_says_the_same_is_enough(machine: Machine) -> None:
    found = Builds(machine, lambda: 30.0, lambda: 30.0).compare(first=(30.0, 30.0))
    assert (found.rounds, found.decided, found.seconds, machine.log) == (1, True, 0.0, [])
    assert 1.15 < found.high < 1.25


@pytest.mark.parametrize(("max_seconds", "rounds"), [(120.0, 2), (80.0, 1)])
def test_a_dear_pair_that_says_twice_as_dear_takes_a_second_one_if_there_is_time_for_it(
    machine: Machine, max_seconds: float, rounds: int
) -> None:
    found = Builds(machine, lambda: 60.0, lambda: 30.0).compare(first=(60.0, 30.0), max_seconds=max_seconds)
    assert (found.rounds, found.decided, len(machine.log)) == (rounds, True, 2 * (rounds - 1))
    assert found.low > 1.25


def test_cheap_pairs_are_taken_three_times(machine: Machine) -> None:
    found = Builds(machine, lambda: 0.1, lambda: 0.1).compare(first=(0.1, 0.1))
    assert (found.rounds, found.decided, found.seconds) == (3, True, about(0.4))
    assert sorted(machine.log) == ["new", "new", "old", "old"]


def test_a_little_over_the_limit_takes_five_pairs(machine: Machine) -> None:
    """x1.5 is clear of the limit of 1.25 with three pairs already, but above it by less than 25 %."""
    found = Builds(machine, lambda: 0.15, lambda: 0.1).compare(first=(0.15, 0.1))
    assert (found.rounds, found.decided) == (5, True)
    assert found.low > 1.25


def test_a_ratio_at_the_limit_is_given_up_after_ten_pairs(machine: Machine) -> None:
    found = Builds(machine, lambda: 0.125, lambda: 0.1).compare(first=(0.125, 0.1))
    assert (found.rounds, found.decided) == (10, False)
    assert found.low < 1.25 < found.high


@pytest.mark.parametrize(("more", "rounds", "decided"), [(0.0, 5, True), (0.2, 10, False), (-1.0, 3, True)])
def test_what_is_held_to_the_limit_may_be_more_than_what_is_built(
    machine: Machine, more: float, rounds: int, decided: bool
) -> None:
    def whole(ratio: tuple[float, float, float]) -> tuple[float, float, float]:
        estimate, low, high = ratio
        return estimate + min(more, 0), low - abs(more), high + min(more, 0)

    found = Builds(machine, lambda: 0.15, lambda: 0.1).compare(first=(0.15, 0.1), whole=whole)
    assert (found.rounds, found.decided) == (rounds, decided)
    assert found.estimate == about(1.5)


def test_what_no_pair_can_decide_is_given_up(machine: Machine) -> None:
    """What is known of the rest to 20 % straddles the limit, whatever the pairs say."""

    def whole(ratio: tuple[float, float, float]) -> tuple[float, float, float]:
        estimate, low, high = ratio
        return estimate + 0.25, low + 0.05, high + 0.45

    found = Builds(machine, lambda: 0.1, lambda: 0.1).compare(first=(0.1, 0.1), whole=whole)
    assert (found.rounds, found.decided) == (3, False)


@pytest.mark.parametrize(("own_limit", "rounds", "decided"), [(None, 5, True), (1.4, 10, False), (1.1, 5, True)])
def test_pairs_go_on_until_either_limit_is_clear(
    machine: Machine, own_limit: float | None, rounds: int, decided: bool
) -> None:
    found = Builds(machine, lambda: 0.14, lambda: 0.1).compare(first=(0.14, 0.1), limit=1.2, own_limit=own_limit)
    assert (found.rounds, found.decided) == (rounds, decided)


def test_no_pair_is_begun_that_would_not_end_in_time(machine: Machine) -> None:
    found = Builds(machine, lambda: 12.5, lambda: 10.0).compare(first=(12.5, 10.0), max_seconds=50)
    assert (found.rounds, found.decided, found.seconds) == (3, False, about(45.0))


def test_without_a_first_pair_one_is_built_whatever_it_costs(machine: Machine) -> None:
    found = Builds(machine, lambda: 12.5, lambda: 10.0).compare(max_seconds=0)
    assert (found.rounds, found.decided, sorted(machine.log)) == (1, False, ["new", "old"])


def test_noise_beyond_the_floor_widens_the_interval(machine: Machine) -> None:
    noise = iter([1.0, 1.3, 0.8, 1.2, 0.7, 1.1, 1.3, 0.9, 1.0, 0.8])
    found = Builds(machine, noise.__next__, lambda: 1.0).compare()
    assert (found.rounds, found.decided) == (10, False)
    assert found.low < 0.8 < 1.25 < found.high


def test_of_two_pairs_in_a_row_one_is_built_in_either_order(machine: Machine) -> None:
    Builds(machine, lambda: 0.125, lambda: 0.1).compare()
    pairs = [tuple(machine.log[n : n + 2]) for n in range(0, 20, 2)]
    assert set(pairs) == {("new", "old"), ("old", "new")}
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert first == second[::-1]


def test_pairs_that_agree_by_luck_do_not_convict_where_either_side_varies(machine: Machine) -> None:
    """Equal costs, three times; whether each pair took 0.1 s or they took 0.1, 0.15 and 0.08 s makes the difference."""
    steady = Builds(machine, lambda: 0.1, lambda: 0.1).compare(limit=1.15)
    new, old = ([0.1, 0.15, 0.08, *[0.1] * 9] for _ in range(2))
    varying = Builds(machine, iter(new).__next__, iter(old).__next__).compare(limit=1.15)
    assert (steady.rounds, steady.decided) == (3, True)
    assert (varying.rounds, varying.decided) == (8, True)


def test_pairs_that_are_left_open_are_looked_at_again_when_there_are_a_third_more(machine: Machine) -> None:
    """Looks at 3, 4, 5, 6 and 8 pairs: the fifth has a thirtieth of the error, and t 5 + 7 degrees of freedom."""
    found = Builds(machine, lambda: 0.125, lambda: 0.1).compare(max_pairs=8)
    half = stdtrit(12, 1 - 0.001 / 30 / 2) * 0.03 / math.sqrt(8)
    assert (found.decided, found.low, found.high) == (
        False,
        about(1.25 * math.exp(-half)),
        about(1.25 * math.exp(half)),
    )


def test_a_build_that_took_no_time_is_an_error(machine: Machine) -> None:
    with pytest.raises(MeasurementError, match=r"clock did not advance: building took 0\.0 and 0\.1 CPU seconds"):
        Builds(machine, lambda: 0.0, lambda: 0.1).compare()
