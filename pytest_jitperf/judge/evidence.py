"""What was found out beyond the measurement itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_jitperf.measurement import Comparison, Ratio, Settled

__all__ = ["EVERY_CALL", "Evidence"]

EVERY_CALL = "every call"
"""Where a line says that something compiled again: in each further call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Comparisons with the stored programs, races, equality.

    Attributes:
        program: The one program against the stored one, or None where nothing was compared.
        helpers: The same for each helper's program, by its key.
        faster: Raced ratio other over this, by the other strategy; or the reason why there is none.
        wrong: How the result differs from the reference, empty where it does not.
        retraces: What of the user's compiled again, a line for each compilation.
        operations: The same of JAX's own operations.
        trace_again: A second measurement of trace and lower relative to the reference trace, where the first one was
            suspicious.
        budgets: Times that a sample did not show to be within their budgets, by metric.
        elsewhere: Where there is no entry, other kinds of devices for which there is one.
    """

    program: Comparison | None = None
    helpers: Mapping[str, Comparison] = field(default_factory=dict)
    faster: Mapping[str, Ratio | str] = field(default_factory=dict)
    wrong: str = ""
    retraces: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    trace_again: Mapping[str, float] | None = None
    budgets: Mapping[str, Settled] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()

    @property
    def recompiles(self) -> int:
        """Cold compiles that were repeated for the sake of a budget."""
        return max((each.rounds - 1 for name, each in self.budgets.items() if name != "run"), default=0)

    @property
    def compiled_again(self) -> dict[str, tuple[str, ...]]:
        """What compiled again, by the metric that counts it."""
        return {"compilations": self.retraces, "primitive_compilations": self.operations}
