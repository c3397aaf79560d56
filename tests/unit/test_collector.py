"""The garbage collector before and within what is timed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_jitperf.probe.collector import Collections, collector_off


class Ring:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@dataclass
class Turned:
    """A clock that is turned by hand, and goes on by 10 ns with each look: a whole collection takes 10 ns."""

    time: int = 0

    def __call__(self) -> int:
        self.time += 10
        return self.time


@pytest.fixture(autouse=True)
def collector_kept() -> Iterator[None]:
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


def old_and_young() -> list[weakref.ref[Any]]:
    """Garbage that was alive when everything was collected last, and garbage of late."""
    old = Ring()
    gc.collect()
    return [weakref.ref(old), weakref.ref(Ring())]


def collected(refs: list[weakref.ref[Any]]) -> list[bool]:
    return [each() is None for each in refs]


def test_everything_is_collected_where_the_last_time_is_long_ago_and_else_what_is_young() -> None:
    clock = Turned()
    collections = Collections(now=clock)
    found = []
    # The third is 200 ns after the end of the first, which took 10, and the fourth 190 after that of the third.
    for pause in (0, 0, 180, 180, 180):
        clock.time += pause
        refs = old_and_young()
        with collector_off(collections):
            found.append(collected(refs))
    assert found == [[True, True], [False, True], [True, True], [False, True], [True, True]]


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("meanwhile", [gc.enable, gc.disable])
def test_the_collector_is_as_it_was_whatever_is_done_to_it_meanwhile(
    enabled: bool, meanwhile: Callable[[], None]
) -> None:
    (gc.enable if enabled else gc.disable)()
    with collector_off():
        assert not gc.isenabled()
        meanwhile()
    assert gc.isenabled() is enabled
