"""Whether what a program does hangs on the values that it is given, from its StableHLO."""

from __future__ import annotations

import re

__all__ = ["takes_the_same_steps"]

# What a sort or a library routine does, such as an eigenvalue solver, hangs on the numbers too.
_BY_VALUE = re.compile(r"\"?(stablehlo\.(case|custom_call|if|sort)|chlo\.top_k)\b")
_WHILE = re.compile(
    r"stablehlo\.while\"?\((?P<starts>[^)]*)\)[^\n]*\n\s*cond \{\n(?P<condition>.*?)\n\s*\} do \{", re.DOTALL
)
_START = re.compile(r"(?P<name>%\w+) = (?P<value>%\w+)")
_COMPARED = re.compile(r"\s*%\w+ = stablehlo\.compare +\w+, (?P<left>%\w+), (?P<right>%\w+)[, ]")
_CONSTANT = re.compile(r"%c(st)?(_\d+)?")
_PLAIN_LINE = re.compile(r"\s*(%\w+ = stablehlo\.constant |stablehlo\.return )")


def takes_the_same_steps(stablehlo: str) -> bool:
    """Whether a program takes the same steps whatever the values of its arguments.

    It does without branches, and where each loop counts from one constant to another, as ``lax.scan`` and
    ``lax.fori_loop`` with fixed bounds do. What cannot be told counts as a no.

    Args:
        stablehlo: Its text.
    """
    if _BY_VALUE.search(stablehlo):
        return False
    loops = list(_WHILE.finditer(stablehlo))
    return len(loops) == stablehlo.count("stablehlo.while") and all(map(_counts, loops))


def _counts(loop: re.Match[str]) -> bool:
    """Whether a loop goes on until a number that starts as a constant has reached another one."""
    starts = {each["name"]: each["value"] for each in _START.finditer(loop["starts"])}
    lines = loop["condition"].splitlines()
    compared = [match for line in lines if (match := _COMPARED.match(line))]
    if len(compared) != 1 or not all(_COMPARED.match(line) or _PLAIN_LINE.match(line) for line in lines):
        return False
    sides = (starts.get(compared[0][side], compared[0][side]) for side in ("left", "right"))
    return all(_CONSTANT.fullmatch(side) for side in sides)
