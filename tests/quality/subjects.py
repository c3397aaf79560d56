"""The subjects of the quality bench: small programs as text, and where their text can be changed harmlessly.

The programs stand in ``sources/``, one module each, with a main function, a helper that holds a loop, and ``example``,
which makes the arguments. The loop runs the same body ``STEPS`` times, each time on what the time before left, so that
twice the steps are twice the work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

Pair = tuple[str, str]
"""A text and what takes its place."""


@cache
def source_of(name: str) -> str:
    """Text of a module in ``sources/``."""
    return Path(__file__).with_name("sources").joinpath(f"{name}.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program as text, with what is needed to change it.

    Attributes:
        name: Of its module in ``sources/``.
        main: The function that is measured.
        helper: The function that ``inner`` and ``both`` jit; it holds the loop.
        inner: Whether unchanged code and run work are played with the strategy ``inner`` too.
        equal: Makes another program of the same speed.
        names: Other names for functions, parameters and variables.
        keys: Other names for dictionary keys.
        swapped: Two statements, one after the other, that do not depend on each other.
        split: Head of a new function, the expression it returns, and the call that takes the expression's place.
        folded: Adds an operation that XLA folds away.
        doubled: Writes ``x + x`` as a product.
        unused: Gives the call of the helper one more argument.
    """

    name: str
    main: str
    helper: str
    inner: bool = False
    equal: Pair
    names: Mapping[str, str]
    keys: Mapping[str, str] = field(default_factory=dict)
    swapped: Pair
    split: tuple[str, str, str]
    folded: Pair
    doubled: Pair
    unused: Pair

    @property
    def source(self) -> str:
        """Text of the module."""
        return source_of(self.name)

    @property
    def steps(self) -> int:
        """How often the body of the loop runs."""
        found = re.search(r"^STEPS = (\d+)$", self.source, re.MULTILINE)
        assert found, f"{self.name} does not say its STEPS"
        return int(found[1])


SUBJECTS = (
    Subject(
        name="mlp",
        main="predict",
        helper="trunk",
        inner=True,
        equal=("0.3 * rows", "0.31 * rows"),
        names={"predict": "infer", "rows": "batch", "centred": "start", "mixed": "hidden"},
        keys={"bias": "shift", "kernel": "weight", "mean": "offset", "scale": "gain"},
        swapped=('        mixed = rows @ params["kernel"]\n', "        skip = 0.3 * rows\n"),
        split=(
            "active(mixed: Array, params: dict[str, Array]) -> Array",
            'jnp.tanh(mixed + params["bias"])',
            "active(mixed, params)",
        ),
        folded=("tanh(mixed +", "tanh(mixed * 1.0 +"),
        doubled=('params["scale"] + params["scale"]', '2.0 * params["scale"]'),
        unused=("trunk(params, centred", "trunk(params, centred, scale"),
    ),
    Subject(
        name="chain",
        main="settle",
        helper="relax",
        equal=("size + 1.0", "size + 1.1"),
        names={"settle": "approach", "signal": "values", "target": "goal", "pull": "apart", "now": "state"},
        swapped=("        pull = target - now\n", "        size = jnp.abs(now)\n"),
        split=("damped(pull: Array, size: Array) -> Array", "pull / (size + 1.0)", "damped(pull, size)"),
        folded=("rate * pace", "rate * 1.0 * pace"),
        doubled=("gain + gain", "gain * 2"),
        unused=("relax(start, target, rate", "relax(start, target, rate, gain"),
    ),
    Subject(
        name="stencil",
        main="warm",
        helper="diffuse",
        inner=True,
        equal=("0.2 * (rows", "0.19 * (rows"),
        names={"warm": "heat", "field": "grid", "source": "supply", "rate": "feed", "rows": "vertical"},
        swapped=(
            "        rows = jnp.roll(now, 1, axis=0) + jnp.roll(now, -1, axis=0)\n",
            "        columns = jnp.roll(now, 1, axis=1) + jnp.roll(now, -1, axis=1)\n",
        ),
        split=(
            "beside(now: Array) -> Array",
            "jnp.roll(now, 1, axis=0) + jnp.roll(now, -1, axis=0)",
            "beside(now)",
        ),
        folded=("+ source\n", "+ source * 1.0\n"),
        doubled=("source + source", "source * 2.0"),
        unused=("diffuse(field - mean, rate", "diffuse(field - mean, rate, field"),
    ),
    Subject(
        name="rnn",
        main="encode",
        helper="unroll",
        equal=("0.01 * time", "0.011 * time"),
        names={"encode": "embed", "hidden": "initial", "start": "begin", "state": "carry", "time": "tick"},
        keys={"fresh": "update", "gate": "forget", "shift": "bias"},
        swapped=(
            '        gate = jax.nn.sigmoid(state @ params["gate"])\n',
            '        fresh = jnp.tanh(state @ params["fresh"] + 0.01 * time)\n',
        ),
        split=(
            "mixed(gate: Array, state: Array, fresh: Array) -> Array",
            "gate * state + (1.0 - gate) * fresh",
            "mixed(gate, state, fresh)",
        ),
        folded=("return gate * state", "return gate * 1.0 * state"),
        doubled=('params["shift"] + params["shift"]', 'params["shift"] * 2.0'),
        unused=("unroll(params, start", "unroll(params, start, shift"),
    ),
    Subject(
        name="gp",
        main="noise_of",
        helper="fit",
        equal=("0.002 * noise", "0.0021 * noise"),
        names={"noise_of": "fitted", "points": "places", "heights": "values", "apart": "distance", "noise": "jitter"},
        swapped=("        width = jnp.sum(factor)\n", "        pace = 0.002 * noise\n"),
        split=(
            "loaded(gram: Array, noise: Array) -> Array",
            "gram + noise * jnp.eye(len(gram))",
            "loaded(gram, noise)",
        ),
        folded=("noise + pace /", "noise + pace * 1.0 /"),
        doubled=("size + size", "2.0 * size"),
        unused=("fit(gram, size + size", "fit(gram, size + size, points"),
    ),
    Subject(
        name="blur",
        main="soften",
        helper="smooth",
        inner=True,
        equal=("0.02 * now", "0.021 * now"),
        names={"soften": "blurred", "image": "picture", "width": "sigma", "rows": "vertical", "spectrum": "waves"},
        swapped=(
            "        spectrum = jnp.fft.rfft2(now) * response\n",
            "        edge = 0.02 * now * now\n",
        ),
        split=("sharpened(now: Array) -> Array", "0.02 * now * now", "sharpened(now)"),
        folded=("+ edge\n", "+ edge * 1.0\n"),
        doubled=("out + out", "out * 2"),
        unused=("smooth(image, response", "smooth(image, response, width"),
    ),
    Subject(
        name="orbit",
        main="fly",
        helper="integrate",
        equal=("0.001 * half", "0.0011 * half"),
        names={"fly": "travel", "place": "position", "speed": "rate", "half": "middle", "twice": "faster"},
        swapped=("        half = velocity + 0.0005 * force(where)\n", "        after = now + 1.0\n"),
        split=(
            "kicked(velocity: Array, where: Array) -> Array",
            "velocity + 0.0005 * force(where)",
            "kicked(velocity, where)",
        ),
        folded=("0.001 * half", "0.001 * half * 1.0"),
        doubled=("speed + speed", "2.0 * speed"),
        unused=("jnp.float32(STEPS)", "jnp.float32(STEPS), centre"),
    ),
    Subject(
        name="ridge",
        main="regress",
        helper="solve",
        equal=("0.5 * weights", "0.51 * weights"),
        names={"regress": "estimate", "points": "places", "values": "wanted", "lengths": "norms", "scaled": "twice"},
        swapped=(
            "        noise = 2.0 + jnp.abs(weights[0])\n",
            "        target = values - 0.5 * weights\n",
        ),
        split=(
            "loaded(gram: Array, noise: Array) -> Array",
            "gram + noise * jnp.eye(len(gram))",
            "loaded(gram, noise)",
        ),
        folded=("values - 0.5", "values * 1.0 - 0.5"),
        doubled=("values + values", "2 * values"),
        unused=("solve(gram, scaled", "solve(gram, scaled, points"),
    ),
    Subject(
        name="ranks",
        main="rank",
        helper="shuffle",
        inner=True,
        equal=("0.3 * now", "0.31 * now"),
        names={"rank": "ordered", "scores": "marks", "table": "lookup", "lowest": "least", "wide": "broad"},
        swapped=("        order = jnp.argsort(now)\n", "        drift = 0.3 * now\n"),
        split=("read(table: Array, order: Array) -> Array", "jnp.sin(7.0 * table[order])", "read(table, order)"),
        folded=("+ drift\n", "+ drift * 1.0\n"),
        doubled=("table + table", "table * 2.0"),
        unused=("shuffle(scores - lowest, wide", "shuffle(scores - lowest, wide, table"),
    ),
    Subject(
        name="adam",
        main="train",
        helper="descend",
        equal=("0.01 * mean", "0.011 * mean"),
        names={"train": "adapt", "params": "theta", "moments": "memory", "weights": "values", "start": "first"},
        keys={"bias": "offset", "kernel": "matrix"},
        swapped=(
            "    start = jax.tree.map(lambda leaf: leaf + leaf, params)\n",
            "    means = jax.tree.map(lambda leaf: 0.5 * leaf, moments)\n",
        ),
        split=(
            "moved(weights: Tree, means: Tree) -> Tree",
            "jax.tree.map(lambda weight, mean: weight - 0.01 * mean, weights, means)",
            "moved(weights, means)",
        ),
        folded=("weight - 0.01", "weight * 1.0 - 0.01"),
        doubled=("leaf + leaf", "2.0 * leaf"),
        unused=("descend(start, means", "descend(start, means, params"),
    ),
)
