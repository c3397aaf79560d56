"""What changed between the baseline and today, weightiest first, in words."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.environments import every_difference
from pytest_jitperf.measurement import Comparison, Measurement
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.units import Unit, format_change

__all__ = ["cost_changes", "explain"]

# Operations that move no data and compute nothing.
_BOOKKEEPING = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "copy", "call", "fusion"})
_MOST_OPERATIONS = 4
_SAME = "the program is the same"


def explain(
    measured: Measurement, entry: Entry, comparison: Comparison | None, helpers: Mapping[str, Comparison]
) -> tuple[str, ...]:
    """Says what about the program, the costs and the surroundings is different.

    Args:
        measured: Today's measurement.
        entry: The baseline's entry.
        comparison: The one program against the stored one, or None.
        helpers: The helpers' programs against the stored ones.

    Returns:
        Lines, the program's change first, then counts on the host, then the environment.
    """
    lines: list[str] = []
    if comparison is not None and not comparison.same:
        lines.append(_program_change(measured.exact, comparison, entry.exact))
    for key, each in helpers.items():
        if not each.same and key in measured.helpers:
            name = key.partition("(")[0]
            stored = entry.helpers[key].exact if key in entry.helpers else {}
            lines.append(f"helper {name}: {_program_change(measured.helpers[key].exact, each, stored)}")
    if comparison is not None and comparison.same:
        effects = cost_changes(entry.exact, measured.exact)
        lines.append(f"the program before XLA is the same, but for {', '.join(effects)}" if effects else _SAME)
    host = entry.host.get(measured.environment.host_key, {})
    moved = [
        f"{name} {format_change(host[name], measured.host[name], METRICS[name].unit)}"
        for name in METRICS
        if name in host and name in measured.host and host[name] != measured.host[name]
    ]
    if moved:
        lines.append(f"on the host: {', '.join(moved)}")
    differences = every_difference(entry, measured.environment)
    if differences:
        lines.append(f"the environment changed: {differences}")
    return tuple(dict.fromkeys(lines))


def _program_change(new: Mapping[str, float], comparison: Comparison, stored: Mapping[str, float]) -> str:
    parts: list[str] = []
    if comparison.old_operations and comparison.new_operations:
        parts += _operation_changes(comparison.old_operations, comparison.new_operations)
    parts += cost_changes(comparison.old_exact or stored, new)
    if parts:
        return f"the program changed: {', '.join(parts)}"
    known = comparison.old_operations and comparison.new_operations
    return f"the program changed: {'the same operations, arranged otherwise' if known else 'nothing that is counted'}"


def cost_changes(old: Mapping[str, float], new: Mapping[str, float]) -> list[str]:
    """What costs of a program differ: ``["temp memory 0 B -> 8 MiB", "flops x1.25"]``; only what both have."""
    parts: list[str] = []
    for name, label in (
        ("temp_bytes", "temp memory"),
        ("peak_bytes", "peak memory"),
        ("constant_bytes", "captured constants"),
        ("fusions", "fusions"),
        ("custom_calls", "custom calls"),
    ):
        if name in old and name in new and old[name] != new[name]:
            if name == "peak_bytes" and parts:
                continue  # It holds the temporaries, which were named.
            parts.append(f"{label} {format_change(old[name], new[name], METRICS[name].unit)}")
    for name in ("flops", "bytes_accessed"):
        if old.get(name) and name in new and abs(new[name] / old[name] - 1) > 0.005:
            parts.append(f"{name.replace('_', ' ')} x{new[name] / old[name]:.3g}")
    if not parts and "hlo_ops" in old and "hlo_ops" in new and old["hlo_ops"] != new["hlo_ops"]:
        parts.append(f"operations {format_change(old['hlo_ops'], new['hlo_ops'], Unit.COUNT)}")
    return parts


def _operation_changes(old: Mapping[str, int], new: Mapping[str, int]) -> list[str]:
    changes = {
        name: new.get(name, 0) - old.get(name, 0)
        for name in sorted({*old, *new})
        if name not in _BOOKKEEPING and new.get(name, 0) != old.get(name, 0)
    }
    ranked = sorted(changes.items(), key=lambda item: (-abs(item[1]), item[0]))
    words = [f"{'+' if count > 0 else '-'} {abs(count)} {name}" for name, count in ranked[:_MOST_OPERATIONS]]
    if len(ranked) > _MOST_OPERATIONS:
        more = len(ranked) - _MOST_OPERATIONS
        words.append(f"{more} more kind{'s' if more > 1 else ''} of operation")
    return words
