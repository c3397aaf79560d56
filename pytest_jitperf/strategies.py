"""The strategies: where the jit goes, by name, and the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from pytest_jitperf.errors import SpecError
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.wording import listed, show

__all__ = [
    "BUILTIN",
    "DEFAULT",
    "EACH",
    "INVALID",
    "Strategy",
    "Traits",
    "default_strategies",
    "is_asked_for",
    "is_builtin",
    "is_name",
    "kind_of",
    "name_of",
    "one_helper",
    "traits",
]

BUILTIN = ("eager", "outer", "inner", "both")
"""Strategies that need no ``build``, in the order in which they are shown."""

DEFAULT = ("eager", "outer")
"""What a test without ``strategies=`` and ``inner=`` is tried under."""

INVALID = "invalid"
"""Id of the one item that a test gets whose marker cannot be expanded, so no strategy may be called that."""

EACH = "inner:each"
"""Stands for ``inner:helper`` of each helper: ``inner`` with this one alone jitted."""

_ONE = "inner:"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy of the user's own.

    Example:
        ``strategies=["outer", Strategy("remat", lambda f: jax.jit(jax.checkpoint(f)))]``

    Attributes:
        name: ASCII letters, digits, ``_``, ``-`` and ``.``, not beginning with a digit, ``-`` or ``.``. It stands in
            test ids and baselines, so it must be the same in every run. It is not the name of a built-in strategy or
            of a metric, since ``tolerance=`` may be keyed by either.
        build: Takes the function under test and returns the callable to measure.

    Raises:
        SpecError: The name cannot be used, or ``build`` is not callable.
    """

    name: str
    build: Callable[[Any], Any] = field(repr=False)

    def __post_init__(self) -> None:
        at = f"Strategy({show(self.name)}, ...)"
        if not isinstance(self.name, str) or _NAME.fullmatch(self.name) is None:
            raise SpecError(
                f"{at}: a name is ASCII letters, digits, '_', '-' and '.', and begins with a letter or '_', "
                'such as "filter_jit"'
            )
        if self.name in BUILTIN:
            raise SpecError(f"{at}: {listed(BUILTIN)} are built in; give yours another name, such as my_{self.name}")
        if self.name in METRICS:
            raise SpecError(f"{at}: {self.name} is a metric; give the strategy another name, such as {self.name}_jit")
        if self.name == INVALID:
            raise SpecError(f"{at}: this id marks a test whose marker is wrong; give the strategy another name")
        if not callable(self.build):
            raise SpecError(
                f"{at}: build={show(self.build)} cannot be called; give a function that takes the function under test "
                "and returns the callable to measure"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is known of a strategy before anything is built.

    Attributes:
        jits_outer: The function under test is given to ``jax.jit``.
        swaps_inner: The functions of ``inner=`` are jitted meanwhile.
    """

    jits_outer: bool
    swaps_inner: bool

    @property
    def one_program(self) -> bool:
        """A call starts one compiled program, instead of Python driving from one to the next."""
        return self.jits_outer


_TRAITS = {
    "eager": Traits(jits_outer=False, swaps_inner=False),
    "outer": Traits(jits_outer=True, swaps_inner=False),
    "inner": Traits(jits_outer=False, swaps_inner=True),
    "both": Traits(jits_outer=True, swaps_inner=True),
}


def is_name(word: str) -> bool:
    """Whether a strategy may be called so, as far as the characters go."""
    return _NAME.fullmatch(word.removeprefix(_ONE)) is not None


def one_helper(strategy: str | Strategy) -> str:
    """Of ``inner:attend`` the name of the helper, of every other strategy an empty text."""
    return strategy.removeprefix(_ONE) if isinstance(strategy, str) and strategy.startswith(_ONE) else ""


def kind_of(name: str) -> str:
    """``inner`` for ``inner:attend``, any other name as it is."""
    return "inner" if one_helper(name) else name


def is_builtin(name: str) -> bool:
    """Whether the strategy of this name needs no ``build``."""
    return kind_of(name) in BUILTIN


def is_asked_for(name: str, selected: Collection[str]) -> bool:
    """Whether a strategy is among those selected, ``inner:each`` for all of its kind."""
    return name in selected or (EACH in selected and bool(one_helper(name)))


def name_of(strategy: str | Strategy) -> str:
    """The name of a strategy, which for a built-in one is the strategy itself."""
    return strategy if isinstance(strategy, str) else strategy.name


def traits(strategy: str | Strategy) -> Traits:
    """What is known of a strategy; of a user's own nothing is, until it is built.

    Raises:
        KeyError: A string that names no built-in strategy.
    """
    return _TRAITS[kind_of(strategy)] if isinstance(strategy, str) else Traits(jits_outer=False, swaps_inner=False)


def default_strategies(has_inner: bool) -> tuple[str, ...]:
    """The strategies of a test that names none: all four where ``inner=`` names functions."""
    return BUILTIN if has_inner else DEFAULT
