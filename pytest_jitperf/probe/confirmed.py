"""A verdict on run time that does not hang on the luck of two executables."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pytest_jitperf.judge.stats import ERROR
from pytest_jitperf.measurement import Ratio

from .block import Side
from .clock import CLOCKS, Clocks
from .contender import Contender
from .fresh import EXECUTABLES_DIFFER, race_afresh
from .onecore import Pin
from .race import race

__all__ = ["ConfirmedRace"]

# Smaller limits are within what executables of one program differ by: a single pair of them proves nothing there.
_SMALL_LIMIT = 1.03

# Below this one, what a single pair leaves open is often their luck, and other pairs may tell.
_LIMIT_WORTH_ANOTHER_LOOK = 1.05

# What is confirmed was found with an error of 0.001 already: the second race is about the luck of the executables. At
# this error 11 rounds may do where 14 did. Few rounds of long calls are not spared anything.
_CONFIRMING_ERROR = 0.01
# As many rounds of short calls fit in the time of a race.
_ROUNDS_OF_SHORT_CALLS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedRace:
    """Races programs, and compiles them anew where that can change the verdict.

    Attributes:
        limit: Ratio of run time that is still allowed.
        max_seconds: Wall seconds for one race.
        block: Waits for the result of a call.
        rng: Draws orders.
        pin: Pins the process to one core; None for programs that run on an accelerator.
        afresh: Compiles a contender anew, where that can be.
        may_compile: Whether there is time for that.
        may_compile_more: Whether there is for pair after pair.
        progress: Told what is going on.
        clocks: Tell the time.
    """

    limit: float
    max_seconds: float
    block: Callable[[Any], None]
    rng: random.Random
    pin: Pin | None
    afresh: Callable[[Contender], Contender]
    may_compile: Callable[[], bool]
    may_compile_more: Callable[[], bool]
    progress: Callable[[str], None]
    clocks: Clocks = CLOCKS

    def run(self, new: Contender, old: Contender) -> tuple[Ratio, str]:
        """Races two contenders that have been called before.

        A regression is believed only when fresh executables show it too. Where the limit is so small that the luck of
        the executables decides, where it is small and the race leaves it open, or where fresh ones contradict the
        first, the verdict rests on several pairs of them (`race_afresh`); but for what is slower by more than luck can
        explain.

        Returns:
            The ratio new / old, its interval around those of both races where one confirmed the other, and what was
            left out for lack of time to compile; empty where nothing was.
        """
        luck = EXECUTABLES_DIFFER if round(self.limit, 9) < _SMALL_LIMIT else 1.0
        limit = self.limit * luck
        looks = 2 if luck == 1 and self.limit < _LIMIT_WORTH_ANOTHER_LOOK else 1
        ratio = self._race(new, old, limit, ERROR / looks)
        regressed = _is_above(ratio, limit)
        short = ratio.seconds * _ROUNDS_OF_SHORT_CALLS <= ratio.rounds * self.max_seconds
        if regressed and not self.may_compile():
            return ratio, "confirmation with fresh executables (max-compile)"
        known, seconds, one_core = ratio.estimate, ratio.seconds, ratio.one_core
        if regressed:
            again = self._race(*self._pair(new, old), limit, _CONFIRMING_ERROR if short else ERROR / looks)
            # The first pair no longer counts: it is here for being slow.
            known, seconds, one_core = again.estimate, seconds + again.seconds, again.one_core
            if _is_above(again, limit):
                both = replace(
                    again,
                    low=min(ratio.low, again.low),
                    high=max(ratio.high, again.high),
                    rounds=ratio.rounds + again.rounds,
                )
                return replace(both, seconds=seconds, executables=2, confirmed=True), ""
        elif luck > 1:
            if ratio.decided and ratio.high < self.limit / luck:
                return ratio, ""
        elif ratio.decided or looks == 1 or not short or not self.may_compile_more():
            return ratio, ""
        several = self._several(new, old, known, ERROR / looks, self.pin if one_core else None)
        seconds += several.seconds
        if not regressed and luck == 1 and not several.decided:
            return replace(ratio, seconds=seconds), ""
        cut = "" if several.decided or self.may_compile_more() else "further fresh executables (max-compile)"
        return replace(
            several,
            seconds=seconds,
            one_core=one_core,
            confirmed=_is_above(several, self.limit),
            first=ratio.estimate if regressed else None,
        ), cut

    def _race(self, new: Contender, old: Contender, limit: float, error: float) -> Ratio:
        return race(
            new.side(),
            old.side(),
            limit=limit,
            max_seconds=self.max_seconds,
            block=self.block,
            rng=self.rng,
            progress=self.progress,
            clocks=self.clocks,
            pin=self.pin,
            error=error,
        )

    def _several(self, new: Contender, old: Contender, known: float, error: float, pin: Pin | None) -> Ratio:
        def pair() -> tuple[Side, Side]:
            fresh_new, fresh_old = self._pair(new, old)
            return fresh_new.side(), fresh_old.side()

        return race_afresh(
            pair,
            known=[known],
            limit=self.limit,
            max_seconds=self.max_seconds,
            may_compile=self.may_compile_more,
            block=self.block,
            rng=self.rng,
            progress=self.progress,
            clocks=self.clocks,
            error=error,
            pin=pin,
        )

    def _pair(self, new: Contender, old: Contender) -> tuple[Contender, Contender]:
        """Both anew, and called once: what a first call does besides is not the point."""
        fresh_new, fresh_old = self.afresh(new), self.afresh(old)
        self.block(fresh_new.result())
        self.block(fresh_old.result())
        return fresh_new, fresh_old


def _is_above(ratio: Ratio, limit: float) -> bool:
    return ratio.decided and ratio.low > limit
