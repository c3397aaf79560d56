"""Whose doing a change is where the compiler changed too: XLA's, jax's lowering, or the code's.

The baseline's own program, compiled by today's XLA, stands between the stored numbers and today's: from the stored ones
to it is the compiler's part, from it to today's the part of the code and of jax's lowering.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.differences import Difference, Traits, differences, ranked
from pytest_jitperf.judge.environments import same_machine
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Comparison, Measurement
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.units import Unit, format_change, format_quantity
from pytest_jitperf.wording import listed

__all__ = ["Subject", "after_xla", "code_part", "compiler_effects", "compiler_part", "then_and_now"]

# Below this share of the whole change the compiler's part is none of it, above its complement all of it.
_NEGLIGIBLE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program with all that is known of it then and now.

    Attributes:
        comparison: The stored program against today's.
        stored: Exact metrics as they were recorded.
        before: The stored program as today's XLA compiles it, or as it was recorded where it was not compiled.
        now: Today's program.
    """

    comparison: Comparison
    stored: Mapping[str, float]
    before: Traits
    now: Traits

    @property
    def replayed(self) -> Mapping[str, float]:
        """Exact metrics of the stored program under today's XLA; empty where unknown.

        The same program costs what today's costs: nothing has to be compiled to know that.
        """
        same = self.comparison.same
        return self.comparison.old_exact or (self.now.exact if same else {})


def compiler_part(compiler: str, subject: Subject, moved: Sequence[Finding]) -> str:
    """Whether the compiler made a metric move.

    Args:
        compiler: What changed about it, ``"jaxlib 0.10.2 -> 0.12.0"``.
        subject: The program.
        moved: What regressed or improved of it, worst first.
    """
    exact = _exact(subject, moved)
    times = [each.metric for each in moved if each.ratio is not None]
    own = "the baseline's own program"
    if not exact:
        return f"{compiler} is not the cause: {own} was compiled and run with it too"
    metric = exact[0].metric
    unit = METRICS[metric].unit
    old, new, replayed = subject.stored[metric], subject.now.exact[metric], subject.replayed.get(metric)
    if replayed is None:
        reason = subject.comparison.cannot or "it was not compared"
        return f"{compiler} may be the cause: {own} could not be compiled again ({reason})"
    share = (replayed - old) / (new - old) if new != old else 0.0
    if share <= _NEGLIGIBLE:
        ran = "was compiled and run with it too, and " if times else ""
        return f"{compiler} is not the cause: {own} {ran}still has {metric} {format_quantity(replayed, unit)}"
    change = format_change(old, replayed, unit)
    whole = share >= 1 - _NEGLIGIBLE
    both = f"not the cause of {listed(times)}, compared with it on both sides"
    if moved[0].ratio is not None:
        part = f"of {metric} it is {'the cause' if whole else 'a part'}: {change} in {own}"
        return f"{compiler} is {both}; {part}"
    others = f"; it is {both}" if times else ""
    if whole:
        return f"{compiler}: {own} has it too, {metric} {change}{others}"
    return f"{compiler} is a part of it: {metric} of {own} {change}{others}"


def code_part(subject: Subject, moved: Sequence[Finding], gained: str, *, jax_changed: bool) -> str:
    """What the code did, both sides compiled by the same XLA.

    Under another jax the same code may be lowered otherwise. The two cannot be told apart, so they are named together.

    Args:
        subject: The program.
        moved: What regressed or improved of it, worst first.
        gained: What today's program gained and lost against the stored one.
        jax_changed: Whether the program was recorded with another jax.
    """
    comparison = subject.comparison
    known = [each.metric for each in _exact(subject, moved) if each.metric in subject.replayed]
    costs = {metric: (subject.replayed[metric], subject.now.exact[metric]) for metric in known}
    if comparison.same and all(old == new for old, new in costs.values()):
        neither = "neither the code nor jax's lowering" if jax_changed else "not the code"
        before = "the program before XLA is the same"
        after = "XLA makes the same program of today's"
        return f"{neither}: {before if comparison.how == 'fingerprint' else after}"
    who = _code_or_lowering(subject) if jax_changed else "the code"
    changes = [
        f"{metric} {format_change(old, new, METRICS[metric].unit) if old != new else 'the same'}"
        for metric, (old, new) in costs.items()
    ]
    for name, ratio in (("run", comparison.run), ("xla", comparison.xla)):
        if ratio is not None:
            changes.append(f"{name} x{ratio.estimate:.2f}")
    against = f", with the same XLA on both sides: {', '.join(changes)}" if changes else ""
    return f"{who}{against}; {gained}"


def compiler_effects(subject: Subject, moved: Sequence[Finding], times: Mapping[str, tuple[float, float]]) -> list[str]:
    """What today's XLA made of the stored program: ``["temp memory 0 B -> 8 MiB", "run 1 ms -> 2 ms"]``.

    Args:
        subject: The program.
        moved: What regressed or improved of it, worst first; what explains the worst comes first.
        times: See ``then_and_now``.
    """
    found = after_xla(subject.stored, subject.replayed)
    costs = ranked(found, moved[0].metric, worse=moved[0].outcome is Outcome.REGRESSED)
    said = [f"{name} {format_change(then, now, Unit.SECONDS)}" for name, (then, now) in times.items()]
    return [*(each.text for each in costs), *said]


def after_xla(stored: Mapping[str, float], replayed: Mapping[str, float]) -> list[Difference]:
    """What two compilations of one program differ in; its jaxpr was counted before."""
    found = differences(Traits(exact=stored), Traits(exact=replayed))
    return [each for each in found if each.kind != "equations"]


def then_and_now(measured: Measurement, entry: Entry, comparison: Comparison) -> dict[str, tuple[float, float]]:
    """Stored times of the one program, and those of the same program today, seconds.

    Returns:
        ``run`` and ``xla`` as far as both are known; empty on a machine unlike the stored one.
    """
    if not same_machine(entry, measured.environment):
        return {}
    now: dict[str, float] = {}
    run, xla = measured.timed.get("run"), measured.timed.get("xla_cpu")
    if run is not None and comparison.same:
        now["run"] = run.median
    elif run is not None and comparison.run is not None and comparison.run.estimate > 0:
        now["run"] = run.median / comparison.run.estimate
    if comparison.old_xla_seconds is not None:
        now["xla"] = comparison.old_xla_seconds
    elif xla is not None and comparison.same:
        now["xla"] = xla.median
    then = {"run": entry.timed.get("run"), "xla": entry.timed.get("xla_cpu")}
    return {name: (old.median, now[name]) for name, old in then.items() if old is not None and name in now}


def _exact(subject: Subject, moved: Sequence[Finding]) -> list[Finding]:
    # Of the user's own nobody can say what the old program has.
    known = subject.stored.keys() & subject.now.exact.keys() & METRICS.keys()
    return [each for each in moved if each.metric in known]


def _code_or_lowering(subject: Subject) -> str:
    """Names both, the likelier first: the jaxpr is what the code asks for, and jax's lowering leaves it alone."""
    old, new = subject.stored.get("jaxpr_eqns"), subject.now.exact.get("jaxpr_eqns")
    if old is None or new is None:
        return "the code or jax's lowering"
    if old == new:
        return f"jax's lowering or the code (as many jaxpr equations as before, {new:,.0f})"
    return f"the code or jax's lowering (jaxpr equations {format_change(old, new, Unit.COUNT)})"
