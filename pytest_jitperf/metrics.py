"""The metrics: what each is called, counts, means, and how much more of it than before is still fine.

The order is that of tables and messages. Every metric is better when smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pytest_jitperf.units import Tolerance, Unit

__all__ = ["METRICS", "Metric", "default_tolerance", "is_custom", "unit_of"]

_KIB, _MIB = 2**10, 2**20
_GPU_PLATFORMS = frozenset({"gpu", "cuda", "rocm"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One thing that is measured.

    Attributes:
        name: As in the marker, the tables and the baseline.
        unit: Seconds, bytes or a count.
        kind: ``"timed"`` varies from run to run; ``"exact"`` is the same each time for the same code and versions.
        side: What it depends on: the compiled ``"program"``, Python on the ``"host"``, or ``"time"``.
        per: ``"call"`` where it is a cost of every call, else empty.
        default: Tolerance against the baseline for one compiled program on a CPU; None where there is no default.
        python_default: The same for a strategy that Python drives from program to program; ``default`` where not given.
        gpu_default: The same on a GPU; ``default`` where not given.
        gated: Whether going beyond the default tolerance fails the test. The others explain, until a marker or an
            option gives them a tolerance or a budget.
        absent: What a program has that says nothing of it, or None where that says nothing either.
        meaning: One phrase for the documentation and the ``show`` command.
    """

    name: str
    unit: Unit
    kind: Literal["timed", "exact"]
    side: Literal["program", "host", "time"]
    per: Literal["", "call"] = ""
    default: Tolerance | None = None
    python_default: Tolerance | None = None
    gpu_default: Tolerance | None = None
    gated: bool = False
    absent: float | None = None
    meaning: str


def _timed(name: str, meaning: str, share: float | None = None, per: Literal["", "call"] = "") -> Metric:
    return Metric(
        name=name,
        unit=Unit.SECONDS,
        kind="timed",
        side="time",
        per=per,
        default=None if share is None else Tolerance(share, 0.0),
        gated=share is not None,
        meaning=meaning,
    )


def _explains(name: str, meaning: str, unit: Unit = Unit.COUNT) -> Metric:
    return Metric(name=name, unit=unit, kind="exact", side="program", meaning=meaning)


_NO_INCREASE = Tolerance(0.0, 0.0)

_ALL = (
    _timed("compile", "cold cost of the first call beyond running: trace, lower and xla together", 0.25),
    _timed("trace", "Python run to a jaxpr, thread CPU time"),
    _timed("lower", "jaxpr to StableHLO, thread CPU time"),
    _timed("xla", "StableHLO to an executable, process CPU time"),
    _timed("run", "one warm call, waited for", 0.10, per="call"),
    Metric(
        name="compilations",
        unit=Unit.COUNT,
        kind="exact",
        side="host",
        default=_NO_INCREASE,
        gated=True,
        meaning="executables built for functions that user code jits",
    ),
    Metric(
        name="primitive_compilations",
        unit=Unit.COUNT,
        kind="exact",
        side="host",
        meaning="executables built for JAX's own eager primitives",
    ),
    Metric(
        name="launches",
        unit=Unit.COUNT,
        kind="exact",
        side="host",
        per="call",
        default=_NO_INCREASE,
        python_default=Tolerance(0.10, 2.0),
        gated=True,
        meaning="executables started by one call",
    ),
    Metric(
        name="peak_bytes",
        unit=Unit.BYTES,
        kind="exact",
        side="program",
        default=Tolerance(0.05, 64 * _KIB),
        gpu_default=Tolerance(0.10, 32 * _MIB),
        gated=True,
        meaning="arguments, outputs, temporaries and captured constants of one program, less what is aliased",
    ),
    Metric(
        name="constant_bytes",
        unit=Unit.BYTES,
        kind="exact",
        side="program",
        default=Tolerance(0.0, 64 * _KIB),
        gated=True,
        meaning="constants captured in the program",
    ),
    Metric(
        name="unused_donation_bytes",
        unit=Unit.BYTES,
        kind="exact",
        side="program",
        default=_NO_INCREASE,
        gated=True,
        absent=0.0,
        meaning="donated arguments whose memory no result can take over",
    ),
    Metric(
        name="trace_calls",
        unit=Unit.COUNT,
        kind="exact",
        side="host",
        default=Tolerance(0.10, 2000.0),
        gated=True,
        meaning="Python calls during a cold trace",
    ),
    Metric(
        name="host_calls",
        unit=Unit.COUNT,
        kind="exact",
        side="host",
        per="call",
        # A jit calls next to nothing, unless it has lost its fast path or pytrees are taken apart in Python, which no
        # race shows. Where Python drives, harmless edits move it by half; gated is Python work of another order.
        default=Tolerance(1.0, 200.0),
        python_default=Tolerance(1.0, 1000.0),
        gated=True,
        meaning="Python calls in one warm call",
    ),
    Metric(
        name="leaves",
        unit=Unit.COUNT,
        kind="exact",
        side="host",
        per="call",
        default=Tolerance(0.10, 200.0),
        meaning="leaves of the arguments, unused ones too",
    ),
    _explains("jaxpr_eqns", "equations of the jaxpr, nested ones too"),
    _explains("stablehlo_ops", "operations before XLA"),
    _explains("hlo_ops", "operations after XLA"),
    _explains("fusions", "fusions that XLA made"),
    _explains("flops", "floating-point operations, as XLA estimates them"),
    _explains("bytes_accessed", "bytes read and written, as XLA estimates them", Unit.BYTES),
    _explains("temp_bytes", "temporaries of the program", Unit.BYTES),
    _explains("custom_calls", "calls to libraries and kernels outside XLA"),
)

METRICS: Mapping[str, Metric] = MappingProxyType({each.name: each for each in _ALL})
"""Every metric by name, in the order in which metrics are shown."""


_CPU = "_cpu"


def is_custom(name: str) -> bool:
    """Whether a number is one of the user's own, and neither a metric nor the CPU time of one."""
    return name.removesuffix(_CPU) not in METRICS


def unit_of(name: str) -> Unit:
    """The unit of a metric, or of the CPU time of one; of the user's own the name tells it, wherever it is read."""
    known = METRICS.get(name.removesuffix(_CPU))
    if known is not None:
        return known.unit
    return Unit.BYTES if name.endswith("_bytes") else Unit.COUNT


def default_tolerance(metric: str, strategy_is_one_program: bool, platform: str) -> Tolerance | None:
    """The tolerance that holds where neither the marker nor an option gives one.

    Args:
        metric: Name of the metric.
        strategy_is_one_program: False for a strategy that Python drives from program to program.
        platform: As JAX names it: ``"cpu"``, ``"gpu"``, ``"cuda"``, ``"rocm"``, ``"tpu"``.

    Returns:
        The tolerance, also for metrics that only explain; None where there is no default.

    Raises:
        KeyError: There is no such metric.
    """
    found = METRICS[metric]
    if not strategy_is_one_program and found.python_default is not None:
        return found.python_default
    if platform in _GPU_PLATFORMS and found.gpu_default is not None:
        return found.gpu_default
    return found.default
