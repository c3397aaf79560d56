"""Changes that users of JAX have reported, each judged by what it does."""

from __future__ import annotations

from typing import Any

import pytest

# One record and one gate for all of them: BEFORE and AFTER are two versions of the same functions.
COMMON = """
import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.random.default_rng(0).integers(0, 1000, 200_000).astype("i4")
INDEX = jnp.asarray(TABLE)

class Equal:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return type(other) is Equal and self.k == other.k

    def __hash__(self):
        return hash(self.k)

class ByIdentity:
    def __init__(self, k):
        self.k = k

def scaled(x, config):
    return x * config.k

def mixed(x):
    for _ in range(6):
        x = 0.3 * jnp.tanh(x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16)).astype(jnp.float32)
    return x

undonated = jax.jit(lambda s: s + 1)
donated = jax.jit(lambda s: s + 1, donate_argnums=0)
"""

BEFORE = (
    COMMON
    + """
Config = Equal
given_up = donated

def closure(x, index):
    return jnp.zeros(1000).at[index].add(x[index])

def lost(s):
    return s + 1

def step(w, x):
    return jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w)))(w)

def emptied(x):
    return jnp.sin(x @ x)

def renamed(a, b):
    for _ in range(2):
        a = jnp.tanh(a @ b)
    return a
"""
)

AFTER = (
    COMMON
    + """
Config = ByIdentity
given_up = undonated

def closure(x, index):
    return jnp.zeros(1000).at[TABLE].add(x[TABLE])

def lost(s):
    return s.astype(jnp.bfloat16) + 1

def step(w, x):
    return jax.grad(lambda w: jnp.mean(jnp.tanh(jnp.tanh(jnp.tanh(x @ w) @ w) @ w)))(w)

def emptied(x):
    return jnp.zeros(x.shape)

def renamed(q, r):
    for _ in range(40):
        q = jnp.tanh(q @ r)
    return q
"""
)

TESTS = """
@pytest.mark.jitperf
def test_closure(jitperf):
    jitperf(library.closure, jnp.ones(1000), library.INDEX)

@pytest.mark.jitperf(strategies=["outer"], jit={"static_argnums": 1})
def test_static(jitperf):
    jitperf.measure(library.scaled, make_args=lambda: (jnp.ones(3), library.Config(2)))

@pytest.mark.jitperf(strategies=["outer"], jit={"donate_argnums": 0}, tolerance={"compile": "1000 %", "run": "1000 %"})
def test_lost(jitperf):
    x = jnp.ones((128, 128))
    jitperf(library.lost, x)
    assert not x.is_deleted()

@pytest.mark.jitperf(strategies=["outer"])
def test_given_up(jitperf):
    jitperf(library.given_up, jnp.ones((128, 128)))

@pytest.mark.jitperf(strategies=["outer"], tolerance={"compile": "1000 %"})
def test_step(jitperf):
    shapes = jax.ShapeDtypeStruct((4096, 4096), jnp.float32), jax.ShapeDtypeStruct((65536, 4096), jnp.float32)
    assert jitperf(library.step, *shapes).shape == (4096, 4096)

@pytest.mark.jitperf(strategies=["outer"])
def test_emptied(jitperf):
    jitperf(library.emptied, jnp.ones((64, 64)))

@pytest.mark.jitperf(strategies=["outer"], tolerance={"compile": "1000 %"})
def test_renamed(jitperf):
    jitperf(library.renamed, jnp.eye(64), jnp.eye(64) / 2)

@pytest.mark.jitperf(strategies=["outer"])
def test_mixed(jitperf):
    jitperf(library.mixed, jnp.linspace(0.1, 1, 48 * 48).reshape(48, 48))
"""

MESSAGES = {
    "test_closure[outer]": "constant_bytes regressed: 0 B -> 781 KiB, allowed 64 KiB\n"
    "  strategy *\n*why   constant_bytes: captured constants 0 B -> 781 KiB (i32[200000], 781 KiB), *",
    "test_static[outer]": "compilations regressed: 1 -> 2, x2.00, allowed 1\n"
    "  strategy *\n  why   compiled again: every call: scaled, config: another ByIdentity (reuse one object, *"
    "  note  inputs changed: config: static Equal #* -> static ByIdentity #*; nothing else was compared\n*",
    "test_lost[outer]": "unused_donation_bytes regressed: 0 B -> 64 KiB, allowed 0 B\n"
    "  strategy *\n  why   unused_donation_bytes: donation lost: donated memory that no result takes over *",
    "test_given_up[outer]": "peak_bytes regressed: 64 KiB -> 128 KiB, x2.00, allowed 67.2 KiB\n"
    "  strategy *\n  why   peak_bytes: donated arguments 1 -> 0, arguments and outputs 64 KiB -> 128 KiB\n*",
    "test_step[outer]": "*peak_bytes regressed: * GiB -> * GiB, x*\n"
    "  why   peak_bytes: *temp memory * GiB -> * GiB*\n*"
    "  note  compiled and not run: the arguments are shapes without values\n*",
    "test_renamed[outer]": "run regressed: *, allowed x1.10\n  strategy *\n  why   *dot 2 -> 40 (x20)*",
}


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_each_is_judged_by_what_it_does(project: Any) -> None:
    project.write_library(BEFORE)
    project.write_tests(TESTS)
    project.record()
    project.write_library(AFTER)

    result = project.quick_run("--jitperf-max-time=2 s")

    project.assert_messages(result, MESSAGES)
    result.assert_outcomes(passed=3, failed=6, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*JitperfWarning: test_g.py::test_emptied?outer?: not gated: the compiled program computes nothing any "
            "more, so what it takes says nothing about the function; *",
            "      not compared with eager: rounding to bfloat16 moves the result as much",
        ]
    )
