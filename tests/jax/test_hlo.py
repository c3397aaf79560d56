"""Whether two optimised programs are the same, from their texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe import hlo
from pytest_jitperf.probe.hlo import optimised_text, program_digest

X = jnp.linspace(0.0, 1.0, 100)
ROWS = jnp.ones((4, 32))
W = np.random.default_rng(0).normal(size=(32, 32)).astype(np.float32)


def text(function: Callable[..., Any], *args: Any, **jit: Any) -> str:
    return optimised_text(jax.jit(function, **jit).lower(*args).compile())


def digest(function: Callable[..., Any], *args: Any, **jit: Any) -> str:
    return program_digest(text(function, *args, **jit))


def helper(x: Any) -> Any:
    return jnp.sin(x) * 2.0


def three_times(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(function(function(x)))


@pytest.mark.parametrize(
    ("one", "other", "args"),
    [
        (lambda x: jnp.sin(x * 1.0), lambda x: jnp.sin(x), (X,)),
        (lambda x: x.T.T, lambda x: x, (ROWS,)),
        (lambda x: (jnp.sin(x), jnp.cos(x)), lambda x: (lambda c, s: (s, c))(jnp.cos(x), jnp.sin(x)), (X,)),
        (lambda x: jnp.sin(x) + jnp.cos(x), lambda x: jnp.cos(x) + jnp.sin(x), (X,)),
        (lambda x: jnp.maximum(2.0 * x, x.sum()), lambda x: jnp.maximum(x.sum(), x * 2.0), (X,)),
        (lambda x: x == x[0], lambda x: x[0] == x, (X,)),
        (lambda x: jnp.sin(x @ x.T) @ x + x, lambda x: x + jnp.sin(x @ x.T) @ x, (ROWS,)),
        (three_times(helper), three_times(jax.jit(helper)), (X,)),
        (lambda x: three_times(jax.nn.softmax)(x).sum(), lambda x: three_times(jax.jit(jax.nn.softmax))(x).sum(), (X,)),
        (lambda x: (x * 1.0) @ W, lambda x: x @ W, (ROWS,)),
        (lambda x: x @ (jnp.asarray(W).T).T, lambda x: x @ W, (ROWS,)),
        (lambda x: x + jnp.asarray(W[0]) * 2, lambda x: (W[0] * 2) + x, (ROWS,)),
    ],
)
def test_what_xla_makes_the_same_has_the_same_digest(one: Any, other: Any, args: Any) -> None:
    assert digest(one, *args) == digest(other, *args) != ""


def test_constants_are_seen_whatever_their_number() -> None:
    for n in (4, 10, 11, 32):
        assert digest(lambda x, n=n: x[:n] + W[0, :n], X) == digest(lambda y, n=n: y[:n] + W[0, :n], X) != ""
        moved = W[0].copy()
        moved[n - 1] = np.nextafter(moved[n - 1], np.float32(9))
        assert digest(lambda x, n=n, w=moved: x[:n] + w[:n], X) != digest(lambda x, n=n: x[:n] + W[0, :n], X)


def test_donation_is_part_of_the_program() -> None:
    assert digest(lambda x: x + 1, X, donate_argnums=0) != digest(lambda x: x + 1, X)


def test_a_text_that_leaves_constants_out_has_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hlo, "_MOST_BYTES", 100)
    assert "constant({...})" in text(lambda x: x @ W, ROWS)
    assert digest(lambda x: x @ W, ROWS) == ""
    assert digest(lambda x: x * 2, X) != ""
    assert program_digest("") == ""


def test_what_is_not_jaxs_own_has_the_text_that_it_gives() -> None:
    class Compiled:
        def as_text(self) -> str | None:
            return None

    assert optimised_text(Compiled()) == ""


def test_a_text_of_unknown_form_equals_only_itself() -> None:
    for one, other in (("something new 1", "something new 2"), ("HloModule a, b\n1", "HloModule a, b\n2")):
        assert program_digest(one) == program_digest(one) != program_digest(other)
    known = text(lambda x: x + 1, X)
    assert program_digest(known.replace("}", "  something new\n}")) != program_digest(known)


def rich(x: Any, y: Any) -> Any:
    """Fusions, loops, branches, reductions, library calls, scatters and constants."""
    z = jax.lax.while_loop(lambda s: s[1] < 5, lambda s: (jnp.sin(s[0] @ y), s[1] + 1), (x, 0))[0]
    z = jax.lax.cond(z[0, 0] > 0.25, lambda: z - y, lambda: jnp.cumsum(y, axis=0))
    low = jnp.linalg.cholesky(z @ z.T + 3.0 * jnp.eye(4))
    top = jax.lax.sort(low, dimension=0) / jnp.arange(1.0, 17.0).reshape(4, 4)
    return {"a": top.at[1].add(z[2]).max(axis=1), "b": jnp.where(z > y, z, low), "c": x - z}


def test_each_word_of_the_text_counts_but_names() -> None:
    whole = text(rich, jnp.ones((4, 4)), jnp.eye(4))
    expected = program_digest(whole)
    assert program_digest(re.sub(r"%(\w)", r"%renamed_\1", whole)) == expected
    lines = whole.splitlines()
    tried = 0
    for n, line in enumerate(lines):
        name, equals, rest = line.partition(" = ")
        if not equals or " parameter(" in rest:
            continue  # what a body takes has the type of what it is given
        for word in re.finditer(r"(?<![%\w.\-])(?!%)[\w.]+", rest):
            if rest[: word.start()].endswith("index="):
                continue  # a comment
            changed = rest[: word.start()] + word[0] + "9" + rest[word.end() :]
            tried += 1
            assert program_digest("\n".join([*lines[:n], f"{name} = {changed}", *lines[n + 1 :]])) != expected, line
    assert tried > 500


def test_each_operand_counts() -> None:
    whole = text(rich, jnp.ones((4, 4)), jnp.eye(4))
    expected = program_digest(whole)
    tried = 0
    for match in re.finditer(r" (?P<opcode>\w[\w\-]*)\((?P<one>%[\w.\-]+), (?P<other>%[\w.\-]+)(?P<rest>.*)", whole):
        opcode, one, other, rest = match.groups()
        # The order says nothing; of a fusion it is the body that says which is which.
        if opcode in ("add", "multiply", "maximum", "and", "or", "xor", "fusion") or "direction=EQ" in rest:
            continue
        if one != other:
            tried += 1
            turned = f" {opcode}({other}, {one}{rest}"
            assert program_digest(whole[: match.start()] + turned + whole[match.end() :]) != expected, match[0]
    assert tried > 10


def test_operands_of_a_fusion_count_by_what_its_body_does_with_them() -> None:
    def fused(a: Any, b: Any) -> Any:
        return jnp.sin(a) - jnp.cos(b)

    whole = text(fused, X, X)
    assert re.search(r"fusion\(%[\w.]+, %[\w.]+\)", whole)
    body = re.sub(r"(param_\S+ = \S+ )parameter\((\d)\)", lambda m: f"{m[1]}parameter({1 - int(m[2])})", whole)
    entry = re.sub(r"fusion\((%[\w.]+), (%[\w.]+)\)", r"fusion(\2, \1)", body)
    assert program_digest(body) != program_digest(whole) == program_digest(entry)


def test_waiting_for_another_instruction_counts() -> None:
    whole = text(lambda x: (jnp.sin(x), x @ x), X)
    first, second = re.findall(r"^  %([\w.]+) = .*(?:fusion|dot)\(", whole.partition("ENTRY")[2], re.MULTILINE)[:2]
    waits = re.sub(rf"(%{re.escape(second)} = .*)", rf"\1, control-predecessors={{%{first}}}", whole)
    assert program_digest(waits) != program_digest(whole)


def test_channels_are_names() -> None:
    whole = text(lambda x: x.sum(), X)
    reduce = whole.replace(", dimensions=", ", channel_id=1, dimensions=")
    assert program_digest(reduce) != program_digest(whole)
    assert program_digest(reduce) == program_digest(reduce.replace("channel_id=1", "channel_id=2"))
