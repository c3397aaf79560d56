"""Which rows belong together, and in which order they stand: the same in every report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from pytest_jitperf.row import Row
from pytest_jitperf.strategies import BUILTIN, is_builtin, kind_of, one_helper

__all__ = ["Group", "groups", "one_line", "place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The strategies of one measurement on one kind of device.

    Attributes:
        title: ``file::test``, with measurement and device kind where there are several.
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


def groups(rows: Iterable[Row]) -> list[Group]:
    """Rows by device kind, test and measurement; what did not run for lack of a device comes last.

    Strategies stand in the order of the built-in ones, others after them by name, whatever order they ran in.
    """
    ordered = sorted(rows, key=lambda row: (*_key(row), *place(row)))
    many_kinds = len({row.device_kind for row in ordered if row.device_kind}) > 1
    return [_group(tuple(found), many_kinds) for _, found in groupby(ordered, key=_key)]


def place(row: Row) -> tuple[int, str, str]:
    """Sorts strategies as they are shown, and the devices of each."""
    if is_builtin(row.strategy):
        return BUILTIN.index(kind_of(row.strategy)), one_helper(row.strategy), row.device
    return len(BUILTIN), row.strategy, row.device


def one_line(text: str) -> str:
    """Control characters of ids and messages escaped."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _key(row: Row) -> tuple[bool, str, str, str, str, float, str]:
    """Sizes of a sweep stand together, the smallest first."""
    where = not row.device_kind, row.device_kind, row.file, row.test
    return *where, row.sweep or row.measurement, row.extent or 0.0, row.measurement


def _group(rows: tuple[Row, ...], many_kinds: bool) -> Group:
    first = rows[0]
    kind = f"  ({first.device_kind})" if many_kinds and first.device_kind else ""

    def title(measurement: str) -> str:
        name = f"{first.file}::{first.test}" + (f" / {measurement}" if measurement != "main" else "")
        return one_line(f"{name}{kind}")

    return Group(title=title(first.measurement), rows=rows, sweep=title(first.sweep) if first.sweep else "")
