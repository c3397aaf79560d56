"""One entry of ``inner=``: which function is jitted, and how."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["InnerTarget", "short_names"]


@dataclass(frozen=True, slots=True)
class InnerTarget:
    """A function to be jitted by the strategies ``inner`` and ``both``.

    Attributes:
        target: The function, or its dotted name ``"pkg.mod.helper"`` or ``"pkg.mod.Class.method"``.
        options: Options for ``jax.jit``, another transform to use instead, or None.
    """

    target: str | Callable[..., Any]
    options: Mapping[str, Any] | Callable[..., Any] | None = None

    @property
    def dotted(self) -> str:
        """Its name with that of its module."""
        if isinstance(self.target, str):
            return self.target
        module, name = (getattr(self.target, each, "") for each in ("__module__", "__qualname__"))
        if name == "<lambda>":
            # The name that its module has for it stays when helpers change places.
            names = vars(sys.modules.get(module, object)).items()
            name = next((each for each, value in names if value is self.target), name)
        return f"{module}.{name or type(self.target).__name__}".replace("<locals>.", "").replace("<lambda>", "lambda")


def short_names(targets: Sequence[InnerTarget]) -> dict[str, InnerTarget]:
    """Each helper by the last part of its name, or by as many more as it takes to tell it from the others.

    Example:
        ``model.attend`` and ``model.norm`` are ``attend`` and ``norm``; with ``other.norm`` beside them, the two are
        ``model.norm`` and ``other.norm``. Of two lambdas without a name the second one is ``lambda-2``.
    """
    parts = [each.dotted.split(".") for each in targets]
    found: dict[str, InnerTarget] = {}
    for own, target in zip(parts, targets, strict=True):
        length = next(
            (n for n in range(1, len(own)) if sum(other[-n:] == own[-n:] for other in parts) == 1),
            len(own),
        )
        name = ".".join(own[-length:])
        repeated = sum(other.partition("-")[0] == name for other in found)
        found[f"{name}-{repeated + 1}" if repeated else name] = target
    return found
