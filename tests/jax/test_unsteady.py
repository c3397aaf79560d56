"""Functions that are another program each time they are traced."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe import unsteady
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.unsteady import is_unsteady
from pytest_jitperf.strategies import Strategy

X = jnp.linspace(0.0, 1.0, 8)
NUMBERS = itertools.count()
RANDOM = np.random.default_rng(0)


def counting(x: Any) -> Any:
    return x + next(NUMBERS)


def drawing(x: Any) -> Any:
    return x + RANDOM.normal(size=8).astype("f4")


def steady(x: Any) -> Any:
    return jnp.sin(x) + jax.nn.softmax(x)


def calling_back(x: Any) -> Any:
    jax.debug.callback(lambda v: None, x)
    return counting(x)


@pytest.mark.parametrize("strategy", ["outer", Strategy("mine", lambda f: lambda x: jax.jit(f)(x))])
@pytest.mark.parametrize(
    ("function", "expected"), [(counting, True), (drawing, True), (steady, False), (calling_back, False)]
)
@pytest.mark.parametrize("record", [False, True])
def test_what_changes_from_trace_to_trace_is_seen(
    measured: Callable[..., Probed], function: Any, strategy: Any, expected: bool, record: bool
) -> None:
    assert is_unsteady(measured(function, X, strategy=strategy, record=record)) is expected


def test_what_python_drives_is_no_program(measured: Callable[..., Probed]) -> None:
    assert is_unsteady(measured(counting, X, strategy="eager")) is False


def test_what_was_traced_once_or_is_dear_to_lower_is_left(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch
) -> None:
    probed = measured(counting, X)
    assert is_unsteady(replace(probed, other_trace=None)) is False
    monkeypatch.setattr(unsteady, "_DEAR_LOWERING_SECONDS", 0.0)
    assert is_unsteady(probed) is False
