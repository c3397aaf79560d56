"""Two strategies of one function raced against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.measurement import Ratio
from pytest_jitperf.probe import faster
from pytest_jitperf.probe.compilelog import compile_log
from pytest_jitperf.probe.faster import race_strategies
from pytest_jitperf.probe.race import Side
from pytest_jitperf.probe.request import Request

X = jnp.linspace(0.0, 1.0, 64)


def helper(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def g(x: Any) -> Any:
    return jnp.exp(helper(helper(x))) - x


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """In place of the race: each side runs two blocks, in turns, and what was traced by whom is noted."""
    seen: list[Any] = []

    def race(new: Side, old: Side, *, limit: float, block: Callable[[Any], None], **options: Any) -> Ratio:
        for side in (new, old, old, new):
            if side.before is not None:
                side.before()
            for _ in range(2):
                result = side.call(side.prepare() if side.prepare is not None else None)
                block(result)
            seen.append(result)
        return Ratio(estimate=limit, low=limit, high=limit, rounds=2, seconds=0.0, decided=False)

    monkeypatch.setattr(faster, "race", race)
    return seen


def race_with(request: Request, other: str, **options: Any) -> Ratio:
    given: dict[str, Any] = {"factor": 2.0, "max_seconds": 1.0, "compile_seconds": 60.0} | options
    return race_strategies(request, other, **given)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("outer", "eager"),
        ("inner", "eager"),
        ("both", "outer"),
        ("both", "inner"),
        ("inner", "both"),
        ("outer", "both"),
    ],
)
def test_both_sides_give_their_own_result(
    request_for: Callable[..., Request], raced: list[Any], own: str, other: str
) -> None:
    code = helper.__code__
    ratio = race_with(request_for(g, X, strategy=own, inner=[helper]), other)
    assert ratio.estimate == 2.0
    expected = jax.jit(g)(X)
    assert [bool(jnp.allclose(result, expected, rtol=1e-5)) for result in raced] == [True] * 4
    assert helper.__code__ is code
    assert jax.config.jax_default_device is None  # type: ignore[attr-defined]  # made at run time


def test_each_side_runs_with_its_own_helpers(request_for: Callable[..., Request], raced: list[Any]) -> None:
    traced: list[bool] = []

    def seen(x: Any) -> Any:
        traced.append(isinstance(x, jax.core.Tracer))
        return x * 2.0

    def outer(x: Any) -> Any:
        return seen(x) + 1

    race_with(request_for(outer, X, strategy="inner", inner=[seen]), "eager")
    # Jitted where it is its turn (traced once after each switch), and run as it is where not.
    assert True in traced
    assert traced.count(False) >= 4
    assert traced.count(True) <= 4


def test_donated_arguments_are_copied_for_every_call(request_for: Callable[..., Request], raced: list[Any]) -> None:
    x = jax.device_put(X, jax.devices()[0])
    request = request_for(lambda v: v + 1, x, jit={"donate_argnums": 0})
    race_with(request, "eager")
    assert len(raced) == 4
    assert not x.is_deleted()


def test_a_race_of_real_time_decides(request_for: Callable[..., Request]) -> None:
    request = request_for(g, X, inner=[helper])
    ratio = race_with(request, "eager", factor=1e-3, max_seconds=0.5)
    assert (ratio.decided, ratio.low > 1e-3) == (True, True)


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """In place of races, what each of them finds: (low, high, decided); what is left over was not asked for."""
    left: list[Any] = []

    def race(new: Side, old: Side, *, limit: float, block: Callable[[Any], None], **options: Any) -> Ratio:
        for side in (new, old):
            if side.before is not None:
                side.before()
            block(side.call(side.prepare() if side.prepare is not None else None))
        low, high, decided = left.pop(0)
        return Ratio(estimate=low, low=low, high=high, rounds=15, seconds=0.25, decided=decided)

    monkeypatch.setattr(faster, "race", race)
    return left


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param([(1.5, 1.6, True), (1.4, 1.7, True)], (1.4, 1.7, True, True, 30, 0.5), id="twice too slow"),
        pytest.param([(1.5, 1.6, True), (1.9, 2.1, False)], (1.9, 2.1, False, False, 30, 0.5), id="then undecided"),
        pytest.param([(1.5, 1.6, True), (2.5, 2.6, True)], (2.5, 2.6, True, False, 30, 0.5), id="then fast enough"),
        pytest.param([(2.5, 2.6, True)], (2.5, 2.6, True, False, 15, 0.25), id="fast enough"),
        pytest.param([(1.5, 2.6, False)], (1.5, 2.6, False, False, 15, 0.25), id="undecided"),
    ],
)
@pytest.mark.parametrize("own", ["outer", "inner"])
def test_what_is_not_as_much_faster_is_compiled_and_raced_again(
    request_for: Callable[..., Request], outcomes: list[Any], own: str, found: list[Any], expected: Any
) -> None:
    outcomes.extend(found)
    ratio = race_with(request_for(g, X, strategy=own, inner=[helper]), "eager")
    assert outcomes == []
    said = (ratio.low, ratio.high, ratio.decided, ratio.confirmed, ratio.rounds, ratio.seconds)
    assert said == expected


def test_a_second_race_is_between_fresh_executables(request_for: Callable[..., Request], outcomes: list[Any]) -> None:
    outcomes.extend([(1.5, 1.6, True)] * 2)
    with compile_log() as log:
        race_with(request_for(g, X), "eager")
    assert log.user == ["g", "g"]


def test_what_takes_long_to_compile_is_not_compiled_again(
    request_for: Callable[..., Request], outcomes: list[Any]
) -> None:
    outcomes.append((1.5, 1.6, True))
    ratio = race_with(request_for(g, X), "eager", compile_seconds=0.0)
    assert (ratio.low, ratio.confirmed) == (1.5, False)
