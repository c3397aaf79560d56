"""Optimised programs as text: what they consist of, and whether two of them are the same."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping


def operation_counts(hlo: str) -> Counter[str]:
    """Operations of an optimised program by opcode, fused ones included."""
    return Counter(re.findall(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\([^=]*?\)|\S+) ([a-z][\w\-]*)\(", hlo, re.MULTILINE))


def leaves_constants_out(hlo: str) -> bool:
    """Whether the text holds a constant of which it does not show the values (more than ten elements).

    Two such texts may be equal although the programs are not: XLA computes with constants (``W.T``, ``W * 2``), and of
    the result nothing but the shape is to be seen.
    """
    return "constant({...})" in hlo


def program_digest(hlo: str, stablehlo: str) -> str:
    """Digest of an optimised program without names, metadata and source tables.

    Instructions are numbered in their order within their computation, and a called computation is named by its own
    digest, so that neither names nor the order of computations matter. Where the text leaves constants out, which
    operations and constants the lowering consists of is part of the digest; that tells most programs apart, not all.

    Args:
        hlo: Text of the optimised program.
        stablehlo: Text of its lowering.
    """
    known: dict[str, str] = {}
    entry = ""
    for match in _COMPUTATION.finditer(hlo):
        digest = _computation_digest(match["body"], known)
        known[match["name"]] = f"computation_{digest}"
        entry = digest if match["entry"] else entry
    header = re.sub(r"HloModule [^,]*", "HloModule", hlo.split("\n", 1)[0])
    # A text of another form than expected is equal to nothing but itself.
    whole = [header, entry or hlo, *(_operations(stablehlo) if leaves_constants_out(hlo) else ())]
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()


_COMPUTATION = re.compile(
    r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \([^\n]*\{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL
)
_NAME = re.compile(r"%([\w.\-]+)")


def _computation_digest(body: str, known: Mapping[str, str]) -> str:
    numbers: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        name = match[1]
        return known.get(name) or numbers.setdefault(name, f"%{len(numbers)}")

    text = re.sub(r",? ?metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\}", "", body)
    # The operands of a fusion's parameter number are kept; only names go.
    return hashlib.sha256(_NAME.sub(rename, text).encode()).hexdigest()


def _operations(stablehlo: str) -> list[str]:
    """The distinct operations with their types, and the constants: the same whether or not helpers are functions."""
    lines = {re.sub(r"%[\w#]+", "", line).strip() for line in stablehlo.splitlines()}
    return sorted(line for line in lines if "stablehlo." in line or "chlo." in line)
