"""What a sweep over sizes shows besides its table: how times grow, and where a strategy stops being the cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pytest_jitperf.judge.growth import Growth, fit_growth
from pytest_jitperf.report.grouping import Group, place
from pytest_jitperf.report.guide import advise, number_of_calls
from pytest_jitperf.row import Row
from pytest_jitperf.sizes import FEWEST_SIZES
from pytest_jitperf.wording import listed

__all__ = ["cheapest_by_size", "growth_lines", "rows_by_strategy"]

# By the wall clock of a quiet machine, repeats of one cold compile in one process varied by 6 to 9 %.
_COMPILE_FLOOR = 0.08
# Wider intervals of an exponent are of no use.
_WORTH_TELLING = 2.0


def rows_by_strategy(groups: Sequence[Group]) -> list[Row]:
    """The rows of all sizes, each strategy's together, the smallest size first."""
    return sorted((row for group in groups for row in group.rows), key=lambda row: (*place(row), row.extent or 0.0))


def growth_lines(groups: Sequence[Group]) -> list[str]:
    """For each strategy how its times grow: ``outer: run n^2.01 (n^1.93 ... n^2.08), compile n^0.03 (...)``.

    Args:
        groups: The sizes of one sweep, the smallest first.
    """
    rows = rows_by_strategy(groups)
    several = any(group.several_devices for group in groups)
    found = []
    for (*_, device), of_one in groupby(rows, key=place):
        mine = list(of_one)
        name = f"{mine[0].strategy} {device}" if several else mine[0].strategy
        parts = [
            f"{metric} {growth.describe()}"
            for metric, floor in (("run", None), ("compile", _COMPILE_FLOOR))
            if (growth := _growth(mine, metric, floor)) is not None and (metric == "run" or _is_known(growth))
        ]
        if parts:
            found.append(f"{name}: {', '.join(parts)}")
    if found and rows[0].counted:
        found[0] += "; n is the number of elements of the arguments"
    return found


def cheapest_by_size(groups: Sequence[Group]) -> list[str]:
    """Which strategy is the cheapest at which size, for as many calls as the guide reckons with.

    Example:
        ``for 1,000 calls: inner up to 256, outer from 1024``

    Args:
        groups: The sizes of one sweep, the smallest first.
    """
    advice = [(group.rows[0].size, each) for group in groups for each in advise(group)]
    found = []
    for device in dict.fromkeys(each.device for _, each in advice):
        mine = [(size, each) for size, each in advice if each.device == device]
        best: list[tuple[str, str]] = []
        for size, each in mine:
            # From a size to the next nothing is changed for what cannot be told apart.
            before = best[-1][0] if best else each.present.strategy
            best.append((before if each.is_alike(before) else each.best.strategy, size))
        turns = [(name, [size for _, size in of_one]) for name, of_one in groupby(best, key=lambda each: each[0])]
        calls = mine[0][1].calls
        label = f"{device}, " if device else ""
        many = number_of_calls(calls)
        compared = {size for size, _ in mine}
        others = [size for size in dict.fromkeys(group.rows[0].size for group in groups) if size not in compared]
        left_out = f" ({listed(others)} not compared)" if others else ""
        if len(turns) == 1:
            found.append(f"{label}for {many}: {turns[0][0]} at every size{left_out}")
        else:
            last = len(turns) - 1
            said = [f"{name} {_between(of, first=n == 0, last=n == last)}" for n, (name, of) in enumerate(turns)]
            found.append(f"{label}for {many}: {', '.join(said)}{left_out}")
    return found


def _between(sizes: Sequence[str], *, first: bool, last: bool) -> str:
    if first:
        return f"up to {sizes[-1]}"
    if last:
        return f"from {sizes[0]}"
    return f"at {sizes[0]}" if len(sizes) == 1 else f"from {sizes[0]} to {sizes[-1]}"


def _is_known(growth: Growth) -> bool:
    """A compile is timed once for each size: often that says next to nothing."""
    return growth.high - growth.low < _WORTH_TELLING


def _growth(rows: Sequence[Row], metric: str, floor: float | None) -> Growth | None:
    known = [(row.extent, row.timed[metric]) for row in rows if row.extent and metric in row.timed]
    if len(known) < FEWEST_SIZES:
        return None
    sizes, samples = [extent for extent, _ in known], [sample for _, sample in known]
    return fit_growth(sizes, samples) if floor is None else fit_growth(sizes, samples, floor)
