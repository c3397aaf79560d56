"""A program as a graph of operations, and the one text that every way of writing down the same graph has.

What a compiler makes of a program depends on which operations there are and on what feeds what, not on names or on the
order in which independent operations stand. The text numbers the operations in the order in which they are reached from
the results, operands first, which is how XLA itself puts them in order. Nothing is merged and nothing left out: two
equal operations are two, and what no result needs comes last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

Value = tuple["Node | Block", int]
"""Result or argument number so and so of a node or of a block."""


@dataclass(slots=True, eq=False)
class Block:
    """Operations that are run together: a function, or the body of a loop.

    Attributes:
        arguments: What each argument is, for example its type.
        nodes: The operations, each after those that it needs.
        results: What the block gives.
    """

    arguments: tuple[str, ...] = ()
    nodes: list[Node] = field(default_factory=list)
    results: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class Node:
    """One operation.

    Attributes:
        home: The block that it stands in.
        text: Everything about it but its operands and blocks: operation, attributes, types.
        operands: What it takes, in order.
        blocks: Bodies of its own. They may also use values from the blocks around.
        commutative: Whether the order of its first two operands says nothing.
    """

    home: Block
    text: str
    operands: tuple[Value, ...] = ()
    blocks: tuple[Block, ...] = ()
    commutative: bool = False


def canonical(block: Block) -> str:
    """The text of a graph; equal for two graphs exactly where they differ in nothing but names and order."""
    return _Writer().block(block)


def order_operands(block: Block, *, anonymous: bool = False) -> tuple[str, ...]:
    """Sorts the operands of commutative nodes by what they are computed from.

    Args:
        block: Changed in place.
        anonymous: Whether arguments of the block itself are told apart by what they are alone, not by their places.

    Returns:
        For each result a digest of all that it is computed from. Equal results have equal ones.
    """
    known: dict[Node | Block, str] = {}

    def named(value: Value) -> str:
        owner, number = value
        if anonymous and owner is block:
            return block.arguments[number]
        return f"{known[owner]}.{number}"

    for each, depth in _from_outside(block):
        if isinstance(each, Block):
            known[each] = f"block {depth}"
            continue
        operands = list(map(named, each.operands))
        if each.commutative and operands[1] < operands[0]:
            each.operands = (each.operands[1], each.operands[0], *each.operands[2:])
            operands[:2] = operands[1], operands[0]
        bodies = [list(map(named, body.results)) for body in each.blocks]
        known[each] = hashlib.sha256(f"{each.text} {operands} {bodies}".encode()).hexdigest()
    return tuple(map(named, block.results))


def reach_order(block: Block) -> tuple[int, ...]:
    """The arguments of a block in the order in which they are reached from its results.

    Where two graphs differ in nothing but the places of arguments and results, the arguments that these orders have in
    the same place correspond: neither names nor places have a say in them. (But of two that are alike in all that they
    are used for first, the one that stands first is taken first.)

    Args:
        block: Operands of its commutative nodes and its results are put in order, in place.

    Returns:
        Numbers of arguments; those that are not reached come last.
    """
    digests = order_operands(block, anonymous=True)
    block.results = tuple(block.results[n] for n in sorted(range(len(digests)), key=digests.__getitem__))
    used: list[Value] = []
    for each in _Writer().in_order(block):
        used += _used(each)
    used += block.results
    return tuple(dict.fromkeys([*(n for owner, n in used if owner is block), *range(len(block.arguments))]))


def _used(node: Node) -> Iterator[Value]:
    """What a node takes, and what its bodies use."""
    yield from node.operands
    for block in node.blocks:
        for each in block.nodes:
            yield from _used(each)
        yield from block.results


class _Writer:
    """Numbers blocks and nodes as they are reached, and writes each node into the text of its own block."""

    def __init__(self) -> None:
        self._numbers: dict[Node | Block, int] = {}
        self._needs: dict[Node, list[Node | Block]] = {}

    def block(self, block: Block) -> str:
        self._numbers[block] = len(self._numbers)
        lines: list[str] = []
        for node in self._reached(block, self._numbers):
            # All that its bodies use from around them has a number by now.
            bodies = "".join(f" {self.block(each)}" for each in node.blocks)
            self._numbers[node] = number = len(self._numbers)
            operands = ", ".join(map(self._name, node.operands))
            lines.append(f"{number} = {node.text} [{operands}]{bodies}")
        arguments = ", ".join(block.arguments)
        results = ", ".join(map(self._name, block.results))
        return "\n".join((f"({arguments}) {{", *lines, f"}} -> {results}"))

    def in_order(self, block: Block) -> Iterator[Node]:
        """The nodes of a block as they are reached from its results, each after those that it needs."""
        done: set[Node | Block] = set()
        for each in self._reached(block, done):
            done.add(each)
            yield each

    def _reached(self, block: Block, done: Container[Node | Block]) -> Iterator[Node]:
        """The nodes of a block as they are reached from its results, each after those that it needs."""
        # A stack of its own: a chain of operations is longer than Python may nest calls.
        first = [owner for owner, _ in block.results if _stands_in(owner, block)]
        pending: list[Node] = [*reversed(block.nodes), *reversed(first)]
        while pending:
            node = pending[-1]
            if node in done:
                pending.pop()
                continue
            before = [each for each in self._needed(node) if _stands_in(each, block) and each not in done]
            pending.extend(reversed(before))
            if not before:
                pending.pop()
                yield node

    def _needed(self, node: Node) -> list[Node | Block]:
        """What has to be there before a node: its operands, and what its bodies use from around them."""
        if node not in self._needs:
            needed = dict.fromkeys(owner for owner, _ in node.operands)
            for block in node.blocks:
                inside: set[Node | Block] = {block}
                for each in self._reached(block, inside):
                    inside.add(each)
                    needed.update(dict.fromkeys(self._needed(each)))
                needed.update(dict.fromkeys(owner for owner, _ in block.results))
                needed = {each: None for each in needed if each not in inside}
            self._needs[node] = list(needed)
        return self._needs[node]

    def _name(self, value: Value) -> str:
        return f"{self._numbers[value[0]]}.{value[1]}"


def _from_outside(block: Block, depth: int = 0) -> Iterator[tuple[Node | Block, int]]:
    """Blocks before their nodes, and the nodes in their order, each after those of its bodies."""
    yield block, depth
    for node in block.nodes:
        for each in node.blocks:
            yield from _from_outside(each, depth + 1)
        yield node, depth


def _stands_in(owner: Node | Block, block: Block) -> TypeGuard[Node]:
    return isinstance(owner, Node) and owner.home is block
