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
from .collector import collector_off
from .contest import Contest, Effort
from .controlflow import takes_the_same_steps
from .fingerprint import FINGERPRINT_VERSION
from .inputs import parse_text
from .lock import DeviceLock
from .pairing import RENAMED, inputs_of, order_of, paired, paired_by_use, stored_leaves
from .program import FlatProgram
from .replay import loaded, replayed
from .stablehlo import arguments_of, results_of
from .stages import persistent_cache_off
from .subject import Subject

# A call that takes more leaves than this is raced though the program is the same: 300 more cost it 160 us.
_MORE_SHARE, _MORE_LEAVES = 1.1, 20

__all__ = ["Effort", "Stored", "compare", "seed_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A stored program as the baseline gives it.

    Attributes:
        fingerprint: As recorded, or None.
        raw: The serialised export, or None.
        missing: Why there are no bytes; empty where there are.
        fingerprint_version: By which rules the fingerprint was taken.
        inputs: Stored text of its leaves.
        unused: Positions in ``inputs`` of those that it does not read.
        donated: Inputs that it may overwrite.
        options: Its compiler options.
        jax: The jax version it was recorded with.
    """

    fingerprint: str | None
    raw: bytes | None
    missing: str = ""
    fingerprint_version: int = FINGERPRINT_VERSION
    inputs: str = ""
    unused: tuple[int, ...] = ()
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
    return replace(
        found,
        seconds=(clock.perf_counter_ns() - start) / 1e9,
        compiling_seconds=contest.compiling_seconds + contest.lowering_seconds,
        compiles=contest.compiles,
    )


def _compare(
    new: FlatProgram | None, why_not_exported: str, subject: Subject, stored: Stored, contest: Contest
) -> Comparison:
    before, now = (len(parse_text(text)) for text in (stored.inputs, new.inputs if new is not None else ""))
    # Those added for a race are on one device.
    more_leaves = now > _MORE_SHARE * before and now - before > _MORE_LEAVES and _on_one_device(new)
    known = new is not None and stored.fingerprint == new.fingerprint
    if known and not more_leaves:
        return Comparison(same=True, how="fingerprint")
    if stored.raw is None and not known:
        return Comparison(same=False, cannot=stored.missing or "no stored program")
    if new is None and subject.built.swaps and not subject.built.jitted:
        # It is the program of a helper, and what the user would call is more than the helper.
        return Comparison(same=False, cannot=why_not_exported)
    if new is None and subject.driven:
        # What was stored is one program of all that it computes, which runs faster than Python drives its parts.
        reasons = dict.fromkeys([why_not_exported, subject.driven])
        return Comparison(same=False, cannot=", and ".join(filter(None, reasons)))
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        # Once for all that follows: each collection takes tens of milliseconds.
        stack.enter_context(collector_off())
        stack.enter_context(subject.active() if new is None else devices.on(subject.device, subject.asked))
        try:
            with contest.lowering():
                old, ambiguous = (new, False) if new is not None and known else _old(new, subject, stored)
        except MeasurementError as error:
            return Comparison(same=False, cannot=str(error))
        same = new is not None and old.fingerprint == new.fingerprint
        if same and not more_leaves:
            return Comparison(same=True, how="fingerprint")
        if new is not None and more_leaves:
            # The program does not show what it costs to hand them over; a race does.
            new, old = new.with_leaves(now), old.with_leaves(before)
        found = contest.decide(new, why_not_exported, old, ambiguous=ambiguous)
        return replace(found, how="fingerprint") if same else found


def _on_one_device(program: FlatProgram | None) -> bool:
    return program is not None and program.exported.nr_devices == 1


def _old(new: FlatProgram | None, subject: Subject, stored: Stored) -> tuple[FlatProgram, bool]:
    """The stored program with today's leaves and, where that is certain, with leaves and results in today's order.

    Returns:
        The program, and whether leaves may stand in the wrong places.

    Raises:
        MeasurementError: It cannot be built.
    """
    raw = stored.raw
    assert raw is not None, "asked before"
    today, values = inputs_of(new, subject)
    made = loaded(raw, values)
    unread = frozenset(new.unused if new is not None else ())
    taken = stored_leaves(stored.inputs, stored.unused)
    pairing = paired(taken, today, unread)

    def with_leaves(places: tuple[int, ...]) -> FlatProgram:
        return replayed(
            made,
            [values[n] for n in places],
            raw=raw,
            inputs=stored.inputs,
            unused=stored.unused,
            donated=stored.donated,
            options=stored.options,
        )

    old = with_leaves(pairing.places)
    comparable = stored.jax == jax.__version__ and stored.fingerprint_version == FINGERPRINT_VERSION
    if comparable and stored.fingerprint is not None and old.fingerprint != stored.fingerprint:
        raise MeasurementError("the stored program is not the one that its entry names")
    if new is not None and old.fingerprint == new.fingerprint:
        return old, False
    # Where values decide nothing, a wrong one takes as long as the right one.
    alike = new is not None and takes_the_same_steps(old.text) and takes_the_same_steps(new.text)
    ambiguous = pairing.ambiguous and not alike
    if new is not None and pairing.certain:
        return _in_order_of(new, old, pairing.order), ambiguous
    if new is not None:
        read = [n for n in range(len(today)) if n not in unread]
        places = paired_by_use(pairing, taken, _uses(old), today, [read[n] for n in _uses(new)])
        if places is not None:
            by_use = _in_order_of(new, with_leaves(places), order_of(places))
            if by_use.fingerprint == new.fingerprint:
                return by_use, False
    if pairing.blind and not alike:
        raise MeasurementError(RENAMED)
    return old, ambiguous


def _uses(program: FlatProgram) -> tuple[int, ...]:
    return arguments_of(program.lower().compiler_ir("stablehlo"))


def _in_order_of(new: FlatProgram, old: FlatProgram, order: tuple[int, ...]) -> FlatProgram:
    """The old program with its leaves in the given order, and its results in the new one's where they are the same."""
    old = old.rearranged(order, range(len(old.results)))
    return old if old.fingerprint == new.fingerprint else _with_results_of(old, new)


def _with_results_of(old: FlatProgram, new: FlatProgram) -> FlatProgram:
    """The old program with its results in the new one's order, where they are the same results."""
    had, wanted = (list(results_of(each.lower().compiler_ir("stablehlo"))) for each in (old, new))
    if had == wanted or sorted(had) != sorted(wanted):
        return old
    places: list[int] = []
    for each in wanted:
        places.append(had.index(each))
        had[places[-1]] = ""  # taken
    return old.rearranged(range(len(old.leaves)), places)


def seed_of(text: str) -> random.Random:
    """Shuffling that differs from test to test and is the same in every run of one."""
    return random.Random(hashlib.sha256(text.encode()).digest())
