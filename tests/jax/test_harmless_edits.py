"""Edits that change nothing: what is still the same program before XLA, and what is one after it."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.compare import Effort, Stored, compare
from pytest_jitperf.probe.inputs import text_of
from pytest_jitperf.probe.jitinfo import named_for_jit
from pytest_jitperf.probe.lock import DeviceLock
from pytest_jitperf.probe.program import FlatProgram, exported_program
from pytest_jitperf.probe.request import Request, subject_of
from pytest_jitperf.probe.subject import Subject

A = jnp.asarray(np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32))
B = jnp.asarray(np.random.default_rng(1).normal(size=(8, 8)).astype(np.float32))
TABLE = np.random.default_rng(2).normal(size=(8, 8)).astype(np.float32)

Function = Callable[[Any], Any]


@jax.custom_vjp
def own(x: Any) -> Any:
    return jnp.sin(x)


own.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x) * 2,))


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda c, v: (jnp.tanh(c @ x) + v, c.sum()), x, x)[0]


def repeated(x: Any) -> Any:
    return jax.lax.while_loop(lambda s: s[1] < 10, lambda s: (jnp.sin(s[0]) * 1.1, s[1] + 1), (x, 0))[0]


# Two independent parts each.
KINDS: dict[str, tuple[Function, Function]] = {
    "elementwise": (lambda x: jnp.sin(x) * 3, lambda x: jnp.exp(-x)),
    "dots": (lambda x: jnp.tanh(x @ x.T), lambda x: jax.nn.softmax(x @ x)),
    "loops": (scanned, repeated),
    "branches": (
        lambda x: jax.lax.cond(x[0, 0] > 0, lambda z: z @ z, lambda z: z.T, x),
        lambda x: jax.vmap(lambda r: jax.lax.cond(r[0] > 0, jnp.sin, jnp.cos, r))(x),
    ),
    "library calls": (
        lambda x: jnp.linalg.cholesky(x @ x.T + 8 * jnp.eye(8)),
        lambda x: jnp.linalg.eigh(x + x.T)[1],
    ),
    "transforms": (lambda x: jnp.fft.fft(x).real, lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x))),
    "gather and scatter": (lambda x: x[jnp.array([3, 1, 2, 0] * 2)], lambda x: x.at[jnp.arange(8) % 7].add(1.0)),
    "own derivatives": (jax.grad(lambda x: own(x).sum()), jax.grad(lambda x: jax.checkpoint(own)(x @ x).sum())),
    "random numbers": (
        lambda x: x + jax.random.normal(jax.random.key(0), x.shape),
        lambda x: x * jax.random.uniform(jax.random.fold_in(jax.random.key(1), 3), x.shape),
    ),
    "captured tables": (lambda x: jnp.tanh(x @ jnp.asarray(TABLE).T), lambda x: x + TABLE),
}


class Edits:
    """A function of two arguments, and ways to write it."""

    def __init__(self, kind: str) -> None:
        self.first, self.second = KINDS[kind]

    def base(self, a: Any, b: Any) -> Any:
        u = self.first(a)
        v = self.second(b)
        return u * 2.0 + v, v

    def renamed(self, left: Any, right: Any) -> Any:
        """With other names, moved, and in a scope."""
        with jax.named_scope("scope"):
            one = self.first(left)
        other = self.second(right)
        return one * 2.0 + other, other

    def reordered(self, a: Any, b: Any) -> Any:
        v = self.second(b)
        u = self.first(a)
        return u * 2.0 + v, v

    def commuted(self, a: Any, b: Any) -> Any:
        u = self.first(a)
        v = self.second(b)
        return v + 2.0 * u, v

    def helper(self, a: Any, b: Any) -> Any:
        return self.first(a) * 2.0, self.second(b)

    def with_helper(self, a: Any, b: Any) -> Any:
        u, v = jax.jit(self.helper)(a, b)
        return u + v, v

    def helper_split(self, a: Any, b: Any) -> Any:
        u = jax.jit(lambda x: self.first(x) * 2.0)(a)
        v = jax.jit(lambda x: self.second(x))(b)
        return u + v, v

    def helper_arguments_exchanged(self, a: Any, b: Any) -> Any:
        v, u = jax.jit(lambda y, x: self.helper(x, y)[::-1])(b, a)
        return u + v, v

    def arguments_unread(self, first: Any, a: Any, b: Any) -> Any:
        return self.base(a, b)

    def folded(self, a: Any, b: Any) -> Any:
        return self.base(a * 1.0, b.T.T)


def program_of(subject: Subject) -> FlatProgram:
    built, inputs = subject.built, subject.inputs
    named, _ = named_for_jit(built.function, inputs, built.call, built.given)
    leaves = [leaf.leaf for leaf in named]
    return exported_program(
        built.call, inputs.args, inputs.kwargs, leaves, inputs=text_of(named), donated=(), options={}
    )


@pytest.fixture
def how(request_for: Callable[..., Request], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """By what two calls, each a function and its arguments, are found the same; empty where they would be raced."""
    # A lock of its own: other test runs on this machine are not waited for.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    effort = Effort(run_limit=None, compiling=None, race_seconds=0.0, compile_seconds=60.0, random=random.Random(0))

    def decide(old: tuple[Any, ...], new: tuple[Any, ...]) -> str:
        before, subject = program_of(subject_of(request_for(*old), "outer")), subject_of(request_for(*new), "outer")
        known = Stored(
            fingerprint=before.fingerprint,
            raw=before.raw,
            inputs=before.inputs,
            unused=before.unused,
            jax=jax.__version__,
        )
        found = compare(program_of(subject), "", subject, known, effort, DeviceLock("cpu:0"), lambda text: None)
        assert found.cannot == ""
        assert found.same == (found.how != "")
        return found.how

    return decide


@pytest.mark.parametrize("kind", KINDS)
def test_before_xla(how: Callable[..., str], kind: str) -> None:
    edits = Edits(kind)
    for new in (edits.renamed, edits.reordered):
        assert how((edits.base, A, B), (new, A, B)) == "fingerprint", new.__name__
    assert how((edits.base, A, B), (edits.arguments_unread, jnp.ones(3), A, B)) == "fingerprint"
    assert how((edits.with_helper, A, B), (edits.helper_arguments_exchanged, A, B)) == "fingerprint"

    def keyed(name: str) -> Any:
        return lambda d: dict(zip([name, "b"], edits.base(d[name], d["b"]), strict=True))

    # The leaves and the results change places.
    assert how((keyed("a"), {"a": A, "b": B}), (keyed("za"), {"za": A, "b": B})) == "fingerprint"


@pytest.mark.parametrize("kind", KINDS)
def test_after_xla(how: Callable[..., str], kind: str) -> None:
    edits = Edits(kind)
    assert how((edits.with_helper, A, B), (edits.helper_split, A, B)) in ("fingerprint", "optimised")
    for new in (edits.folded, edits.commuted):
        assert how((edits.base, A, B), (new, A, B)) == "optimised", new.__name__

    def folded(d: Any) -> Any:
        return edits.folded(d["za"], d["b"])

    old = (lambda d: edits.base(d["a"], d["b"]), {"a": A, "b": B})
    assert how(old, (folded, {"za": A, "b": B})) == "optimised"
