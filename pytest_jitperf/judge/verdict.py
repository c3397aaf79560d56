"""From a plan, a measurement, its baseline entry and the evidence to a verdict. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.budgets import over_budget
from pytest_jitperf.judge.environments import changed
from pytest_jitperf.judge.explain import explain
from pytest_jitperf.judge.outcome import Finding, Outcome, Verdict
from pytest_jitperf.judge.times import compile_ratio, stored_time, trace_finding
from pytest_jitperf.measurement import Comparison, Measurement, Ratio
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.plan import Plan
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["Evidence", "input_changes", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found out beyond the measurement itself.

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


def judge(plan: Plan, measured: Measurement, entry: Entry | None, evidence: Evidence) -> Verdict:
    """Judges one measurement.

    Args:
        plan: Limits, tolerances and switches, nothing undecided.
        measured: What was measured.
        entry: What the baseline holds, or None.
        evidence: Comparisons with the stored programs, races, equality.

    Returns:
        Every finding, in the order: result, budgets, ``faster_than``, baseline.
    """
    findings: list[Finding] = []
    if evidence.wrong:
        findings.append(Finding(outcome=Outcome.WRONG_RESULT, sentence=f"wrong result: {evidence.wrong}"))
    findings += over_budget(plan, measured, evidence.retraces)
    findings += _faster(plan, evidence)
    if plan.mode == "update":
        findings.append(Finding(outcome=Outcome.OK, sentence="nothing is compared with a baseline that is being written"))
        return Verdict(findings=tuple(findings))
    against, gated_by = _against_baseline(plan, measured, entry, evidence)
    findings += against
    why: tuple[str, ...] = ()
    if entry is not None and any(each.outcome in (Outcome.REGRESSED, Outcome.IMPROVED) for each in findings):
        why = explain(measured, entry, evidence.program, evidence.helpers)
    if plan.fail_on_improvement:
        findings = [_improvement_fails(each) for each in findings]
    return Verdict(findings=tuple(findings), why=why, gated_by=gated_by)


def input_changes(measured: Measurement, entry: Entry) -> str:
    """How the inputs differ in shape, dtype or static value; empty where only names or their order changed."""
    if sorted(_described(measured.inputs)) == sorted(_described(entry.inputs)):
        return ""
    old, new = dict(_pairs(entry.inputs)), dict(_pairs(measured.inputs))
    changes = [f"{path}: {old[path]} -> {new[path]}" for path in new if path in old and old[path] != new[path]]
    changes += [f"{path}: {new[path]} is new" for path in new if path not in old]
    changes += [f"{path}: {old[path]} is gone" for path in old if path not in new]
    shown = changes[:3]
    if len(changes) > 3:
        shown.append(f"and {len(changes) - 3} more")
    return "; ".join(shown)


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = (part.rpartition(": ") for part in text.split("; ") if part)
    return [(path, described) for path, _, described in parts]


def _described(text: str) -> list[str]:
    return [described for _, described in _pairs(text)]


def _faster(plan: Plan, evidence: Evidence) -> list[Finding]:
    findings = []
    for other, factor in plan.faster_than.items():
        found = evidence.faster.get(other)
        rule = f"faster_than {plan.strategy_name}: {other} x{factor:g}"
        if found is None or isinstance(found, str):
            reason = found or "it was not raced"
            findings.append(
                Finding(
                    outcome=Outcome.NOT_MEASURED,
                    sentence=f"faster_than {other} could not be raced: {reason}",
                    rule=rule,
                )
            )
            continue
        span = f"x{found.estimate:.2f} (x{found.low:.2f} ... x{found.high:.2f})"
        if found.decided and found.high < factor:
            sentence = f"not fast enough: {span} as fast as {other}, at least x{factor:g} expected"
            findings.append(Finding(outcome=Outcome.NOT_FASTER, sentence=sentence, ratio=found, rule=rule))
        elif found.decided and found.low > factor:
            sentence = f"{span} as fast as {other}, x{factor:g} expected"
            findings.append(Finding(outcome=Outcome.OK, sentence=sentence, ratio=found, rule=rule))
        else:
            sentence = f"faster_than {other} is undecided: {span}, x{factor:g} expected"
            findings.append(Finding(outcome=Outcome.INCONCLUSIVE, sentence=sentence, ratio=found, rule=rule))
    return findings


def _against_baseline(
    plan: Plan, measured: Measurement, entry: Entry | None, evidence: Evidence
) -> tuple[list[Finding], str]:
    if entry is None:
        if _is_reference(plan) and not any(each.gated for each in plan.allowed.values()):
            return [Finding(outcome=Outcome.REFERENCE, sentence="the reference, nothing is gated")], ""
        sentence = "no baseline yet; record one with --jitperf-update"
        return [Finding(outcome=Outcome.NEW, sentence=sentence)], ""
    changes = input_changes(measured, entry)
    if changes:
        sentence = f"inputs changed: {changes}; nothing was compared, record the new inputs with --jitperf-update"
        return [Finding(outcome=Outcome.INPUTS_CHANGED, sentence=sentence, short=f"inputs changed {changes}")], ""
    findings: list[Finding] = []
    findings += _exact(plan, measured, entry, "program", measured.exact, entry.exact)
    host = entry.host.get(measured.environment.host_key)
    if host is not None:
        findings += _exact(plan, measured, entry, "host", measured.host, host)
    gated_by = "counts" if findings else ""
    if measured.program is not None:
        about, how = _program(plan, measured, entry, evidence)
        findings += about
        gated_by = how or gated_by
    elif measured.helpers:
        about, how = _helpers(plan, measured, entry, evidence)
        findings += about
        gated_by = how or gated_by
    if measured.program is None and plan.stored_times:
        findings += stored_time(plan, measured, entry)
        gated_by = gated_by or "stored times"
    if _is_reference(plan) and all(each.outcome is Outcome.OK for each in findings):
        findings.append(Finding(outcome=Outcome.REFERENCE, sentence="the reference"))
        if not any(each.gated for each in plan.allowed.values()):
            return [each for each in findings if each.outcome is Outcome.REFERENCE], ""
    elif not findings:
        findings.append(Finding(outcome=Outcome.OK, sentence="nothing that is gated has changed"))
    return findings, gated_by


def _exact(
    plan: Plan,
    measured: Measurement,
    entry: Entry,
    side: str,
    now: Mapping[str, float],
    before: Mapping[str, float],
) -> list[Finding]:
    """Compares counts that never vary. One finding per metric that is gated; nothing for the others."""
    findings = []
    for name, metric in METRICS.items():
        allowed = plan.allowed.get(name)
        if metric.kind != "exact" or metric.side != side or allowed is None or not allowed.gated or name not in before:
            continue
        old, new = before[name], now.get(name)
        rule = allowed.describe(name)
        if new is None:
            reason = measured.unavailable.get(name, "it was not measured")
            findings.append(
                Finding(
                    outcome=Outcome.NOT_GATED,
                    sentence=f"{name} not gated: the baseline has it, this run has not ({reason})",
                    metric=name,
                    old=old,
                    rule=rule,
                )
            )
            continue
        change = format_change(old, new, metric.unit)
        if not allowed.tolerance.allows(old, new):
            times = f", x{new / old:.2f}" if old else ""
            limit = format_quantity(allowed.tolerance.limit(old), metric.unit)
            findings.append(
                Finding(
                    outcome=Outcome.REGRESSED,
                    sentence=f"{name} regressed: {change}{times}, allowed {limit}",
                    metric=name,
                    old=old,
                    new=new,
                    rule=rule,
                    short=f"{name} {change}",
                )
            )
        elif not allowed.tolerance.allows(new, old):
            findings.append(
                Finding(
                    outcome=Outcome.IMPROVED,
                    sentence=f"{name} improved: {change}; record it with --jitperf-update",
                    metric=name,
                    old=old,
                    new=new,
                    rule=rule,
                    short=f"{name} {change}",
                )
            )
        else:
            findings.append(
                Finding(outcome=Outcome.OK, sentence=f"{name} {change}", metric=name, old=old, new=new, rule=rule)
            )
    return findings


def _program(plan: Plan, measured: Measurement, entry: Entry, evidence: Evidence) -> tuple[list[Finding], str]:
    """Judges a strategy whose call starts one compiled program."""
    comparison = evidence.program
    if comparison is None:
        return [Finding(outcome=Outcome.NOT_GATED, sentence="not gated: the program was not compared")], ""
    findings = trace_finding(plan, measured, entry, evidence.trace_again, same=comparison.same)
    if comparison.same:
        differs = changed(entry, measured.environment)
        if differs:
            sentence = f"environment changed: {differs}; the program is the same"
            findings.append(
                Finding(outcome=Outcome.ENVIRONMENT_CHANGED, sentence=sentence, short=f"environment changed: {differs}")
            )
        else:
            findings.append(Finding(outcome=Outcome.OK_SAME, sentence="the program is the same as the baseline's"))
        return findings, "same program"
    if comparison.cannot:
        findings.append(
            Finding(
                outcome=Outcome.NOT_GATED,
                sentence=f"not gated: {comparison.cannot}",
                short=f"not gated: {comparison.cannot}",
            )
        )
    before = len(findings)
    findings += _run(plan, measured, comparison)
    findings += compile_ratio(plan, measured, entry, comparison)
    return findings, "race" if len(findings) > before else ""


def _run(plan: Plan, measured: Measurement, comparison: Comparison) -> list[Finding]:
    allowed = plan.allowed.get("run")
    ratio = comparison.run
    if allowed is None or not allowed.gated or ratio is None:
        return []
    new = measured.value("run")
    old = None if new is None else new / ratio.estimate
    limit = 1 + allowed.tolerance.relative
    rule = allowed.describe("run")
    return [ratio_finding("run", old, new, ratio, limit, rule)]


def ratio_finding(metric: str, old: float | None, new: float | None, ratio: Ratio, limit: float, rule: str) -> Finding:
    """The finding for a raced ratio against the largest one that is allowed."""
    change = format_change(old, new, Unit.SECONDS)
    span = f"x{ratio.estimate:.2f} (x{ratio.low:.2f} ... x{ratio.high:.2f})"
    width = max(ratio.high / ratio.estimate, ratio.estimate / ratio.low) - 1 if ratio.low > 0 else float("inf")
    core = ", on one core" if ratio.one_core else ""
    common = {"metric": metric, "old": old, "new": new, "ratio": ratio, "rule": rule}
    short = f"{metric} {span}{core}"
    if ratio.low > limit:
        sentence = f"{metric} regressed: {change}, {span}{core}, allowed x{limit:.2f}"
        return Finding(outcome=Outcome.REGRESSED, sentence=sentence, short=short, **common)  # type: ignore[arg-type]  # one dict for four calls
    if ratio.high < limit:
        if ratio.high < 1 / limit:
            sentence = f"{metric} improved: {change}, {span}{core}; record it with --jitperf-update"
            return Finding(outcome=Outcome.IMPROVED, sentence=sentence, short=short, **common)  # type: ignore[arg-type]  # as above
        sentence = f"{metric} {span}{core}, allowed x{limit:.2f}"
        return Finding(outcome=Outcome.OK, sentence=sentence, short=short, **common)  # type: ignore[arg-type]  # as above
    sentence = (
        f"{metric} inconclusive: {span}{core} after {ratio.rounds} rounds in {ratio.seconds:.1f} s, "
        f"resolution +-{width:.0%}, allowed x{limit:.2f}"
    )
    short = f"{metric} x{ratio.estimate:.2f}, resolution +-{width:.0%}"
    return Finding(outcome=Outcome.INCONCLUSIVE, sentence=sentence, short=short, **common)  # type: ignore[arg-type]  # as above


def _helpers(plan: Plan, measured: Measurement, entry: Entry, evidence: Evidence) -> tuple[list[Finding], str]:
    """Judges each helper's program of a strategy that Python drives, as one program is judged."""
    findings: list[Finding] = []
    same = raced = 0
    for key in measured.helpers:
        stored = entry.helpers.get(key)
        comparison = evidence.helpers.get(key)
        name = key.partition("(")[0]
        if stored is None or comparison is None:
            sentence = f"not gated: helper {key} is not in the baseline"
            findings.append(Finding(outcome=Outcome.NOT_GATED, sentence=sentence, short=f"{name}: not in the baseline"))
            continue
        of_program = replace(
            measured, exact=measured.helpers[key].exact, host={}, helpers={}, program=measured.helpers[key]
        )
        found = _exact(plan, of_program, entry, "program", of_program.exact, stored.exact)
        if comparison.same:
            same += 1
        elif comparison.cannot:
            found.append(Finding(outcome=Outcome.NOT_GATED, sentence=f"not gated: {comparison.cannot}"))
        else:
            raced += 1
            found += _helper_run(plan, comparison)
        findings += [replace(each, sentence=f"helper {name}: {each.sentence}") for each in found]
    if same == len(measured.helpers):
        differs = changed(entry, measured.environment)
        outcome = Outcome.ENVIRONMENT_CHANGED if differs else Outcome.OK_SAME
        sentence = f"environment changed: {differs}; the helpers' programs are the same" if differs else "same programs"
        findings.append(Finding(outcome=outcome, sentence=sentence, short=sentence))
        return findings, "same program"
    return findings, "race" if raced else ""


def _helper_run(plan: Plan, comparison: Comparison) -> list[Finding]:
    if comparison.run is None:
        return []
    allowed = plan.allowed["run"]
    limit = 1 + allowed.tolerance.relative
    return [ratio_finding("run", None, None, comparison.run, limit, allowed.describe("run"))]


def _is_reference(plan: Plan) -> bool:
    return plan.strategy_name == "eager"


def _improvement_fails(finding: Finding) -> Finding:
    if finding.outcome is not Outcome.IMPROVED:
        return finding
    return replace(finding, outcome=Outcome.REGRESSED, sentence=f"{finding.sentence} (fail_on_improvement)")
