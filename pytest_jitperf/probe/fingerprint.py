"""What decides the compiled code of a program, and nothing else, as one digest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax import export

# Part of every fingerprint: raise it when the normalisation below changes.
_FINGERPRINT_VERSION = 1


def identity(
    exported: export.Exported, leaves: Sequence[Any], donated: tuple[int, ...], options: Mapping[str, str]
) -> tuple[str, str]:
    """Text and fingerprint of an exported program: equal for whatever gives the same compiled code.

    Args:
        exported: The program over flat leaves.
        leaves: Its arguments.
        donated: Which of them it may overwrite; the export does not hold it.
        options: ``compiler_options``; neither the text nor the export holds them.
    """
    abstract = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in exported.in_avals]
    text = lowered(exported, leaves if exported.nr_devices > 1 else abstract, donated).as_text()
    parts = (
        _FINGERPRINT_VERSION,
        exported.platforms,
        exported.nr_devices,
        # Weak types do not survive serialisation.
        tuple((str(aval.dtype), tuple(aval.shape)) for aval in exported.in_avals),
        donated,
        sorted(options.items()),
        normalized(text),
    )
    return text, f"sha256:{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def normalized(stablehlo: str) -> str:
    """The text without what a harmless edit changes: module name, result names and names of its own functions.

    Only symbols defined by ``func.func`` are renumbered (in order of definition), since merging every ``@symbol``
    would make different custom-call targets equal.
    """
    text = re.sub(r"module @[\w.$\-]+", "module", stablehlo, count=1)
    text = re.sub(r'jax\.result_info = "[^"]*",? ?', "", text).replace(" {}", "")
    names = re.findall(r"func\.func (?:\w+ )*@([\w.$\-]+|\"[^\"]+\")", text)
    numbers = {name: f"@f{n}" for n, name in enumerate(names)}
    return re.sub(r"@([\w.$\-]+|\"[^\"]+\")", lambda match: numbers.get(match[1], match[0]), text)


def lowered(exported: export.Exported, leaves: Sequence[Any], donated: tuple[int, ...]) -> jax.stages.Lowered:
    """A fresh lowering: nothing compiled before is found again."""
    # A new callable each time: jit finds earlier traces by the function it wraps.
    call: Any = exported.call

    def program(*values: Any) -> Any:
        return call(*values)

    return jax.jit(program, donate_argnums=donated).lower(*leaves)
