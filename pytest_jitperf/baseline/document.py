"""A baseline file as a whole: bytes to a JSON document and back, and everything that can be wrong with the bytes.

A file in a repository gets damaged in ways of its own (conflict markers, a pointer of git-lfs, an editor's UTF-16), and
``json`` calls most of them "Expecting value". Here each is called by its name, with its place and its cure.
"""

from __future__ import annotations

import json
import math
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pytest_jitperf.baseline.codec import shown
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.wording import show

__all__ = ["FORMAT", "FORMAT_VERSION", "dump", "empty", "not_finite", "parse", "read_document"]

FORMAT = "pytest-jitperf"
# 1  first format: tests -> test -> measurement -> strategy -> device kind -> entry (see model.Entry)
FORMAT_VERSION = 1

_RESTORE = "restore it from version control, or delete it and record it again with pytest --jitperf-update"
_KINDS = {
    b"\x1f\x8b": ("is compressed with gzip", "decompress it"),
    b"\xff\xfe": ("is UTF-16 text", "save it as UTF-8"),
    b"\xfe\xff": ("is UTF-16 text", "save it as UTF-8"),
    b"\xef\xbb\xbf": ("begins with a byte order mark", "save it as UTF-8 without one"),
    b"version https://git-lfs.github.com/": ("is a git-lfs pointer, not the file itself", "run git lfs pull"),
}
_CONFLICT = re.compile(r"^(<{7}|\|{7}|={7}|>{7})( .*)?$", re.MULTILINE)
# Far beyond both: the format nests 9 deep, and no count has 400 digits (nor could a float hold it).
_MAX_DEPTH, _MAX_DIGITS = 64, 400


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


def empty() -> dict[str, Any]:
    """The document of a file that is not there yet."""
    return {"format": FORMAT, "version": FORMAT_VERSION, "tests": {}}


def read_document(path: Path) -> dict[str, Any] | None:
    """Reads a baseline file.

    Returns:
        The document, or None where there is no such file.

    Raises:
        BaselineError: It cannot be read or is damaged; one line with file, place, what was seen, and the cure.
    """
    try:
        # Asked first, since opening a pipe would wait for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            kind = "is a directory" if path.is_dir() else "is not a regular file"
            raise BaselineError(f"{path} {kind}, expected a baseline file; move it away")
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}; check the path and its permissions") from error
    return parse(content, str(path))


def parse(content: bytes, name: str) -> dict[str, Any]:
    """Reads the content of a baseline file; numbers inside entries may still be wrong.

    Args:
        content: All of it.
        name: Of the file, for messages.

    Raises:
        BaselineError: See ``read_document``.
    """
    for start, (seen, cure) in _KINDS.items():
        if content.startswith(start):
            raise BaselineError(f"{name} {seen}; {cure}")
    if not content.strip():
        raise BaselineError(f"{name} is empty; {_RESTORE}")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        if error.end == len(content) and error.reason == "unexpected end of data":
            raise BaselineError(f"{_at(name, before, len(before))} is cut off; {_RESTORE}") from error
        seen = f"is not UTF-8 (byte 0x{content[error.start]:02x})"
        raise BaselineError(f"{_at(name, before, len(before))} {seen}; save it as UTF-8") from error
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_int=_integer)
    except json.JSONDecodeError as error:
        _explain(text, name, error)
    except _Refused as error:
        places = [each.start() for each in re.finditer(error.pattern, text)]
        place = _at(name, text, places[-1]) if len(places) == error.times else name
        raise BaselineError(f"{place} {error.seen}; {_RESTORE}") from error
    except RecursionError as error:
        raise BaselineError(f"{name} is nested too deeply to be a baseline; {_RESTORE}") from error
    _check(document, name)
    checked: dict[str, Any] = document
    return checked


def dump(document: Mapping[str, Any]) -> bytes:
    """Writes a document in its one form: sorted keys, two spaces, LF, UTF-8, final newline.

    Raises:
        ValueError: It holds NaN or an infinity, which are not JSON.
    """
    text = json.dumps(document, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False)
    # Half of a surrogate pair, as a test id may hold, has no UTF-8 form; its escape is the one that JSON has for it.
    return (text + "\n").encode("utf-8", "backslashreplace")


def not_finite(value: object, path: str = "") -> str | None:
    """The path of the first NaN or infinity, ``tests / test_step / main / …``, or None."""
    if isinstance(value, float) and not math.isfinite(value):
        return path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        found = not_finite(each, f"{path} / {key}" if path else str(key))
        if found is not None:
            return found
    return None


def _explain(text: str, name: str, error: json.JSONDecodeError) -> NoReturn:
    """Says what a text that is not JSON is instead."""
    conflict = _CONFLICT.search(text.replace("\r\n", "\n"))
    end = len(text.rstrip())
    if conflict is not None:
        place = _at(name, text.replace("\r\n", "\n"), conflict.start())
        raise BaselineError(
            f"{place} has git conflict markers; take one side whole, then run pytest --jitperf-update"
        ) from error
    if "\0" in text:
        seen, pos = "holds NUL characters (UTF-16, or a write that a crash cut short)", text.index("\0")
    elif error.msg == "Extra data":
        seen, pos = "goes on after the end of the document (two documents in one file?)", error.pos
    elif error.pos >= end or error.msg.startswith("Unterminated string"):
        seen, pos = "is cut off", end
    else:
        seen, pos = f"is not JSON ({error.msg})", error.pos
    raise BaselineError(f"{_at(name, text, pos)} {seen}; {_RESTORE}") from error


def _check(document: Any, name: str) -> None:
    """Refuses what is JSON and no baseline that this version can read."""
    if not isinstance(document, dict):
        raise BaselineError(f"{name} holds {shown(document)}, expected an object; {_RESTORE}")
    if document.get("format") != FORMAT:
        raise BaselineError(f'{name} is not a baseline: it lacks "format": "{FORMAT}"; move it away, or {_RESTORE}')
    version = document.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise BaselineError(f"{name} has version {shown(version)}, expected {FORMAT_VERSION}; {_RESTORE}")
    if version > FORMAT_VERSION:
        raise BaselineError(
            f"{name} was written by a newer pytest-jitperf (version {version}, this one reads {FORMAT_VERSION}); "
            "upgrade pytest-jitperf"
        )
    if not isinstance(document.get("tests"), dict):
        raise BaselineError(f'{name} has no object under "tests"; {_RESTORE}')
    if _depth(document) > _MAX_DEPTH:
        raise BaselineError(f"{name} is nested too deeply to be a baseline; {_RESTORE}")


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
