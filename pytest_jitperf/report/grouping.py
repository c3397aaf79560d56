"""Which rows belong together, and in which order they stand: the same in every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.metrics import is_custom
from pytest_jitperf.row import Row
from pytest_jitperf.strategies import BUILTIN, is_builtin, kind_of, one_helper

__all__ = ["Group", "custom_metrics", "groups", "one_line", "place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The strategies of one measurement on one kind of device, under one Python and jax.

    Attributes:
        title: ``file::test``, with measurement, device kind and versions where there are several.
        rows: In the order of ``place``, at least one.
        sweep: Title of the sweep that it is one size of; empty where it is none.
    """

    title: str
    rows: tuple[Row, ...]
    sweep: str = ""

    @property
    def several_devices(self) -> bool:
        """Whether the rows have to be told apart by device."""
        return len({row.device for row in self.rows}) > 1

    def name_of(self, row: Row) -> str:
        """What a row is called in a table: its strategy, the device where there are several, its size."""
        return " ".join(filter(None, (row.strategy, row.device if self.several_devices else "", one_line(row.size))))

    def notes_on(self, row: Row) -> list[str]:
        """What stands beside the word of a row: what decided, whose program it shares, further sentences."""
        twin = next((other for other in self.rows if _is_twin(row, other)), None)
        shared = [f"same program as {twin.strategy}"] if twin is not None else []
        return [*([row.note] if row.note else []), *shared, *row.notes]


def groups(rows: Iterable[Row]) -> list[Group]:
    """Rows by device kind, versions, test and measurement; what did not run for lack of a device comes last.

    Strategies stand in the order of the built-in ones, others after them by name, whatever order they ran in.
    """
    ordered = list(_once(sorted(rows, key=lambda row: (*_key(row), *place(row)))))
    many_kinds = len({row.device_kind for row in ordered if row.device_kind}) > 1
    many_hosts = len({_host(row) for row in ordered if _host(row)}) > 1
    return [_group(tuple(found), many_kinds, many_hosts) for _, found in groupby(ordered, key=_key)]


def custom_metrics(rows: Iterable[Row]) -> list[str]:
    """Metrics of the user's own that the rows have, by name."""
    return sorted({name for row in rows for name in row.metrics if is_custom(name)})


def place(row: Row) -> tuple[int, str, str]:
    """Sorts strategies as they are shown, and the devices of each."""
    if is_builtin(row.strategy):
        return BUILTIN.index(kind_of(row.strategy)), one_helper(row.strategy), row.device
    return len(BUILTIN), row.strategy, row.device


def one_line(text: str) -> str:
    """Control characters of ids and messages escaped."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _is_twin(row: Row, other: Row) -> bool:
    same = row.optimised == other.optimised and row.device == other.device
    return bool(row.optimised) and same and place(other)[:2] < place(row)[:2]


def _host(row: Row) -> str:
    """``Python 3.11, jax 0.10.2``: results of several are joined into one report."""
    return f"Python {row.environment.python}, jax {row.environment.jax}" if row.environment is not None else ""


def _key(row: Row) -> tuple[bool, str, str, str, str, str, float, str]:
    """Sizes of a sweep stand together, the smallest first."""
    where = not row.device_kind, row.device_kind, _host(row), row.file, row.test
    return *where, row.sweep or row.measurement, row.extent or 0.0, row.measurement


def _once(rows: Iterable[Row]) -> Iterator[Row]:
    """One row of those that are about the same, as pytest-repeat makes them: the worst, or else the last."""
    for _, found in groupby(rows, key=lambda row: (*_key(row), *place(row))):
        repeated = list(found)
        worst = max(reversed(repeated), key=lambda row: Outcome(row.outcome).rank)
        often = f"the worst of {len(repeated)} times" if worst.failed else f"{len(repeated)} times"
        yield replace(worst, notes=(*worst.notes, often)) if len(repeated) > 1 else worst


def _group(rows: tuple[Row, ...], many_kinds: bool, many_hosts: bool) -> Group:
    first = rows[0]
    where = ", ".join(filter(None, (first.device_kind if many_kinds else "", _host(first) if many_hosts else "")))
    kind = f"  ({where})" if where else ""

    def title(measurement: str) -> str:
        name = f"{first.file}::{first.test}" + (f" / {measurement}" if measurement != "main" else "")
        return one_line(f"{name}{kind}")

    return Group(title=title(first.measurement), rows=rows, sweep=title(first.sweep) if first.sweep else "")
