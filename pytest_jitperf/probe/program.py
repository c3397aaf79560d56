"""One program: exported over flat leaves, fingerprinted, and built again from its bytes.

Both sides of a comparison are made the same way, through ``jax.export``, so that unchanged code gives the same
executable. Arguments and results are flattened to leaves, which keeps pytree types and names out of the program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax
from jax import export

from pytest_jitperf.errors import MeasurementError

from . import clock
from .fingerprint import identity, lowered
from .inputs import short_aval
from .refusals import one_line, why_not_exported


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatProgram:
    """A program over flat leaves that can be compiled any number of times.

    Attributes:
        exported: The export, taking and giving plain leaves.
        leaves: The arguments, one value per input of ``exported``.
        inputs: Their stored text, ``"x: f32[8]; …"``.
        donated: Which leaves the program may overwrite.
        options: ``compiler_options`` of the user's jit.
        raw: The bytes that ``replayed`` builds it from.
        text: StableHLO of the exported lowering.
        fingerprint: ``"sha256:…"`` of what decides the compiled code.
    """

    exported: export.Exported
    leaves: tuple[Any, ...]
    inputs: str
    donated: tuple[int, ...]
    options: Mapping[str, str]
    raw: bytes = field(repr=False)
    text: str = field(repr=False)
    fingerprint: str

    def lower(self) -> jax.stages.Lowered:
        """A fresh lowering: nothing compiled before is found again."""
        return lowered(self.exported, self.leaves, self.donated)

    def compile(self) -> tuple[jax.stages.Compiled, float]:
        """Compiles anew.

        Returns:
            The executable, and the process CPU seconds that XLA took.
        """
        lowered = self.lower()
        start = clock.process_time_ns()
        compiled = lowered.compile(compiler_options=dict(self.options) or None)
        return compiled, (clock.process_time_ns() - start) / 1e9


def exported_program(
    jitted: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    *,
    inputs: str,
    donated: tuple[int, ...],
    options: Mapping[str, str],
) -> FlatProgram:
    """Exports a jitted function for one set of arguments.

    Args:
        jitted: What ``jax.jit`` returned.
        args: Positional arguments, static ones included.
        kwargs: Keyword arguments.
        leaves: The leaves that are not static, in the program's order.
        inputs: Text of the leaves for the baseline.
        donated: Positions among ``leaves`` that the program may overwrite.
        options: ``compiler_options`` of the jit.

    Raises:
        MeasurementError: The program cannot be exported (Python callbacks, custom calls that JAX does not keep
            stable); the message is one sentence.
    """
    abstract_args, abstract_kwargs = _uncommitted((tuple(args), dict(kwargs)))
    try:
        with _no_source_locations():
            made = export.export(jitted, platforms=[_platform(leaves)])(*abstract_args, **abstract_kwargs)
            if len(made.in_avals) != len(leaves):
                raise MeasurementError(
                    f"its {len(made.in_avals)} inputs could not be matched with {len(leaves)} argument leaves"
                )
            flat = _flat(made)
            raw = bytes(flat.serialize())  # callbacks are refused only here
    except MeasurementError:
        raise
    except Exception as error:
        raise MeasurementError(why_not_exported(error)) from error
    text, fingerprint = identity(flat, leaves, donated, options)
    return FlatProgram(
        exported=flat,
        leaves=tuple(leaves),
        inputs=inputs,
        donated=donated,
        options=dict(options),
        raw=raw,
        text=text,
        fingerprint=fingerprint,
    )


def replayed(
    raw: bytes,
    leaves: Sequence[Any],
    *,
    inputs: str,
    donated: tuple[int, ...],
    options: Mapping[str, str],
) -> FlatProgram:
    """Builds a stored program again for today's leaves, already in the stored order.

    Raises:
        MeasurementError: The bytes cannot be read by this jax, or are for another platform, device count or signature.
    """
    try:
        made = export.deserialize(bytearray(raw))
    except Exception as error:
        raise MeasurementError(f"the stored program cannot be read by jax {jax.__version__}: {one_line(error)}") from (
            error
        )
    platform = _platform(leaves)
    if platform not in made.platforms:
        raise MeasurementError(f"the stored program is for {', '.join(made.platforms)}, not for {platform}")
    count = max((len(leaf.sharding.device_set) for leaf in leaves if isinstance(leaf, jax.Array)), default=1)
    if made.nr_devices != count:
        raise MeasurementError(f"the stored program is for {made.nr_devices} devices, not for {count}")
    if len(made.in_avals) != len(leaves):
        raise MeasurementError(f"the stored program takes {len(made.in_avals)} leaves, not {len(leaves)}")
    for aval, leaf in zip(made.in_avals, leaves, strict=True):
        wanted, given = (short_aval(jax.ShapeDtypeStruct(each.shape, each.dtype)) for each in (aval, _aval(leaf)))
        if wanted != given:
            raise MeasurementError(f"the stored program takes {wanted}, not {given}")
    try:
        text, fingerprint = identity(made, leaves, donated, options)
    except Exception as error:
        raise MeasurementError(f"the stored program cannot be lowered: {one_line(error)}") from error
    return FlatProgram(
        exported=made,
        leaves=tuple(leaves),
        inputs=inputs,
        donated=donated,
        options=dict(options),
        raw=raw,
        text=text,
        fingerprint=fingerprint,
    )


def _flat(made: export.Exported) -> export.Exported:
    inputs, outputs = len(made.in_avals), len(made.out_avals)
    return dataclasses.replace(
        made,
        in_tree=jax.tree.structure(((0,) * inputs, {})),
        out_tree=jax.tree.structure([0] * outputs),
        fun_name="program",
    )


@contextmanager
def _no_source_locations() -> Iterator[None]:
    """Keeps source paths out of exported programs."""
    before = jax.config.jax_traceback_in_locations_limit  # type: ignore[attr-defined]  # made at run time
    jax.config.update("jax_traceback_in_locations_limit", 0)
    try:
        yield
    finally:
        jax.config.update("jax_traceback_in_locations_limit", before)


def _uncommitted(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of which those on one device are abstract.

    Whether an array is committed to its device shows in the text of a program, and says nothing about it.
    """

    def abstract(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or len(leaf.sharding.device_set) > 1:
            return leaf
        weak = bool(getattr(leaf, "weak_type", False))  # key arrays do not have it
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=weak)

    def argument(value: Any) -> Any:
        # Static arguments hold no arrays, and must stay the objects that they are.
        has_arrays = any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(value))
        return jax.tree.map(abstract, value) if has_arrays else value

    args, kwargs = arguments
    return tuple(map(argument, args)), {name: argument(value) for name, value in kwargs.items()}


def _aval(leaf: Any) -> Any:
    return leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.typeof(leaf)


def _platform(leaves: Sequence[Any]) -> str:
    """Where a program with these leaves runs, as exports name it: ``cuda`` or ``rocm`` where a device says ``gpu``."""
    devices = (device for leaf in leaves if isinstance(leaf, jax.Array) for device in leaf.sharding.device_set)
    default: Any = jax.config.jax_default_device  # type: ignore[attr-defined]  # made at run time
    device: Any = next(devices, default)
    platform = getattr(device, "platform", "gpu")
    return export.default_export_platform() if platform == "gpu" else str(platform)
