"""Which inputs of a sequence compile again, and what about them changed."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from . import devices
from .compilelog import compile_log
from .inputs import Call, NamedLeaf, copied, named_leaves
from .jitinfo import named_for_jit
from .subject import Subject

_LONGEST_VALUE = 40


def count_compilations(subject: Subject, sequence: Sequence[Call]) -> tuple[int, tuple[str, ...]]:
    """Calls the subject with each input of a sequence, from empty caches, and counts what is compiled.

    Args:
        subject: Within ``subject.active()``.
        sequence: The inputs, in order.

    Returns:
        Executables built for functions that user code jits, and for each input after the first that built any, a
        sentence naming what changed: ``"input 3: x: f32[8] -> f32[9]"``.
    """
    jax.clear_caches()
    total = 0
    messages: list[str] = []
    before: dict[str, NamedLeaf] = {}
    for number, raw in enumerate(sequence, 1):
        args, kwargs = devices.place((raw.args, dict(raw.kwargs)), subject.device, subject.asked)
        given = Call(args, kwargs)
        now = {leaf.path: leaf for leaf in _named(subject, given)}
        call = copied(given)  # the call may overwrite them, and they are the user's
        with compile_log() as log:
            subject.wait(subject.call(call))
        total += len(log.user)
        if log.user and number > 1:
            messages.append(f"input {number}: {_changed(before, now)} ({', '.join(log.user)})")
        before = now
    return total, tuple(messages)


def explained(subject: Subject, before: Call, now: Call, compiled: Sequence[str]) -> str:
    """Says what changed from one call to the next that made it compile again, and what was compiled."""
    old = {leaf.path: leaf for leaf in _named(subject, before)}
    new = {leaf.path: leaf for leaf in _named(subject, now)}
    return f"{_changed(old, new)} ({', '.join(compiled)})"


def _named(subject: Subject, call: Call) -> tuple[NamedLeaf, ...]:
    built = subject.built
    if built.jitted:
        return named_for_jit(built.function, call, built.call, built.given)[0]
    return named_leaves(built.function, call)


def _changed(before: dict[str, NamedLeaf], now: dict[str, NamedLeaf]) -> str:
    both = [(path, before[path], now[path]) for path in now if path in before]
    changes = [f"{path}: {_shown(old)} -> {_shown(new)}" for path, old, new in both if _shown(old) != _shown(new)]
    changes += [f"{path}: new, {_shown(now[path])}" for path in now if path not in before]
    changes += [f"{path}: gone, was {_shown(before[path])}" for path in before if path not in now]
    if not changes:
        # Static values that are shown alike but are not equal: a fresh lambda, an object compared by identity.
        changes = [f"{path}: another {type(new.leaf).__name__}" for path, old, new in both if _another(old, new)]
    return "; ".join(changes) or "the arguments look the same: a new function object is jitted in each call"


def _shown(leaf: NamedLeaf) -> str:
    """The abstract value; of a static one the value itself where it is short, for this text is not stored."""
    if leaf.index >= 0 or not isinstance(leaf.leaf, (bool, int, float, complex, str, bytes, tuple, type(None))):
        return leaf.described
    value = repr(leaf.leaf)
    return f"static {value}" if len(value) <= _LONGEST_VALUE else leaf.described


def _another(old: NamedLeaf, new: NamedLeaf) -> bool:
    return new.index < 0 and old.leaf is not new.leaf and bool(old.leaf != new.leaf)
