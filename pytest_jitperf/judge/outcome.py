"""The words of a verdict: one per outcome, and what each does to a test."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from pytest_jitperf.measurement import Ratio

__all__ = ["ACCEPTABLE", "Effect", "Finding", "Outcome", "Verdict", "weight"]


class Effect(enum.Enum):
    """What an outcome does to its test."""

    PASS = "pass"
    WARN = "warn"
    SKIP = "skip"
    FAIL = "fail"


class Outcome(enum.Enum):
    """Every outcome; the value is the word that is printed. Later ones are worse."""

    REFERENCE = "reference"
    OK = "ok"
    OK_SAME = "ok (same program)"
    IMPROVED = "improved"
    NEW = "new"
    NOT_GATED = "not gated"
    ENVIRONMENT_CHANGED = "environment changed"
    INPUTS_CHANGED = "inputs changed"
    INCONCLUSIVE = "inconclusive"
    NO_DEVICE = "no such device"
    NOT_MEASURED = "not measured"
    NOT_FASTER = "NOT FASTER"
    OVER_BUDGET = "OVER BUDGET"
    REGRESSED = "REGRESSED"
    WRONG_RESULT = "WRONG RESULT"

    @property
    def effect(self) -> Effect:
        """What it does to a test that is not run under strict."""
        return _EFFECTS[self]

    @property
    def rank(self) -> int:
        """Larger is worse."""
        return _RANKS[self]


_PASSING = (Outcome.REFERENCE, Outcome.OK_SAME, Outcome.OK, Outcome.IMPROVED)
_WARNING = (
    Outcome.NEW,
    Outcome.NOT_GATED,
    Outcome.ENVIRONMENT_CHANGED,
    Outcome.INPUTS_CHANGED,
    Outcome.INCONCLUSIVE,
)
_EFFECTS = {
    outcome: Effect.PASS
    if outcome in _PASSING
    else Effect.WARN
    if outcome in _WARNING
    else Effect.SKIP
    if outcome is Outcome.NO_DEVICE
    else Effect.FAIL
    for outcome in Outcome
}
_RANKS = {outcome: rank for rank, outcome in enumerate(Outcome)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was judged.

    Attributes:
        outcome: The word.
        sentence: One sentence, values included.
        metric: What was judged; empty where it was not a metric.
        old: Value of the baseline, or None.
        new: Value of this run, or None.
        ratio: The race behind it, or None; one without a metric is that of ``faster_than``.
        limit: The largest value that passes, of a ratio the largest ratio, of ``faster_than`` the least; None where
            nothing set one.
        rule: What set the limit: ``"tolerance run=5 % (marker)"``; empty where there was none.
        short: A few words for the table.
        insisted: Whether it fails although its outcome passes, since the marker says so (``fail_on_improvement``).
        helper: Key of the helper that it is about; empty where it is about the whole.
    """

    outcome: Outcome
    sentence: str
    metric: str = ""
    old: float | None = None
    new: float | None = None
    ratio: Ratio | None = None
    limit: float | None = None
    rule: str = ""
    short: str = ""
    insisted: bool = False
    helper: str = ""

    @property
    def effect(self) -> Effect:
        """What it does to a test that is not run under strict."""
        return Effect.FAIL if self.insisted else self.outcome.effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Everything that was found about one measurement; the worst finding decides.

    Attributes:
        findings: In the order in which they were judged, at least one.
        why: What changed, one line each, weightiest first.
        notes: Sentences for the reader that decide nothing, such as which counts could not be compared.
        gated_by: ``"same program"``, ``"race"``, ``"counts"``, ``"stored times"``, ``"limits"`` (nothing but budgets
            and ``faster_than``) or empty where nothing was gated.
    """

    findings: tuple[Finding, ...]
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gated_by: str = ""

    @property
    def worst(self) -> Finding:
        """The finding that decides."""
        return min(self.findings, key=weight)

    @property
    def outcome(self) -> Outcome:
        """The word of the worst finding."""
        return self.worst.outcome

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Findings that fail the test, worst first, and run time first among equals: it is what users feel."""
        return tuple(sorted((each for each in self.findings if each.effect is Effect.FAIL), key=weight))

    @property
    def failed(self) -> bool:
        """Whether it fails the test, however strict the run is."""
        return bool(self.failures)

    @property
    def moved(self) -> tuple[str, ...]:
        """The sentences on what regressed or improved, worst first."""
        found = (each for each in self.findings if each.outcome in (Outcome.REGRESSED, Outcome.IMPROVED))
        return tuple(each.sentence for each in sorted(found, key=weight))

    def annotated(self, note: str) -> Verdict:
        """The verdict with one more sentence for the reader."""
        return replace(self, notes=(*self.notes, note))

    def vetoed(self, reason: str) -> Verdict:
        """The verdict without its failures: what fails is ``not gated`` for that reason, and a warning.

        Args:
            reason: Why it is not to fail the test.
        """
        return replace(
            self,
            findings=tuple(
                replace(
                    each,
                    outcome=Outcome.NOT_GATED,
                    sentence=f"not gated: {reason} ({each.sentence})",
                    short=reason,
                    insisted=False,
                )
                if each.effect is Effect.FAIL
                else each
                for each in self.findings
            ),
        )

    @property
    def unsettled(self) -> tuple[Finding, ...]:
        """Findings that neither pass nor fail by themselves, worst first: what fails under strict."""
        left = (each for each in self.findings if each.effect in (Effect.WARN, Effect.SKIP))
        return tuple(sorted(left, key=weight))


ACCEPTABLE = frozenset(
    {
        Outcome.IMPROVED,
        Outcome.NEW,
        Outcome.NOT_GATED,
        Outcome.ENVIRONMENT_CHANGED,
        Outcome.INPUTS_CHANGED,
        Outcome.REGRESSED,
    }
)
"""What recording anew puts right.

An update holds budgets, results and ``faster_than`` as ever, and more time is what an inconclusive race needs.
"""

_FIRST = ("run", "unused_donation_bytes", "compile", "peak_bytes", "launches", "compilations")


def weight(finding: Finding) -> tuple[bool, int, int]:
    """Sorts findings: the worst first, and run time first among equals."""
    place = _FIRST.index(finding.metric) if finding.metric in _FIRST else len(_FIRST)
    return finding.effect is not Effect.FAIL, -finding.outcome.rank, place
