"""What the jit of a helper is to the trace of an outer one: its price, and what it saves at each further call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pytest_jitperf.measurement import HelperUse

from . import clock
from .collector import collector_off
from .flat import over_arrays
from .inputs import Call
from .jitinfo import is_jitted
from .lock import DeviceLock
from .stages import cold_trace, timed
from .subject import Subject
from .swap import HelperRecord, Signature

__all__ = ["helper_uses"]

# More than this is not spent on what only explains.
_MOST_SECONDS = 3.0
_ROUNDS = 3
# Further calls with the same arguments, of a helper that is cheap to trace and of one that is not.
_FURTHER, _FURTHER_OF_DEAR = 8, 2
_DEAR_SECONDS = 0.1
# Standard deviation of the CPU time of one trace, as a share of it: 3 % on a quiet machine, 4 % under full load.
_CPU_SD = 0.04


def helper_uses(subject: Subject, lock: DeviceLock) -> tuple[HelperUse, ...]:
    """Traces the subject once to see its helpers called, and each of them once and often, with its jit and without.

    JAX's caches are cold afterwards, so do it before what is to stay compiled.

    Args:
        subject: Within ``subject.active()``, its callable a jit with jitted helpers in it.
        lock: Held for timed blocks.

    Returns:
        One for each helper that can be traced by itself while there is time for it. Helpers that the user has jitted
        are seen only while they are traced, so their calls are not known, and they are left out.
    """
    swap = subject.swap
    if swap is None or not subject.built.jitted:
        return ()
    swap.recording = True
    try:
        with lock.held(), collector_off():
            spent, _ = cold_trace(subject.built.call, subject.inputs.args, subject.inputs.kwargs)
    except Exception:  # measuring it will fail as well, and says why
        return ()
    finally:
        swap.recording = False
    left = _MOST_SECONDS - spent.cpu
    found = []
    for record in swap.records:
        signature = max(record.signatures, key=lambda each: each.calls, default=None)
        if signature is None or record.helper.jitted is not None or not is_jitted(signature.jitted) or left <= 0:
            continue
        start = clock.thread_time_ns()
        try:
            with lock.held(), collector_off():
                use = _use(record, signature, left)
            found += [use] if use is not None else []
        except Exception:  # it needs what only the outer trace gives, such as an axis name of vmap
            continue
        finally:
            left -= (clock.thread_time_ns() - start) / 1e9
    return tuple(found)


def _use(record: HelperRecord, signature: Signature, seconds: float) -> HelperUse | None:
    """What the jit of a helper costs and saves; None where that would take more than so many seconds."""

    def cost(helper: Callable[..., Any], calls: int) -> float:
        return _cost(helper, record.helper.function, Call(signature.args, signature.kwargs), calls)

    plain = record.unjitted
    first = cost(plain, 1)
    further, rounds = (_FURTHER, _ROUNDS) if first < _DEAR_SECONDS else (_FURTHER_OF_DEAR, 1)
    if first * (further + 2) > seconds:
        return None

    # In turns, so that a machine that changes its pace does so for all four.
    ways = ((plain, 1), (plain, 1 + further), (signature.jitted, 1), (signature.jitted, 1 + further))
    taken = [[cost(helper, calls) for helper, calls in ways] for _ in range(rounds)]
    once, often, jitted_once, jitted_often = (min(each) for each in zip(*taken, strict=True))
    return HelperUse(
        name=record.helper.name,
        calls=sum(each.calls for each in record.signatures),
        signatures=len(record.signatures),
        extra=jitted_once - once,
        saved=((often - once) - (jitted_often - jitted_once)) / further,
        extra_error=_CPU_SD * math.hypot(jitted_once, once),
        saved_error=_CPU_SD * math.hypot(often, once, jitted_often, jitted_once) / further,
    )


def _cost(helper: Callable[..., Any], function: Callable[..., Any], inputs: Call, calls: int) -> float:
    """CPU seconds to trace and lower a program of so many calls, each with the same arguments."""

    def program(*args: Any, **kwargs: Any) -> list[Any]:
        return [helper(*args, **kwargs) for _ in range(calls)]

    made = over_arrays(program, function, inputs)
    trace, traced = cold_trace(made.jitted, made.leaves, {})
    lower, _ = timed(traced.lower, clock.thread_time_ns)
    return trace.cpu + lower.cpu
