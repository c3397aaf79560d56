"""The calls of a measurement made once and watched, in a process that can be ended: nothing is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pytest_jitperf.rehearsing import Call, Rehearsing
from pytest_jitperf.strategies import Strategy, name_of

from . import devices
from . import inputs as arguments
from .request import Request, refuse_to_run, sequence_of, subject_of
from .stages import persistent_cache_off, warm_up
from .watch import Watch

__all__ = ["rehearse"]


def rehearse(
    request: Request, others: Sequence[str | Strategy], limits: Mapping[str, float], rehearsing: Rehearsing
) -> Any:
    """Calls a function once from cold under its strategy, and under those that it will be held against.

    Args:
        request: What is to be measured.
        others: Strategies that it is raced with, besides its references.
        limits: Seconds by phase.
        rehearsing: Who waits for it, and ends this process where a limit is exceeded.

    Returns:
        What the user's function returned under the request's own strategy.

    Raises:
        MeasurementError: It cannot be called under its strategy.
        Exception: Whatever the user's function raised.
    """
    watch = Watch(limits, rehearsing)
    own = name_of(request.strategy)
    with watch.watching(), persistent_cache_off():
        warm_up(devices.find(request.device))
        result = _called(request, request.strategy, watch)
        for strategy in request.references if request.equality is not None else ():
            if name_of(strategy) == own:
                break
            try:
                _called(request, strategy, watch)
            except Exception:  # it is not the reference then; the next one is
                continue
            break
        for strategy in others:
            with suppress(Exception):  # told where it is raced
                _called(request, strategy, watch)
    return result


def _called(request: Request, strategy: str | Strategy, watch: Watch) -> Any:
    subject = subject_of(request, strategy)
    call = Call(name_of(strategy), request.name)
    with subject.active():
        if subject.abstract:
            refuse_to_run(request, subject)
            with watch.call(call):
                lowered = subject.built.call.lower(*subject.inputs.args, **subject.inputs.kwargs)
                lowered.compile()
            return lowered.out_info
        # What a sequence of inputs compiles is compiled within the limits too.
        sequence = sequence_of(request) if strategy is request.strategy else None
        given = subject.expendable()
        with watch.call(call):
            result = subject.first_call(given)
        for each in (sequence or [])[1:]:
            args, kwargs = devices.place((each.args, dict(each.kwargs)), subject.device, subject.asked)
            given = arguments.copied(arguments.Call(args, kwargs))
            with watch.call(call):
                subject.wait(subject.call(given))
        return result
