"""Room on Python's stack: a call costs the same however deep the stack is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import thread_time_ns
from typing import TypeVar

import pytest

from pytest_jitperf.probe.stackroom import with_stack_room

T = TypeVar("T")

TWELVE = range(12)
# The frames of a chunk of 16 KiB, and some more.
DEPTHS = range(200)


def callee(*numbers: int) -> int:
    """Its frame is larger than a step of depth, so that at one of the depths it is the one that does not fit."""
    a, b, c, d, e, f, g, h, i, j, k, l = numbers  # noqa: E741  # for their room alone
    return a + b + c + d + e + f + g + h + i + j + k + l


def calls() -> int:
    """CPU time of 500 calls, nanoseconds: the least of five, which load does not touch."""

    def once() -> int:
        start = thread_time_ns()
        for _ in range(500):
            callee(*TWELVE)
        return thread_time_ns() - start

    return min(once() for _ in range(5))


def deep(depth: int, function: Callable[[], T]) -> T:
    return deep(depth - 1, function) if depth else function()


def worst_against_best(room: Callable[[Callable[[], int]], int]) -> float:
    found = [deep(depth, lambda: room(calls)) for depth in DEPTHS]
    return max(found) / min(found)


def test_calls_with_room_cost_the_same_at_each_depth() -> None:
    """Without, at the worst depth, 40 times as much as at the best, and less elaborate ones 700 times."""
    assert worst_against_best(with_stack_room) < 20


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="it is CPython's stack")
def test_calls_without_room_do_not() -> None:
    """Once this fails, Python has mended it, and there is no need for room."""
    assert worst_against_best(lambda function: function()) > 20


def test_what_is_called_with_room_gives_its_result_and_raises_its_own_errors() -> None:
    assert with_stack_room(lambda: "result") == "result"
    with pytest.raises(ZeroDivisionError):
        with_stack_room(lambda: 1 // 0)
