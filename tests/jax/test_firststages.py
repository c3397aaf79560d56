"""A trace is counted and timed apart, and made less often the dearer it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.probe import firststages
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.strategies import Strategy, name_of

X = jnp.linspace(0.0, 1.0, 64)
TRACES: list[int] = []


def f(x: Any) -> Any:
    TRACES.append(1)
    return 2.0 * jnp.sin(x) + jnp.asarray([1.0, 2.0]).sum()


def traces_of(measured: Callable[..., Probed], **fields: Any) -> tuple[int, Probed]:
    TRACES.clear()
    probed = measured(f, X, equality=None, **fields)
    return len(TRACES), probed


def test_a_dear_trace_is_not_repeated_for_the_clock(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(f, X, equality=None)
    usual, expected = traces_of(measured)
    monkeypatch.setattr(firststages, "_DEAR_TRACE_SECONDS", 0.0)
    dear, found = traces_of(measured)
    assert dear == usual - 1
    assert found.measurement.host == expected.measurement.host
    assert found.measurement.exact == expected.measurement.exact


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    jitted = jax.jit(function)
    return lambda x: jitted(x)


@pytest.mark.parametrize("strategy", ["outer", Strategy("wrapped", wrapped)], ids=name_of)
def test_one_that_is_dearer_still_is_not_repeated_for_the_count(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    measured(f, X, equality=None)
    usual, expected = traces_of(measured, strategy=strategy)
    monkeypatch.setattr(firststages, "_DEAR_TRACE_SECONDS", 0.0)
    monkeypatch.setattr(firststages, "_UNCOUNTED_TRACE_SECONDS", 0.0)
    dear, found = traces_of(measured, strategy=strategy)
    assert dear == usual - 2
    assert found.measurement.unavailable["trace_calls"] == "its trace took 0 s, too long to be repeated for a count"
    host = {name: count for name, count in expected.measurement.host.items() if name != "trace_calls"}
    assert found.measurement.host == host
    assert found.measurement.exact == expected.measurement.exact


def test_the_same_holds_for_the_traces_of_helpers(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch
) -> None:
    def caller(x: Any) -> Any:
        return f(x) + 1

    def traces() -> tuple[int, Probed]:
        TRACES.clear()
        probed = measured(caller, X, equality=None, strategy="inner", inner=[f])
        return len(TRACES), probed

    usual, expected = traces()
    monkeypatch.setattr(firststages, "_UNCOUNTED_TRACE_SECONDS", 0.0)
    dear, found = traces()
    assert dear == usual - 1
    assert found.measurement.unavailable["trace_calls"].startswith("its trace took 0 s")
    assert expected.measurement.host["trace_calls"] > 100


def test_a_count_for_a_baseline_is_given_up_sooner_than_one_to_hold_against_it(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firststages, "_UNCOUNTED_TRACE_SECONDS", 0.0005)
    monkeypatch.setattr(firststages, "_LEEWAY", 10_000)
    assert "trace_calls" in measured(f, X, equality=None).measurement.host
    assert "trace_calls" not in measured(f, X, equality=None, record=True).measurement.host
