"""From pytest's nodes to layers of markers and keys of the baseline: the place where pytest objects become data."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import pytest

from pytest_jitperf.layers import Layer
from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.spec import parse_marker

__all__ = ["MARKER", "baseline_key", "has_own_marker", "layers_of", "marker_line", "own_id"]

MARKER = "jitperf"

# The parameter that pytest-repeat adds, with ids such as "2-10": each repetition is the same test.
_REPETITION = "__pytest_repeat_step_number"

Node: TypeAlias = Any
"""A node of pytest's collection tree, whose common class is not public."""

Scope: TypeAlias = Literal["own", "inherited", "param"]


def layers_of(node: pytest.Item | pytest.Collector, metrics: Mapping[str, Metric] = METRICS) -> tuple[Layer, ...]:
    """The markers that hold for a test, from the outermost to the innermost.

    Module before class, base class before subclass, class before function, and on the function the marker that stands
    further up before the one below it; last those of ``pytest.param``.

    Args:
        node: The test.
        metrics: Every metric by name, those of the user's own too.
    """
    found: list[Layer] = []
    for each, mark, scope in _marks(node):
        where = {"param": "pytest.param"}.get(
            scope, f"{type(each).__name__.lower()} {getattr(each, 'originalname', None) or each.name}"
        )
        found.append(parse_marker(mark.args, mark.kwargs, where=where, scope=scope, metrics=metrics))
    return tuple(found)


def has_own_marker(node: Node) -> bool:
    """Whether the marker stands on a function itself or in its ``pytest.param``, and so demands a measurement.

    Or on a class itself, where that is asked.
    """
    return any(scope != "inherited" for _, _, scope in _marks(node))


def _marks(node: pytest.Item | pytest.Collector) -> Iterator[tuple[Node, pytest.Mark, Scope]]:
    of_params = getattr(getattr(node, "callspec", None), "marks", ())
    for each in node.listchain():
        marks = [mark for mark in each.own_markers if mark.name == MARKER]
        if each is not node:
            # Classes list the markers of their bases first, modules in the order of pytestmark.
            for mark in marks:
                yield each, mark, "inherited"
            continue
        params = [mark for mark in marks if any(mark is other for other in of_params)]
        # The decorator next to the function comes first in pytest's list and has the last word.
        for mark in reversed(marks):
            if not any(mark is other for other in params):
                yield each, mark, "own"
        for mark in params:
            yield each, mark, "param"


def baseline_key(item: pytest.Function, strategy_id: str) -> str:
    """Key of a test: class and function with the user's own parameter ids, without the parts that plugins added.

    Built from the collected objects, never from a node id, whose prefix depends on where pytest was started.
    """
    names = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    own = own_id(item, strategy_id)
    name = getattr(item, "originalname", None) or item.name
    return "::".join([*names, f"{name}[{own}]" if own else name])


def own_id(item: pytest.Item, strategy_id: str) -> str:
    """The user's own part of what stands in brackets in a test's id; empty where there is none."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ""
    own = _without(callspec.id, re.escape(strategy_id))
    if _REPETITION in callspec.params:
        own = _without(own, rf"{callspec.params[_REPETITION] + 1}-\d+")
    return own


def _without(ids: str, pattern: str) -> str:
    """Ids joined by ``-`` without the last one that fits; another plugin may have added its own behind ours."""
    found = list(re.finditer(rf"(?:^|-)(?:{pattern})(?=-|$)", ids))
    if not found:
        return ids
    before, after = ids[: found[-1].start()], ids[found[-1].end() :]
    return f"{before}{after}" if before else after.removeprefix("-")


def marker_line(item: pytest.Item) -> tuple[str, int]:
    """File and line of the marker on a function, or of the function where the marker stands elsewhere.

    Returns:
        Path relative to the root directory, and the line counted from 1.
    """
    path, line, _ = item.location
    start = (line or 0) + 1
    function: Any = getattr(item, "obj", None)
    try:
        source, start = inspect.getsourcelines(inspect.unwrap(function))
    except (OSError, TypeError, ValueError):
        return path, start
    for offset, text in enumerate(source):
        if f"mark.{MARKER}" in text:
            return path, start + offset
        if text.lstrip().startswith(("def ", "async def ")):
            break
    return path, start
