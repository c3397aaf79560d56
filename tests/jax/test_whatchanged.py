"""What changed between two calls, in words, with the usual cure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_jitperf.probe.seen import Aval, Body, Seen
from pytest_jitperf.probe.whatchanged import Change, argument_changes, context_changes, sentence


def array(text: str, *shape: int, dtype: str = "float32", weak: bool = False, placed: str = "") -> Seen:
    return Seen(text=text, aval=Aval(dtype, shape, weak), placed=placed)


F8, F9, I9 = array("f32[8]", 8), array("f32[9]", 9), array("i32[9]", 9, dtype="int32")


def static(text: str, value: Any = None) -> Seen:
    return Seen(text=text, static=True, value=value)


def structure(text: str, value: Any = None) -> Seen:
    return Seen(text=text, value=value)


@pytest.mark.parametrize(
    ("old", "new"), [((1, "a secret"), (1, "another one")), (range(3), range(4)), (frozenset("ab"), frozenset("c"))]
)
def test_of_values_that_know_what_equals_them_there_are_too_many(old: Any, new: Any) -> None:
    name = type(new).__name__
    [change] = argument_changes({"n": static(name, old)}, {"n": static(name, new)})
    assert (change.text, change.cure) == (f"n: another {name}, not equal", "trace it, or keep to few values")


def test_of_objects_that_equal_themselves_alone_one_is_to_be_used_again() -> None:
    [change] = argument_changes({"n": static("object", object())}, {"n": static("object", object())})
    cure = "reuse one object, or give its class __eq__ and __hash__"
    assert (change.text, change.cure) == ("n: another object", cure)


def test_the_more_differs_the_heavier_it_is() -> None:
    assert argument_changes({"x": F8}, {"x": F9})[0].weight == 1
    assert argument_changes({"x": F8}, {"x": I9})[0].weight == 2


def test_what_is_inside_a_structure_that_changed_is_not_told() -> None:
    before = {"x": structure("list of 1"), "x[0]": F8, "xs": F8}
    now = {"x": structure("list of 2"), "x[0]": F9, "x[1]": F8, "xs": F9}
    assert [each.text for each in argument_changes(before, now)] == [
        "x: list of 1 -> list of 2",
        "xs: f32[8] -> f32[9]",
    ]


def test_what_looks_the_same_is_told_by_the_innermost_value_that_differs() -> None:
    first, second = object(), object()
    before = {"c": static("Config", first), "c.act": static("Plain", first)}
    now = {"c": static("Config", second), "c.act": static("Plain", second)}
    assert [each.text for each in argument_changes(before, now)] == ["c.act: another Plain"]


def test_unequal_values_and_moved_arrays_are_told_only_where_nothing_else_changed() -> None:
    placed = array("f32[8]", 8, placed="cpu:0")
    before = {"x": F8, "y": F8, "n": static("Plain", 1)}
    assert [each.text for each in argument_changes(before, {**before, "y": placed})] == ["y: uncommitted -> cpu:0"]
    assert [each.text for each in argument_changes(before, {**before, "y": placed, "n": static("Plain", 2)})] == [
        "n: another Plain, not equal"
    ]
    assert [each.text for each in argument_changes(before, {"x": F9, "y": placed, "n": static("Plain", 2)})] == [
        "x: f32[8] -> f32[9]"
    ]


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (
            lambda: structure("Module", object()),
            [("x: static part of Module changed", "keep it equal from call to call")],
        ),
        (lambda: static("f", Body(lambda: None)), [("a new body f", "hoist the function: make it once")]),
    ],
)
def test_structures_and_bodies_that_are_not_equal(make: Callable[[], Seen], changes: list[tuple[str, str]]) -> None:
    assert [(each.text, each.cure) for each in argument_changes({"x": make()}, {"x": make()})] == changes


def test_another_body_by_another_name_is_a_new_one() -> None:
    before, now = static("f", Body(lambda: None)), static("<lambda>", Body(lambda: None))
    assert [(each.text, each.cure) for each in argument_changes({"jaxpr": before}, {"jaxpr": now})] == [
        ("a new body <lambda>", "hoist the lambda: make it once")
    ]


def test_values_that_cannot_be_compared_differ() -> None:
    class Odd:
        def __ne__(self, other: object) -> bool:
            raise ValueError

    assert argument_changes({"x": static("Odd", Odd())}, {"x": static("Odd", Odd())})[0].text == "x: another Odd"


def test_settings_are_compared_where_both_are_known() -> None:
    changes = context_changes({"x64": "off", "called": "plainly"}, {"x64": "on", "called": "plainly", "mesh": "none"})
    assert [(each.text, each.cure) for each in changes] == [("x64 off -> on", "set it once, for the whole process")]


def test_a_sentence_names_three_changes_and_each_cure_once() -> None:
    changes = [Change(text=f"x{n}", cure="pad" if n else "fix") for n in range(5)]
    assert sentence(changes) == "x0; x1; x2; 2 more (fix; pad)"
    assert sentence([changes[1], changes[1]]) == "x1 (pad)"
