"""Bytes that should be JSON: read, or called by the name of what is wrong with them.

A file in a repository or in the artifacts of a pipeline gets damaged in ways of its own (conflict markers, a pointer of
git-lfs, an editor's UTF-16), and ``json`` calls most of them "Expecting value". Here each has its name, its place and
its cure.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pytest_jitperf.errors import JitperfError
from pytest_jitperf.wording import show

__all__ = ["Kind", "decode", "read_bytes"]

_BEGINNINGS = {
    b"\x1f\x8b": ("is compressed with gzip", "decompress it"),
    b"PK\x03\x04": ("is a zip archive", "unpack it"),
    b"\xff\xfe": ("is UTF-16 text", "save it as UTF-8"),
    b"\xfe\xff": ("is UTF-16 text", "save it as UTF-8"),
    b"\xef\xbb\xbf": ("begins with a byte order mark", "save it as UTF-8 without one"),
    b"version https://git-lfs.github.com/": ("is a git-lfs pointer, not the file itself", "run git lfs pull"),
}
_CONFLICT = re.compile(r"^(<{7}|\|{7}|={7}|>{7})( .*)?$", re.MULTILINE)
# Far beyond both: our formats nest some ten deep, and no count has 400 digits (nor could a float hold it).
_MAX_DEPTH, _MAX_DIGITS = 64, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of file, for what is said of a damaged one.

    Attributes:
        noun: What it holds: ``"a baseline"``.
        file: What it is: ``"a baseline file"``.
        restore: What to do about one that is damaged.
        resolve: What to do about one with conflict markers.
        error: What is raised.
    """

    noun: str
    file: str
    restore: str
    resolve: str
    error: type[JitperfError]


class _Refused(Exception):
    """Raised by the decoder's hooks, which do not know where in the text they are.

    Attributes:
        seen: What is wrong.
        pattern: Finds it in the text …
        times: … in so many places, of which the last is meant; where it finds more, the place is not known.
    """

    def __init__(self, seen: str, pattern: str, times: int) -> None:
        super().__init__(seen)
        self.seen, self.pattern, self.times = seen, pattern, times


def read_bytes(path: Path, kind: Kind) -> bytes | None:
    """Reads a file.

    Returns:
        Its content, or None where there is no such file.

    Raises:
        JitperfError: It cannot be read; ``kind.error``.
    """
    try:
        # Asked first, since opening a pipe would wait for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            seen = "is a directory" if path.is_dir() else "is not a regular file"
            raise kind.error(f"{path} {seen}, expected {kind.file}; move it away")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise kind.error(f"{path} cannot be read: {error.strerror}; check the path and its permissions") from error


def decode(content: bytes, name: str, kind: Kind) -> Any:
    """Reads JSON: no key twice in an object, no number that nothing could hold, not nested without end.

    Args:
        content: All of the file.
        name: Of the file, for messages.
        kind: What it should be.

    Returns:
        Plain JSON types.

    Raises:
        JitperfError: It is not JSON; ``kind.error``, one line with file, place, what was seen, and the cure.
    """
    for start, (seen, cure) in _BEGINNINGS.items():
        if content.startswith(start):
            raise kind.error(f"{name} {seen}; {cure}")
    if not content.strip():
        raise kind.error(f"{name} is empty; {kind.restore}")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        if error.end == len(content) and error.reason == "unexpected end of data":
            raise kind.error(f"{_at(name, before, len(before))} is cut off; {kind.restore}") from error
        seen = f"is not UTF-8 (byte 0x{content[error.start]:02x})"
        raise kind.error(f"{_at(name, before, len(before))} {seen}; save it as UTF-8") from error
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_int=_integer)
    except json.JSONDecodeError as error:
        _explain(text, name, error, kind)
    except _Refused as error:
        _look_for_conflict(text, name, kind, error)
        places = [each.start() for each in re.finditer(error.pattern, text)]
        place = _at(name, text, places[-1]) if len(places) == error.times else name
        raise kind.error(f"{place} {error.seen}; {kind.restore}") from error
    except RecursionError as error:
        raise kind.error(f"{name} is nested too deeply to be {kind.noun}; {kind.restore}") from error
    if _depth(document) > _MAX_DEPTH:
        raise kind.error(f"{name} is nested too deeply to be {kind.noun}; {kind.restore}")
    return document


def _explain(text: str, name: str, error: json.JSONDecodeError, kind: Kind) -> NoReturn:
    """Says what a text that is not JSON is instead."""
    _look_for_conflict(text, name, kind, error)
    end = len(text.rstrip())
    if "\0" in text:
        seen, pos = "holds NUL characters (UTF-16, or a write that a crash cut short)", text.index("\0")
    elif error.msg == "Extra data":
        seen, pos = "goes on after the end of the document (two documents in one file?)", error.pos
    elif error.pos >= end or error.msg.startswith("Unterminated string"):
        seen, pos = "is cut off", end
    else:
        seen, pos = f"is not JSON ({error.msg})", error.pos
    raise kind.error(f"{_at(name, text, pos)} {seen}; {kind.restore}") from error


def _look_for_conflict(text: str, name: str, kind: Kind, error: Exception) -> None:
    """Raises where git left conflict markers, before which there may be damage that comes of the same merge."""
    lines = text.replace("\r\n", "\n")
    conflict = _CONFLICT.search(lines)
    if conflict is not None:
        place = _at(name, lines, conflict.start())
        raise kind.error(f"{place} has git conflict markers; {kind.resolve}") from error


def _depth(document: object) -> int:
    level, depth = [document], 0
    while level:
        depth += 1
        inner = [each for each in level if isinstance(each, (dict, list))]
        level = [value for each in inner for value in (each.values() if isinstance(each, dict) else each)]
    return depth


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        written = re.escape(json.dumps(twice, ensure_ascii=False))
        raise _Refused(f"has the key {show(twice)} twice in one object", rf"{written}\s*:", times=2)
    return found


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise _Refused(f"has a number of {len(digits)} digits", digits, times=1)
    return int(digits)


def _at(name: str, text: str, pos: int) -> str:
    line_start = text.rfind("\n", 0, pos) + 1
    line, column = text.count("\n", 0, pos) + 1, pos - line_start + 1
    return f"{name}, line {line}, column {column},"
