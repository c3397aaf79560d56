"""Which strategy is the cheapest for how many calls."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jitperf.judge.envelope import Line, Segment, crossing, lower_envelope, total

EAGER = Line(strategy="eager", start=0.59, run=98e-3)
OUTER = Line(strategy="outer", start=2.14, run=1.3e-3)
INNER = Line(strategy="inner", start=0.19, run=4.3e-3)
BOTH = Line(strategy="both", start=1.55, run=1.3e-3)


def rounded(segment: Segment) -> Segment:
    return replace(segment, first=round(segment.first), low=round(segment.low), high=round(segment.high))


def test_what_calls_cost_in_all() -> None:
    assert total(INNER, 100) == pytest.approx(0.62)


def test_two_lines_cross_where_the_later_start_is_paid_back() -> None:
    assert rounded(crossing(INNER, OUTER)) == Segment(strategy="outer", first=650, low=650, high=650)


def test_the_cheapest_take_turns_and_others_never_win() -> None:
    assert [rounded(each) for each in lower_envelope([EAGER, OUTER, INNER, BOTH])] == [
        Segment(strategy="inner"),
        Segment(strategy="both", first=453, low=453, high=453),
    ]


def test_one_strategy_may_win_from_the_first_call() -> None:
    assert lower_envelope([EAGER, Line(strategy="outer", start=0.04, run=1e-4)]) == (Segment(strategy="outer"),)


def test_of_equals_the_one_given_first_is_named() -> None:
    outer = Line(strategy="outer", start=0.100, run=1.00e-3, start_sd=0.003, run_sd=0.01e-3)
    both = Line(strategy="both", start=0.097, run=0.99e-3, start_sd=0.003, run_sd=0.01e-3)
    assert lower_envelope([outer, both]) == (Segment(strategy="outer"),)


def test_an_earlier_start_counts_where_the_run_time_is_the_same() -> None:
    outer = Line(strategy="outer", start=2.1, run=1.30e-3, start_sd=0.1, run_sd=0.02e-3)
    both = Line(strategy="both", start=1.5, run=1.32e-3, start_sd=0.1, run_sd=0.02e-3)
    assert lower_envelope([outer, both]) == (Segment(strategy="both"),)


def test_nothing_comes_of_nothing() -> None:
    assert lower_envelope([]) == ()


def test_the_interval_of_a_crossing_holds_the_truth_as_often_as_it_says() -> None:
    draw = random.Random(7)
    held = 0
    for _ in range(4000):
        start, run = draw.gauss(0.2, 0.01), draw.gauss(4e-3, 2e-4)
        early = Line(strategy="inner", start=start, run=run, start_sd=0.01, run_sd=2e-4)
        start, run = draw.gauss(2.2, 0.1), draw.gauss(2e-3, 1e-4)
        late = Line(strategy="outer", start=start, run=run, start_sd=0.1, run_sd=1e-4)
        found = crossing(early, late)
        held += found.low <= 1000 <= found.high
    assert held / 4000 == pytest.approx(0.95, abs=0.012)


def test_a_gain_that_may_be_nothing_has_no_latest_crossing() -> None:
    early = Line(strategy="inner", start=0.2, run=2.0e-3, run_sd=1e-4)
    late = Line(strategy="outer", start=2.2, run=1.9e-3, run_sd=1e-4)
    assert crossing(early, late).high == math.inf


COSTS = st.tuples(st.floats(0.001, 10), st.floats(1e-6, 1))


@given(st.lists(COSTS, min_size=1, max_size=6, unique_by=lambda each: each[1]))
def test_a_segment_names_the_cheapest_at_every_number_of_calls(costs: list[tuple[float, float]]) -> None:
    lines = [Line(strategy=str(n), start=start, run=run) for n, (start, run) in enumerate(costs)]
    segments = lower_envelope(lines)
    by_name = {line.strategy: line for line in lines}
    for calls in (1, 2, 10, 100, 1_000, 10**6):
        named = [each for each in segments if each.first <= calls][-1]
        cheapest = min(total(line, calls) for line in lines)
        assert total(by_name[named.strategy], calls) == pytest.approx(cheapest, rel=1e-6)
