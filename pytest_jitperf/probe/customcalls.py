"""Custom calls of a stored program: only those are run that today's JAX promises to keep.

JAX checks them where it exports and not where it reads. A stored program may hold others all the same: the check can be
switched off, and what one version promises another need not. What such a call does today, or whether there is anything
left to call, nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import export

from .refusals import why_not_exported

__all__ = ["why_unstable"]


def why_unstable(made: export.Exported, arguments: Sequence[Any], platform: str) -> str:
    """Says that a program holds a custom call that JAX does not promise to keep; empty where it holds none.

    Args:
        made: The program; it is lowered once more, and neither compiled nor run.
        arguments: For its inputs, abstract ones will do.
        platform: As exports name it.
    """
    # A new callable each time: jit finds earlier traces by the function it wraps.
    call: Any = made.call
    try:
        export.export(jax.jit(lambda *values: call(*values)), platforms=[platform])(*arguments)
    except Exception as error:
        # What else JAX has against it does not keep it from being compiled.
        said = why_not_exported(error)
        return said if "custom call" in said else ""
    return ""
