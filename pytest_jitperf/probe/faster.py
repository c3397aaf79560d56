"""Racing two strategies of one function against each other, in this run."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import jax

from pytest_jitperf.measurement import Ratio
from pytest_jitperf.strategies import Strategy

from . import clock
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Duel:
    """Two strategies of one function: the one that should be faster, and the one it is held against."""

    own: Subject
    against: Subject
    switch: _Switch
    factor: float
    max_seconds: float
    rng: random.Random

    @property
    def switching(self) -> bool:
        """Whether other helpers are swapped for one side than for the other."""
        own, against = ([helper.function for helper in side.helpers] for side in (self.own, self.against))
        return own != against

    def compile(self) -> float:
        """Compiles both sides; returns the wall seconds that it took."""
        start = clock.perf_counter_ns()
        for subject in (self.own, self.against):
            self.switch.to(subject)
            subject.first_call(subject.expendable())
            subject.wait(subject.call(subject.prepare()))
        if not self.switching:
            # One activation serves both: the same helpers are swapped, or none.
            self.switch.to(self.own)
            self.against.wait(self.against.call(self.against.prepare()))
        return (clock.perf_counter_ns() - start) / 1e9

    def side(self, subject: Subject) -> Side:
        side = subject.side()
        return replace(side, before=lambda: self.switch.to(subject)) if self.switching else side

    def race(self) -> Ratio:
        """Run time of the other over that of the own one."""

        def wait(result: Any) -> None:
            jax.block_until_ready(result)
            jax.effects_barrier()

        return race(
            self.side(self.against),
            self.side(self.own),
            limit=self.factor,
            max_seconds=self.max_seconds,
            block=wait,
            rng=self.rng,
            pin=one_core if self.own.device.platform == "cpu" else None,
        )

    def too_slow(self, ratio: Ratio) -> bool:
        """Whether the own one is not as much faster as it should be."""
        return ratio.decided and ratio.high < self.factor


def race_strategies(
    request: Request, other: str | Strategy, *, factor: float, max_seconds: float, compile_seconds: float
) -> Ratio:
    """Races another strategy against the request's own.

    That the own one is not as much faster has to show a second time, with everything compiled anew.

    Args:
        request: The measurement, with its own strategy.
        other: The strategy it should be faster than.
        factor: By how much, at least.
        max_seconds: Wall time for a race.
        compile_seconds: Wall time for compiling anew; what took longer the first time is not confirmed.

    Returns:
        Run time of ``other`` over that of the own strategy: 2.0 means that the own one is twice as fast.

    Raises:
        MeasurementError: One of the two cannot be measured.
    """
    own, against = subject_of(request, request.strategy), subject_of(request, other)
    lock = DeviceLock(f"{own.device.platform}:{own.device.id}")
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        switch = _Switch()
        stack.callback(switch.off)
        rng = seed_of(f"{request.test}/{own.built.strategy}/{against.built.strategy}")
        duel = _Duel(own=own, against=against, switch=switch, factor=factor, max_seconds=max_seconds, rng=rng)
        seconds = duel.compile()
        stack.enter_context(lock.held())
        ratio = duel.race()
        if not duel.too_slow(ratio) or seconds > compile_seconds:
            return ratio
        jax.clear_caches()
        duel.compile()
        again = duel.race()
        return replace(
            again,
            rounds=ratio.rounds + again.rounds,
            seconds=ratio.seconds + again.seconds,
            confirmed=duel.too_slow(again),
        )
