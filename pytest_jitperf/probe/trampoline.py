"""Rerouting a Python function in place: its code is swapped for code that calls something else.

The function object stays the same one, so every reference to it is reached: names imported elsewhere, closures,
default arguments, containers, ``functools.partial`` objects, bound methods and decorators.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NoReturn

from pytest_jitperf.errors import MeasurementError

__all__ = ["Slot", "Trampoline", "plain_copy", "rerouted_copy"]


def _ended(*args: Any, **kwargs: Any) -> NoReturn:
    raise MeasurementError(
        "a helper was called through a copy of its code that was made during a measurement which has ended. "
        "Make such copies before or after the call of jitperf()."
    )


class Slot:
    """What a trampoline reads on every call: a constant of its code, emptied when the trampoline is removed.

    JAX keeps code objects alive in the tracebacks it stores. A jitted function that is itself a constant of such code
    lives until the interpreter ends, where jaxlib may crash on it; an empty slot does no harm.

    Attributes:
        original: A copy of the function as it was, or None once removed.
        call: What a call is rerouted to.
        failed: Told (args, kwargs, error) when a call raises an Exception.
        calls: How often the trampoline was called.
    """

    __slots__ = ("call", "calls", "failed", "original")

    def __init__(self) -> None:
        self.calls = 0
        self.empty()

    def empty(self) -> None:
        """Lets go of everything but the count."""
        self.original: FunctionType | None = None
        self.call: Callable[..., Any] = _ended
        self.failed: Callable[..., None] = _ended


class Trampoline:
    """Takes the place of one function's code between ``install`` and ``remove``; not for several threads.

    ``remove`` may be called at any time and any number of times: it undoes what it finds done.
    """

    def __init__(self, function: FunctionType, slot: Slot) -> None:
        """Prepares everything; changes nothing yet."""
        self._function = function
        self._slot = slot
        self._original = function.__code__
        self._code = _trampoline_code(function.__code__, slot)
        # The trampoline takes *args and **kwargs, while JAX needs the names of the parameters.
        self._signature: inspect.Signature | None = None
        if "__signature__" not in function.__dict__:
            try:
                self._signature = inspect.signature(function)
            except (TypeError, ValueError):
                self._signature = None

    def install(self) -> None:
        """Reroutes the function."""
        if self._signature is not None:
            self._function.__dict__["__signature__"] = self._signature
        self._function.__code__ = self._code

    def remove(self) -> None:
        """Puts the function back as it was and empties the slot."""
        self.pause()
        self._slot.empty()

    def pause(self) -> None:
        """Puts the function back as it was; it can be rerouted again."""
        if self._function.__code__ is self._code:
            self._function.__code__ = self._original
        if self._signature is not None and self._function.__dict__.get("__signature__") is self._signature:
            del self._function.__dict__["__signature__"]


def plain_copy(function: FunctionType) -> FunctionType:
    """A function of its own with the same code, closure, defaults and attributes, which a swap does not reach."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    for name in functools.WRAPPER_ASSIGNMENTS:
        if hasattr(function, name):
            setattr(copy, name, getattr(function, name))
    copy.__dict__.update(function.__dict__)
    return copy


def rerouted_copy(function: Callable[..., Any]) -> FunctionType | None:
    """The copy of what ``function`` was before it was rerouted, or None if it is not rerouted now."""
    code = getattr(function, "__code__", None)
    for constant in code.co_consts if isinstance(code, CodeType) else ():
        if isinstance(constant, Slot):
            return constant.original
    return None


# The names must not meet those of the function's own free variables.
_SOURCE = """
def _jitperf_make({parameters}):
    def _jitperf_trampoline(*_jitperf_args, **_jitperf_kwargs):
        if 0: ({parameters})
        _jitperf_slot = "slot"
        _jitperf_slot.calls += 1
        try:
            return _jitperf_slot.call(*_jitperf_args, **_jitperf_kwargs)
        except Exception as _jitperf_error:
            _jitperf_slot.failed(_jitperf_args, _jitperf_kwargs, _jitperf_error)
            raise
    return _jitperf_trampoline
"""


def _trampoline_code(code: CodeType, slot: Slot) -> CodeType:
    """Code with as many free variables as ``code`` (a function's code must fit its closure), at the same place.

    The ``if 0`` makes the compiler count the free variables without any code for them. All of it lies on the line of
    the function's definition, so that tracebacks show this line and not one that has nothing to do with the call.
    """
    stand_ins = ", ".join(f"_jitperf_free{n}" for n, _ in enumerate(code.co_freevars))
    tree = ast.parse(_SOURCE.format(parameters=stand_ins))
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.excepthandler | ast.arg):
            node.lineno = node.end_lineno = code.co_firstlineno
            node.col_offset = node.end_col_offset = 0
    namespace: dict[str, Any] = {}
    exec(compile(tree, code.co_filename, "exec", dont_inherit=True), namespace)  # the text above
    made: CodeType = namespace["_jitperf_make"](*code.co_freevars).__code__
    return made.replace(
        co_consts=tuple(slot if constant == "slot" else constant for constant in made.co_consts),
        co_freevars=code.co_freevars,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
    )
