"""Programs that are not the same are never taken for the same, neither before XLA nor after it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.hlo import optimised_text, program_digest
from pytest_jitperf.probe.stablehlo import canonical_module

X = jnp.linspace(0.5, 2.0, 64).reshape(8, 8)
V = jnp.linspace(0.5, 2.0, 8)
W = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
KEY = jax.random.key(0)
IMAGE, KERNEL = jnp.ones((1, 3, 8, 8)), jnp.ones((3, 3, 3, 3))


def loop(length: int, unroll: int = 1, reverse: bool = False) -> Any:
    def body(c: Any, x: Any) -> Any:
        return jnp.tanh(c + x), c * 2

    return lambda v: jax.lax.scan(body, v, jnp.arange(float(length)), unroll=unroll, reverse=reverse)


def counted(bound: Any) -> Any:
    return lambda x: jax.lax.while_loop(lambda s: s[1] < bound, lambda s: (jnp.sin(s[0]), s[1] + 1.0), (x, 0.0))


def convolved(**how: Any) -> Any:
    return lambda a, b: jax.lax.conv_general_dilated(a, b, **{"window_strides": (1, 1), "padding": "SAME", **how})


PAIRS: dict[str, tuple[Any, ...]] = {
    "operation": (lambda x: jnp.sin(x), lambda x: jnp.cos(x), X),
    "number": (lambda x: x * 2.0, lambda x: x * np.nextafter(np.float32(2), np.float32(3)), X),
    "sign of zero": (lambda x: jnp.maximum(x, 0.0), lambda x: jnp.maximum(x, -0.0), X),
    "order of results": (lambda x: (x + 1, x * 2), lambda x: (x * 2, x + 1), X),
    "result twice": (lambda x: (x + 1, x + 1), lambda x: (x + 1, x), X),
    "order of operands": (lambda x, y: x - y, lambda x, y: y - x, X, X),
    "operands of a quotient": (lambda x, y: jnp.sin(x) / y, lambda x, y: y / jnp.sin(x), X, X),
    "operands of a power": (lambda x, y: x**y, lambda x, y: y**x, X, X),
    "which argument": (lambda x, y: jnp.sin(x) + y, lambda x, y: x + jnp.sin(y), X, X),
    "sides of a product": (lambda x, y: x @ y, lambda x, y: y @ x, X, X),
    "contracted dimension": (lambda x, y: x @ y, lambda x, y: x @ y.T, X, X),
    "other contracted dimension": (lambda x, y: x @ y, lambda x, y: x.T @ y, X, X),
    "precision": (lambda x: x @ x, lambda x: jnp.matmul(x, x, precision="highest"), X.astype(jnp.bfloat16)),
    "type in between": (lambda x: jnp.sin(x), lambda x: jnp.sin(x.astype(jnp.bfloat16)).astype(jnp.float32), X),
    "association": (lambda x, y: (x + y) * x, lambda x, y: x + (y * x), X, X),
    "direction of a comparison": (lambda x, y: x > y, lambda x, y: x < y, X, X),
    "strictness of a comparison": (lambda x, y: x > y, lambda x, y: x >= y, X, X),
    "sides of a choice": (lambda x, y: jnp.where(x > 1, x, y), lambda x, y: jnp.where(x > 1, y, x), X, X),
    "reduced dimension": (lambda x: x.sum(0), lambda x: x.sum(1), X),
    "kind of reduction": (lambda x: x.sum(0), lambda x: x.max(0), X),
    "broadcast dimension": (lambda x, v: x + v[:, None], lambda x, v: x + v[None], X, V),
    "transposition": (lambda x: x + x.T, lambda x: x + x, X),
    "start of a slice": (lambda x: x[1:4] * 2, lambda x: x[2:5] * 2, X),
    "stride of a slice": (lambda v: v[:4] * 2, lambda v: v[::2] * 2, V),
    "padding": (lambda v: jnp.pad(v, 1), lambda v: jnp.pad(v, 1, constant_values=1), V),
    "side of padding": (lambda v: jnp.pad(v, (1, 2)), lambda v: jnp.pad(v, (2, 1)), V),
    "direction of counting": (lambda x: x + jnp.arange(8.0), lambda x: x + jnp.arange(8.0)[:, None], X),
    "concatenated dimension": (lambda x: jnp.stack([x, x * 2], 0), lambda x: jnp.stack([x, x * 2], 1), X),
    "reversed dimension": (lambda x: jnp.flip(x, 0) * 2, lambda x: jnp.flip(x, 1) * 2, X),
    "sorted dimension": (lambda x: jnp.sort(x, 0), lambda x: jnp.sort(x, 1), X),
    "direction of sorting": (lambda x: jnp.sort(x), lambda x: jnp.sort(x, descending=True), X),
    "stability of sorting": (lambda x: jnp.sort(x), lambda x: jnp.sort(x, stable=False), X),
    "places of a gather": (lambda x: x[jnp.array([1, 2])], lambda x: x[jnp.array([2, 1])], X),
    "places of a longer gather": (lambda x: x[jnp.arange(12) % 8], lambda x: x[jnp.arange(12) % 7], X),
    "kind of scatter": (lambda x: x.at[1].add(2.0), lambda x: x.at[1].multiply(2.0), X),
    "place of a scatter": (lambda x, n: x.at[n].set(2.0), lambda x, n: x.at[n + 1].set(2.0), X, 1),
    "length of a loop": (loop(5), loop(6), V),
    "direction of a loop": (loop(5), loop(5, reverse=True), V),
    "unrolling of a loop": (loop(6), loop(6, unroll=2), V),
    "bound of a loop": (counted(5.0), counted(50.0), X),
    "branches": (
        lambda x: jax.lax.cond(x[0, 0] > 1, jnp.sin, jnp.cos, x),
        lambda x: jax.lax.cond(x[0, 0] > 1, jnp.cos, jnp.sin, x),
        X,
    ),
    "carried values": (
        lambda x, y: jax.lax.fori_loop(0, 9, lambda i, s: (s[1], s[0] * 2), (x, y)),
        lambda x, y: jax.lax.fori_loop(0, 9, lambda i, s: (s[0] * 2, s[1]), (x, y)),
        X,
        X,
    ),
    "library": (lambda x: jnp.linalg.cholesky(x @ x.T), lambda x: jnp.linalg.qr(x @ x.T)[1], X),
    "half of a matrix": (
        lambda x: jax.scipy.linalg.solve_triangular(x, x, lower=True),
        lambda x: jax.scipy.linalg.solve_triangular(x, x, lower=False),
        X,
    ),
    "kind of transform": (lambda x: jnp.fft.fft(x), lambda x: jnp.fft.ifft(x), X),
    "length of a transform": (lambda x: jnp.fft.fft(x), lambda x: jnp.fft.fft2(x), X),
    "strides of a convolution": (convolved(), convolved(window_strides=(2, 2)), IMAGE, KERNEL),
    "layout of a convolution": (
        convolved(padding="VALID"),
        convolved(padding="VALID", dimension_numbers=("NCHW", "IOHW", "NCHW")),
        IMAGE,
        KERNEL,
    ),
    "random numbers": (lambda k: jax.random.normal(k, (4,)), lambda k: jax.random.uniform(k, (4,)), KEY),
    "seed": (lambda: jax.random.uniform(jax.random.key(0), (4,)), lambda: jax.random.uniform(jax.random.key(1), (4,))),
    "captured table": (lambda x: x @ W, lambda x: x @ (W * 10), X),
    "one number of a table": (lambda x: x @ W, lambda x: x @ np.where(np.arange(8) == 3, W + 1e-7, W), X),
    "transposed table": (lambda x: x @ jnp.asarray(W), lambda x: x @ jnp.asarray(W).T, X),
    "doubled table": (lambda x: x @ jnp.asarray(W), lambda x: x @ (jnp.asarray(W) * 2), X),
    "sorted table": (lambda x: x + jnp.asarray(W), lambda x: x + jnp.sort(jnp.asarray(W)), X),
    "table that bounds a loop": (
        lambda x: counted(jnp.asarray(W).max())(x),
        lambda x: counted((jnp.asarray(W) * 10).max())(x),
        X,
    ),
    "recomputation": (
        jax.grad(lambda x: jax.checkpoint(lambda z: jnp.sin(jnp.sin(z @ z)))(x).sum()),
        jax.grad(lambda x: jnp.sin(jnp.sin(x @ x)).sum()),
        X,
    ),
    "double work": (
        lambda x: counted(5.0)(x)[0] * 2,
        lambda x: counted(5.0)(x)[0] + counted(6.0)(x)[0],
        X,
    ),
    "one more argument": (lambda x: x * 2, lambda x, y: x * y, X),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_programs_that_differ_are_two(name: str) -> None:
    one, other, *args = PAIRS[name]
    before, after = set(), set()
    for function in (one, other):
        lowered = jax.jit(function).lower(*args, *([2.0] if function is other and name == "one more argument" else []))
        before.add(canonical_module(lowered.compiler_ir("stablehlo")))
        digest = program_digest(optimised_text(lowered.compile()))
        assert digest
        after.add(digest)
    assert (len(before), len(after)) == (2, 2)
