"""Whether an old program and the new one are the same, and how they compare where they are not."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Comparison

from . import clock, devices
from .contest import Contest, Effort
from .lock import DeviceLock
from .pairing import inputs_of, paired
from .program import FlatProgram, replayed
from .stages import persistent_cache_off
from .subject import Subject

__all__ = ["Effort", "Stored", "compare", "seed_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A stored program as the baseline gives it.

    Attributes:
        fingerprint: As recorded, or None.
        raw: The serialised export, or None.
        missing: Why there are no bytes; empty where there are.
        inputs: Stored text of its leaves.
        donated: Leaves that it may overwrite.
        options: Its compiler options.
        jax: The jax version it was recorded with.
    """

    fingerprint: str | None
    raw: bytes | None
    missing: str = ""
    inputs: str = ""
    donated: tuple[int, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    jax: str = ""


def compare(
    new: FlatProgram | None,
    why_not_exported: str,
    subject: Subject,
    stored: Stored,
    effort: Effort,
    lock: DeviceLock,
    progress: Callable[[str], None],
) -> Comparison:
    """Decides whether two programs are the same and, where they are not, how they compare.

    Args:
        new: The program of today, or None where it cannot be exported; then ``subject`` itself is raced.
        why_not_exported: The reason, where ``new`` is None.
        subject: What the user would call today.
        stored: The program of the baseline.
        effort: Limits and means.
        lock: Held for timed blocks.
        progress: Told what is going on.

    Returns:
        The comparison; ``cannot`` says why something could not be compared. Never raises for a bad artifact.
    """
    start = clock.perf_counter_ns()
    contest = Contest(subject=subject, effort=effort, lock=lock, progress=progress)
    found = _compare(new, why_not_exported, subject, stored, contest)
    seconds = (clock.perf_counter_ns() - start) / 1e9
    return replace(found, seconds=seconds, compiling_seconds=contest.compiling_seconds)


def _compare(
    new: FlatProgram | None, why_not_exported: str, subject: Subject, stored: Stored, contest: Contest
) -> Comparison:
    if new is not None and stored.fingerprint == new.fingerprint:
        return Comparison(same=True, how="fingerprint")
    if stored.raw is None:
        return Comparison(same=False, cannot=stored.missing or "no stored program")
    if new is None and subject.built.swaps and not subject.built.jitted:
        # It is the program of a helper, and what the user would call is more than the helper.
        return Comparison(same=False, cannot=why_not_exported)
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        stack.enter_context(subject.active() if new is None else devices.on(subject.device, subject.asked))
        try:
            today, leaves = inputs_of(new, subject)
            pairing = paired(stored.inputs, today, leaves)
            old = replayed(
                stored.raw,
                pairing.leaves,
                inputs=stored.inputs,
                donated=stored.donated,
                options=stored.options,
            )
        except MeasurementError as error:
            return Comparison(same=False, cannot=str(error))
        if stored.jax == jax.__version__ and stored.fingerprint is not None and old.fingerprint != stored.fingerprint:
            return Comparison(same=False, cannot="the stored program is not the one that its entry names")
        if new is not None and old.fingerprint == new.fingerprint:
            return Comparison(same=True, how="fingerprint")
        return contest.decide(new, why_not_exported, old, ambiguous=pairing.ambiguous)


def seed_of(text: str) -> random.Random:
    """Shuffling that differs from test to test and is the same in every run of one."""
    return random.Random(hashlib.sha256(text.encode()).digest())
