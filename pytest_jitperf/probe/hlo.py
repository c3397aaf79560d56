"""Programs as XLA has optimised them: their whole text, and a digest by which two of them are the same."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .graph import Block, Node, Value, canonical, order_operands

# A larger program is not written out with its constants: 1 MiB of them becomes 4 MB of text.
_MOST_BYTES = 2**22

_COMPUTATION = re.compile(
    r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \([^\n]*\{\n(?P<body>.*?)^\}(?P<attributes>[^\n]*)",
    re.MULTILINE | re.DOTALL,
)
_INSTRUCTION = re.compile(
    r"\s+(?P<root>ROOT )?%(?P<name>[\w.\-]+) = "
    r"(?P<type>.*?) (?P<opcode>[a-z][\w\-]*)\((?P<operands>[^)]*)(?P<attributes>.*)"
)
_WAITS_FOR = re.compile(r", control-predecessors=\{(?P<names>[^}]*)\}")
_FUSED = re.compile(r", calls=%([\w.\-]+)")
_NAME = re.compile(r"%([\w.\-]+)")
_METADATA = re.compile(r",? ?metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\}")
# Made from the program before optimisation, names included.
_ORIGIN = re.compile(r"fingerprint_before_lhs=\"[^\"]*\"")
# A number under which a collective operation is known; those that send and receive find each other by it.
_CHANNEL = re.compile(r"channel_id=\d+")
_PAIRED_BY_CHANNEL = ("send", "recv")
_COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
_SYMMETRIC = re.compile(r", direction=(EQ|NE)\b")


def optimised_text(compiled: Any) -> str:
    """Text of an optimised program with all its constants where XLA gives it, else as JAX shows it; empty for none.

    Args:
        compiled: ``jax.stages.Compiled``.
    """
    try:
        # JAX's own text leaves out constants of more than ten elements, and it has no option for it.
        (module,) = compiled.runtime_executable().hlo_modules()
        if len(module.as_serialized_hlo_module_proto()) <= _MOST_BYTES:
            options = sys.modules[type(module).__module__].HloPrintOptions()
            options.print_large_constants = True
            options.print_metadata = False
            return str(module.to_string(options))
    except Exception:
        pass
    return compiled.as_text() or ""


def program_digest(hlo: str) -> str:
    """Digest of an optimised program without what says nothing.

    That is names, metadata, the order of independent instructions and that of the operands of commutative ones.

    Args:
        hlo: Its text.

    Returns:
        The digest; empty where the text leaves constants out. Two such texts may be equal although the programs are
        not: XLA computes with constants (``W.T``, ``W * 2``), and of the result nothing but the shape is to be seen.
    """
    if not hlo or "constant({...})" in hlo:
        return ""
    header = re.sub(r"HloModule [^,]*", "HloModule", _ORIGIN.sub("", hlo.split("\n", 1)[0]))
    try:
        reader = _Reader(hlo)
        whole = canonical(reader.block(reader.entry))
    except (LookupError, ValueError):
        whole = hlo  # A text of another form than expected is equal to nothing but itself.
    return hashlib.sha256(f"{header}\n{whole}".encode()).hexdigest()


class _Reader:
    """Turns the computations of one text into graphs.

    Attributes:
        entry: Name of the computation that is run; empty where there is none.
    """

    def __init__(self, hlo: str) -> None:
        self.entry = ""
        self._computations: dict[str, list[re.Match[str]]] = {}
        self._attributes: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        for match in _COMPUTATION.finditer(hlo):
            self._computations[match["name"]] = [_instruction(line) for line in match["body"].splitlines()]
            self._attributes[match["name"]] = match["attributes"]
            self.entry = match["name"] if match["entry"] else self.entry

    def block(self, name: str) -> Block:
        block = Block((self._attributes[name],))
        self._fill(block, name, ())
        order_operands(block)
        return block

    def _fill(self, block: Block, name: str, parameters: Sequence[Value]) -> None:
        """Adds the instructions of a computation to a block.

        Args:
            block: To which they are added.
            name: Of the computation.
            parameters: Values that take the place of its parameters; none where these are values of their own.
        """
        values: dict[str, Value] = {}
        for each in self._computations[name]:
            if each["opcode"] == "parameter" and parameters:
                values[each["name"]] = parameters[int(each["operands"])]
            else:
                node = self._node(block, each, values)
                block.nodes.append(node)
                values[each["name"]] = (node, 0)
            if each["root"]:
                block.results = (values[each["name"]],)

    def _node(self, block: Block, found: re.Match[str], values: Mapping[str, Value]) -> Node:
        opcode, attributes = found["opcode"], found["attributes"]
        operands = [values[name] for name in _NAME.findall(found["operands"])]
        before = _WAITS_FOR.search(attributes)
        waits_for = [values[name] for name in _NAME.findall(before["names"])] if before else []
        attributes = _WAITS_FOR.sub("", attributes)
        handed = _NAME.sub("%", found["operands"])
        bodies: tuple[Block, ...] = ()
        fused = _FUSED.search(attributes)
        if opcode == "fusion" and fused and "aliasing" not in attributes:
            # What it takes shows in its body, so that the order in which it is handed in does not matter.
            body = Block((self._attributes[fused[1]],))
            self._fill(body, fused[1], operands)
            bodies, operands, handed, attributes = (body,), [], "", _FUSED.sub("", attributes)
        if not opcode.startswith(_PAIRED_BY_CHANNEL):
            attributes = _CHANNEL.sub("channel_id=", attributes)
        commutative = opcode in _COMMUTATIVE or (opcode == "compare" and _SYMMETRIC.search(attributes) is not None)
        attributes = _NAME.sub(lambda match: self._digest(match[1]), attributes)
        text = f"{found['type']} {opcode}({handed}{attributes} after {len(waits_for)}"
        return Node(block, text, (*operands, *waits_for), bodies, commutative)

    def _digest(self, name: str) -> str:
        if name not in self._digests:
            self._digests[name] = hashlib.sha256(canonical(self.block(name)).encode()).hexdigest()
        return self._digests[name]


def _instruction(line: str) -> re.Match[str]:
    found = _INSTRUCTION.fullmatch(_METADATA.sub("", line))
    if found is None:
        raise ValueError(f"not an instruction: {line}")
    return found
