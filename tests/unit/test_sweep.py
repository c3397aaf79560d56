"""What is shown of a sweep: one table, how times grow, and which strategy is the cheapest at which size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_jitperf.measurement import Sample
from pytest_jitperf.report.grouping import groups
from pytest_jitperf.report.sweep import cheapest_by_size, growth_lines, rows_by_strategy
from pytest_jitperf.report.terminal import table
from pytest_jitperf.row import Row

MakeRow = Callable[..., Row]
SIZES = (64, 256, 1024)


def exact(seconds: float) -> Sample:
    return Sample(median=seconds, low=seconds, high=seconds, rounds=20)


@pytest.fixture(name="rows")
def rows_of_a_sweep(row: MakeRow) -> Callable[..., list[Row]]:
    """Rows of strategies by their run time as a function of the size; all compile in 40 ms but eager, in 10."""

    def make(**strategies: Callable[[int], float]) -> list[Row]:
        found = []
        for name, run in strategies.items():
            for n in reversed(SIZES):
                start = 0.01 if name == "eager" else 0.04
                timed = {"run": exact(run(n)), "compile": exact(start)}
                found.append(
                    row(
                        strategy=name, measurement=str(n), sweep="main", size=str(n), extent=float(n),
                        timed=timed, run=run(n), compile=start,
                    )
                )  # fmt: skip
        return found

    return make


def quadratic(n: int) -> float:
    return 1e-8 * n**2


def linear(n: int) -> float:
    return 1e-6 * n


def test_a_sweep_is_one_table_each_strategy_with_its_sizes(rows: Callable[..., list[Row]]) -> None:
    assert table(rows(outer=linear, eager=quadratic)) == [
        "tests/test_step.py::test_step",
        "                compile      run    launches",
        "  eager 64        10 ms    41 us           1   ok",
        "  eager 256       10 ms   655 us           1   ok",
        "  eager 1024      10 ms  10.5 ms           1   ok",
        "  outer 64        40 ms    64 us           1   ok",
        "  outer 256       40 ms   256 us           1   ok",
        "  outer 1024      40 ms  1.02 ms           1   ok",
        *growth_table(rows(outer=linear, eager=quadratic)),
        "  guide  for 1,000 calls: eager up to 64, outer from 256",
    ]


def growth_table(rows: list[Row]) -> list[str]:
    return [f"  growth {line}" for line in growth_lines(groups(rows))]


def test_each_strategy_has_its_exponents(rows: Callable[..., list[Row]]) -> None:
    eager, outer = growth_lines(groups(rows(eager=quadratic, outer=linear)))
    assert eager.startswith("eager: run n^2.00 (n^1.9")
    assert outer.startswith("outer: run n^1.00 (n^0.9")
    assert "compile" not in outer  # one compile a size says nothing here


def test_elements_are_counted_where_sizes_have_names(rows: Callable[..., list[Row]]) -> None:
    named = [replace(each, counted=True) for each in rows(outer=linear, eager=linear)]
    first, second = growth_lines(groups(named))
    assert first.endswith("; n is the number of elements of the arguments")
    assert "elements" not in second


def test_sizes_stand_in_their_order_and_not_in_that_of_their_names(rows: Callable[..., list[Row]]) -> None:
    found = groups(rows(outer=linear, eager=quadratic))
    assert [group.title for group in found] == [f"tests/test_step.py::test_step / {n}" for n in SIZES]
    assert [(each.strategy, each.size) for each in rows_by_strategy(found)] == [
        (name, str(n)) for name in ("eager", "outer") for n in SIZES
    ]


@pytest.mark.parametrize(
    ("eager", "outer", "expected"),
    [
        (linear, linear, "for 1,000 calls: eager at every size"),
        (quadratic, linear, "for 1,000 calls: eager up to 64, outer from 256"),
        (lambda n: 1e-3, lambda n: 1e-4, "for 1,000 calls: outer at every size"),
    ],
)
def test_where_a_strategy_stops_being_the_cheapest(
    rows: Callable[..., list[Row]], eager: Callable[[int], float], outer: Callable[[int], float], expected: str
) -> None:
    assert cheapest_by_size(groups(rows(eager=eager, outer=outer))) == [expected]


def test_two_sizes_show_no_growth(rows: Callable[..., list[Row]]) -> None:
    two = [each for each in rows(outer=linear) if each.extent != 64]
    assert growth_lines(groups(two)) == []
    assert cheapest_by_size(groups(two)) == []


def test_a_size_at_which_a_result_is_wrong_is_not_among_those_that_are_compared(rows: Callable[..., list[Row]]) -> None:
    found = rows(eager=quadratic, outer=lambda n: 1e-9 * n)
    wrong = [
        replace(each, outcome="WRONG RESULT") if (each.strategy, each.size) == ("outer", "1024") else each
        for each in found
    ]
    assert cheapest_by_size(groups(found)) == ["for 1,000 calls: outer at every size"]
    assert cheapest_by_size(groups(wrong)) == ["for 1,000 calls: outer at every size (1024 not compared)"]
