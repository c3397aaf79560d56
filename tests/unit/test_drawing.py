"""Where shapes of a plot stand, and how its axes are labelled."""

from __future__ import annotations

import pytest

from pytest_jitperf.report.drawing import (
    Axis,
    Shape,
    box,
    count_label,
    decades,
    dot,
    label,
    line,
    place_labels,
    seconds_label,
    series_class,
)


def test_equal_factors_are_equal_distances_on_a_logarithmic_axis() -> None:
    axis = Axis(low=1, high=10_000, start=100, end=20)
    assert [axis.at(value) for value in (1, 10, 100, 10_000)] == [100, 80, 60, 20]


def test_equal_amounts_are_equal_distances_on_another() -> None:
    axis = Axis(low=0, high=4, start=0, end=100, logarithmic=False)
    assert [axis.at(value) for value in (0, 1, 3)] == [0, 25, 75]


def test_what_lies_outside_stands_at_the_end() -> None:
    axis = Axis(low=1, high=100, start=0, end=10)
    assert [axis.at(value) for value in (0.0, 0.5, 1e9, float("inf"))] == [0, 0, 10, 10]
    assert [axis.holds(value) for value in (0.5, 1, 100, 101)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1e-3, 1.0, [1e-3, 1e-2, 1e-1, 1.0]),
        (0.002, 50.0, [0.01, 0.1, 1.0, 10.0]),
        (1.0, 1e9, [1.0, 1e2, 1e4, 1e6, 1e8]),
    ],
    ids=["ends included", "ends between", "every second"],
)
def test_powers_of_ten_are_ticks(low: float, high: float, expected: list[float]) -> None:
    assert decades(low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([10, 50, 90], [10, 50, 90]),
        ([50, 50, 50], [50, 62, 74]),
        ([98, 99, 40], [88, 100, 40]),
        ([5, 0], [12, 0]),
    ],
    ids=["room enough", "on one another", "at the end", "in their order"],
)
def test_labels_move_apart_until_none_covers_another(wanted: list[float], expected: list[float]) -> None:
    assert place_labels(wanted, 12, 0, 100) == expected


def test_more_labels_than_fit_go_beyond_the_end_rather_than_cover_each_other() -> None:
    assert place_labels([5, 5, 5], 10, 0, 10) == [0, 10, 20]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, "1"), (100, "100"), (1e3, "1k"), (65_536, "65.5k"), (1e6, "1M"), (1e9, "1G"), (1e12, "1e12"), (0.5, "0.5")],
)
def test_a_count_is_written_short(value: float, expected: str) -> None:
    assert count_label(value) == expected


def test_seconds_are_written_as_everywhere() -> None:
    assert [seconds_label(value) for value in (1e-6, 0.01, 10.0)] == ["1 us", "10 ms", "10 s"]


def test_a_strategy_looks_the_same_in_every_figure() -> None:
    assert [series_class(name, ["outer", "remat", "eager"]) for name in ("eager", "outer", "remat")] == [
        "s0",
        "s1",
        "s4",
    ]
    many = [f"mine{n}" for n in range(6)]
    assert [series_class(name, many) for name in many] == ["s4", "s5", "s6", "s7", "s4", "s5"]


def test_shapes_hold_short_coordinates() -> None:
    assert line(0, 1.25, 10.04, -0.01, "grid") == Shape(tag="path", attributes={"class": "grid", "d": "M0 1.2 L10 0"})
    assert box(1, 2, -3, 4, "band").attributes == {"class": "band", "x": "1", "y": "2", "width": "0", "height": "4"}
    assert dot(1, 2, "mark").attributes == {"class": "mark", "cx": "1", "cy": "2", "r": "3.5"}
    assert label(1, 2, "<b>", "tick", "end") == Shape(
        tag="text", attributes={"class": "tick", "x": "1", "y": "2", "text-anchor": "end"}, text="<b>"
    )
