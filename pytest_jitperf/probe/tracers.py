"""Who looks at every line or call of Python code in this process: a debugger, a profiler, a measurement of coverage.

Python code takes several times as long under them, and the more so the more of it they are after, so that no reference
trace tells by how much.
"""

from __future__ import annotations

import sys
from types import FunctionType, MethodType
from typing import Any

__all__ = ["tracer"]

_TOOLS = 6  # those that others may register with sys.monitoring


def tracer() -> str:
    """The package that traces this thread, such as ``"coverage"``; empty where none does."""
    active: object = sys.gettrace() or sys.getprofile()
    if active is not None:
        owner = active.__self__ if isinstance(active, MethodType) else active
        module = owner.__module__ if isinstance(owner, FunctionType) else type(owner).__module__
        return module.partition(".")[0].removeprefix("_").partition("_bundle")[0]
    monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
    tools = range(_TOOLS) if monitoring is not None else ()
    # One that has a name and asks for no events, anywhere, slows nothing down.
    names = [monitoring.get_tool(tool) for tool in tools if monitoring.get_tool(tool) and monitoring.get_events(tool)]
    return next((str(name) for name in names if name), "")
