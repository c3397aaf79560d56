"""Any traceable callable as one ``jax.jit`` over its array leaves, where the callable is not ``jax.jit``'s own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from .inputs import Call, NamedLeaf, has_aval, is_array, named_leaves


@dataclass(frozen=True, slots=True)
class FlatJit:
    """A jit over array leaves.

    Attributes:
        jitted: What ``jax.jit`` returned; takes the array leaves, gives the array leaves of the result.
        leaves: The array leaves of the call.
        named: All leaves of the call with their names.
    """

    jitted: Any
    leaves: tuple[Any, ...]
    named: tuple[NamedLeaf, ...]

    @property
    def arrays(self) -> list[NamedLeaf]:
        """The array leaves with their names."""
        return [leaf for leaf in self.named if is_array(leaf.leaf)]


def over_arrays(call: Callable[..., Any], function: Callable[..., Any], inputs: Call) -> FlatJit:
    """Splits the arguments into arrays, which are traced, and everything else, which is kept as it is.

    Args:
        call: The callable to trace, for example what ``equinox.filter_jit`` returned.
        function: The Python function beneath, for names.
        inputs: Its arguments.
    """
    leaves, structure = jax.tree.flatten((inputs.args, dict(inputs.kwargs)))
    where = tuple(n for n, leaf in enumerate(leaves) if is_array(leaf))
    rest = [None if n in set(where) else leaf for n, leaf in enumerate(leaves)]

    def program(*arrays: Any) -> list[Any]:
        filled = list(rest)
        for place, array in zip(where, arrays, strict=True):
            filled[place] = array
        args, kwargs = jax.tree.unflatten(structure, filled)
        result = call(*args, **kwargs)
        return [leaf for leaf in jax.tree.leaves(result) if has_aval(leaf)]

    return FlatJit(jax.jit(program), tuple(leaves[n] for n in where), named_leaves(function, inputs))
