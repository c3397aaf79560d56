"""One program: exported over flat leaves, fingerprinted, and built again from its bytes.

Both sides of a comparison are made the same way, through ``jax.export``, so that unchanged code gives the same
executable. Arguments and results are flattened to leaves, which keeps pytree types and names out of the program, and
leaves that it does not read are no part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import export

from pytest_jitperf.errors import MeasurementError

from . import clock
from .fingerprint import identity, lowered
from .inputs import device_count
from .refusals import why_not_exported

__all__ = ["FlatProgram", "arguments_of", "aval_of", "exported_program", "identified", "platform_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatProgram:
    """A program over flat leaves that can be compiled any number of times.

    Attributes:
        exported: The export, taking and giving plain leaves.
        leaves: The arguments of a call.
        order: Which of them goes into each input of ``exported``.
        results: Which result of ``exported`` is given back in each place.
        inputs: Stored text of the leaves, ``"x: f32[8]; …"``, unread ones too.
        unused: Positions in ``inputs`` of those that are not read, and are no inputs of ``exported``.
        unread: Their values where it is today's program, else none.
        donated: Which leaves the program may overwrite.
        options: ``compiler_options`` of the user's jit.
        raw: The bytes that it can be built from again.
        text: StableHLO of the exported lowering.
        fingerprint: ``"sha256:…"`` of what decides the compiled code.
    """

    exported: export.Exported
    leaves: tuple[Any, ...]
    order: tuple[int, ...]
    results: tuple[int, ...]
    inputs: str
    unused: tuple[int, ...] = ()
    unread: tuple[Any, ...] = ()
    donated: tuple[int, ...]
    options: Mapping[str, str]
    raw: bytes = field(repr=False)
    text: str = field(repr=False)
    fingerprint: str

    @property
    def given(self) -> tuple[Any, ...]:
        """All leaves of today's call, unread ones too, as ``inputs`` has them."""
        unread, read = dict(zip(self.unused, self.unread, strict=True)), iter(self.leaves)
        return tuple(unread[n] if n in unread else next(read) for n in range(len(unread) + len(self.leaves)))

    def lower(self) -> jax.stages.Lowered:
        """A fresh lowering: nothing compiled before is found again."""
        return lowered(self.exported, self.leaves, self.order, self.results, self.donated)

    def rearranged(self, leaves: Sequence[int], results: Sequence[int]) -> FlatProgram:
        """The same with its leaves and its results in another order, each given as a permutation of the present one."""
        places = {leaf: place for place, leaf in enumerate(leaves)}
        changed = replace(
            self,
            leaves=tuple(self.leaves[n] for n in leaves),
            order=tuple(places[n] for n in self.order),
            donated=tuple(sorted(places[n] for n in self.donated)),
            results=tuple(self.results[n] for n in results),
        )
        return identified(changed)

    def with_leaves(self, count: int) -> FlatProgram:
        """The same with so many leaves in each call, those that are added empty and unread.

        What it costs to hand over a leaf depends neither on its size nor on whether it is read.
        """
        return replace(self, leaves=(*self.leaves, *[jnp.zeros(0)] * (count - len(self.leaves))))

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
            made = export.export(jitted, platforms=[platform_of(leaves)])(*abstract_args, **abstract_kwargs)
            if len(made.in_avals) != len(leaves):
                raise MeasurementError(
                    f"its {len(made.in_avals)} inputs could not be matched with {len(leaves)} argument leaves"
                )
            holding = max(map(device_count, leaves), default=1)
            if made.nr_devices != holding:
                raise MeasurementError(
                    f"it runs on {made.nr_devices} devices and its inputs are on {holding}: put them where it takes "
                    "them, with jax.device_put, before they are measured"
                )
            read = made.module_kept_var_idx
            unused = tuple(n for n in range(len(leaves)) if n not in set(read))
            flat = _flat(made)
            program = FlatProgram(
                exported=flat,
                leaves=tuple(leaves[n] for n in read),
                order=tuple(range(len(read))),
                results=tuple(range(len(flat.out_avals))),
                inputs=inputs,
                unused=unused,
                unread=tuple(leaves[n] for n in unused),
                donated=tuple(n for n, leaf in enumerate(read) if leaf in donated),
                options=dict(options),
                raw=bytes(flat.serialize()),  # callbacks are refused only here
                text="",
                fingerprint="",
            )
            return identified(program)
    except MeasurementError:
        raise
    except Exception as error:
        raise MeasurementError(why_not_exported(error)) from error


def identified(program: FlatProgram) -> FlatProgram:
    """The program with its text and fingerprint."""
    leaves = arguments_of(program)
    lowering = lowered(program.exported, leaves, program.order, program.results, program.donated)
    fingerprint = identity(program.exported, lowering, program.donated, program.options)
    return replace(program, text=lowering.as_text(), fingerprint=fingerprint)


def arguments_of(program: FlatProgram) -> tuple[Any, ...]:
    """Its leaves, abstract where it is for one device."""
    leaves = program.leaves
    if program.exported.nr_devices != 1:
        return leaves
    # Where an argument is, and whether it was put there, says nothing about the program.
    read = dict(zip(program.order, program.exported.in_avals, strict=True))
    avals = [read[n] if n in read else aval_of(leaf) for n, leaf in enumerate(leaves)]
    return tuple(jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals)


def _flat(made: export.Exported) -> export.Exported:
    """The export over plain leaves, without those that it does not read."""
    inputs, read = len(made.in_avals), made.module_kept_var_idx
    of_inputs: dict[str, Any] = {
        each.name: tuple(getattr(made, each.name)[n] for n in read)
        for each in dataclasses.fields(made)
        if each.name in ("in_avals", "in_shardings_hlo", "_in_named_shardings")
    }
    assert all(len(getattr(made, name)) == inputs for name in of_inputs)
    return dataclasses.replace(
        made,
        **of_inputs,
        module_kept_var_idx=tuple(range(len(read))),
        in_tree=jax.tree.structure(((0,) * len(read), {})),
        out_tree=jax.tree.structure([0] * len(made.out_avals)),
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


def aval_of(leaf: Any) -> Any:
    """Its shape and dtype, as what JAX traces."""
    return leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.typeof(leaf)


def platform_of(leaves: Sequence[Any]) -> str:
    """Where a program with these leaves runs, as exports name it: ``cuda`` or ``rocm`` where a device says ``gpu``."""
    devices = (device for leaf in leaves if isinstance(leaf, jax.Array) for device in leaf.sharding.device_set)
    default: Any = jax.config.jax_default_device  # type: ignore[attr-defined]  # made at run time
    device: Any = next(devices, default)
    platform = getattr(device, "platform", "gpu")
    return export.default_export_platform() if platform == "gpu" else str(platform)
