"""What decides the compiled code of a program, and nothing else, as one digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax import export

from .stablehlo import canonical_module

FINGERPRINT_VERSION = 2
"""Part of every fingerprint, and stored beside it. Raise it when anything that goes into a fingerprint changes."""


def identity(
    exported: export.Exported, lowering: jax.stages.Lowered, donated: tuple[int, ...], options: Mapping[str, str]
) -> str:
    """Fingerprint of an exported program: equal for whatever gives the same compiled code.

    Args:
        exported: The program over flat leaves.
        lowering: Its lowering, from ``lowered``.
        donated: Which leaves it may overwrite.
        options: ``compiler_options``; neither the text nor the export holds them.
    """
    parts = (
        FINGERPRINT_VERSION,
        exported.platforms,
        exported.nr_devices,
        donated,
        sorted(options.items()),
        canonical_module(lowering.compiler_ir("stablehlo")),
    )
    return f"sha256:{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def lowered(
    exported: export.Exported,
    leaves: Sequence[Any],
    order: Sequence[int],
    results: Sequence[int],
    donated: tuple[int, ...],
) -> jax.stages.Lowered:
    """A fresh lowering: nothing compiled before is found again.

    Args:
        exported: The program over flat leaves.
        leaves: Arguments of a call; those that the program does not read are handed over all the same.
        order: Which of them goes into each input of the program.
        results: Which of its results is given back in each place.
        donated: Which leaves it may overwrite; the export does not hold it.
    """
    # A new callable each time: jit finds earlier traces by the function it wraps.
    call: Any = exported.call

    def program(*values: Any) -> Any:
        found = call(*(values[n] for n in order))
        return [found[n] for n in results]

    return jax.jit(program, donate_argnums=donated, keep_unused=True).lower(*leaves)
