"""Today's values for the inputs of a stored program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.inputs import parse_text
from pytest_jitperf.probe.pairing import Pairing, inputs_of, paired, paired_by_use, stored_leaves
from pytest_jitperf.probe.request import Request, subject_of


@pytest.mark.parametrize(
    ("stored", "today", "places", "certain", "ambiguous"),
    [
        ("x: f32[8]; y: f32[8]", "x: f32[8]; y: f32[8]", (0, 1), True, False),
        ("x: f32[8]; y: f32[8]", "y: f32[8]; x: f32[8]", (1, 0), True, False),
        ("x: f32[8]; n: i32[]", "z: f32[8]; m: i32[]", (0, 1), True, False),  # each the only one of its kind
        ("d['lr']: f32[]; d['n']: f32[]", "d['n']: f32[]; d['zlr']: f32[]", (1, 0), True, True),
        ("a: f32[]; b: f32[]", "c: f32[]; d: f32[]", (0, 1), False, True),
        ("d['a']: f32[2]; d['b']: f32[2]", "d['c']: f32[2]; d['d']: f32[2]", (0, 1), False, True),
        ("d['b']: f32[]; d['w']: f32[]", "d.w: f32[]; d.b: f32[]", (1, 0), True, False),  # another container
        ("d['b']: f32[]; d['w']: f32[]", "p.w: f32[]; p.b: f32[]", (1, 0), True, False),  # and another argument
        ("t[0]: f32[]; t[1]: f32[]", "d['a']: f32[]; d['b']: f32[]", (0, 1), False, True),
        ("p['w']: f32[]; q['w']: f32[]", "r.w: f32[]; q.w: f32[]", (0, 1), True, False),
        ("x: f32[8]; n: static int #1", "x: f32[8]; y: f32[2]", (0,), True, False),
        ("", "x: f32[8]", (), True, False),
    ],
)
def test_leaves_are_paired_by_path_then_by_kind(
    stored: str, today: str, places: tuple[int, ...], certain: bool, ambiguous: bool
) -> None:
    found = paired(stored_leaves(stored, ()), parse_text(today))
    assert replace(found, named=frozenset()) == Pairing(places=places, certain=certain, ambiguous=ambiguous)


def test_a_leaf_that_is_read_goes_before_one_that_is_not() -> None:
    today = parse_text("new: f32[8]; renamed: f32[8]; old: f32[3]")
    assert paired(stored_leaves("x: f32[8]; y: f32[3]", ()), today, {0, 2}) == Pairing(
        places=(1, 2), certain=True, ambiguous=False, named=frozenset()
    )
    assert paired(stored_leaves("x: f32[8]", ()), today, {0, 1}).places == (0,)


def test_leaves_that_the_stored_program_does_not_read_are_not_looked_for() -> None:
    assert stored_leaves("x: f32[8]; n: static int #1; gone: i32[3]; y: f32[2]", (1,)) == (
        ("x", "f32[8]"),
        ("y", "f32[2]"),
    )


def test_the_order_of_todays_call() -> None:
    assert Pairing(places=(4, 0, 2), certain=True, ambiguous=False).order == (1, 2, 0)


def test_several_numbers_with_new_keys_are_a_guess_that_must_not_be_tried() -> None:
    """JAX sorts by key, and the old program might be run for a million steps in place of ten."""
    stored = stored_leaves("p['lr']: f32[]; p['n']: f32[]", ())
    found = paired(stored, parse_text("p['count']: f32[]; p['rate']: f32[]"))
    assert found == Pairing(places=(0, 1), certain=False, ambiguous=True, blind=True, named=frozenset())


@pytest.mark.parametrize(
    ("today", "places"),
    [
        ("d['c']: f32[2]; d['unread']: f32[2]; d['d']: f32[2]", (2, 0)),
        ("d['a']: f32[2]; d['unread']: f32[2]; d['d']: f32[2]", None),  # what is still called a would be b
        ("d['c']: f32[2]; d['unread']: f32[2]; d['b']: f32[2]", None),  # and what is still called b would be a
        ("d['c']: f32[3]; d['unread']: f32[2]; d['d']: f32[2]", None),
    ],
)
def test_leaves_are_paired_by_use_where_names_and_kinds_allow_it(today: str, places: tuple[int, ...] | None) -> None:
    stored = stored_leaves("d['a']: f32[2]; d['b']: f32[2]", ())
    leaves = parse_text(today)
    if "f32[3]" not in today:
        by_name = paired(stored, leaves, {1})
        assert paired_by_use(by_name, stored, (0, 1), leaves, (2, 0)) == places
        assert paired_by_use(by_name, stored, (0, 1), leaves, (2,)) is None
    nothing_known = Pairing(places=(0, 2), certain=False, ambiguous=True)
    kinds_agree = places if "f32[3]" in today else (2, 0)
    assert paired_by_use(nothing_known, stored, (0, 1), leaves, (2, 0)) == kinds_agree


def test_what_is_known_by_its_name_in_another_container_is_not_paired_by_use() -> None:
    stored = stored_leaves("params['n']: f32[]; params['m']: f32[]; params['c']: f32[]", ())
    today = parse_text("p['n']: f32[]; p['m']: f32[]; p['x']: f32[]")
    assert paired_by_use(paired(stored, today), stored, (0, 1, 2), today, (1, 0, 2)) is None
    stored, today = stored_leaves("lr: f32[]; n: f32[]", ()), parse_text("rate: f32[]; count: f32[]")
    assert paired_by_use(paired(stored, today), stored, (0, 1), today, (1, 0)) == (1, 0)


def test_an_input_that_is_gone_is_named() -> None:
    with pytest.raises(MeasurementError, match=r"takes an input i32\[3\] that the call no longer has"):
        paired(stored_leaves("x: f32[8]; n: i32[3]", ()), parse_text("x: f32[8]; y: f32[8]"))


@pytest.mark.parametrize("strategy", ["eager", "outer"])
def test_the_leaves_of_a_call_that_cannot_be_exported(request_for: Callable[..., Request], strategy: str) -> None:
    def f(x: Any, n: Any, how: Any) -> Any:
        return x * n

    request = request_for(f, jnp.ones(2), 3, "text", jit={"static_argnames": ("n", "how")})
    leaves, values = inputs_of(None, subject_of(request, strategy))
    expected = [("x", "f32[2]")] if strategy == "outer" else [("x", "f32[2]"), ("n", "weak i32[]")]
    assert (list(leaves), len(values)) == (expected, len(expected))
