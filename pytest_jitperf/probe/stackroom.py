"""Room on Python's own stack, so that no call has to fetch memory for it.

CPython keeps the frames of Python functions in chunks of 16 KiB. A call that does not fit in the last one fetches a
chunk from the operating system, and gives it back when it returns. Where a loop happens to run just below the end of
one, each of its calls does so, and takes up to several hundred times as long: the trace of one and the same function
took twice as long at some depths of the stack as at others, and which ones these are, hangs on who called whom, on
plugins for example, and not on the function.

A frame that asks for a lot is given a chunk as large as that, rounded up to a power of two, and what is left of it
serves the frames above.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

__all__ = ["with_stack_room"]

T = TypeVar("T")

# 512 KiB for the frame itself make a chunk of 1 MiB, of which nothing is touched but what is used. What is left of it
# is 32 usual chunks, and Python allows 1,000 frames unless told otherwise.
_SLOTS = 2**16


def _called(function: Callable[[], T]) -> T:
    __tracebackhide__ = True
    return function()


_called_with_room = cast(
    "Callable[[Callable[[], object]], object]",
    FunctionType(_called.__code__.replace(co_stacksize=_SLOTS), {"__name__": __name__, "__builtins__": __builtins__}),
)


def with_stack_room(function: Callable[[], T]) -> T:
    """Calls a function with half a MiB of stack for the frames of what it calls.

    Args:
        function: What is called.

    Returns:
        What it returns.

    Raises:
        Exception: Whatever it raises.
    """
    __tracebackhide__ = True
    return cast("T", _called_with_room(function))
