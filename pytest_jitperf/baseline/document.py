"""A baseline file as a whole: bytes to a JSON document and back, and what makes JSON no baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_jitperf.baseline.codec import shown
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.jsontext import Kind, decode, read_bytes

__all__ = ["FORMAT", "FORMAT_VERSION", "dump", "empty", "not_finite", "parse", "read_document"]

FORMAT = "pytest-jitperf"
# 1  first format: tests -> test -> measurement -> strategy -> device kind -> entry (see model.Entry)
FORMAT_VERSION = 1

_RESTORE = "restore it from version control, or delete it and record it again with pytest --jitperf-update"
_KIND = Kind(
    noun="a baseline",
    file="a baseline file",
    restore=_RESTORE,
    resolve="take one side whole, then run pytest --jitperf-update",
    error=BaselineError,
)


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
    content = read_bytes(path, _KIND)
    return None if content is None else parse(content, str(path))


def parse(content: bytes, name: str) -> dict[str, Any]:
    """Reads the content of a baseline file; numbers inside entries may still be wrong.

    Args:
        content: All of it.
        name: Of the file, for messages.

    Raises:
        BaselineError: See ``read_document``.
    """
    document = decode(content, name, _KIND)
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
