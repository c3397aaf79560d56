"""Dataclasses to JSON values and back: defaults, whole numbers, wrong values named by their path, unknown keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from pytest_jitperf.baseline.codec import FieldError, from_builtins, keep_unknown, to_builtins


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    metres: float
    steps: int = 0
    colour: str | None = field(default=None, metadata={"pattern": "red|blue", "expected": "red or blue"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    first: Leg
    rest: Mapping[str, Leg] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    stops: tuple[int, ...] = ()
    rain: bool = False
    name: str = ""


WALK = Walk(
    first=Leg(metres=2.5, steps=3, colour="red"),
    rest={"home": Leg(metres=7.0)},
    counts={"3.11/0.10.2": {"dogs": 2}},
    stops=(4, 2),
    rain=True,
)
JSON = {
    "first": {"metres": 2.5, "steps": 3, "colour": "red"},
    "rest": {"home": {"metres": 7}},
    "counts": {"3.11/0.10.2": {"dogs": 2}},
    "stops": [4, 2],
    "rain": True,
}


def test_defaults_are_left_out_and_whole_numbers_are_ints() -> None:
    written = to_builtins(WALK)

    assert written == JSON
    assert type(written["rest"]["home"]["metres"]) is int


@pytest.mark.parametrize(("value", "kind"), [(2.0**53, int), (2.0**53 + 2, float), (1e300, float), (0.5, float)])
def test_a_float_too_large_for_its_digits_to_mean_anything_stays_a_float(value: float, kind: type) -> None:
    written = to_builtins(Leg(metres=value))

    assert written == {"metres": value}
    assert type(written["metres"]) is kind


def test_reading_undoes_writing() -> None:
    assert from_builtins(Walk, JSON) == WALK


def test_whole_numbers_beyond_the_reach_of_a_float_are_kept_exactly() -> None:
    assert from_builtins(Leg, {"metres": 2**53 + 1}).metres == 2**53 + 1


def test_null_stands_for_none_only_where_none_may_be() -> None:
    assert from_builtins(Leg, {"metres": 1, "colour": None}) == Leg(metres=1)
    with pytest.raises(FieldError, match=r"^first is null, expected an object$"):
        from_builtins(Walk, {"first": None})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (-1, "-1"),
        (-0.5, "-0.5"),
        (10**400, "1" + "0" * 56 + "..."),
        (True, "true"),
        (None, "null"),
        ("0.01", '"0.01"'),
        ([1, 2], "a list"),
        ({"a": 1}, "an object"),
    ],
)
def test_what_is_not_a_usable_number_is_named_with_its_path(value: object, shown: str) -> None:
    with pytest.raises(FieldError) as caught:
        from_builtins(Walk, {"first": {"metres": 1}, "rest": {"home": {"metres": value}}})

    assert str(caught.value) == f"rest.home.metres is {shown}, expected a finite number of 0 or more"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "the entry is 3, expected an object"),
        ({}, "first is missing"),
        ({"first": {"metres": 1, "steps": 2.5}}, "first.steps is 2.5, expected a whole number of 0 or more"),
        ({"first": {"metres": 1}, "name": 5}, "name is 5, expected text"),
        ({"first": {"metres": 1}, "rain": 1}, "rain is 1, expected true or false"),
        ({"first": {"metres": 1}, "stops": 3}, "stops is 3, expected a list"),
        ({"first": {"metres": 1}, "stops": [3, None]}, "stops[1] is null, expected a whole number of 0 or more"),
        ({"first": {"metres": 1, "colour": "green"}}, 'first.colour is "green", expected red or blue'),
        ({"first": {"metres": 1, "colour": "red\n"}}, 'first.colour is "red\\n", expected red or blue'),
        (
            {"first": {"metres": 1}, "counts": {"3.11/0.10.2": {"dogs": -1}}},
            'counts["3.11/0.10.2"].dogs is -1, expected a whole number of 0 or more',
        ),
    ],
)
def test_other_wrong_values_are_named_with_their_path(value: object, message: str) -> None:
    with pytest.raises(FieldError) as caught:
        from_builtins(Walk, value)

    assert str(caught.value) == message


def test_unknown_keys_are_passed_over_when_reading() -> None:
    assert from_builtins(Leg, {"metres": 1, "note": [None]}) == Leg(metres=1)


def test_unknown_keys_of_objects_are_kept_and_known_ones_replaced() -> None:
    old = {
        "note": "mine",
        "rain": True,
        "first": {"metres": 1, "steps": 9, "note": "also mine"},
        "rest": {"gone": {"metres": 5}, "home": {"metres": 5, "note": None}},
        "counts": {"a": {"gone": 1}},
        "stops": [1, 2, 3],
    }
    new = {"first": {"metres": 2}, "rest": {"home": {"metres": 6}}, "counts": {"a": {"dogs": 1}}, "stops": [4]}

    assert keep_unknown(Walk, old, new) == {
        "note": "mine",
        "first": {"metres": 2, "note": "also mine"},
        "rest": {"home": {"metres": 6, "note": None}},
        "counts": {"a": {"dogs": 1}},
        "stops": [4],
    }


@pytest.mark.parametrize("old", [None, 3, [], "text", {"first": 3, "rest": [1]}])
def test_anything_may_stand_where_a_value_is_written(old: object) -> None:
    assert keep_unknown(Walk, old, JSON) == JSON
