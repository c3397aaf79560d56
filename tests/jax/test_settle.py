"""Budgets of real programs: far above, far below and near, with no idle machine supposed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.measurement import Settled
from pytest_jitperf.probe.idle import watched
from pytest_jitperf.probe.lock import DeviceLock
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.settle import settle
from pytest_jitperf.strategies import Strategy

X = jnp.linspace(0.0, 1.0, 1000)
PHASES = ("compile", "trace", "lower", "xla")


def f(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def g(x: Any) -> Any:
    return jax.lax.fori_loop(0, 20, lambda n, y: f(f(y)), x)


STRATEGIES = [
    pytest.param({"strategy": "outer"}, id="outer"),
    pytest.param({"strategy": "eager"}, id="eager"),
    pytest.param({"strategy": "inner", "inner": [f]}, id="inner"),
    pytest.param({"strategy": "both", "inner": [f]}, id="both"),
    pytest.param({"strategy": Strategy("twice", lambda h: lambda x: jax.jit(h)(x) + 1), "equality": None}, id="own"),
    pytest.param({"strategy": "outer", "jit": {"donate_argnums": 0}}, id="donating"),
]


def settled(probed: Probed, limits: dict[str, float], **options: Any) -> dict[str, Settled]:
    given: dict[str, Any] = {"race_seconds": 1.0, "compile_seconds": 60.0, **options}
    return settle(
        probed.subject,
        probed.measurement,
        limits,
        lock=DeviceLock("cpu:0"),
        rng=random.Random(0),
        progress=lambda text: None,
        **given,
    )


@pytest.mark.parametrize("fields", STRATEGIES)
def test_a_budget_of_next_to_nothing_is_broken_and_one_of_a_hundredfold_is_kept(
    measured: Callable[..., Probed], fields: dict[str, Any]
) -> None:
    probed = measured(g, X, **fields)
    # The phases of what Python drives are too short, each, to be known on a busy machine.
    phases = PHASES if probed.subject.built.jitted else ("compile",)
    times = {metric: probed.measurement.timed[metric].median for metric in ("run", *phases)}

    kept = settled(probed, {metric: 100 * value for metric, value in times.items()})
    limits = {metric: 1e-7 if metric == "run" else 1e-6 for metric in times}
    broken = settled(probed, limits)

    assert {metric: each.high < 100 * times[metric] for metric, each in kept.items()} == dict.fromkeys(times, True)
    assert {metric: each.low > limits[metric] for metric, each in broken.items()} == dict.fromkeys(times, True)


def test_a_budget_of_what_it_takes_is_not_broken_by_much(measured: Callable[..., Probed]) -> None:
    """Whatever is found, the interval lies about where the samples do; load may only make it wider."""
    probed = measured(g, X)
    subject = probed.subject
    with subject.active():
        calls = [watched(lambda: subject.wait(subject.call(subject.prepare())))[0].wall for _ in range(50)]
    found = settled(probed, {"run": min(calls)})["run"]
    assert found.low < 2 * min(calls)
    assert found.low <= found.estimate <= found.high


def test_where_there_is_no_time_to_compile_again_the_first_compile_is_all_there_is(
    measured: Callable[..., Probed],
) -> None:
    probed = measured(g, X)
    limit = probed.subject.cold["xla"].most
    found = settled(probed, {"xla": limit}, compile_seconds=0.0)["xla"]
    assert (found.rounds, found.timed_out) == (1, True)
    assert found.low < limit < found.high


def test_everything_is_left_as_it_was(measured: Callable[..., Probed]) -> None:
    probed = measured(g, X, strategy="inner", inner=[f])
    code = f.__code__
    settled(probed, {"run": 1e-7, "compile": 1e-6})
    assert f.__code__ is code
    assert jax.config.jax_default_device is None  # type: ignore[attr-defined]  # made at run time
