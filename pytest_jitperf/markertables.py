"""The tables of a marker: budgets, tolerances and what is to be faster than what, by strategy and metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pytest_jitperf.layers import Changes
from pytest_jitperf.quantity import is_number
from pytest_jitperf.reader import Reader
from pytest_jitperf.strategies import is_builtin
from pytest_jitperf.units import Tolerance
from pytest_jitperf.wording import choose, show

__all__ = ["budgets", "faster_than", "tolerance"]

T = TypeVar("T")


def _read(read: Callable[[str, str, object], T | None], name: str, metric: str, value: object) -> T | None:
    return None if value is None else read(name, metric, value)


def budgets(reader: Reader, value: object) -> Changes[float]:
    """Reads ``budgets={"outer": {"run": "5 ms"}}``; mistakes go to the reader."""
    rows: dict[str, Mapping[str, float | None] | None] = {}
    for strategy, row in reader.mapping("budgets", value, '{"outer": {"run": "5 ms"}}').items():
        name = f"budgets[{show(strategy)}]"
        if strategy in reader.metrics:
            every = "budgets is strategy, then metric; for every strategy"
            reader.wrong(f"budgets: {show(strategy)} is a metric; {every} write {strategy}={show(row)}")
        elif row is None:
            rows[strategy] = None
        else:
            rows[strategy] = {
                metric: _read(reader.limit, f"{name}[{show(metric)}]", metric, limit)
                for metric, limit in reader.mapping(name, row, '{"run": "5 ms"}').items()
                if reader.metric(name, metric)
            }
    return Changes(rows=rows)


def tolerance(reader: Reader, value: object) -> Changes[Tolerance]:
    """Reads ``tolerance={"run": "5 %", "outer": {"compile": "50 %"}}``; mistakes go to the reader."""
    everywhere: dict[str, Tolerance | None] = {}
    rows: dict[str, Mapping[str, Tolerance | None] | None] = {}
    for key, each in reader.mapping("tolerance", value, '{"run": "5 %"}').items():
        name = f"tolerance[{show(key)}]"
        if key in reader.metrics and isinstance(each, Mapping):
            first = next(iter(each), "outer")
            reader.wrong(f'{name}: strategy comes first; write tolerance={{{show(first)}: {{{show(key)}: "5 %"}}}}')
        elif key in reader.metrics:
            everywhere[key] = _read(reader.tolerance, name, key, each)
        elif isinstance(each, Mapping):
            rows[key] = {
                metric: _read(reader.tolerance, f"{name}[{show(metric)}]", metric, text)
                for metric, text in reader.mapping(name, each, '{"run": "5 %"}').items()
                if reader.metric(name, metric)
            }
        elif each is None:
            rows[key] = None
        elif is_builtin(key):
            reader.wrong(f'{name}={show(each)} says no metric; write {name}={{"run": {show(each)}}}')
        else:
            reader.wrong(f"tolerance: unknown metric {show(key)}; {choose(key, reader.metrics)}")
    return Changes(everywhere=everywhere, rows=rows)


def faster_than(reader: Reader, value: object) -> Changes[float]:
    """Reads ``faster_than={"outer": {"eager": 2.0}}``, the faster one first; mistakes go to the reader."""
    rows: dict[str, Mapping[str, float | None] | None] = {}
    for faster, row in reader.mapping("faster_than", value, '{"outer": {"eager": 2.0}}').items():
        name = f"faster_than[{show(faster)}]"
        if row is None:
            rows[faster] = None
            continue
        if not isinstance(row, Mapping):
            # Of the two, eager is the one to be faster than.
            first, number = "outer" if faster == "eager" else faster, show(row) if is_number(row) else "2.0"
            meant = f'write faster_than={{{show(first)}: {{"eager": {number}}}}}, the faster one first'
            reader.wrong(f"{name}={show(row)} names one strategy of two; {meant}")
            continue
        factors: dict[str, float | None] = {}
        for slower, factor in reader.mapping(name, row, '{"eager": 2.0}').items():
            at = f"{name}[{show(slower)}]"
            if slower == faster:
                reader.wrong(f"{at}: a strategy is never faster than itself")
            factors[slower] = None if factor is None else reader.factor(at, factor)
        rows[faster] = factors
    return Changes(rows=rows)
