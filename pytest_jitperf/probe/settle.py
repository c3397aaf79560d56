"""Which times lie above their budgets: those that one sample leaves open are taken again until it is clear."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from pytest_jitperf.measurement import Measurement, Settled

from .absolute import settled_run
from .collector import collector_off
from .lock import DeviceLock
from .onecore import one_core
from .recompile import cold_again, settled_cold
from .stages import persistent_cache_off
from .subject import Subject

__all__ = ["settle"]


def settle(
    subject: Subject,
    measured: Measurement,
    limits: Mapping[str, float],
    *,
    race_seconds: float,
    compile_seconds: float,
    lock: DeviceLock,
    rng: random.Random,
    progress: Callable[[str], None],
) -> dict[str, Settled]:
    """Takes times until it is clear how they compare with their limits, or the time is up.

    Args:
        subject: What was measured.
        measured: The samples.
        limits: Seconds by metric: ``run``, ``compile``, ``trace``, ``lower``, ``xla``.
        race_seconds: Wall time for ``run``.
        compile_seconds: Wall time for compiling again.
        lock: Held meanwhile.
        rng: Draws the core to go to.
        progress: Told what is going on.

    Raises:
        MeasurementError: The clock did not advance.
        Exception: Whatever the user's function raised.
    """
    found: dict[str, Settled] = {}
    cold = {metric: limit for metric, limit in limits.items() if metric != "run"}
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        stack.enter_context(subject.active())
        stack.enter_context(lock.held())
        stack.enter_context(collector_off())
        if "run" in limits:
            progress("run time against its budget")
            subject.wait(subject.call(subject.prepare()))
            found["run"] = settled_run(
                subject.side(),
                limit=limits["run"],
                expected=measured.timed["run"].median,
                max_seconds=race_seconds,
                block=subject.wait,
                rng=rng,
                progress=progress,
                pin=one_core if subject.device.platform == "cpu" else None,
            )
        if cold:
            # Last, since it empties the caches.
            progress("compile time against its budget")
            deep = not cold.keys() <= {"trace", "lower"}
            # Only what is compiled as one program has CPU times by phase.
            one_program = "xla_cpu" in measured.timed
            found |= settled_cold(
                subject.cold,
                lambda: cold_again(subject, one_program=one_program, deep=deep),
                cold,
                rough=not one_program,
                max_seconds=compile_seconds,
            )
    return found
