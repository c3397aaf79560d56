"""A stored program: read, held against today's leaves, and made ready to be compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax import export

from pytest_jitperf.errors import MeasurementError

from .customcalls import why_unstable
from .inputs import device_count, short_aval
from .program import FlatProgram, arguments_of, aval_of, identified, platform_of
from .refusals import one_line

__all__ = ["loaded", "replayed"]


def loaded(raw: bytes, leaves: Sequence[Any]) -> export.Exported:
    """Reads a stored program.

    Args:
        raw: Its bytes.
        leaves: Those of today's call, for the platform and the number of devices.

    Raises:
        MeasurementError: The bytes cannot be read by this jax, or are of another format, platform or device count.
    """
    try:
        made = export.deserialize(bytearray(raw))
    except Exception as error:
        raise MeasurementError(f"the stored program cannot be read by jax {jax.__version__}: {one_line(error)}") from (
            error
        )
    least, most = (
        export.minimum_supported_calling_convention_version,
        export.maximum_supported_calling_convention_version,
    )
    if not least <= made.calling_convention_version <= most:
        seen = f"is of format version {made.calling_convention_version}"
        raise MeasurementError(f"the stored program {seen}, and jax {jax.__version__} takes {least} to {most}")
    platform = platform_of(leaves)
    if platform not in made.platforms:
        raise MeasurementError(f"the stored program is for {', '.join(made.platforms)}, not for {platform}")
    count = max(map(device_count, leaves), default=1)
    if made.nr_devices != count:
        raise MeasurementError(f"the stored program is for {made.nr_devices} devices, not for {count}")
    return made


def replayed(
    made: export.Exported,
    leaves: Sequence[Any],
    *,
    raw: bytes,
    inputs: str,
    unused: tuple[int, ...] = (),
    donated: tuple[int, ...],
    options: Mapping[str, str],
) -> FlatProgram:
    """Makes a program of a stored one for today's leaves.

    Args:
        made: The stored program.
        leaves: Today's value for each of its inputs.
        raw: Its bytes.
        inputs: Its stored text.
        unused: Positions in ``inputs`` that it does not read.
        donated: Which of its inputs it may overwrite.
        options: Its compiler options.

    Raises:
        MeasurementError: Its inputs are of other shapes or dtypes, it holds custom calls that nobody promises to keep,
            or it cannot be lowered here.
    """
    if len(made.in_avals) != len(leaves):
        raise MeasurementError(f"the stored program takes {len(made.in_avals)} leaves, not {len(leaves)}")
    for aval, leaf in zip(made.in_avals, leaves, strict=True):
        wanted, given = (short_aval(jax.ShapeDtypeStruct(each.shape, each.dtype)) for each in (aval, aval_of(leaf)))
        if wanted != given:
            raise MeasurementError(f"the stored program takes {wanted}, not {given}")
    program = FlatProgram(
        exported=made,
        leaves=tuple(leaves),
        order=tuple(range(len(leaves))),
        results=tuple(range(len(made.out_avals))),
        inputs=inputs,
        unused=unused,
        donated=donated,
        options=dict(options),
        raw=raw,
        text="",
        fingerprint="",
    )
    try:
        program = identified(program)
    except Exception as error:
        raise MeasurementError(f"the stored program cannot be lowered: {one_line(error)}") from error
    if "custom_call" in program.text:
        unstable = why_unstable(made, arguments_of(program), platform_of(leaves))
        if unstable:
            raise MeasurementError(f"the stored program cannot be run: {unstable}")
    return program
