"""Racing two strategies of one function against each other, in this run."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace as with_fields
from typing import Any

import jax

from pytest_jitperf.measurement import Ratio
from pytest_jitperf.strategies import Strategy

from .compare import seed_of
from .lock import DeviceLock
from .onecore import one_core
from .race import Side, race
from .request import Request, subject_of
from .stages import persistent_cache_off
from .subject import Subject


class _Switch:
    """Two subjects that take turns where their helpers are swapped or not.

    Swapping empties JAX's caches, so the side that comes on is called once before it is timed.
    """

    def __init__(self) -> None:
        self._on: Subject | None = None
        self._stack = ExitStack()

    def to(self, subject: Subject) -> None:
        """Makes ``subject`` the active one."""
        if self._on is subject:
            return
        self.off()
        self._stack.enter_context(subject.active())
        self._on = subject
        subject.wait(subject.call(subject.prepare()))

    def off(self) -> None:
        """Leaves the active one."""
        self._on = None
        self._stack.close()
        self._stack = ExitStack()


def race_strategies(request: Request, other: str | Strategy, *, factor: float, max_seconds: float) -> Ratio:
    """Races another strategy against the request's own.

    Args:
        request: The measurement, with its own strategy.
        other: The strategy it should be faster than.
        factor: By how much, at least.
        max_seconds: Wall time for the race.

    Returns:
        Run time of ``other`` over that of the own strategy: 2.0 means that the own one is twice as fast.

    Raises:
        MeasurementError: One of the two cannot be measured.
    """
    own, against = subject_of(request, request.strategy), subject_of(request, other)
    switching = own.built.swaps != against.built.swaps
    lock = DeviceLock(f"{own.device.platform}:{own.device.id}")
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        switch = _Switch()
        stack.callback(switch.off)
        for subject in (own, against):
            switch.to(subject)
            subject.first_call(subject.expendable())
            subject.wait(subject.call(subject.prepare()))
        if not switching:
            # One activation serves both: the same helpers are swapped, or none.
            switch.to(own)
            against.wait(against.call(against.prepare()))
        stack.enter_context(lock.held())

        def side(subject: Subject) -> Side:
            made = subject.side()
            return with_fields(made, before=lambda: switch.to(subject)) if switching else made

        def wait(result: Any) -> None:
            jax.block_until_ready(result)
            jax.effects_barrier()

        return race(
            side(against),
            side(own),
            limit=factor,
            max_seconds=max_seconds,
            block=wait,
            rng=seed_of(f"{request.test}/{own.built.strategy}/{against.built.strategy}"),
            pin=one_core if own.device.platform == "cpu" else None,
        )
