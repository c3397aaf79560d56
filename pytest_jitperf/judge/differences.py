"""What a program gained and lost against another, weightiest first.

Weight is what plausibly explains the metric that moved: operations for compile time, work and calls for run time,
temporaries and constants for memory. It is the size of the change times a factor per kind of change and metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_jitperf.measurement import Constant
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["Difference", "Traits", "differences", "likeness", "ranked", "written_constants"]

# Operations that move no data and compute nothing.
_BOOKKEEPING = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "copy", "call", "fusion"})
# What takes arrays apart and puts them together.
_MOVING = frozenset(
    {
        *("broadcast", "concatenate", "dynamic-slice", "dynamic-update-slice", "gather", "iota", "pad", "reshape"),
        *("slice", "transpose"),
    }
)
_LOOP = "while"
_CUSTOM_CALL = "custom-call"
_HEAVY = frozenset(
    {
        *("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter"),
        *("cholesky", "conditional", "convolution", "dot", "fft", "gather", "reduce-window", "rng-bit-generator"),
        *("scatter", "select-and-scatter", "sort", "topk", "triangular-solve"),
    }
)
_MOST_CONSTANTS = 2

# Factors per kind, by what moved; a kind that is in none has 1. A loop that is gone is one operation less, and an
# explanation all the same, hence the large factors for what is few.
_FACTORS: Mapping[str, Mapping[str, float]] = {
    "run": {"options": 10, "loop": 8, "call": 8, "heavy": 3, "flops": 3, "bytes": 3, "total": 1.5, "equations": 0.3},
    "compile": {"options": 10, "loop": 8, "call": 4, "total": 3, "heavy": 2, "constants": 2, "flops": 0.3},
    "trace": {"equations": 8, "loop": 8, "total": 2, "call": 2, "flops": 0.3, "bytes": 0.3},
    "memory": {"constants": 5, "temp": 5, "io": 5, "donated": 8, "loop": 4, "call": 2, "heavy": 1.5, "flops": 0.3},
}
_FAMILIES = {
    "compile": "compile",
    "xla": "compile",
    "trace": "trace",
    "lower": "trace",
    "trace_calls": "trace",
    "peak_bytes": "memory",
    "constant_bytes": "memory",
    "unused_donation_bytes": "memory",
    "temp_bytes": "memory",
}
_FACTOR_OF_LOOPED_WORK = 0.1
# What went the other way than the metric explains it less.
_AGAINST = 0.3
_EITHER_WAY = frozenset({"options", "loop", "call", "donated"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is known of a program beyond its identity.

    Attributes:
        exact: Metrics that never vary.
        operations: Of the optimised program, by opcode; empty where unknown.
        constants: What it has captured, the largest first.
        donated: How many leaves it may overwrite, or None where unknown.
        options: ``compiler_options``.
    """

    exact: Mapping[str, float] = field(default_factory=dict)
    operations: Mapping[str, int] = field(default_factory=dict)
    constants: tuple[Constant, ...] = ()
    donated: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that there is more or less of.

    Attributes:
        kind: What it counts as: ``"loop"``, ``"heavy"``, ``"temp"``, …
        text: For people, old -> new.
        growth: Logarithm of new over old, above 0 where there is more.
    """

    kind: str
    text: str
    growth: float


def family(metric: str) -> str:
    """Which factors hold for a metric: those of ``"run"``, ``"compile"``, ``"trace"`` or ``"memory"``."""
    return _FAMILIES.get(metric, "run")


def ranked(found: Sequence[Difference], metric: str, *, worse: bool) -> list[Difference]:
    """Sorts differences by how well they explain that a metric became worse or better."""
    factors = {**_FACTORS[family(metric)], "work in loops": _FACTOR_OF_LOOPED_WORK}

    def weight(each: Difference) -> float:
        along = (each.growth > 0) == worse or each.kind in _EITHER_WAY
        return abs(each.growth) * factors.get(each.kind, 1.0) * (1.0 if along else _AGAINST)

    return sorted(found, key=lambda each: (-weight(each), each.text))


def differences(old: Traits, new: Traits) -> list[Difference]:
    """All that differs and is known of both."""
    return [*_of_kind(old, new), *_of_operations(old.operations, new.operations), *_of_costs(old, new)]


def likeness(old: Traits, new: Traits) -> str:
    """What a change looks like: ``" as when a scan becomes a Python loop"``; empty where it looks like nothing known.

    A scan that is unrolled takes its loop away and multiplies the operations. A loop over a batch multiplies each of
    them too, compiled loops with the others, and brings none but such as take the batch apart and put it together,
    while the arithmetic stays what it was.
    """
    before, after = _total(old.operations), _total(new.operations)
    if not before or not after or max(before, after) < 4 * min(before, after):
        return ""
    loops = new.operations.get(_LOOP, 0) - old.operations.get(_LOOP, 0)
    flops = new.exact.get("flops", 0) / (old.exact.get("flops") or math.inf)
    if loops and (loops < 0) == (after > before):
        batched = "scan"
    elif 0.8 <= flops <= 1.25 and _multiplied(*sorted((old.operations, new.operations), key=_total)):
        batched = "vmap"
    else:
        return ""
    one, other = (batched, "Python loop") if after > before else ("Python loop", batched)
    return f" as when a {one} becomes a {other}"


def _multiplied(fewer: Mapping[str, int], more: Mapping[str, int]) -> bool:
    """Whether the one program is made of the other's operations, each several times."""
    one, other = (
        {name: count for name, count in each.items() if name not in _BOOKKEEPING | _MOVING} for each in (fewer, more)
    )
    return bool(one) and one.keys() == other.keys() and all(other[name] >= 2 * count for name, count in one.items())


def written_constants(constants: Sequence[Constant]) -> str:
    """The largest ones: ``"f32[512,1024], 2 MiB"``, ``"3 of f32[64], 256 B each; i32[8], 32 B"``."""
    return "; ".join(
        f"{each.shape}, {format_quantity(each.bytes, Unit.BYTES)}"
        if each.count == 1
        else f"{each.count} of {each.shape}, {format_quantity(each.bytes, Unit.BYTES)} each"
        for each in constants[:_MOST_CONSTANTS]
    )


def _of_kind(old: Traits, new: Traits) -> Iterator[Difference]:
    for name in sorted({*old.options, *new.options}):
        before, after = old.options.get(name, "default"), new.options.get(name, "default")
        if before != after:
            yield Difference(kind="options", text=f"compiler option {name} {before} -> {after}", growth=1.0)
    if old.donated is not None and new.donated is not None and old.donated != new.donated:
        yield _counted("donated", "donated arguments", old.donated, new.donated)
    less, more = (each.exact.get("unused_donation_bytes", 0.0) for each in (old, new))
    if less != more:
        lost = "donation lost: " if more > less else ""
        text = f"{lost}donated memory that no result takes over {format_change(less, more, Unit.BYTES)}"
        yield Difference(kind="donated", text=text, growth=math.log((more + 2**16) / (less + 2**16)))


def _of_operations(old: Mapping[str, int], new: Mapping[str, int]) -> Iterator[Difference]:
    if not old or not new:
        return
    for name in sorted({*old, *new}):
        before, after = old.get(name, 0), new.get(name, 0)
        if name not in _BOOKKEEPING and before != after:
            yield _counted(_kind_of(name), _label(name), before, after)
    if _total(old) != _total(new):
        yield _counted("total", "operations", _total(old), _total(new))


def _of_costs(old: Traits, new: Traits) -> Iterator[Difference]:
    before, after = old.exact, new.exact
    for kind, label, sizes in (
        ("temp", "temp memory", (before.get("temp_bytes"), after.get("temp_bytes"))),
        ("io", "arguments and outputs", (_arguments_and_outputs(before), _arguments_and_outputs(after))),
        ("constants", "captured constants", (before.get("constant_bytes"), after.get("constant_bytes"))),
    ):
        less, more = sizes
        if less is not None and more is not None and less != more:
            text = f"{label} {format_change(less, more, Unit.BYTES)}"
            if kind == "constants":
                text += _came(old.constants, new.constants) if more > less else _came(new.constants, old.constants)
            yield Difference(kind=kind, text=text, growth=math.log((more + 2**16) / (less + 2**16)))
    for kind, name, label in (
        ("fusions", "fusions", "fusions"),
        ("equations", "jaxpr_eqns", "jaxpr equations"),
        *(() if old.operations and new.operations else (("total", "hlo_ops", "operations"),)),
        *(() if old.operations and new.operations else (("call", "custom_calls", "custom calls"),)),
    ):
        if name in before and name in after and before[name] != after[name]:
            yield _counted(kind, label, before[name], after[name])
    # XLA counts what a loop does once, however often it runs: with another number of loops, its work says little.
    loops_differ = old.operations.get(_LOOP, 0) != new.operations.get(_LOOP, 0)
    for kind, name, label in (("flops", "flops", "flops"), ("bytes", "bytes_accessed", "bytes accessed")):
        if before.get(name) and after.get(name) and abs(after[name] / before[name] - 1) > 0.005:
            times = after[name] / before[name]
            text = f"{label} {_factor(times)}{' (a loop counts once)' if loops_differ else ''}"
            yield Difference(kind="work in loops" if loops_differ else kind, text=text, growth=math.log(times))


def _counted(kind: str, label: str, old: float, new: float) -> Difference:
    times = f" ({_factor(new / old)})" if old and new >= 4 * old and new >= 16 else ""
    text = f"{label} {format_change(old, new, Unit.COUNT)}{times}"
    return Difference(kind=kind, text=text, growth=math.log((new + 1) / (old + 1)))


def _factor(times: float) -> str:
    return f"x{times:,.0f}" if times >= 1000 else f"x{times:.3g}"


def _kind_of(operation: str) -> str:
    if operation == _LOOP:
        return "loop"
    if operation.partition(" ")[0] == _CUSTOM_CALL:
        return "call"
    return "heavy" if operation in _HEAVY else "light"


def _label(operation: str) -> str:
    if operation in ("and", "or", "not"):
        return f"logical {operation}"
    target = operation.partition(" ")[2]
    return f"Python callback {target}" if "python" in target and "callback" in target else operation


def _total(operations: Mapping[str, int]) -> int:
    return sum(count for name, count in operations.items() if name not in _BOOKKEEPING)


def _arguments_and_outputs(exact: Mapping[str, float]) -> float | None:
    """What of the peak is neither temporary nor captured: arguments and outputs, less what is aliased."""
    if not {"peak_bytes", "temp_bytes", "constant_bytes"} <= {*exact}:
        return None
    return max(0.0, exact["peak_bytes"] - exact["temp_bytes"] - exact["constant_bytes"])


def _came(old: Sequence[Constant], new: Sequence[Constant]) -> str:
    """The largest constants that only the new ones have."""
    came = [each for each in new if each not in old]
    return f" ({written_constants(came)})" if came else ""
