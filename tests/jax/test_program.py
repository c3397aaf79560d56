"""Programs as values: their fingerprint, their bytes, and what is built from the bytes again."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.inputs import Call, text_of
from pytest_jitperf.probe.jitinfo import named_for_jit
from pytest_jitperf.probe.parts import donated_positions
from pytest_jitperf.probe.program import FlatProgram, exported_program
from pytest_jitperf.probe.replay import loaded, replayed


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=[])
@dataclasses.dataclass
class Layer:
    w: Any
    b: Any


def program_of(function: Callable[..., Any], *args: Any, jit: Any = None, **kwargs: Any) -> FlatProgram:
    options = dict(jit or {})
    jitted = jax.jit(function, **options)
    named, info = named_for_jit(function, Call(args, kwargs), jitted, options)
    dynamic = [leaf for leaf in named if leaf.index >= 0]
    return exported_program(
        jitted,
        args,
        kwargs,
        [leaf.leaf for leaf in dynamic],
        inputs=text_of(dynamic),
        donated=donated_positions(jitted.lower(*args, **kwargs)),
        options=info.compiler_options,
    )


def again(program: FlatProgram, **changes: Any) -> FlatProgram:
    raw, leaves = changes.pop("raw", program.raw), changes.pop("leaves", program.leaves)
    kept = {name: getattr(program, name) for name in ("inputs", "unused", "donated", "options")}
    return replayed(loaded(raw, leaves), leaves, raw=raw, **{**kept, **changes})


X = jnp.linspace(0.5, 2.0, 8)
SQUARE = jnp.eye(4) * 3 + 0.1
TABLE = np.arange(32, dtype=np.float32)
KEY = jax.random.key(3)

CASES: dict[str, tuple[Any, ...]] = {
    "dict": (lambda d: d["a"] * d["b"], {"a": X, "b": 2.0}),
    "nested": (lambda t: [t[0], {"z": t[1][0] + t[1][1]}], (X, [X, 1])),
    "weak scalars": (lambda x, n, b: jnp.where(b, x, x + n), X, 3, True),
    "static": (lambda x, n: x * n, X, 3, {"static_argnums": 1}),
    "key": (lambda k: jax.random.normal(k, (3,)), KEY),
    "key out": (lambda k: jax.random.split(k), KEY),
    "donated": (lambda x, y: (x + y, y), X, X + 1, {"donate_argnums": 0}),
    "None": (lambda x, n: None if n is None else x, X, None),
    "None inside": (lambda t: t[0] * 2, (X, None)),
    "bf16": (lambda x: x @ x.T, jnp.ones((4, 4), jnp.bfloat16)),
    "ints": (lambda x: x // 2, jnp.arange(5)),
    "dataclass": (lambda layer: Layer(layer.w * 2, layer.b), Layer(X, X)),
    "constants": (lambda x: x[: len(TABLE)].sum() + TABLE, X),
    "cholesky": (lambda a: jnp.linalg.cholesky(a @ a.T), SQUARE),
    "scan": (lambda x: jax.lax.scan(lambda c, v: (c + v, c * v), 0.0, x), X),
    "unused": (lambda x, y: x * 2, X, X),
    "unused and donated": (lambda x, y, z: (y + 1, z), X, X, X + 1, {"donate_argnums": (0, 1)}),
    "no inputs": (lambda: jnp.arange(4.0) * 2,),
    "helper": (lambda x: jax.jit(jnp.tanh)(x) + jax.nn.relu(x), X),
    "empty": (lambda x: x * 2, jnp.zeros((0, 3))),
}


def unpacked(case: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    function, *args = case
    jit = args.pop() if args and isinstance(args[-1], dict) and any("arg" in key for key in args[-1]) else {}
    return function, tuple(args), jit


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_the_same_after_the_round_trip_through_bytes(name: str) -> None:
    function, args, jit = unpacked(CASES[name])
    program = program_of(function, *args, jit=jit)
    back = again(program)

    assert back.fingerprint == program.fingerprint
    assert again(back, raw=back.raw).fingerprint == program.fingerprint
    assert program_of(function, *args, jit=jit).fingerprint == program.fingerprint

    expected = [_data(leaf) for leaf in jax.tree.leaves(jax.jit(function, **_without_donation(jit))(*args))]
    for side in (program, back):
        copies = [jnp.array(leaf, copy=True) if n in side.donated else leaf for n, leaf in enumerate(side.leaves)]
        call: Any = side.compile()[0]
        got = [_data(leaf) for leaf in jax.tree.leaves(call(*copies))]
        assert len(got) == len(expected)
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def _data(leaf: Any) -> Any:
    return np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)


def _without_donation(jit: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in jit.items() if "donate" not in key}


def test_keyword_arguments_are_leaves_too() -> None:
    program = program_of(lambda x, *, b, a: x * a + b, X, b=2.0, a=X)
    assert program.inputs == "x: f32[8]; a: f32[8]; b: weak f32[]"
    assert again(program).fingerprint == program.fingerprint


def f(x: Any) -> Any:
    return helper(x) + jnp.sin(x)


def helper(x: Any) -> Any:
    return jnp.tanh(x) * 2.0


def renamed_function(another_name: Any) -> Any:
    # Moved down in the file, with other names, scopes and a docstring.
    with jax.named_scope("scope"):
        value = jnp.tanh(another_name) * 2.0
    return value + jnp.sin(another_name)


def test_names_places_and_scopes_are_no_part_of_a_program() -> None:
    expected = program_of(f, X).fingerprint
    assert program_of(renamed_function, X).fingerprint == expected
    assert program_of(lambda x: {"out": helper(x) + jnp.sin(x)}, X).fingerprint == expected
    assert program_of(lambda t: helper(t[0]) + jnp.sin(t[0]), [X]).fingerprint == expected


def in_another_order(x: Any) -> Any:
    second = jnp.sin(x)
    return helper(x) + second


def in_one_function(x: Any) -> Any:
    return jax.jit(f)(x)


def in_many_functions(x: Any) -> Any:
    return jax.jit(jnp.add)(jax.jit(helper)(x), jax.jit(jnp.sin)(x))


@pytest.mark.parametrize("other", [in_another_order, in_one_function, in_many_functions])
def test_the_order_of_statements_and_where_functions_end_are_no_part_of_a_program(other: Any) -> None:
    assert program_of(other, X).fingerprint == program_of(f, X).fingerprint


def test_leaves_that_are_not_read_are_no_part_of_a_program() -> None:
    expected = program_of(f, X)
    program = program_of(lambda first, x, last: f(x), TABLE, X, {"a": 1.0, "b": X})
    assert (program.fingerprint, program.text) == (expected.fingerprint, expected.text)
    assert (program.unused, program.leaves, program.donated) == ((0, 2, 3), (X,), ())
    assert [*map(id, program.given)] == [id(TABLE), id(X), id(program.unread[1]), id(X)]
    assert len(program.raw) < len(expected.raw) + 100
    assert again(program).fingerprint == expected.fingerprint


def test_a_program_takes_its_leaves_and_gives_its_results_in_another_order() -> None:
    one = program_of(lambda x, y: (x - y, x, y * 2), X, X + 1, jit={"donate_argnums": 1})
    other = program_of(lambda y, x: (x, y * 2, x - y), X + 1, X, jit={"donate_argnums": 0})
    moved = one.rearranged((1, 0), (1, 2, 0))
    assert (moved.fingerprint, moved.donated) == (other.fingerprint, (0,)) != (one.fingerprint, one.donated)
    assert moved.rearranged((1, 0), (2, 0, 1)).fingerprint == one.fingerprint
    call: Any = moved.compile()[0]
    for got, expected in zip(call(X + 1, X), (X, (X + 1) * 2, X - (X + 1)), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_more_leaves_are_handed_over_and_change_nothing() -> None:
    program = program_of(f, X)
    wide = program.with_leaves(4)
    assert (len(wide.leaves), wide.fingerprint) == (4, program.fingerprint)
    call: Any = wide.compile()[0]
    np.testing.assert_array_equal(call(*wide.leaves)[0], f(X))
    with pytest.raises(TypeError):
        call(X)
    memory: Any = call.memory_analysis()
    assert memory.argument_size_in_bytes == X.nbytes


@pytest.mark.parametrize(
    "x", [np.asarray(X), jax.device_put(X, jax.devices()[0]), jax.ShapeDtypeStruct(X.shape, X.dtype)]
)
def test_where_the_arguments_are_is_no_part_of_a_program(x: Any) -> None:
    expected = program_of(f, X)
    assert program_of(f, x).fingerprint == expected.fingerprint
    assert again(expected, leaves=[x]).fingerprint == expected.fingerprint


def test_names_of_jitted_helpers_are_no_part_of_a_program() -> None:
    def one(x: Any) -> Any:
        return jnp.tanh(x) * 2.0

    def two(x: Any) -> Any:
        return jnp.tanh(x) * 2.0

    first, second = (program_of(lambda x, h=h: jax.jit(h)(x) + 1, X) for h in (one, two))
    assert first.fingerprint == second.fingerprint != program_of(f, X).fingerprint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((lambda x: jnp.sin(x), X), (lambda x: jnp.cos(x), X)),
        ((lambda x: x * 2.0, X), (lambda x: x * 3.0, X)),
        ((lambda x: x[:, None] * TABLE, X), (lambda x: x[:, None] * (TABLE * 10), X)),
        ((lambda x: (x + 1, x * 2), X), (lambda x: (x * 2, x + 1), X)),
        ((lambda x, y: x - y, X, X), (lambda x, y: y - x, X, X)),
        ((lambda x: x + 1, X), (lambda x: x + 1, X, {"donate_argnums": 0})),
        ((lambda x: x + 1, X), (lambda x: x + 1, X, {"compiler_options": {"xla_backend_optimization_level": 0}})),
        ((lambda x: x + 1, X), (lambda x: x + 1, X.astype(jnp.bfloat16))),
        ((lambda x: x + 1, X), (lambda x: x + 1, X[:4])),
        ((lambda x, n: x * n, X, 2, {"static_argnums": 1}), (lambda x, n: x * n, X, 3, {"static_argnums": 1})),
        ((lambda x: jnp.sort(x), X), (lambda x: jnp.sort(x, stable=False), X)),
        ((lambda a: a @ a, SQUARE), (lambda a: jnp.matmul(a, a, precision="highest"), SQUARE)),
        ((lambda a: jnp.linalg.cholesky(a), SQUARE), (lambda a: jnp.linalg.qr(a)[1], SQUARE)),
    ],
)
def test_another_program_has_another_fingerprint(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    made = []
    for case in (one, other):
        function, *args = case
        jit = args.pop() if isinstance(args[-1], dict) else {}
        made.append(program_of(function, *args, jit=jit).fingerprint)
    assert made[0] != made[1]


def test_no_path_and_no_other_trace_of_the_source_gets_into_the_bytes() -> None:
    def outer(x: Any) -> Any:
        return jax.jit(helper)(x) + f(x)

    before = jax.config.jax_traceback_in_locations_limit  # type: ignore[attr-defined]  # made at run time
    jax.jit(outer).lower(X)  # has locations, and is cached
    raw = program_of(outer, X).raw
    here = Path(__file__)
    assert [part for part in (here.name, here.stem, *map(str, here.parents[:-1])) if part.encode() in raw] == []
    assert jax.config.jax_traceback_in_locations_limit == before  # type: ignore[attr-defined]  # made at run time


def test_a_compiled_program_keeps_donation_and_options() -> None:
    options = {"xla_backend_optimization_level": 0}
    program = program_of(lambda x: x + 1, X, jit={"donate_argnums": 0, "compiler_options": options})
    back = again(program)
    assert (back.donated, dict(back.options)) == ((0,), {"xla_backend_optimization_level": "0"})
    memory: Any = back.compile()[0].memory_analysis()
    assert memory.alias_size_in_bytes == X.nbytes
    plain: Any = again(program, donated=()).compile()[0].memory_analysis()
    assert plain.alias_size_in_bytes == 0


def test_options_are_given_to_the_compiler_again() -> None:
    program = program_of(lambda x: x + 1, X)
    with pytest.raises(Exception, match="no_such_option"):
        again(program, options={"no_such_option": "1"}).compile()


def test_programs_are_compiled_anew_each_time() -> None:
    program = program_of(lambda x: x + 1, X)
    assert program.compile()[0] is not program.compile()[0]
    assert program.compile()[1] > 0


def test_a_python_callback_cannot_be_exported() -> None:
    def called(x: Any) -> Any:
        return jax.pure_callback(lambda v: np.asarray(v) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    with pytest.raises(MeasurementError, match=r"^it calls back into Python, which cannot be stored$"):
        program_of(called, X)


def test_leaves_that_do_not_fit_are_refused() -> None:
    with pytest.raises(MeasurementError, match="its 1 inputs could not be matched with 2 argument leaves"):
        exported_program(jax.jit(f), (X,), {}, [X, X], inputs="", donated=(), options={})


def with_unstable_call(x: Any) -> Any:
    return [jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)]


PROGRAM = program_of(f, X)
EXPORTED = PROGRAM.exported
ELSEWHERE = bytes(export.export(jax.jit(f), platforms=["tpu"])(X).serialize())
ON_TWO_DEVICES = bytes(dataclasses.replace(EXPORTED, nr_devices=2).serialize())
OF_A_LATER_FORMAT = bytes(dataclasses.replace(EXPORTED, calling_convention_version=99).serialize())
UNSTABLE = bytes(
    export.export(
        jax.jit(with_unstable_call),
        platforms=["cpu"],
        disabled_checks=[export.DisabledSafetyCheck.custom_call("no_such_target")],
    )(X).serialize()
)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"raw": b""}, "the stored program cannot be read by jax"),
        ({"raw": b"garbage" * 50}, "the stored program cannot be read by jax"),
        ({"raw": PROGRAM.raw[: len(PROGRAM.raw) // 2]}, "the stored program cannot be"),
        ({"raw": ELSEWHERE}, "the stored program is for tpu, not for cpu"),
        ({"raw": ON_TWO_DEVICES}, "the stored program is for 2 devices, not for 1"),
        ({"raw": OF_A_LATER_FORMAT}, "the stored program is of format version 99, and jax "),
        (
            {"raw": UNSTABLE},
            "the stored program cannot be run: it holds a custom call that JAX does not keep stable (no_such_target)",
        ),
        ({"leaves": []}, "the stored program takes 1 leaves, not 0"),
        ({"leaves": [X, X]}, "the stored program takes 1 leaves, not 2"),
        ({"leaves": [X[:3]]}, "the stored program takes f32[8], not f32[3]"),
        ({"leaves": [X.astype(int)]}, "the stored program takes f32[8], not i32[8]"),
    ],
)
def test_bytes_that_do_not_fit_are_an_error_of_one_line(
    changes: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Refused before anything is compiled, not to speak of run.
    monkeypatch.setattr(jax.stages.Lowered, "compile", None)
    with pytest.raises(MeasurementError) as caught:
        again(PROGRAM, **changes)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", range(40))
def test_damage_ends_in_no_other_error(share: int) -> None:
    place = share * len(PROGRAM.raw) // 40
    damaged = PROGRAM.raw[:place] + bytes([PROGRAM.raw[place] ^ 0xFF]) + PROGRAM.raw[place + 1 :]
    # It may be in a byte that carries nothing, or give another program, which has another fingerprint.
    with contextlib.suppress(MeasurementError):
        again(PROGRAM, raw=damaged)
