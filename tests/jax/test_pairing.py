"""Today's values for the inputs of a stored program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.pairing import inputs_of, paired
from pytest_jitperf.probe.request import Request, subject_of


@pytest.mark.parametrize(
    ("stored", "today", "chosen", "ambiguous"),
    [
        ("x: f32[8]; y: f32[8]", "x: f32[8]; y: f32[8]", "01", False),
        ("x: f32[8]; y: f32[8]", "y: f32[8]; x: f32[8]", "10", False),
        ("x: f32[8]; n: i32[]", "z: f32[8]; m: i32[]", "01", False),  # each the only one of its kind
        ("d['lr']: f32[]; d['n']: f32[]", "d['n']: f32[]; d['zlr']: f32[]", "10", True),
        ("a: f32[]; b: f32[]", "c: f32[]; d: f32[]", "01", True),
        ("x: f32[8]; n: static int #1", "x: f32[8]; y: f32[2]", "0", False),
        ("", "x: f32[8]", "", False),
    ],
)
def test_leaves_are_paired_by_path_then_by_kind(stored: str, today: str, chosen: str, ambiguous: bool) -> None:
    found = paired(stored, today, list("0123"))
    assert ("".join(found.leaves), found.ambiguous) == (chosen, ambiguous)


def test_an_input_that_is_gone_is_named() -> None:
    with pytest.raises(MeasurementError, match=r"takes an input i32\[3\] that the call no longer has"):
        paired("x: f32[8]; n: i32[3]", "x: f32[8]; y: f32[8]", [1, 2])


@pytest.mark.parametrize("strategy", ["eager", "outer"])
def test_the_leaves_of_a_call_that_cannot_be_exported(request_for: Callable[..., Request], strategy: str) -> None:
    def f(x: Any, n: Any, how: Any) -> Any:
        return x * n

    request = request_for(f, jnp.ones(2), 3, "text", jit={"static_argnames": ("n", "how")})
    text, leaves = inputs_of(None, subject_of(request, strategy))
    assert text == ("x: f32[2]" if strategy == "outer" else "x: f32[2]; n: weak i32[]")
    assert len(leaves) == (1 if strategy == "outer" else 2)
