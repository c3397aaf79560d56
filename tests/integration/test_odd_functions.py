"""Functions that nobody would expect: each is measured rightly, or a sentence says why it cannot be."""

from __future__ import annotations

from typing import Any

import pytest

FUNCTIONS = """
import concurrent.futures
import random
import numpy as np
from jax.experimental import io_callback

def measures(strategies, function, *args, **marker):
    @pytest.mark.jitperf(strategies=strategies, **marker)
    def test(jitperf):
        jitperf(function, *args)
    return test

def printed(x):
    jax.debug.print("x={x}", x=x[0])
    return x * 2

def only_eager(x):
    if isinstance(x, jax.core.Tracer):
        raise ValueError("only eager")
    return x * 2

def only_traced(x):
    if not isinstance(x, jax.core.Tracer):
        raise ValueError("only traced")
    return x * 2

class Holder:
    def __init__(self, x):
        self.x = x

SAME = jnp.arange(8.0)
BOTH = ["eager", "outer"]

# Fine.
test_donated = measures(["outer"], lambda a, b: (a + 1, b + 2), SAME, SAME, jit={"donate_argnums": (0, 1)})
test_io_callback = measures(BOTH, lambda x: io_callback(np.asarray, x, x, ordered=True), X)
test_pure_callback = measures(["outer"], lambda x: jax.pure_callback(np.asarray, x, x), X)
test_debug_print = measures(["outer"], printed, X)
test_none = measures(BOTH, lambda x: None, X)
test_empty = measures(["outer"], lambda x: (x * 2, x.sum()), jnp.zeros((0, 3)))
test_key = measures(["outer"], lambda key: jax.random.split(key, 3), jax.random.key(0))
test_holder = measures(["eager"], lambda x: Holder(x * 2), X)
test_eager_part = measures(["eager"], only_eager, X)
test_traced_part = measures(["outer"], only_traced, X)

# Told.
test_random = measures(["eager"], lambda x: x + random.random(), X)
test_random_callback = measures(
    ["outer"], lambda x: jax.pure_callback(lambda x: np.random.rand(8).astype("f"), x, x), X, equal_results=False
)

# Refused.
test_random_twice = measures(["outer"], lambda x: x + random.random(), X)
test_only_eager = measures(["outer"], only_eager, X)
test_only_traced = measures(["eager"], only_traced, X)
test_map = measures(["eager"], lambda x: map(jnp.sin, [x]), X)
test_future = measures(["eager"], lambda x: concurrent.futures.Future(), X)
test_skip = measures(["outer"], lambda x: pytest.skip("not today"), X)
"""

UNREPEATABLE = "the result changes from call to call: the function is not repeatable"


def test_each_is_measured_or_told_why_not(project: Any) -> None:
    project.write_tests(FUNCTIONS)
    result = project.quick_run("--jitperf-update")
    project.assert_messages(
        result,
        {
            "test_random_twice[outer]": "wrong result: *, compared with eager, which gives another one in each call: "
            "the function is not repeatable\n*: WrongResult",
            "test_only_eager[outer]": "*ValueError: only eager*",
            "test_only_traced[eager]": "*ValueError: only traced*",
            "test_map[eager]": "<lambda> returned a map: nothing was computed yet, *: NotMeasured",
            "test_future[eager]": "<lambda> returned a Future: nothing was computed yet, *: NotMeasured",
        },
    )
    result.assert_outcomes(passed=14, failed=5, skipped=1)
    assert " ".join(" ".join(result.outlines).split()).count(UNREPEATABLE) == 2
    again = project.quick_run("-k", "not (random or only or map or future or skip)")
    again.assert_outcomes(passed=12, deselected=8, warnings=3)
    again.stdout.fnmatch_lines(["12 measured, *"])


OBJECTS = """
import jax
import numpy as np

class Config(dict):
    __getattr__ = dict.__getitem__
    __hash__ = object.__hash__

class Params(dict):
    __getattr__ = dict.__getitem__

jax.tree_util.register_pytree_node(
    Params, lambda p: (list(p.values()), tuple(p)), lambda names, values: Params(zip(names, values))
)

class Silent:
    def __repr__(self):
        raise RuntimeError("no text")

def doubled(x, other=None):
    return (x["w"] if isinstance(x, dict) else x) * 2

def looped(x):
    return x

looped.__wrapped__ = looped
"""


def test_objects_that_fail_when_they_are_asked(project: Any) -> None:
    """Attributes, texts and abstract values of what a user passes may raise anything: the function never asks."""
    project.write_library(OBJECTS)
    project.write_tests(
        """
        import numpy as np

        HUGE = 10**5000  # longer than Python writes out
        OTHERS = [library.Config(n=3), library.Silent(), HUGE, (HUGE, library.Silent())]

        @pytest.mark.jitperf(strategies=["eager", "outer"], jit={"static_argnames": "other"})
        @pytest.mark.parametrize("other", OTHERS, ids=["config", "silent", "huge", "both"])
        def test_static(jitperf, other):
            jitperf(library.doubled, X, other)

        @pytest.mark.jitperf(strategies=["inner"], inner=[library.doubled], equal_results=False)
        def test_helper(jitperf):
            jitperf(lambda x: library.doubled(library.Params(w=x)), X)

        @pytest.mark.jitperf(strategies=["eager", "outer"])
        def test_tree(jitperf):
            jitperf(library.doubled, library.Params(w=X))

        @pytest.mark.jitperf(strategies=["eager"])
        def test_masked(jitperf):
            jitperf(lambda x: x * 2, np.ma.ones(8))

        @pytest.mark.jitperf(strategies=["outer"])
        @pytest.mark.parametrize("other", [HUGE], ids=["huge"])
        def test_untold(jitperf, other):
            jitperf(lambda x, other: x * (1 if other else 2), X, other)

        @pytest.mark.jitperf(strategies=["outer"])
        def test_looped(jitperf):
            jitperf(library.looped, X)
        """
    )
    recorded = project.quick_run("--jitperf-update")
    project.assert_messages(
        recorded,
        {
            "test_untold[huge-outer]": "outer needs a static argument: *<lambda> got other of type int. Add  *",
            "test_looped[outer]": "jax.jit(looped) was refused: wrapper loop when unwrapping <function looped>\n*",
        },
    )
    recorded.assert_outcomes(passed=12, failed=2)
    gated = project.quick_run("-k", "not (untold or looped)")
    gated.assert_outcomes(passed=12, deselected=2, warnings=1)  # JAX itself asks a Config for its shape when it exports


def test_another_program_in_each_trace_is_told_and_no_update_is_advised(project: Any) -> None:
    project.write_tests(
        """
        import itertools
        numbers = itertools.count()

        @pytest.mark.jitperf(strategies=["outer"], equal_results=False, tolerance={"run": "9999 %"})
        def test_f(jitperf):
            jitperf(lambda x: jnp.sin(x) + next(numbers), X)
        """
    )
    told = "it is another program each time it is traced, so no update makes it the baseline's: Python puts something"
    recorded = project.quick_run("--jitperf-update")
    result = project.quick_run()
    result.assert_outcomes(passed=1)
    assert [told in " ".join(" ".join(each.outlines).split()) for each in (recorded, result)] == [True, True]
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 raced), 0 without a baseline"])
    result.stdout.no_fnmatch_line("*moved on since recorded*")


def test_ten_thousand_leaves(project: Any) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"])
        def test_f(jitperf):
            leaves = {f"k{n}": jnp.float32(n) for n in range(10_000)}
            found = jitperf(lambda leaves: leaves["k3"] + leaves["k7"], leaves)
            assert found == 10
        """
    )
    project.record()
    result = project.quick_run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 same program), 0 without a baseline"])


SHARDED = """
from jax.sharding import NamedSharding, PartitionSpec

MESH = jax.make_mesh((8,), ("d",))
SHARDED = jax.device_put(jnp.ones((64, 8)), NamedSharding(MESH, PartitionSpec("d")))

def f(x):
    return jnp.sin(x) * 2

@pytest.mark.jitperf(strategies=["outer"])
def test_spread(jitperf):
    jitperf(f, SHARDED)

@pytest.mark.jitperf(strategies=["eager", "outer"], devices=["as-is"], jit={"donate_argnums": 0})
def test_as_is(jitperf):
    assert len(jitperf(f, SHARDED).sharding.device_set) == 8

@pytest.mark.jitperf(strategies=["outer"], devices=["cpu:7", "cpu:8"])
def test_one(jitperf):
    assert {each.id for each in jitperf(f, jnp.ones((8, 8))).sharding.device_set} == {7}
"""


def test_several_devices_and_what_is_spread_over_them(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    project.write_tests(SHARDED)
    result = project.run("--jitperf-update", "-rs")
    project.assert_messages(
        result,
        {
            "test_spread[outer]": "an input of shape (64, 8) is spread over 8 devices, but the test is measured on "
            'cpu:0. To keep the placement, add  devices=["as-is"]  to the marker.\n*: NotMeasured*'
        },
    )
    result.assert_outcomes(passed=3, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * no cpu:8 here: 8 cpu devices"])
    result = project.run("-k", "as_is or one")
    result.assert_outcomes(passed=3, skipped=1, deselected=1)
    result.stdout.fnmatch_lines(["3 measured, 2 gated (2 same program), 1 reference, *"])
