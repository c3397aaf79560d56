from __future__ import annotations

import jax.numpy as jnp
import pytest

from wavelab.waves import cascade, ripple


@pytest.mark.jitperf(
    strategies=["eager", "outer", "inner", "both"],
    inner=[ripple],  # what "inner" and "both" jit; cascade itself stays as it is
    compile="60 s",  # budgets for every strategy ...
    budgets={"outer": {"run": "1 s", "compilations": 1}},  # ... and for one
    faster_than={"outer": {"eager": 2.0}},
)
def test_cascade(jitperf):
    x = jnp.linspace(-3.0, 3.0, 256)

    y = jitperf(cascade, x)

    assert y.shape == x.shape
    assert jnp.isfinite(y).all()


@pytest.mark.jitperf(
    strategies=["eager", "outer"],
    jit={"static_argnames": ["depth"]},  # depth decides how long the program is
    tolerance={"outer": {"run": "20 %", "compile": "50 %"}},
)
@pytest.mark.parametrize("depth", [4, 32])
def test_cascade_of_any_depth(jitperf, depth):
    y = jitperf(cascade, jnp.full(256, jnp.pi), depth=depth)

    assert jnp.allclose(y, jnp.pi)  # pi is where a ripple, halved, comes back to itself


def test_ripple_at_zero():
    assert ripple(jnp.zeros(())) == 0.0
