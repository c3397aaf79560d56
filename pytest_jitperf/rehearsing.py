"""What a rehearsal tells the process that waits for it: lines of JSON that are appended to a file.

A test whose marker gives ``limit=`` is called once in a process of its own before it is measured, since neither XLA nor
a running program can be ended in any other way. That process tells what it is about, and the one that waits ends it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

__all__ = ["COMPILING", "VARIABLE", "Call", "Heard", "Order", "Rehearsing", "hear"]

VARIABLE = "PYTEST_JITPERF_REHEARSAL"
"""The environment variable that makes a pytest process a rehearsal."""

COMPILING = ("trace", "lower", "xla")
"""Phases that are part of ``compile``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a rehearsal is to do.

    Attributes:
        nodeid: The item to run, and no other.
        file: Where it tells what it is about.
        left_out: Names of strategies that were ended in an earlier rehearsal of the item and are not called again.
    """

    nodeid: str
    file: str
    left_out: tuple[str, ...] = ()

    def to_text(self) -> str:
        """For the environment variable."""
        return json.dumps({"nodeid": self.nodeid, "file": self.file, "left_out": self.left_out})

    @classmethod
    def from_text(cls, text: str) -> Order:
        """What ``to_text`` wrote."""
        read = json.loads(text)
        return cls(nodeid=read["nodeid"], file=read["file"], left_out=tuple(read["left_out"]))


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is rehearsed: the strategy that the item stands for, or another one that it is held against."""

    strategy: str
    measurement: str


class Rehearsing:
    """The rehearsal's end of the line.

    Args:
        order: What it is to do.
    """

    def __init__(self, order: Order) -> None:
        self.order = order
        self._parent = os.getppid()

    def began(self) -> None:
        """The body of the test begins."""
        self._tell({"event": "began"})

    def calls(self, call: Call) -> None:
        """A call begins."""
        self._tell({"event": "calls", "strategy": call.strategy, "measurement": call.measurement})

    def spent(self, phase: str, seconds: float) -> None:
        """The call is in a phase, in which it has spent so many seconds; repeated, as a sign of life."""
        self._tell({"event": "spent", "phase": phase, "seconds": seconds})

    def exceeded(self, limit: str, phase: str) -> None:
        """A limit (``"compile"``) was exceeded in a phase (``"xla"``)."""
        self._tell({"event": "exceeded", "limit": limit, "phase": phase})

    def returned(self) -> None:
        """The call is over, whichever way."""
        self._tell({"event": "returned"})

    def end_if_alone(self) -> None:
        """Ends this process where nobody waits for it any more."""
        if os.getppid() != self._parent:
            os._exit(1)

    def _tell(self, event: Mapping[str, object]) -> None:
        with open(self.order.file, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a rehearsal has told so far.

    Attributes:
        began: Whether the body of the test was reached.
        call: The call that it is in, or None.
        spent: Of that call, seconds by phase.
        phase: The phase that it was last in; empty at first.
        exceeded: The limit that was exceeded, or empty.
        lines: How many lines there were.
    """

    began: bool = False
    call: Call | None = None
    spent: Mapping[str, float] = field(default_factory=dict)
    phase: str = ""
    exceeded: str = ""
    lines: int = 0


def hear(path: Path) -> Heard:
    """Reads what was told; a line that is still being written counts next time."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Heard()
    return heard(text[: text.rfind("\n") + 1].splitlines())


def heard(lines: Iterable[str]) -> Heard:
    """Adds up what was told, line by line."""
    found = Heard()
    for number, line in enumerate(lines, 1):
        event = json.loads(line)
        kind = event["event"]
        found = replace(found, lines=number)
        if kind == "began":
            found = replace(found, began=True)
        elif kind == "calls":
            call = Call(event["strategy"], event["measurement"])
            found = replace(found, call=call, spent={}, phase="")
        elif kind == "spent":
            spent = {**found.spent, event["phase"]: event["seconds"]}
            found = replace(found, spent=spent, phase=event["phase"])
        elif kind == "exceeded":
            found = replace(found, exceeded=event["limit"], phase=event["phase"])
        else:
            found = replace(found, call=None)
    return found
