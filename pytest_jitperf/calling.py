"""Calls of the fixture that do not fit its parameters, told in one sentence."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.wording import choose, listed

__all__ = ["called_rightly"]

P = ParamSpec("P")
R = TypeVar("R")


def called_rightly(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuses calls of a method that do not fit its parameters: Python would speak of a method that no test names.

    Args:
        name: What a test calls it, ``"jitperf.measure"``.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(method)
        keywords = [each.name for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]

        @functools.wraps(method)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            try:
                signature.bind(*args, **kwargs)
            except TypeError:
                raise MeasurementError(_complaint(name, keywords, len(args) - 1, list(kwargs))) from None
            return method(*args, **kwargs)

        return checked

    return decorate


def _complaint(name: str, keywords: list[str], given: int, named: list[str]) -> str:
    """What is wrong with a call: its arguments without ``self``, and the names of its keyword arguments."""
    if not given:
        return f"{name}() got no function to measure; write  {name}(f, {'args=(x,)' if keywords else 'x'})"
    unknown = [each for each in named if each not in keywords]
    if unknown:
        wrong = listed(f"{each}=" for each in unknown)
        return f"{name}() takes no {wrong}; {choose(unknown[0], keywords)}; arguments of the function go into kwargs="
    return (
        f"{name}() got {given - 1} argument{'s' if given > 2 else ''} beside the function; "
        f"write  {name}(f, args=(x,))  or  jitperf(f, x)"
    )
