"""An old program, compiled again here and now, against the new one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.judge.compileterms import CompileTerms, is_stuck
from pytest_jitperf.measurement import Comparison

from . import clock
from .collector import collector_off
from .confirmed import ConfirmedRace
from .contender import Contender, Executable, Live, results_agree
from .costs import program_costs
from .hlo import optimised_text, program_digest
from .lock import DeviceLock
from .memory import memory_missing
from .onecore import one_core
from .optimised import operation_counts
from .paired import paired_costs
from .pairing import RENAMED
from .program import FlatProgram
from .refusals import one_line
from .subject import Subject

_MOST_PAIRS = 24

_C = TypeVar("_C", bound=Contender)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How far a comparison may go.

    Attributes:
        run_limit: Ratio of run time that is still allowed, or None where run is not gated.
        compiling: What compile time may grow to, or None where it is not gated.
        race_seconds: Wall seconds for one race.
        compile_seconds: Wall seconds of extra compiling for the item.
        random: Order of rounds.
    """

    run_limit: float | None
    compiling: CompileTerms | None
    race_seconds: float
    compile_seconds: float
    random: random.Random


@dataclass(slots=True, kw_only=True)
class Contest:
    """A comparison for which both sides are compiled, under way.

    Attributes:
        subject: What the user would call today.
        effort: Limits and means.
        lock: Held for timed blocks.
        progress: Told what is going on.
        compiling_seconds: Wall seconds that went into compiling so far.
        lowering_seconds: Wall seconds that went into lowering the stored program.
        compiles: Compilations so far.
    """

    subject: Subject
    effort: Effort
    lock: DeviceLock
    progress: Callable[[str], None]
    compiling_seconds: float = 0.0
    lowering_seconds: float = 0.0
    compiles: int = 0

    @contextmanager
    def lowering(self) -> Iterator[None]:
        """Counts what is done within as lowering."""
        start = clock.perf_counter_ns()
        try:
            yield
        finally:
            self.lowering_seconds += (clock.perf_counter_ns() - start) / 1e9

    def compile_seconds_left(self) -> float:
        """Wall seconds that may still go into extra compiling."""
        return self.effort.compile_seconds - self.compiling_seconds

    def _may_compile_a_pair(self) -> bool:
        """Whether both sides can be compiled once more in the time left, going by what a compilation has taken."""
        return self.compile_seconds_left() > 2 * self.compiling_seconds / max(self.compiles, 1)

    def _may_compile_at_leisure(self) -> bool:
        """The same, with half of the time kept for comparing compile times."""
        kept = self.effort.compile_seconds / 2 if self.effort.compiling is not None else 0.0
        return self.compile_seconds_left() > kept and self._may_compile_a_pair()

    def _compiled(self, build: Callable[[], _C]) -> _C:
        """Builds a contender on this comparison's account."""
        start = clock.perf_counter_ns()
        self.compiles += 1
        try:
            return build()
        finally:
            self.compiling_seconds += (clock.perf_counter_ns() - start) / 1e9

    def decide(
        self, new: FlatProgram | None, why_not_exported: str, old: FlatProgram, *, ambiguous: bool
    ) -> Comparison:
        """Looks whether the optimised programs are the same, and races them where not.

        Args:
            new: The program of today, or None where it cannot be exported.
            why_not_exported: The reason, where ``new`` is None.
            old: The stored program, with today's values.
            ambiguous: Whether these may stand in the wrong places.
        """
        self.progress("compiling the baseline's program")
        with self.lock.held(), collector_off():
            try:
                before = self._compiled(lambda: Executable.of(old))
            except Exception as error:  # options that this XLA no longer knows, for example
                reason = f"the stored program cannot be compiled: {one_line(error)}"
                return Comparison(same=False, cannot=reason)
            after = self._compiled(lambda: Executable.of(new)) if new is not None else None
        costs = program_costs(before.compiled, old.text)
        found = Comparison(
            same=False,
            old_exact=costs.exact,
            old_operations=costs.operations,
            old_constants=costs.constants,
            old_xla_seconds=before.seconds,
        )
        if after is not None:
            found = replace(found, new_operations=operation_counts(after.text))
            if _same_optimised(before, after):
                return replace(found, same=True, how="optimised")
        found = self._run(found, after or Live(subject=self.subject), before, ambiguous)
        if self.effort.compiling is None:
            return found
        if after is None:
            return replace(found, cannot=found.cannot or f"compile time is not compared: {why_not_exported}")
        return self._compile(found, after, before, self.effort.compiling)

    def _run(self, found: Comparison, new: Contender, old: Executable, ambiguous: bool) -> Comparison:
        """Races both sides where that can be."""
        if self.subject.abstract:
            return found
        if not all(map(_has_value, old.program.leaves)):
            return replace(found, cannot="its arguments exist only while its caller runs, so it cannot be run alone")
        missing = memory_missing(found.old_exact, self.subject.device)
        if missing:
            return replace(found, cannot=missing)
        try:
            result = jax.block_until_ready(old.result())
        except Exception as error:  # jax_debug_nans, for example
            return replace(found, cannot=f"the stored program fails with today's arguments: {one_line(error)}")
        if ambiguous and not results_agree(result, new.result()):
            return replace(found, cannot=RENAMED)
        del result
        if self.effort.run_limit is None:
            return found
        # As the old one was: what a first call does besides, such as compiling what was forgotten, is not the point.
        self.subject.wait(new.result())
        self.progress("racing the baseline's program")
        racing = ConfirmedRace(
            limit=self.effort.run_limit,
            max_seconds=self.effort.race_seconds,
            block=self.subject.wait,
            rng=self.effort.random,
            pin=one_core if self.subject.device.platform == "cpu" else None,
            afresh=lambda each: each if isinstance(each, Live) else self._compiled(each.fresh),
            may_compile=self._may_compile_a_pair,
            may_compile_more=self._may_compile_at_leisure,
            progress=self.progress,
        )
        with self.lock.held():
            run, cut = racing.run(new, old)
        return replace(found, run=run, cut=cut)

    def _compile(self, found: Comparison, new: Executable, old: Executable, terms: CompileTerms) -> Comparison:
        """Compiles both in pairs; the first pair is the one there is, for they were compiled one after the other."""
        self.progress("compiling in pairs")
        whole, limit = partial(terms.whole, old.seconds), terms.limit(old.seconds)
        with self.lock.held(), collector_off():
            try:
                xla = paired_costs(
                    lambda: self._compiled(new.fresh).seconds,
                    lambda: self._compiled(old.fresh).seconds,
                    limit=limit,
                    whole=whole,
                    own_limit=terms.xla_limit(old.seconds),
                    max_pairs=_MOST_PAIRS,
                    max_seconds=max(0.0, self.compile_seconds_left()),
                    first=(new.seconds, old.seconds),
                    rng=self.effort.random,
                )
            except MeasurementError as error:
                return replace(found, cannot=found.cannot or str(error))
        stuck = terms.xla is None and is_stuck((xla.estimate, xla.low, xla.high), whole, limit)
        left_out = not xla.decided and xla.rounds < _MOST_PAIRS and not stuck
        cut = [found.cut, "further compile pairs (max-compile)" if left_out else ""]
        return replace(found, xla=xla, cut=", ".join(filter(None, cut)))


def _same_optimised(old: Executable, new: Executable) -> bool:
    if dict(old.program.options) != dict(new.program.options) or len(old.program.leaves) != len(new.program.leaves):
        return False
    digests = {program_digest(optimised_text(each.compiled)) for each in (old, new)}
    return len(digests) == 1 and "" not in digests


def _has_value(leaf: Any) -> bool:
    """Whether a program can be run with it: no tracer's stand-in, and not donated away since."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return False
    return not (isinstance(leaf, jax.Array) and leaf.is_deleted())
