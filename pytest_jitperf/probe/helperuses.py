"""What jitted helpers are to the trace of an outer jit: how often they are called, and what each costs to trace."""

from __future__ import annotations

from pytest_jitperf.measurement import HelperUses

from . import clock
from .block import collector_off
from .jitinfo import is_jitted
from .lock import DeviceLock
from .stages import cold_trace, timed
from .subject import Subject
from .swap import Signature

__all__ = ["helper_uses"]

# More than this is not spent on what only explains.
_MOST_SECONDS = 2.0
# Of two traces the first pays for what Python loads and caches once.
_TRACES = 2


def helper_uses(subject: Subject, lock: DeviceLock) -> HelperUses | None:
    """Traces the subject once to see its helpers called, and each helper by itself for what that costs.

    JAX's caches are cold afterwards, so do it before what is to stay compiled.

    Args:
        subject: Within ``subject.active()``, its callable a jit with jitted helpers in it.
        lock: Held for timed blocks.

    Returns:
        None where it would take too long, and where a helper cannot be traced by itself.
    """
    swap = subject.swap
    if swap is None or not subject.built.jitted:
        return None
    swap.recording = True
    try:
        with lock.held(), collector_off():
            spent, _ = cold_trace(subject.built.call, subject.inputs.args, subject.inputs.kwargs)
    except Exception:  # measuring it will fail as well, and says why
        return None
    finally:
        swap.recording = False
    signatures = [each for record in swap.records for each in record.signatures]
    if not signatures or not all(is_jitted(each.jitted) for each in signatures):
        return None
    once = every = 0.0
    left = _MOST_SECONDS - spent.cpu
    for each in signatures:
        if left <= 0:
            return None
        seconds = []
        for _ in range(_TRACES):
            try:
                with lock.held(), collector_off():
                    seconds.append(_trace_and_lower(each))
            except Exception:  # it needs what only the outer trace gives, such as an axis name of vmap
                return None
        left -= sum(seconds)
        once += min(seconds)
        every += each.calls * min(seconds)
    calls = sum(each.calls for each in signatures)
    return HelperUses(calls=calls, programs=len(signatures), once=once, every=every)


def _trace_and_lower(signature: Signature) -> float:
    trace, traced = cold_trace(signature.jitted, signature.args, signature.kwargs)
    lower, _ = timed(traced.lower, clock.thread_time_ns)
    return trace.cpu + lower.cpu
