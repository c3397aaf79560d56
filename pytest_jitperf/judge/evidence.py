"""What was found out beyond the measurement itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_jitperf.measurement import Comparison, Ratio

__all__ = ["Evidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Comparisons with the stored programs, races, equality.

    Attributes:
        program: The one program against the stored one, or None where nothing was compared.
        helpers: The same for each helper's program, by its key.
        faster: Raced ratio other over this, by the other strategy; or the reason why there is none.
        wrong: How the result differs from the reference, empty where it does not.
        retraces: What compiled again over a sequence of inputs.
        trace_again: A second measurement of trace and lower relative to the reference trace, where the first one was
            suspicious.
    """

    program: Comparison | None = None
    helpers: Mapping[str, Comparison] = field(default_factory=dict)
    faster: Mapping[str, Ratio | str] = field(default_factory=dict)
    wrong: str = ""
    retraces: tuple[str, ...] = ()
    trace_again: Mapping[str, float] | None = None
