"""Which inputs of a sequence compile again, and what about them changed."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from . import devices
from .counts import compile_log
from .inputs import Call, named_leaves
from .jitinfo import jit_info, static_parameters
from .subject import Subject


def count_compilations(subject: Subject, sequence: Sequence[Call]) -> tuple[int, tuple[str, ...]]:
    """Calls the subject with each input of a sequence, from empty caches, and counts what is compiled.

    Args:
        subject: Within ``subject.active()``.
        sequence: The inputs, in order.

    Returns:
        Executables built for functions that user code jits, and for each input after the first that built any, a
        sentence naming what changed: ``"input 3: x: f32[8] -> f32[9]"``.
    """
    static: frozenset[str] = frozenset()
    if subject.built.jitted:
        info = jit_info(subject.built.call, subject.built.given)
        static = static_parameters(subject.built.function, info)
    jax.clear_caches()
    total = 0
    messages: list[str] = []
    before: dict[str, str] = {}
    for number, raw in enumerate(sequence, 1):
        args, kwargs = devices.place((raw.args, dict(raw.kwargs)), subject.device, subject.asked)
        call = Call(args, kwargs)
        now = {leaf.path: leaf.described for leaf in named_leaves(subject.built.function, call, static)}
        with compile_log() as log:
            subject.wait(subject.call(call))
        total += len(log.user)
        if log.user and number > 1:
            messages.append(f"input {number}: {_changed(before, now)} ({', '.join(log.user)})")
        before = now
    return total, tuple(messages)


def _changed(before: dict[str, str], now: dict[str, str]) -> str:
    changes = [f"{path}: {before[path]} -> {now[path]}" for path in now if path in before and before[path] != now[path]]
    changes += [f"{path}: new, {now[path]}" for path in now if path not in before]
    changes += [f"{path}: gone, was {before[path]}" for path in before if path not in now]
    return "; ".join(changes) or "the arguments look the same: a new function object is jitted in each call"
