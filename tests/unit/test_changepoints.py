"""Where timings changed level, and where they are only noise."""

from __future__ import annotations

import math
import sys
from itertools import combinations, pairwise
from statistics import median
from typing import Any

import numpy as np
import pytest

from pytest_jitperf.judge.changepoints import (
    FEWEST,
    LEAST_NOISE,
    PRICE,
    Levels,
    MissingLibrary,
    levels,
    noise_of,
)

ROWS = 200
# Two outliers in a row look like a level.
FALSE_MARKS = {"normal": 0.02, "student": 0.02, "outliers": 0.06}


def noise(kind: str, count: int, generator: np.random.Generator) -> Any:
    """Logarithms of recordings of one level; 0.1 is what they differ by."""
    if kind == "student":
        return 0.1 * generator.standard_t(3, count)
    drawn = generator.normal(0, 0.1, count)
    if kind == "outliers":
        drawn += 0.6 * (generator.random(count) < 0.1)
    return drawn


@pytest.mark.parametrize("kind", ["normal", "student", "outliers"])
@pytest.mark.parametrize("count", [4, 7, 20])
def test_one_row_in_a_hundred_without_a_change_gets_a_mark(kind: str, count: int) -> None:
    generator = np.random.default_rng([count, len(kind)])
    rows = [np.exp(noise(kind, count, generator)) for _ in range(ROWS)]

    marked = sum(bool(levels(row.tolist()).starts) for row in rows)

    # More than is meant, for what the draw adds to it.
    assert marked <= FALSE_MARKS[kind] * ROWS


@pytest.mark.parametrize("kind", ["normal", "student", "outliers"])
def test_half_as_much_again_is_found_in_the_recording_in_which_it_came(kind: str) -> None:
    generator = np.random.default_rng(len(kind))
    found = 0
    for _ in range(100):
        row = noise(kind, 20, generator)
        row[11:] += math.log(1.5)
        found += levels(np.exp(row).tolist()).starts == (11,)

    assert found >= 75


# Run times of unchanged code against their median, each recorded by a fresh pytest on two cores that had other work to
# do: programs of 35 and of 50 us, and 365 us that Python drove.
RECORDED = {
    "program": "95 60 101 100 102 221 93 103 110 103 65 100 102 93 111 99 102 100 99 100",
    "noisier program": "94 97 103 133 74 127 132 99 70 132 92 106 99 90 101 105 134 92 96 111",
    "Python": "100 102 103 98 105 100 104 98 99 100 101 103 100 100 99 102 99 100 99 97",
}


@pytest.mark.parametrize(("row", "factor"), [("program", 1.2), ("noisier program", 1.9), ("Python", 1.1)])
def test_real_recordings_are_marked_where_the_code_changed_alone(row: str, factor: float) -> None:
    values = [float(each) for each in RECORDED[row].split()]
    stretches = [values[a:b] for a, b in combinations(range(21), 2) if b - a >= FEWEST]

    assert [stretch for stretch in stretches if levels(stretch).starts] == []
    assert levels(values[:11] + [factor * each for each in values[11:]]).starts == (11,)


def test_levels_are_medians() -> None:
    values = [1.0, 1.02, 5.0, 0.98, 1.01, 2.0, 2.04, 1.96, 2.0, 0.5]

    found = levels(values)

    assert (found.starts, found.medians) == ((5,), (1.01, 2.0))
    assert found.noise == pytest.approx(noise_of(values))


def test_a_single_recording_changes_nothing_however_far_off() -> None:
    for place in range(12):
        values = [1.0, 1.01] * 6
        values[place] = 50.0
        assert levels(values).starts == ()


def test_a_level_begins_where_it_can() -> None:
    values = [1.00, 1.03, 0.98, 2.10, 1.01, 1.50, 1.53, 1.49]

    # An outlier just before the change could belong to either side.
    assert levels(values).starts == (3,)
    assert levels(values, {5}).starts == (5,)
    assert levels(values, {2, 5, 6}).medians == (1.01, 1.5)
    assert levels([1.0] * 10 + [3.0] * 2).starts == (10,)
    # Where none suits, there was no change that could have been one.
    assert levels([1.0] * 10 + [3.0] * 2, {2}).starts == ()
    assert levels(values, set()).starts == levels(values, {1, 7}).starts == ()
    assert levels([1.0] * 5 + [3.0] * 5 + [1.0] * 5, {5, 10}).starts == (5, 10)
    assert levels([1.0] * 10 + [3.0] * 5, {9, 10}).starts == (10,)
    assert levels([1.0, 1.02] * 5, range(10)).starts == ()


def test_several_levels_are_told_apart() -> None:
    assert levels([1.0] * 5 + [3.0] * 5 + [1.0] * 5).starts == (5, 10)


@pytest.mark.parametrize("count", range(1, FEWEST))
def test_few_recordings_tell_nothing(count: int) -> None:
    assert levels([1.0, 100.0, 100.0][:count]).starts == ()


def test_few_recordings_need_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    assert levels([1.0, 2.0]) == Levels(starts=(), medians=(1.5,), noise=noise_of([1.0, 2.0]))
    with pytest.raises(
        MissingLibrary, match="which is not installed: pip install ruptures, or pytest-jitperf with its"
    ):
        levels([1.0] * FEWEST)


def test_noise_is_the_standard_deviation_of_the_logarithm() -> None:
    values = np.exp(np.random.default_rng(1).normal(0, 0.2, 2000))
    values[1000:] *= 2
    assert noise_of(values.tolist()) == pytest.approx(0.2, rel=0.05)
    assert noise_of([1.0]) == noise_of([1.0, 1.0, 1.0]) == LEAST_NOISE


def test_no_other_cut_costs_less() -> None:
    """Against every way to cut a short row, each stretch of two recordings at least."""
    generator = np.random.default_rng(2)
    for _ in range(30):
        logarithms = generator.normal(0, 0.1, 9) + np.repeat(generator.normal(0, 0.4, 3), 3)
        values = np.exp(logarithms).tolist()
        price = PRICE * noise_of(values)

        def cost(starts: tuple[int, ...], logarithms: Any = logarithms, price: float = price) -> float:
            bounds = (0, *starts, 9)
            parts = [logarithms[a:b].tolist() for a, b in pairwise(bounds)]
            if min(map(len, parts)) < 2:
                return math.inf
            return math.fsum([price * len(starts), *(abs(each - median(part)) for part in parts for each in part)])

        best = min((cost(starts), starts) for size in range(4) for starts in combinations(range(1, 9), size))
        assert cost(levels(values).starts) == pytest.approx(best[0])
