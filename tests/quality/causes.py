"""What the plugin says of each cause of another compilation: a table from cause to message.

    python tests/quality/causes.py

Each cause is a marked test that allows one compilation and runs two inputs; its failure is the message.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from playing import run_pytest, write_project

TESTS = """
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

X = jnp.ones(8)
SECRET = "a value that no message may hold"


def step(x, n=2, how=None):
    return jax.tree.map(lambda leaf: leaf, x)


@jax.jit
def jitted(x):
    return x @ x


class Model(eqx.Module):
    layers: list
    name: str = eqx.field(static=True, default=SECRET)


class Stepper:
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):
        return x + 1

    def plain(self, x):
        return x + 1


STEPPER = Stepper()


def with_x64(on):
    with jax.enable_x64(on):
        return jitted(jnp.ones(4))


def with_precision(precision):
    with jax.default_matmul_precision(precision):
        return jitted(X)


def sliced(x, n):
    return x[:n]


def scanned(x):
    return jax.lax.scan(lambda carry, v: (carry + v, v), jnp.float32(0), x)[0]


STATIC = {"static_argnames": ("n",)}
EAGER = "primitive_compilations"
CASES = {
    "another shape": (step, [(X,), (X[:4],)]),
    "another dtype": (step, [(X,), (X.astype(int),)]),
    "a weak type": (step, [(1.0,), (jnp.float32(1),)]),
    "an int for a float": (step, [(1.0,), (1,)]),
    "by keyword": (step, [(X, 1), ((X,), {"n": 1})]),
    "length of a list": (step, [([X],), ([X, X],)]),
    "a tuple for a list": (step, [([X],), (((X,),), {})]),
    "a key of a dict": (step, [({"w": X},), ({"w": X, "b": X},)]),
    "an array for None": (step, [(X, 1, None), (X, 1, X)]),
    "a nested leaf": (step, [({"l": [{"w": X}]},), ({"l": [{"w": X[:4]}]},)]),
    "a leaf of an equinox module": (step, [(Model([X]),), (Model([X[:4]]),)]),
    "a typed PRNG key": (step, [(jax.random.key(0),), (jax.random.split(jax.random.key(0), 3),)]),
    "a static value": (step, [(X, 3), (X, 4)], STATIC),
    "a static text": (step, [(X, "relu"), (X, "gelu")], STATIC),
    "a static lambda": (step, [(X, lambda: 1), (X, lambda: 1)], STATIC),
    "a jit of a lambda in each call": (lambda x: jax.jit(lambda v: v + 1)(x), [(X,), (X,)]),
    "a jit of a partial in each call": (lambda x: jax.jit(functools.partial(step, n=3))(x), [(X,), (X,)]),
    "a jit of a bound method in each call": (lambda x: jax.jit(STEPPER.plain)(x), [(X,), (X,)]),
    "an object made in each call": (lambda x: Stepper().step(x), [(X,), (X,)]),
    "a scan of a lambda in eager code": (scanned, [(X,), (X,)], EAGER),
    "a slice of another size in eager code": (sliced, [(X, 3), (X, 4)], EAGER),
    "x64 switched on": (with_x64, [(False,), (True,)]),
    "another matmul precision": (with_precision, [("default",), ("highest",)]),
}


def parameters():
    for cause, (function, inputs, *how) in CASES.items():
        strategy = "outer" if function is step else "eager"
        # The first input compiles once; eager code some operations besides, one of them for each cause at the least.
        budget = {"eager": {EAGER: 1}} if how == [EAGER] else {strategy: {"compilations": 1}}
        jit = how[0] if how and how != [EAGER] else {}
        marker = pytest.mark.jitperf(budgets=budget, jit=jit, equal_results=False)
        yield pytest.param(function, inputs, strategy, marks=marker, id=cause)


@pytest.mark.jitperf(strategies=["outer", "eager"])
@pytest.mark.parametrize(("function", "inputs", "strategy"), parameters())
def test_cause(jitperf, function, inputs, strategy):
    if jitperf.strategy != strategy:
        pytest.skip("the other strategy")
    jitperf.measure(function, inputs=inputs)
"""


def main() -> int:
    """Prints the table; 1 where a cause was not found, or a value that none may hold stands in a message."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "causes")
        write_project(folder, {"test_causes.py": TESTS})
        run_pytest(folder, "--junitxml=report.xml")
        missing, rows = 0, []
        for case in ElementTree.parse(folder / "report.xml").getroot().iter("testcase"):
            failure = case.find("failure")
            if failure is None:
                skipped = case.find("skipped") is not None
                missing += not skipped
                rows += [] if skipped else [(case.get("name", ""), "NOT FOUND")]
                continue
            text = failure.text or ""
            found = re.search(r"input 2: (.*)", text)
            missing += found is None or "a value that no message may hold" in text
            cause = re.sub(r"^test_cause\[(.*)-\w+\]$", r"\1", case.get("name", ""))
            rows.append((cause, found[1] if found else text.splitlines()[0]))
    width = max(len(cause) for cause, _ in rows)
    for cause, message in rows:
        print(f"{cause:<{width}}  {message}")
    print(f"\n{len(rows) - missing} of {len(rows)} found and named")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
