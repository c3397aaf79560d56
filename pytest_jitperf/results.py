"""The results of a run as they leave the machine: every row, without anything that only this machine has.

Paths are relative to pytest's root directory and have slashes, and texts name neither it nor the home directory.
Nothing says when the run was: equal results give equal bytes, and a pipeline knows the time of its own files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

__all__ = ["Results", "Unmeasured", "in_order", "leg", "results_of"]

# Kept to the byte, since an update stores it; it is made to leave the machine anyway.
_KEPT = frozenset({"test", "measurement", "strategy", "device_kind", "entry", "environment", "programs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmeasured:
    """A marked item that measured nothing.

    Attributes:
        nodeid: Of the item.
        status: How it ended.
    """

    nodeid: str
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What a run found.

    Attributes:
        plugin: Version of pytest-jitperf that wrote it.
        mode: ``"gate"`` compared with the baselines, ``"update"`` wrote them.
        rows: Everything measured, in the order of ``in_order``.
        unmeasured: Marked items that measured nothing, by node id.
        lines: What hooks add to the reports.
    """

    plugin: str
    mode: Literal["gate", "update"]
    rows: tuple[Row, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    lines: tuple[str, ...] = ()


def results_of(
    rows: Iterable[Row],
    unmeasured: Mapping[str, Status],
    *,
    update: bool,
    rootdir: Path,
    invocation_dir: Path,
    lines: Iterable[str] = (),
) -> Results:
    """Makes the results of a run.

    Args:
        rows: All rows of the run.
        unmeasured: Node ids of marked items that gave no row, and how they ended.
        update: Whether the run wrote baselines.
        rootdir: pytest's root directory, absolute.
        invocation_dir: Where pytest was started, to which ``Row.file`` is relative.
        lines: What hooks add to the reports.
    """
    here = _Here(rootdir, invocation_dir, _home())
    return Results(
        plugin=version("pytest-jitperf"),
        mode="update" if update else "gate",
        rows=in_order(here.row(each) for each in rows),
        unmeasured=tuple(
            sorted(
                (Unmeasured(nodeid=here.nodeid(nodeid), status=status) for nodeid, status in unmeasured.items()),
                key=lambda each: each.nodeid,
            )
        ),
        lines=tuple(map(here.text, lines)),
    )


def _home() -> Path | None:
    """The home directory; None for a user of a container who has none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows in the one order in which they are written, whatever order the tests ran in."""
    return tuple(sorted(rows, key=_place))


def leg(row: Row) -> tuple[str, str, str, str]:
    """Of which item a row is, and from which leg of a matrix: its device, and its versions of Python and jax."""
    return row.nodeid, row.device, row.device_kind, row.environment.host_key if row.environment is not None else ""


def _place(row: Row) -> tuple[object, ...]:
    """The sizes of a sweep stand together, the smallest first."""
    measured = (row.sweep or row.measurement, row.extent or 0.0, row.measurement)
    return row.file, row.test, *measured, row.strategy, *leg(row)


class _Here:
    """Takes out what says where this machine keeps things.

    Args:
        rootdir: pytest's root directory, absolute.
        invocation_dir: Where pytest was started.
        home: The home directory, or None.
    """

    def __init__(self, rootdir: Path, invocation_dir: Path, home: Path | None) -> None:
        self._rootdir, self._invocation_dir = rootdir, invocation_dir
        # With what stands for something within each, and for itself. A root of a file system is in every path, and
        # tells nothing.
        places = ((rootdir, "", "."), (invocation_dir, "", "."), (home, "~/", "~"))
        self._patterns = [
            (re.compile(rf"(?<![\w.-]){re.escape(str(path))}(?:({re.escape(os.sep)})|(?![\w.-]))"), within, itself)
            for path, within, itself in places
            if path is not None and path.name
        ]

    def row(self, row: Row) -> Row:
        """A row without it."""
        plain = {key: value if key in _KEPT else self._texts(value) for key, value in row.to_json().items()}
        file = Path(os.path.normpath(self._invocation_dir / row.file))
        plain |= {
            "nodeid": self.nodeid(row.nodeid),
            # The name of a test file outside the root directory has to do: the way there is this machine's alone.
            "file": self._relative(file) or file.name,
            "baseline": self._relative(Path(row.baseline)) if row.baseline else "",
        }
        return Row.from_json(plain)

    def nodeid(self, nodeid: str) -> str:
        """A node id without it; what the user called the test stays."""
        path, separator, rest = nodeid.partition("::")
        inside = self._relative(Path(os.path.normpath(self._rootdir / path)))
        return f"{inside or Path(path).name}{separator}{rest}"

    def _relative(self, path: Path) -> str:
        """A path relative to the root directory, or nothing where it lies outside."""
        return path.relative_to(self._rootdir).as_posix() if path.is_relative_to(self._rootdir) else ""

    def _texts(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self._texts(each) for key, each in value.items()}
        return [self._texts(each) for each in value] if isinstance(value, (list, tuple)) else value

    def text(self, text: str) -> str:
        """A text without it."""
        for pattern, within, itself in self._patterns:
            text = pattern.sub(partial(_sign, within, itself), text)
        return text


def _sign(within: str, itself: str, found: re.Match[str]) -> str:
    """What stands for a place, or for the way to something within it."""
    return within if found[1] else itself
