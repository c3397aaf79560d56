"""Whether two programs fit in memory side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import jax

_GIB = 2**30


def memory_missing(exact: Mapping[str, float], device: jax.Device) -> str:
    """A sentence where two programs of this size and their results would not fit; empty where they do.

    Args:
        exact: Metrics of one of them.
        device: Where they are to run.
    """
    need, free = 2 * exact.get("peak_bytes", 0), _free_bytes(device)
    if free is None or need <= free:
        return ""
    return f"a race needs {need / _GIB:.1f} GiB, {free / _GIB:.1f} GiB free"


def _free_bytes(device: jax.Device) -> int | None:
    """What the device's allocator, else the host, has left; None where neither says so."""
    try:
        stats = device.memory_stats()
    except Exception:  # not every backend has them
        stats = None
    if stats and "bytes_limit" in stats:
        return int(stats["bytes_limit"] - stats.get("bytes_in_use", 0))
    if device.platform != "cpu":
        return None
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None
