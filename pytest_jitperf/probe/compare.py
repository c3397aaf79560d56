"""An old program, built again here and now, against the new one."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Comparison, Ratio

from . import clock, equal
from .block import collector_off
from .inputs import copy_leaf, parse_text
from .lock import DeviceLock
from .program import FlatProgram, captured_literals, operation_counts, program_costs, program_digest, replayed
from .race import Side, paired_costs, race
from .stages import persistent_cache_off
from .subject import Subject

_MOST_PAIRS = 12


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How far a comparison may go.

    Attributes:
        run_limit: Ratio of run time that is still allowed, or None where run is not gated.
        compile_limit: Ratio of XLA's CPU time that is still allowed, or None where compiling is not gated.
        race_seconds: Wall seconds for one race.
        compile_seconds: Wall seconds of extra compiling for the item.
        random: Order of rounds.
    """

    run_limit: float | None
    compile_limit: float | None
    race_seconds: float
    compile_seconds: float
    random: random.Random


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
    if new is not None and stored.fingerprint == new.fingerprint:
        return Comparison(same=True, how="fingerprint")
    if stored.raw is None:
        return Comparison(same=False, cannot=stored.missing or "no stored program")
    try:
        pairing = _pair(new, subject, stored)
        old = replayed(
            stored.raw,
            [pairing.leaves[n] for n in pairing.order],
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
    with persistent_cache_off():
        return _compiled(new, why_not_exported, subject, old, pairing.renamed, effort, lock, progress)


@dataclass(frozen=True, slots=True)
class _Pairing:
    leaves: Sequence[Any]
    order: tuple[int, ...]
    renamed: bool


def _pair(new: FlatProgram | None, subject: Subject, stored: Stored) -> _Pairing:
    """Finds for each leaf of the old program the one of today: by path, then in order among equal abstract values."""
    if new is not None:
        leaves, today = new.leaves, list(parse_text(new.inputs))
    else:
        from .inputs import named_leaves, text_of
        from .jitinfo import jit_info, static_parameters

        static: frozenset[str] = frozenset()
        if subject.built.jitted:
            info = jit_info(subject.built.call, subject.built.given)
            static = static_parameters(subject.built.function, info)
        named = [
            leaf
            for leaf in named_leaves(subject.built.function, subject.inputs, static)
            if not _is_static(leaf.described)
        ]
        leaves, today = tuple(leaf.leaf for leaf in named), list(parse_text(text_of(named)))
    order: list[int | None] = []
    taken: set[int] = set()
    wanted = parse_text(stored.inputs)
    for pair in wanted:
        found = next((n for n, each in enumerate(today) if each == pair and n not in taken), None)
        order.append(found)
        if found is not None:
            taken.add(found)
    renamed = any(found is None for found in order)
    for place, (_, described) in enumerate(wanted):
        if order[place] is None:
            found = next((n for n, (_, each) in enumerate(today) if each == described and n not in taken), None)
            if found is None:
                raise MeasurementError(f"the stored program takes an input {described} that the call no longer has")
            order[place] = found
            taken.add(found)
    return _Pairing(leaves, tuple(n for n in order if n is not None), renamed)


def _is_static(described: str) -> bool:
    return described.startswith("static ")


def _compiled(
    new: FlatProgram | None,
    why_not_exported: str,
    subject: Subject,
    old: FlatProgram,
    renamed: bool,
    effort: Effort,
    lock: DeviceLock,
    progress: Callable[[str], None],
) -> Comparison:
    """Compiles both sides, looks whether the optimised programs are the same, and races them where not."""
    start = clock.perf_counter_ns()

    def compile_seconds_left() -> float:
        return effort.compile_seconds - (clock.perf_counter_ns() - start) / 1e9

    progress("compiling the baseline's program")
    with lock.held(), collector_off():
        old_compiled, old_seconds = old.compile()
        new_compiled, new_seconds = new.compile() if new is not None else (None, None)
    old_exact, _ = program_costs(old_compiled, old.text)
    found = Comparison(
        same=False,
        old_exact=old_exact,
        old_operations=operation_counts(_text(old_compiled)),
        old_xla_seconds=old_seconds,
        compiles=1 if new is None else 2,
    )
    if new is not None and new_compiled is not None:
        new_text = _text(new_compiled)
        found = replace(found, new_operations=operation_counts(new_text))
        before = program_digest(_text(old_compiled), captured_literals(old.text))
        same_text = before == program_digest(new_text, captured_literals(new.text))
        if same_text and dict(old.options) == dict(new.options):
            return replace(found, same=True, how="optimised")
    concrete = all(
        isinstance(leaf, (jax.Array, int, float, complex)) or hasattr(leaf, "__array__") for leaf in old.leaves
    )
    if not concrete:
        return replace(found, cannot="it is only called while tracing, so there are no values to run it with")
    missing = _memory_missing(old_exact, subject)
    if missing:
        return replace(found, cannot=missing)
    if renamed and not _outputs_agree(old, old_compiled, new, new_compiled, subject):
        return replace(found, cannot="arguments were renamed and cannot be paired with the stored program's")
    if effort.run_limit is not None:
        progress("racing the baseline's program")
        with lock.held():
            found = _raced(found, new, new_compiled, subject, old, old_compiled, effort, compile_seconds_left)
    if effort.compile_limit is not None and new is not None and new_seconds is not None:
        progress("compiling in pairs")
        # The first sample of a pair may be taken here: each side was compiled once, one after the other.
        with lock.held(), collector_off():
            xla = paired_costs(
                lambda: new.compile()[1],
                lambda: old.compile()[1],
                limit=effort.compile_limit,
                max_pairs=_MOST_PAIRS,
                max_seconds=max(0.0, compile_seconds_left()),
                first=(new_seconds, old_seconds),
                rng=effort.random,
            )
        found = replace(found, xla=xla, compiles=found.compiles + 2 * (xla.rounds - 1))
        if not xla.decided and compile_seconds_left() <= 0:
            found = replace(found, cut="further compile pairs (max-compile)")
    elif effort.compile_limit is not None and new is None:
        found = replace(
            found, cannot=f"compile time is not compared: {why_not_exported}" if not found.cannot else found.cannot
        )
    return found


def _raced(
    found: Comparison,
    new: FlatProgram | None,
    new_compiled: Any,
    subject: Subject,
    old: FlatProgram,
    old_compiled: Any,
    effort: Effort,
    compile_seconds_left: Callable[[], float],
) -> Comparison:
    assert effort.run_limit is not None

    def once(first: Any, second: Any) -> Ratio:
        return race(
            side_of(new, first) if new is not None else subject.side(),
            side_of(old, second),
            limit=effort.run_limit or 1.0,
            max_seconds=effort.race_seconds,
            block=subject.wait,
            rng=effort.random,
        )

    ratio = once(new_compiled, old_compiled)
    if not (ratio.decided and ratio.low > effort.run_limit):
        return replace(found, run=ratio)
    # Executables of one program differ by up to 1.5 %, so a regression has to show with fresh ones too.
    cost = (old.compile, new.compile if new is not None else None)
    if compile_seconds_left() <= 0:
        return replace(found, run=ratio, cut="confirmation with fresh executables (max-compile)")
    again = once(cost[1]()[0] if cost[1] is not None else None, cost[0]()[0])
    return replace(
        found,
        run=replace(
            again,
            rounds=ratio.rounds + again.rounds,
            seconds=ratio.seconds + again.seconds,
            confirmed=again.decided and again.low > effort.run_limit,
        ),
        compiles=found.compiles + (2 if new is not None else 1),
    )


def side_of(program: FlatProgram, compiled: Any) -> Side:
    """An executable over its leaves as one side of a race; donated leaves are made afresh before each call."""
    leaves, donated = program.leaves, set(program.donated)
    if not donated:
        return Side(prepare=None, call=lambda _: compiled(*leaves))

    def prepare() -> tuple[Any, ...]:
        return tuple(copy_leaf(leaf) if n in donated else leaf for n, leaf in enumerate(leaves))

    return Side(prepare=prepare, call=lambda fresh: compiled(*fresh))


def _text(compiled: jax.stages.Compiled) -> str:
    return compiled.as_text() or ""


def _outputs_agree(
    old: FlatProgram, old_compiled: Any, new: FlatProgram | None, new_compiled: Any, subject: Subject
) -> bool:
    """Whether both sides give the same values, in any order: what renaming dictionary keys may do to a result."""

    def outputs(program: FlatProgram, compiled: Any) -> list[Any]:
        side = side_of(program, compiled)
        result = side.call(side.prepare() if side.prepare is not None else None)
        return sorted((leaf for _, leaf in equal.leaves_of(result)), key=_order)

    before = outputs(old, old_compiled)
    if new is not None:
        after = outputs(new, new_compiled)
    else:
        after = sorted((leaf for _, leaf in equal.leaves_of(subject.call(subject.prepare()))), key=_order)
    named = [[("", leaf) for leaf in side] for side in (before, after)]
    return equal.difference(named[0], named[1], None, None) is None


def _order(leaf: Any) -> tuple[str, str, float]:
    return str(leaf.dtype), str(leaf.shape), float(abs(leaf).sum()) if leaf.dtype.kind in "biuf" else 0.0


def _memory_missing(exact: Mapping[str, float], subject: Subject) -> str:
    """A sentence where two programs and their results would not fit in memory."""
    need = 2 * exact.get("peak_bytes", 0)
    free = _free_bytes(subject.device)
    if free is None or need <= free:
        return ""
    return f"a race needs {need / 2**30:.1f} GiB, {free / 2**30:.1f} GiB free"


def _free_bytes(device: jax.Device) -> int | None:
    stats = None
    try:
        stats = device.memory_stats()
    except Exception:
        return None
    if stats and "bytes_limit" in stats:
        return int(stats["bytes_limit"] - stats.get("bytes_in_use", 0))
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def seed_of(text: str) -> random.Random:
    """Shuffling that differs from test to test and is the same in every run of one."""
    return random.Random(hashlib.sha256(text.encode()).digest())
