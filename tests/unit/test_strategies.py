"""Names of strategies, and what is known of them before anything is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_jitperf.errors import SpecError
from pytest_jitperf.inner import InnerTarget, short_names
from pytest_jitperf.strategies import (
    BUILTIN,
    Strategy,
    Traits,
    default_strategies,
    is_asked_for,
    is_builtin,
    kind_of,
    name_of,
    one_helper,
    traits,
)


def same(function: Callable[..., Any]) -> Callable[..., Any]:
    """A strategy that adds nothing."""
    return function


def test_what_the_built_in_strategies_do() -> None:
    assert {name: traits(name) for name in BUILTIN} == {
        "eager": Traits(jits_outer=False, swaps_inner=False),
        "outer": Traits(jits_outer=True, swaps_inner=False),
        "inner": Traits(jits_outer=False, swaps_inner=True),
        "both": Traits(jits_outer=True, swaps_inner=True),
    }
    assert [name for name in BUILTIN if traits(name).one_program] == ["outer", "both"]


def test_nothing_is_assumed_of_a_strategy_of_the_users() -> None:
    assert traits(Strategy("remat", same)) == Traits(jits_outer=False, swaps_inner=False)
    assert not traits(Strategy("remat", same)).one_program


def test_inner_of_one_helper_is_inner() -> None:
    assert traits("inner:attend") == traits("inner")
    assert [one_helper(each) for each in ("inner:attend", "inner", Strategy("x", same))] == ["attend", "", ""]
    assert [kind_of(each) for each in ("inner:model.attend", "inner", "remat")] == ["inner", "inner", "remat"]
    assert [is_builtin(each) for each in ("inner:attend", "both", "remat")] == [True, True, False]


def test_inner_each_asks_for_all_of_its_kind() -> None:
    names = ("eager", "inner", "inner:attend", "inner:norm")
    assert [each for each in names if is_asked_for(each, ["inner:each"])] == ["inner:attend", "inner:norm"]
    assert [each for each in names if is_asked_for(each, ["inner", "inner:norm"])] == ["inner", "inner:norm"]


def helper(x: int) -> int:
    return x


def test_helpers_have_the_shortest_names_that_tell_them_apart() -> None:
    targets = [InnerTarget(each) for each in ("model.attend", "model.norm", "other.norm", "a.b.C.f", "a.d.C.f", helper)]
    names = dict(zip(short_names(targets), targets, strict=True))
    assert names == short_names(targets)
    assert list(names) == ["attend", "model.norm", "other.norm", "b.C.f", "d.C.f", "helper"]


def test_all_four_where_inner_functions_are_named() -> None:
    assert default_strategies(False) == ("eager", "outer")
    assert default_strategies(True) == ("eager", "outer", "inner", "both")


@pytest.mark.parametrize("name", ["remat", "filter_jit", "_x", "A-1.2", "eager2"])
def test_name_is_kept(name: str) -> None:
    assert name_of(Strategy(name, same)) == name
    assert name_of("outer") == "outer"


RULE = "a name is ASCII letters, digits, '_', '-' and '.', and begins with a letter or '_', such as \"filter_jit\""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", f'Strategy("", ...): {RULE}'),
        ("a b", f'Strategy("a b", ...): {RULE}'),
        ("1st", f'Strategy("1st", ...): {RULE}'),
        ("-k", f'Strategy("-k", ...): {RULE}'),
        ("a::b", f'Strategy("a::b", ...): {RULE}'),
        ("jit\n", f'Strategy("jit\\n", ...): {RULE}'),
        ("h\u00e4lfte", f'Strategy("h\u00e4lfte", ...): {RULE}'),
        (3, f"Strategy(3, ...): {RULE}"),
        (
            "outer",
            'Strategy("outer", ...): eager, outer, inner and both are built in; '
            "give yours another name, such as my_outer",
        ),
        ("run", 'Strategy("run", ...): run is a metric; give the strategy another name, such as run_jit'),
        (
            "invalid",
            'Strategy("invalid", ...): this id marks a test whose marker is wrong; give the strategy another name',
        ),
    ],
)
def test_name_that_cannot_be_used_is_refused(name: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        Strategy(name, same)

    assert str(caught.value) == message


def test_build_must_be_callable() -> None:
    build: Any = "jax.jit"

    with pytest.raises(SpecError, match=r'Strategy\("x", \.\.\.\): build="jax\.jit" cannot be called; give a function'):
        Strategy("x", build)


def test_shown_without_the_address_of_its_function() -> None:
    assert repr(Strategy("remat", same)) == "Strategy(name='remat')"
