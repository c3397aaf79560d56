"""The exact metrics of one compiled program, as far as the backend gives them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytest_jitperf.measurement import Constant

from .optimised import custom_calls, operation_counts
from .refusals import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What one compiled program costs and consists of.

    Attributes:
        exact: Metrics that the backend gave.
        missing: For each one that it did not, the reason.
        operations: Operations of the optimised program by opcode, custom calls by target; empty where it has no text.
        constants: What the program has captured, the largest first.
    """

    exact: Mapping[str, float]
    missing: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, int] = field(default_factory=dict)
    constants: tuple[Constant, ...] = ()


def program_costs(compiled: Any, stablehlo: str) -> Costs:
    """Reads the exact metrics of a compiled program.

    Args:
        compiled: ``jax.stages.Compiled``.
        stablehlo: Text of the lowering, which alone holds the captured constants.
    """
    exact: dict[str, float] = {}
    missing: dict[str, str] = {}
    operations: dict[str, int] = {}
    constants = captured_constants(stablehlo)
    exact["stablehlo_ops"] = sum(1 for line in stablehlo.splitlines() if re.search(r"= \"?(stablehlo|chlo)\.", line))
    exact["constant_bytes"] = sum(each.bytes * each.count for each in constants)
    try:
        memory = compiled.memory_analysis()
        exact["temp_bytes"] = memory.temp_size_in_bytes
        exact["peak_bytes"] = (
            memory.argument_size_in_bytes
            + memory.output_size_in_bytes
            + memory.temp_size_in_bytes
            - memory.alias_size_in_bytes
            + exact["constant_bytes"]
        )
    except Exception as error:
        missing["peak_bytes"] = missing["temp_bytes"] = f"no memory analysis here ({one_line(error)})"
    try:
        costs = compiled.cost_analysis()
        costs = costs[0] if isinstance(costs, list) else costs
    except Exception as error:
        costs = None
        missing["flops"] = missing["bytes_accessed"] = f"no cost analysis here ({one_line(error)})"
    for name, key in (("flops", "flops"), ("bytes_accessed", "bytes accessed")):
        value = (costs or {}).get(key)
        if value is not None and 0 <= value < float("inf"):
            exact[name] = float(value)
        else:
            missing.setdefault(name, f"the backend gave {value}")
    try:
        hlo = compiled.as_text()
    except Exception as error:
        hlo, reason = None, f"no text here ({one_line(error)})"
    else:
        reason = "no text here"
    if hlo is None:
        missing["hlo_ops"] = missing["fusions"] = missing["custom_calls"] = reason
    else:
        operations = operation_counts(hlo)
        exact["hlo_ops"] = sum(operations.values())
        exact["fusions"] = operations.get("fusion", 0)
        exact["custom_calls"] = custom_calls(operations)
    return Costs(exact=exact, missing=missing, operations=operations, constants=constants)


def unused_donation_bytes(compiled: Any, donated: Iterable[Any]) -> float | None:
    """How much of what is donated to a program no result takes over, on each device.

    Args:
        compiled: ``jax.stages.Compiled``.
        donated: The donated leaves that the program reads.

    Returns:
        None where nothing is donated, or the backend does not say.
    """
    given = sum(map(_bytes_on_a_device, donated))
    try:
        return float(max(0, given - compiled.memory_analysis().alias_size_in_bytes)) if given else None
    except Exception:  # as for ``peak_bytes``, which says why
        return None


def _bytes_on_a_device(leaf: Any) -> int:
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    shape = leaf.sharding.shard_shape(leaf.shape) if isinstance(leaf, jax.Array) else np.shape(leaf)
    return math.prod(shape) * int(jax.dtypes.canonicalize_dtype(jnp.result_type(leaf)).itemsize)


def captured_constants(stablehlo: str) -> tuple[Constant, ...]:
    """The literals that are stored in a program element by element, the largest first.

    Scalars and splats are left out: they are one element, and nothing was captured.
    """
    found: Counter[tuple[str, int]] = Counter()
    pattern = r"stablehlo\.constant dense(?:_resource)?<[\"\[_].*?> : tensor<(?P<shape>(?:\d+x)+)(?P<dtype>[^>]*)>"
    for match in re.finditer(pattern, stablehlo):
        dimensions = match["shape"].split("x")[:-1]
        size = -(-math.prod(map(int, dimensions)) * _bits(match["dtype"]) // 8)
        found[f"{_short(match['dtype'])}[{','.join(dimensions)}]", size] += 1
    ordered = sorted(found.items(), key=lambda item: (-item[0][1] * item[1], item[0]))
    return tuple(Constant(shape=shape, bytes=size, count=count) for (shape, size), count in ordered)


def _short(dtype: str) -> str:
    """A dtype of MLIR as arguments are described: ``ui8`` is ``u8``, ``complex<f32>`` is ``c64``."""
    if dtype.startswith("complex<"):
        return f"c{_bits(dtype)}"
    return "bool" if dtype == "i1" else re.sub("^ui", "u", dtype)


def _bits(dtype: str) -> int:
    if dtype.startswith("complex<"):
        return 2 * _bits(dtype[8:])
    digits = re.search(r"\d+", dtype)
    bits = int(digits[0]) if digits else 32
    return 8 if bits == 1 else bits
