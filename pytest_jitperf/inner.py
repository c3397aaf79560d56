"""One entry of ``inner=``: which function is jitted, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["InnerTarget"]


@dataclass(frozen=True, slots=True)
class InnerTarget:
    """A function to be jitted by the strategies ``inner`` and ``both``.

    Attributes:
        target: The function, or its dotted name ``"pkg.mod.helper"`` or ``"pkg.mod.Class.method"``.
        options: Options for ``jax.jit``, another transform to use instead, or None.
    """

    target: str | Callable[..., Any]
    options: Mapping[str, Any] | Callable[..., Any] | None = None
