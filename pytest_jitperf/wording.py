"""How a refusal is worded: the value as the user wrote it, the likely typo, the words that would have been right."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable

__all__ = ["choose", "listed", "show", "written"]

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def show(value: object) -> str:
    """Writes a value as it stands in source code, strings in double quotes, long ones cut in the middle."""
    if not isinstance(value, str):
        try:
            name = getattr(value, "__qualname__", None)
            # An address differs from run to run.
            return name if isinstance(name, str) else re.sub(r" at 0x[0-9a-fA-F]+", "", _SHORT.repr(value))
        except Exception:
            return written(value)
    quoted = _SHORT.repr(value)
    return quoted if '"' in value or "'" in value else f'"{quoted[1:-1]}"'


def written(value: object) -> str:
    """``repr(value)``, also where that fails: a class of the user's may have one that raises, a number be too long."""
    try:
        return repr(value)
    except Exception:
        return hex(value) if isinstance(value, int) else f"<{type(value).__qualname__}>"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Joins words for a sentence: ``a``, ``a and b``, ``a, b and c``."""
    every = list(words)
    return f" {last} ".join([", ".join(every[:-1]), every[-1]] if every[1:] else every)


def choose(word: str, valid: Iterable[str]) -> str:
    """Says what a wrong word should have been.

    Args:
        word: The wrong word.
        valid: The right ones, in the order in which they are to be listed.

    Returns:
        ``did you mean "outer"? Valid: eager, outer``, without the question where nothing is close.
    """
    every = list(valid)
    by_lower = {each.lower(): each for each in reversed(every)}
    close = difflib.get_close_matches(word.strip().lower(), by_lower, n=1)
    hint = f"did you mean {show(by_lower[close[0]])}? Valid: " if close else "valid: "
    return hint + ", ".join(every)
