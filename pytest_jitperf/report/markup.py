"""Any text as Markdown that shows just this text, in GitHub's and GitLab's flavour."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_jitperf.report.grouping import one_line

__all__ = ["code", "fenced", "fenced_lines", "prose"]

# What may begin emphasis, a link, a code span, HTML, an entity, a formula or the next cell. An underscore within a word
# does nothing, and names are full of them.
_SPECIAL = re.compile(r"[\\`*\[<|~$&]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def prose(text: str) -> str:
    """Text within a line or within a cell of a table."""
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), one_line(text))


def code(text: str) -> str:
    """A code span."""
    shown = one_line(text)
    fence = "`" * (_longest_run(shown) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def fenced(text: str, language: str) -> str:
    """A block of code on lines of its own, of which the text is one."""
    return fenced_lines([text], language)


def fenced_lines(lines: Iterable[str], language: str = "") -> str:
    """A block of lines as they are."""
    shown = "\n".join(map(one_line, lines))
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def _longest_run(text: str) -> int:
    """Of backticks; the fence around them has to be longer."""
    return max(map(len, re.findall("`+", text)), default=0)
