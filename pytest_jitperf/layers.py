"""What markers say: one marker as a layer of changes, and all markers of a test as one specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.sizes import Size
from pytest_jitperf.strategies import Strategy
from pytest_jitperf.units import Tolerance

__all__ = ["Changes", "InnerChange", "Layer", "Spec", "Table", "put_over", "with_each"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[T]):
    """Values by strategy and metric.

    Attributes:
        everywhere: Metric to value for every strategy.
        rows: Strategy to metric to value, which goes before ``everywhere``; None where ``everywhere`` does not hold.
    """

    everywhere: Mapping[str, T | None] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, T | None]] = field(default_factory=dict)

    def of(self, strategy: str) -> dict[str, T]:
        """The values of one strategy by metric."""
        found = {**self.everywhere, **self.rows.get(strategy, {})}
        return {metric: value for metric, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes(Generic[T]):
    """What one marker changes in a table.

    Attributes:
        cleared: Whether everything that earlier layers said is dropped first.
        everywhere: Metric to value for every strategy; None removes.
        rows: Strategy to metric to value for one; None removes, a whole row too.
    """

    cleared: bool = False
    everywhere: Mapping[str, T | None] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, T | None] | None] = field(default_factory=dict)

    def over(self, earlier: Table[T]) -> Table[T]:
        """What is left of the table under this layer, and this layer."""
        below: Table[T] = Table() if self.cleared else earlier
        everywhere = {**below.everywhere, **self.everywhere}
        rows: dict[str, dict[str, T | None]] = {
            strategy: {metric: value for metric, value in row.items() if metric not in self.everywhere}
            for strategy, row in below.rows.items()
        }
        for strategy, row in self.rows.items():
            rows[strategy] = dict.fromkeys(everywhere) if row is None else {**rows.get(strategy, {}), **row}
        return Table(everywhere=everywhere, rows=rows)


def put_over(layers: Iterable[Changes[T]]) -> Table[T]:
    """Puts the layers over each other, the last one on top."""
    table: Table[T] = Table()
    for each in layers:
        table = each.over(table)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerChange:
    """What one marker says about ``inner=``.

    Attributes:
        replaces: A list replaces what earlier layers named; a mapping adds to it.
        targets: The functions, with None instead of options where a mapping removes one.
    """

    replaces: bool
    targets: tuple[tuple[str | Callable[..., Any], InnerTarget | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One marker, read.

    Attributes:
        where: Where it stands, for messages; may be empty.
        scope: ``"own"`` on the test function itself, ``"inherited"`` from its class or module, ``"param"`` in a
            ``pytest.param``.
        given: Keyword to value for what is not a table; None removes.
        budgets: Limits in seconds, bytes or counts.
        tolerance: Tolerances against the baseline.
        faster_than: Strategy to strategy to factor.
        broken: Keywords whose value could not be read.
        errors: The mistakes, one sentence each, each beginning with its keyword.
    """

    where: str = ""
    scope: Literal["own", "inherited", "param"] = "own"
    given: Mapping[str, Any] = field(default_factory=dict)
    budgets: Changes[float] = field(default_factory=Changes)
    tolerance: Changes[Tolerance] = field(default_factory=Changes)
    faster_than: Changes[float] = field(default_factory=Changes)
    broken: frozenset[str] = frozenset()
    errors: tuple[str, ...] = ()

    def line(self, error: str) -> str:
        """One line of a message."""
        return f"jitperf marker{f' ({self.where})' if self.where else ''}: {error}"


def with_each(layer: Layer, names: Sequence[str], each: str) -> Layer:
    """The layer with tables in which a word that stands for several strategies is replaced by their names.

    Args:
        layer: One marker.
        names: The strategies; where there are none, the word stays.
        each: The word. What the same table says of one of them goes before what it says of all.
    """

    def spread(rows: Mapping[str, Any]) -> dict[str, Any]:
        found = {key: value for key, value in rows.items() if key != each}
        for name in names:
            own, shared = found.get(name, rows[each]), rows[each]
            found[name] = {**shared, **own} if isinstance(own, Mapping) and isinstance(shared, Mapping) else own
        return found

    def table(changes: Changes[T]) -> Changes[T]:
        rows: dict[str, Any] = dict(changes.rows)
        for key, row in rows.items():
            if row is not None and each in row and names:
                # Nothing is held against itself.
                rows[key] = {name: value for name, value in spread(row).items() if name != key}
        return replace(changes, rows=spread(rows) if each in rows and names else rows)

    return replace(
        layer,
        budgets=table(layer.budgets),
        tolerance=table(layer.tolerance),
        faster_than=table(layer.faster_than),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What the markers of one test say together.

    Attributes:
        strategies: What the test is tried under, in order; never empty.
        devices: As named by the markers, else by an option, else empty.
        inner: Functions that ``inner`` and ``both`` jit.
        jit: Options for ``jax.jit``.
        budgets: Limits in seconds, bytes or counts.
        tolerance: Tolerances against the baseline.
        faster_than: Strategy to strategy to the factor by which it must be faster.
        equal_results: Whether results are compared with the reference's.
        rtol: Largest difference over the largest value, or None for the dtype's own.
        atol: Largest absolute difference besides, or None.
        expected_calls: How often the function is called in a life of the program, for the recommendation.
        sizes: What it is measured with in turn, the smallest first; empty where it is no sweep.
        growth: Largest exponent with which run time may grow with the size, or None.
        fail_on_improvement: Whether an improvement that is not recorded fails.
        phase_limits: Phase to seconds after which it is ended.
    """

    strategies: tuple[str | Strategy, ...]
    devices: tuple[str, ...] = ()
    inner: tuple[InnerTarget, ...] = ()
    jit: Mapping[str, Any] = field(default_factory=dict)
    budgets: Table[float] = field(default_factory=Table)
    tolerance: Table[Tolerance] = field(default_factory=Table)
    faster_than: Table[float] = field(default_factory=Table)
    equal_results: bool = True
    rtol: float | None = None
    atol: float | None = None
    expected_calls: int | None = None
    sizes: tuple[Size, ...] = ()
    growth: float | None = None
    fail_on_improvement: bool = False
    phase_limits: Mapping[str, float] = field(default_factory=dict)
