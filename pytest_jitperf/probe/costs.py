"""The exact metrics of one compiled program, as far as the backend gives them."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from .optimised import operation_counts
from .refusals import one_line


def program_costs(compiled: Any, stablehlo: str) -> tuple[dict[str, float], dict[str, str]]:
    """Reads the exact metrics of a compiled program.

    Args:
        compiled: ``jax.stages.Compiled``.
        stablehlo: Text of the lowering, which alone holds the captured constants.

    Returns:
        Metrics the backend gave, and for each one it did not the reason.
    """
    exact: dict[str, float] = {}
    missing: dict[str, str] = {}
    exact["stablehlo_ops"] = sum(1 for line in stablehlo.splitlines() if re.search(r"= \"?(stablehlo|chlo)\.", line))
    exact["constant_bytes"] = sum(constant_sizes(stablehlo).elements())
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
        exact["fusions"] = operations["fusion"]
        exact["custom_calls"] = operations["custom-call"]
    return exact, missing


def constant_sizes(stablehlo: str) -> Counter[int]:
    """Bytes of each literal that is stored in the program element by element (a splat is one element).

    Returns:
        Sizes in bytes with how often each occurs; scalars and splats are left out, for nothing was captured.
    """
    sizes: Counter[int] = Counter()
    pattern = r"stablehlo\.constant dense(?:_resource)?<[\"\[_].*?> : tensor<(?P<shape>(?:\d+x)+)(?P<dtype>[^>]*)>"
    for match in re.finditer(pattern, stablehlo):
        elements = math.prod(int(dimension) for dimension in match["shape"].split("x")[:-1])
        sizes[-(-elements * _bits(match["dtype"]) // 8)] += 1
    return sizes


def _bits(dtype: str) -> int:
    if dtype.startswith("complex<"):
        return 2 * _bits(dtype[8:])
    digits = re.search(r"\d+", dtype)
    bits = int(digits[0]) if digits else 32
    return 8 if bits == 1 else bits
