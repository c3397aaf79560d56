"""What optimised programs consist of, from their text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

_CUSTOM_CALL = "custom-call"
_OPERATION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = .*? (?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)", re.MULTILINE)
_TARGET = re.compile(r'custom_call_target="([^"]+)"')


def operation_counts(hlo: str) -> dict[str, int]:
    """Operations of an optimised program, fused ones included, by opcode.

    Custom calls are counted by what they call: ``"custom-call lapack_spotrf_ffi"``.
    """
    found: Counter[str] = Counter()
    for match in _OPERATION.finditer(hlo):
        opcode = match["opcode"]
        target = _TARGET.search(match["rest"]) if opcode == _CUSTOM_CALL else None
        found[f"{opcode} {target[1]}" if target else opcode] += 1
    return dict(found)


def custom_calls(operations: Mapping[str, int]) -> int:
    """How many of them are custom calls."""
    return sum(count for name, count in operations.items() if name.partition(" ")[0] == _CUSTOM_CALL)
