"""Programs before XLA as graphs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from .graph import Block, Node, Value, canonical, order_operands, reach_order

# What these attributes of a function say is either in its graph or a name.
_KNOWN = frozenset({"sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"})
_RESULT_NAME = re.compile(r'jax\.result_info = "[^"]*"(, )?')
# Text of a constant of a few numbers.
_SMALL = 200
# Donation counts at the entry point alone.
_DONATION = re.compile(r"(tf\.aliasing_output = \d+ : i32|jax\.buffer_donor = true)(, )?")


def canonical_module(module: Any) -> str:
    """Everything that a module tells XLA, as one text.

    Neither names nor locations are part of it, nor the order of independent operations, nor how the operations are
    spread over functions: XLA puts the body of a function in the place of each of its calls.

    Args:
        module: ``Lowered.compiler_ir("stablehlo")``.
    """
    reader = _Reader(module)
    text = "\n".join((_attributes(module.operation), *reader.others, canonical(reader.entry())))
    # Values that are kept outside the operations, where MLIR does that, are to be seen in the whole alone.
    return f"{text}\n{module}" if "dense_resource<" in text else text


def results_of(module: Any) -> tuple[str, ...]:
    """For each result of a module a digest of all that it is computed from."""
    return order_operands(_Reader(module).entry())


def arguments_of(module: Any) -> tuple[int, ...]:
    """The arguments of a module in an order that neither their names nor their places have a say in.

    See `reach_order`.
    """
    reader = _Reader(module)
    entry = reader.entry()
    # Of what is said about them besides, donation names the places of results.
    entry.arguments = tuple(str(each.type) for each in reader.arguments())
    return reach_order(entry)


class _Reader:
    """Turns the functions of one module into graphs.

    Attributes:
        others: What there is besides functions, such as meshes.
    """

    def __init__(self, module: Any) -> None:
        operations = [each.operation for each in module.body.operations]
        self.others = [str(each) for each in operations if each.name != "func.func"]
        self._functions = {each.attributes["sym_name"].value: each for each in operations if each.name == "func.func"}
        self._digests: dict[str, str] = {}
        self._constants: dict[tuple[Block, str], Node] = {}

    def entry(self) -> Block:
        function = self._functions["main"]
        block = self._function(function)
        given = [_RESULT_NAME.sub("", part) for part in _each(function, "arg_attrs")] or ["{}"] * len(block.arguments)
        block.arguments = tuple(" ".join(each) for each in zip(block.arguments, given, strict=True))
        results = [_RESULT_NAME.sub("", part) for part in _each(function, "res_attrs")]
        block.nodes.append(Node(block, f"results {results} {_attributes(function, _KNOWN)}"))
        return block

    def arguments(self) -> list[Any]:
        """Those of the entry point."""
        return list(self._functions["main"].regions[0].blocks[0].arguments)

    def _function(self, function: Any) -> Block:
        return self._block(function.regions[0].blocks[0], {})

    def _block(self, source: Any, values: dict[Any, Value]) -> Block:
        """A block with its operations; its values are added to those around it."""
        block = Block(tuple(str(each.type) for each in source.arguments))
        values.update({each: (block, n) for n, each in enumerate(source.arguments)})
        block.results = self._fill(block, source, values)
        return block

    def _fill(self, block: Block, source: Any, values: dict[Any, Value]) -> tuple[Value, ...]:
        """Adds the operations of ``source`` to ``block``.

        Returns:
            The operands of the last one, which ends every block.
        """
        *operations, last = (each.operation for each in source.operations)
        for operation in operations:
            operands = tuple(values[each] for each in operation.operands)
            callee = self._callee(operation)
            if callee is not None and _is_plain(operation, callee):
                inner = callee.regions[0].blocks[0]
                found = self._fill(block, inner, dict(zip(inner.arguments, operands, strict=True)))
                values.update(zip(operation.results, found, strict=True))
                continue
            node = self._node(block, operation, operands, values)
            block.nodes.append(node)
            values.update({result: (node, n) for n, result in enumerate(operation.results)})
        return tuple(values[each] for each in last.operands)

    def _callee(self, operation: Any) -> Any:
        if operation.name != "func.call":
            return None
        return self._functions.get(operation.attributes["callee"].value)

    def _node(self, block: Block, operation: Any, operands: tuple[Value, ...], values: dict[Any, Value]) -> Node:
        types = ", ".join(str(each.type) for each in operation.results)
        callee = self._callee(operation)
        if callee is not None:
            attributes = _attributes(operation, {"callee"}), _attributes(callee, {"sym_name"})
            return Node(block, f"call {attributes} : {types}", operands, (self._function(callee),))
        bodies = [list(each.blocks) for each in operation.regions]
        if any(len(each) > 1 for each in bodies):
            # No operation of StableHLO has jumps inside; for one that has, its own text has to do.
            return Node(block, operation.get_asm(), operands)
        text = f"{operation.name} {self._without_names(_attributes(operation))} : {types}"
        if operation.name == "stablehlo.constant" and len(text) < _SMALL:
            # Whether JAX writes down a number once or several times hangs on where functions end.
            return self._constants.setdefault((block, text), Node(block, text))
        return Node(block, text, operands, tuple(self._block(each, values) for (each,) in bodies if each))

    def _without_names(self, text: str) -> str:
        """The text with functions of the module named by what they compute, all other symbols as they are."""
        if "@" not in text:
            return text
        return re.sub(r"@([\w.$\-]+|\"[^\"]+\")", lambda match: self._digest(match[1].strip('"')) or match[0], text)

    def _digest(self, name: str) -> str:
        if name not in self._functions:
            return ""
        if name not in self._digests:
            text = canonical(self._function(self._functions[name]))
            self._digests[name] = f"@{hashlib.sha256(text.encode()).hexdigest()}"
        return self._digests[name]


def _is_plain(call: Any, callee: Any) -> bool:
    """Whether a call means nothing but the body of the function in its place."""
    if _names(call.attributes) - {"callee"} or _names(callee.attributes) - _KNOWN:
        return False
    given = [*_each(callee, "arg_attrs"), *_each(callee, "res_attrs")]
    return all(_DONATION.sub("", _RESULT_NAME.sub("", each)) == "{}" for each in given)


def _each(function: Any, name: str) -> list[str]:
    return [str(each) for each in function.attributes[name]] if name in function.attributes else []


def _attributes(operation: Any, leave_out: frozenset[str] | set[str] = frozenset({"sym_name"})) -> str:
    attributes: Mapping[str, Any] = operation.attributes
    return ", ".join(f"{name} = {_text(attributes, name)}" for name in sorted(_names(attributes) - leave_out))


def _names(attributes: Any) -> set[str]:
    """Names of attributes; up to jaxlib 0.8 they are gone through in pairs with their names."""
    return {each if isinstance(each, str) else each.name for each in attributes}


def _text(attributes: Any, name: str) -> str:
    try:
        return str(attributes[name])
    except TypeError:  # MLIR has no class of Python's for complex numbers; as a pair with its name it has them
        pairs = (attributes[number] for number in range(len(attributes)))
        pair = next(str(each) for each in pairs if each.name == name)
        return pair.removeprefix(f"NamedAttribute({name}=").removesuffix(")")
