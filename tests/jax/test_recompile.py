"""Cold compiles against absolute limits: the arithmetic on made-up compiles, and real ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import pytest

from pytest_jitperf.measurement import Settled
from pytest_jitperf.probe.clock import Clocks
from pytest_jitperf.probe.idle import Span
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.recompile import cold_again, settled_cold
from pytest_jitperf.strategies import Strategy

X = jnp.linspace(0.0, 1.0, 64)

# 5.617 is the 99.975 % quantile of t with 8 degrees of freedom; the first look may use half of an error of 0.001.
ONE_COMPILE = math.exp(5.617 * 0.05)


def f(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def g(x: Any) -> Any:
    return jnp.exp(f(f(x))) - x


def span(wall: float, least: float | None = None, most: float | None = None) -> Span:
    return Span(wall=wall, least=least or wall, most=most or wall)


@dataclass
class Compiler:
    """Compiles that take what they are told to, one after the other, the last for ever."""

    spans: list[Span]
    wall: float = 0.0
    compiles: int = 0
    phases: tuple[str, ...] = ("compile",)
    left: Iterator[Span] = field(init=False)

    def __post_init__(self) -> None:
        self.left = iter(self.spans)
        self.last = next(self.left)

    def again(self) -> dict[str, Span]:
        self.last = next(self.left, self.last)
        self.compiles += 1
        self.wall += self.last.wall
        return dict.fromkeys(self.phases, self.last)

    def settle(self, limits: dict[str, float], max_seconds: float = 120.0, rough: bool = False) -> dict[str, Settled]:
        first = dict.fromkeys(("compile", *self.phases), self.last)
        clocks = Clocks(wall=lambda: round(self.wall * 1e9))
        return settled_cold(first, self.again, limits, max_seconds=max_seconds, rough=rough, clocks=clocks)


@pytest.mark.parametrize(("limit", "compiles"), [(0.7, 0), (1.35, 0), (0.8, 1), (1.25, 1), (0.9, 8), (1.12, 7)])
def test_the_nearer_the_limit_the_more_compiles_it_takes(limit: float, compiles: int) -> None:
    compiler = Compiler([span(1.0)])
    found = compiler.settle({"compile": limit})["compile"]
    assert (found.low > limit, found.high < limit) == (limit < 1, limit > 1)
    assert (compiler.compiles, found.rounds) == (compiles, compiles + 1)
    assert not found.timed_out


def test_one_compile_is_known_to_what_the_floor_says() -> None:
    found = Compiler([span(3.0, 1.0, 2.0)]).settle({"compile": 0.5})["compile"]
    assert found == Settled(
        estimate=pytest.approx(2.0 * ONE_COMPILE, rel=1e-4),  # type: ignore[arg-type]  # stands for a number
        low=pytest.approx(1.0 / ONE_COMPILE, rel=1e-4),  # type: ignore[arg-type]  # stands for a number
        high=pytest.approx(2.0 * ONE_COMPILE, rel=1e-4),  # type: ignore[arg-type]  # stands for a number
        rounds=1,
        seconds=0.0,
    )


def test_what_lies_at_its_limit_is_undecided_after_ten_compiles_and_not_for_lack_of_time() -> None:
    compiler = Compiler([span(1.0)])
    found = compiler.settle({"compile": 1.0})["compile"]
    assert 0.9 < found.low < 1.0 < found.high < 1.11
    assert (compiler.compiles, found.timed_out) == (9, False)


@pytest.mark.parametrize(("max_seconds", "compiles"), [(0.0, 0), (0.9, 0), (2.5, 2), (4.0, 4)])
def test_no_compile_is_begun_that_would_go_beyond_the_time(max_seconds: float, compiles: int) -> None:
    compiler = Compiler([span(1.0)])
    found = compiler.settle({"compile": 1.0}, max_seconds)["compile"]
    assert (compiler.compiles, found.timed_out) == (compiles, True)


def test_a_dear_compile_that_is_clearly_over_is_not_repeated() -> None:
    compiler = Compiler([span(300.0)])
    assert compiler.settle({"compile": 60.0})["compile"].low > 60.0
    assert compiler.compiles == 0


def test_on_a_busy_machine_neither_the_wall_time_nor_what_all_threads_compute_makes_it_over() -> None:
    """1 s when idle, with two threads that compute 0.9 s each; here it takes 4 s. The limit is 1.2 s."""
    found = Compiler([span(4.0, 0.9, 1.8)]).settle({"compile": 1.2})["compile"]
    assert found.low < 1.2 < found.high


def test_phases_are_settled_each_for_itself() -> None:
    compiler = Compiler([span(1.0)], phases=("trace", "lower"))
    found = compiler.settle({"trace": 0.5, "lower": 0.8})
    assert {phase: each.rounds for phase, each in found.items()} == {"trace": 1, "lower": 2}


def test_a_first_compile_that_was_looked_at_less_closely_serves_until_there_is_another() -> None:
    """A first one of 1 s of which next to nothing is known to be its own, and then those of 1 s to the millisecond."""
    compiler = Compiler([span(1.0, 1e-9), span(1.0)])
    found = compiler.settle({"compile": 0.7}, rough=True)["compile"]
    assert (found.rounds, found.low > 0.7) == (2, True)
    alone = Compiler([span(1.0, 1e-9)]).settle({"compile": 0.7}, rough=True, max_seconds=0.0)["compile"]
    assert (alone.rounds, alone.low > 0.7) == (1, False)


@pytest.mark.parametrize(
    ("fields", "one_program"),
    [
        pytest.param({"strategy": "outer"}, True, id="jax.jit"),
        pytest.param({"strategy": Strategy("filtered", eqx.filter_jit)}, True, id="another library's jit"),
        pytest.param({"strategy": "eager"}, False, id="eager"),
        pytest.param({"strategy": "inner", "inner": [f]}, False, id="inner"),
    ],
)
def test_a_compile_is_repeated_in_the_way_in_which_it_was_measured(
    measured: Callable[..., Probed], fields: dict[str, Any], one_program: bool
) -> None:
    probed = measured(g, X, **fields)
    first = probed.subject.cold
    with probed.subject.active():
        again = cold_again(probed.subject, one_program=one_program, deep=True)
    assert first.keys() == again.keys() == {"trace", "lower", "xla", "compile"}
    assert ("xla_cpu" in probed.measurement.timed) == one_program
    for spans in (first, again):
        for phase, found in spans.items():
            assert 0 < found.least <= found.most <= found.wall, phase
        assert spans["compile"].wall >= spans["xla"].wall
    assert probed.measurement.timed["compile"].median == pytest.approx(first["compile"].wall, rel=0.2, abs=0.01)


def test_where_xla_is_not_asked_for_one_program_is_only_traced_and_lowered(measured: Callable[..., Probed]) -> None:
    probed = measured(g, X)
    with probed.subject.active():
        assert cold_again(probed.subject, one_program=True, deep=False).keys() == {"trace", "lower"}
