"""One text for each graph, however it is written down."""

from __future__ import annotations

import random

import pytest

from pytest_jitperf.probe.graph import Block, Node, Value, canonical, order_operands, reach_order


def chain(*texts: str) -> Block:
    block = Block(("f32",))
    value: Value = (block, 0)
    for text in texts:
        block.nodes.append(Node(block, text, (value,)))
        value = (block.nodes[-1], 0)
    block.results = (value,)
    return block


def test_a_graph_as_text() -> None:
    assert canonical(chain("sin", "exp")) == "(f32) {\n1 = sin [0.0]\n2 = exp [1.0]\n} -> 2.0"


def test_independent_nodes_may_stand_in_any_order() -> None:
    def two(*, turned: bool) -> Block:
        block = Block(("f32", "f32"))
        a, b = Node(block, "sin", ((block, 0),)), Node(block, "cos", ((block, 1),))
        c = Node(block, "sub", ((a, 0), (b, 0)))
        block.nodes, block.results = [b, a, c] if turned else [a, b, c], ((c, 0), (b, 0))
        return block

    assert canonical(two(turned=True)) == canonical(two(turned=False))


def test_two_equal_nodes_are_not_one() -> None:
    def twice(*, shared: bool) -> Block:
        block = Block(("f32",))
        a, b = Node(block, "loop", ((block, 0),)), Node(block, "loop", ((block, 0),))
        last = Node(block, "add", ((a, 0), (a if shared else b, 0)))
        block.nodes, block.results = [a, *([] if shared else [b]), last], ((last, 0),)
        return block

    assert canonical(twice(shared=True)) != canonical(twice(shared=False))


def test_what_no_result_needs_is_not_left_out() -> None:
    with_effect = chain("sin")
    with_effect.nodes.append(Node(with_effect, "print", ((with_effect.nodes[0], 0),)))
    assert canonical(with_effect) != canonical(chain("sin"))


def loop(operand: str, body_takes: int) -> Block:
    """A loop whose body uses a value from around it."""
    block = Block(("f32", "f32"))
    outside = Node(block, operand, ((block, 0),))
    body = Block(("i32",))
    inside = Node(body, "add", ((outside, 0), (body, 0), (block, body_takes)))
    body.nodes, body.results = [inside], ((inside, 0),)
    last = Node(block, "while", ((block, 1),), (body,))
    block.nodes, block.results = [outside, last], ((last, 0),)
    return block


def test_what_a_body_uses_from_around_it_is_part_of_it() -> None:
    assert canonical(loop("sin", 0)) == canonical(loop("sin", 0))
    assert canonical(loop("sin", 0)) != canonical(loop("cos", 0))
    assert canonical(loop("sin", 0)) != canonical(loop("sin", 1))


def test_where_a_node_stands_is_part_of_the_graph() -> None:
    def invariant(*, inside: bool) -> Block:
        block, body = Block(("f32",)), Block()
        node = Node(body if inside else block, "sin", ((block, 0),))
        body.results = ((node, 0),)
        last = Node(block, "while", (), (body,))
        block.nodes, block.results = [*([] if inside else [node]), last], ((last, 0),)
        body.nodes = [node] if inside else []
        return block

    assert canonical(invariant(inside=True)) != canonical(invariant(inside=False))


@pytest.mark.parametrize("commutative", [True, False])
def test_operands_of_commutative_nodes_may_stand_in_any_order(commutative: bool) -> None:
    def summed(*, turned: bool) -> Block:
        block = Block(("f32",))
        a, b = Node(block, "sin", ((block, 0),)), Node(block, "cos", ((block, 0),))
        pair = ((b, 0), (a, 0)) if turned else ((a, 0), (b, 0))
        last = Node(block, "add", pair, commutative=commutative)
        block.nodes, block.results = [a, b, last], ((last, 0),)
        return block

    one, other = summed(turned=False), summed(turned=True)
    digests = order_operands(one), order_operands(other)
    assert (canonical(one) == canonical(other)) == (digests[0] == digests[1]) == commutative


def test_equal_results_have_equal_digests() -> None:
    block = chain("sin", "exp")
    block.results = ((block.nodes[1], 0), (block.nodes[0], 0), (block.nodes[1], 0), (block.nodes[1], 1))
    first, second, third, fourth = order_operands(block)
    assert first == third
    assert len({first, second, fourth}) == 3


def test_long_chains_and_deep_ones() -> None:
    assert canonical(chain(*["sin"] * 20_000)).count("\n") == 20_001
    # Each body uses the node before it, as fusions do.
    block = Block(("f32",))
    value: Value = (block, 0)
    for _ in range(5_000):
        body = Block()
        inner = Node(body, "exp", (value,))
        body.nodes, body.results = [inner], ((inner, 0),)
        block.nodes.append(Node(block, "fusion", (), (body,)))
        value = (block.nodes[-1], 0)
    block.results = (value,)
    assert canonical(block).count("fusion") == 5_000


def random_graph(seed: int) -> tuple[list[tuple[str, list[int]]], list[int]]:
    """Operations with what each takes (negative: an argument), and results."""
    rng = random.Random(seed)
    nodes: list[tuple[str, list[int]]] = []
    for n in range(12):
        nodes.append((rng.choice("abc"), [rng.randrange(-2, n) for _ in range(rng.randrange(1, 4))]))
    return nodes, [rng.randrange(12) for _ in range(3)]


def built(nodes: list[tuple[str, list[int]]], results: list[int], rng: random.Random) -> Block:
    """The graph, its nodes in some order in which each comes after those that it needs."""
    block = Block(("f32", "f32"))
    made: dict[int, Node] = {}
    while len(made) < len(nodes):
        ready = [n for n, (_, takes) in enumerate(nodes) if n not in made and all(t < 0 or t in made for t in takes)]
        n = rng.choice(ready)
        text, takes = nodes[n]
        made[n] = Node(block, text, tuple((block, -1 - t) if t < 0 else (made[t], 0) for t in takes))
        block.nodes.append(made[n])
    block.results = tuple((made[n], 0) for n in results)
    return block


def needed(nodes: list[tuple[str, list[int]]], results: list[int]) -> list[int]:
    found: list[int] = []
    pending = list(results)
    while pending:
        n = pending.pop()
        if n >= 0 and n not in found:
            found.append(n)
            pending += nodes[n][1]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_in_random_order(seed: int) -> None:
    nodes, results = random_graph(seed)
    keep = sorted(needed(nodes, results))
    nodes = [(text, [t if t < 0 else keep.index(t) for t in takes]) for text, takes in (nodes[n] for n in keep)]
    results = [keep.index(n) for n in results]
    rng = random.Random(seed)
    text = canonical(built(nodes, results, rng))
    assert {canonical(built(nodes, results, rng)) for _ in range(5)} == {text}

    # Each operation and each edge counts.
    for n, (name, takes) in enumerate(nodes):
        assert canonical(built([*nodes[:n], (f"{name}'", takes), *nodes[n + 1 :]], results, rng)) != text
        for place, t in enumerate(takes):
            changed = [*takes[:place], -1 if t == -2 else -2, *takes[place + 1 :]]
            assert canonical(built([*nodes[:n], (name, changed), *nodes[n + 1 :]], results, rng)) != text


@pytest.mark.parametrize("seed", range(40))
def test_arguments_of_random_graphs_are_known_by_their_uses(seed: int) -> None:
    rng = random.Random(seed)
    nodes, results = random_graph(seed)
    turned = [(text, [-3 - t if t < 0 else t for t in takes]) for text, takes in nodes]  # -1 and -2 exchanged
    shuffled = rng.sample(results, len(results))
    one, other = reach_order(built(nodes, results, rng)), reach_order(built(turned, shuffled, rng))
    assert sorted(one) == sorted(other) == [0, 1]
    # What is called a here and b there is reached at the same place, but where both are used alike.
    alike = canonical(built(nodes, results, rng)) == canonical(built(turned, results, rng))
    assert alike or one != other or not {-1, -2} <= {t for n in needed(nodes, results) for t in nodes[n][1]}


def test_arguments_that_are_reached_late_or_never() -> None:
    block = Block(("f32", "f32", "f32", "f32"))
    body = Block()
    inner = Node(body, "exp", ((block, 3),))
    body.nodes, body.results = [inner], ((inner, 0),)
    loop = Node(block, "while", ((block, 1),), (body,))
    block.nodes, block.results = [loop], ((loop, 0), (block, 2))
    assert reach_order(block) == (1, 3, 2, 0)


def test_a_kind_of_argument_counts_and_its_number_does_not() -> None:
    def difference(first: str, second: str, *, turned: bool) -> Block:
        block = Block((second, first) if turned else (first, second))
        here = ((block, 1), (block, 0)) if turned else ((block, 0), (block, 1))
        last = Node(block, "multiply", here, commutative=True)
        block.nodes, block.results = [last], ((last, 0),)
        return block

    assert reach_order(difference("f32", "i32", turned=False)) == (0, 1)
    assert reach_order(difference("f32", "i32", turned=True)) == (1, 0)
