"""From a plan, a measurement, its baseline entry and the evidence to a verdict. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.budgets import over_budget
from pytest_jitperf.judge.compared import helper_findings, program_findings
from pytest_jitperf.judge.counts import (
    Explained,
    exact_findings,
    gated_metrics,
    trace_calls_explained,
    unrecorded_findings,
)
from pytest_jitperf.judge.emptiness import EMPTIED, EMPTY, emptied, is_empty
from pytest_jitperf.judge.environments import changed, python_differs, recorded_with
from pytest_jitperf.judge.evidence import EVERY_CALL, Evidence
from pytest_jitperf.judge.explain import explain, launched
from pytest_jitperf.judge.faster import faster_findings
from pytest_jitperf.judge.inputs import input_changes, made_static, perhaps_unread
from pytest_jitperf.judge.outcome import Finding, Outcome, Verdict
from pytest_jitperf.judge.times import stored_time
from pytest_jitperf.measurement import Measurement, Program
from pytest_jitperf.plan import Plan
from pytest_jitperf.wording import listed

__all__ = ["Evidence", "input_changes", "judge"]

# Counts of what Python does, in JAX too.
_OF_PYTHON = ("trace_calls", "host_calls")
_RESULTS = "rtol= and atol= in the marker allow more, equal_results=False any difference"


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
        findings.append(
            Finding(
                outcome=Outcome.WRONG_RESULT,
                sentence=f"wrong result: {evidence.wrong}",
                rule=_RESULTS,
                short=evidence.wrong,
            )
        )
    findings += over_budget(plan, measured, evidence)
    findings += faster_findings(plan, evidence)
    limits = "limits" if plan.limits or plan.faster_than else ""
    empty = (EMPTY,) if is_empty(measured.program) else ()
    if plan.mode == "update":
        sentence = "nothing is compared with a baseline that is being written"
        findings.append(Finding(outcome=Outcome.OK, sentence=sentence))
        why = tuple(launched(measured, findings))
        return Verdict(findings=tuple(findings), notes=empty, why=why, gated_by=limits)
    against = _against_baseline(plan, measured, entry, evidence)
    findings += against.findings
    why = explain(measured, entry, evidence, findings) if entry is not None else ()
    # A budget says what it says without a baseline, too.
    why = why or tuple(launched(measured, findings))
    if plan.fail_on_improvement:
        findings = [_insisted(each) if each.outcome is Outcome.IMPROVED else each for each in findings]
    if any(each.short == EMPTIED for each in findings):
        empty = ()
    notes = (*empty, *against.notes)
    return replace(against, findings=tuple(findings), why=why, notes=notes, gated_by=against.gated_by or limits)


def _against_baseline(plan: Plan, measured: Measurement, entry: Entry | None, evidence: Evidence) -> Verdict:
    reference = plan.strategy_name == "eager"
    if reference and not any(each.gated for each in plan.allowed.values()):
        again = _compiles_each_time(measured, entry, evidence) if entry is not None else None
        return Verdict(findings=(again,)) if again else _one(Outcome.REFERENCE, "the reference, nothing is gated")
    if entry is None:
        there = listed(evidence.elsewhere)
        missing = (
            f"no baseline for {measured.device_kind} yet (there is one for {there})" if there else "no baseline yet"
        )
        return _one(Outcome.NEW, f"{missing}; record one with --jitperf-update")
    changes = input_changes(measured, entry)
    if changes and not perhaps_unread(measured, entry):
        return _inputs_changed(changes, plan, measured, entry, evidence)
    if python_differs(entry, measured.environment):
        entry = replace(entry, host={key: _without_python(host) for key, host in entry.host.items()})
        measured = replace(measured, relative={}, host=_without_python(measured.host))
    undonated = _undonated(measured.program, entry.program)
    findings = exact_findings(plan, "program", entry.exact, measured.exact, measured.unavailable, undonated=undonated)
    findings += unrecorded_findings(plan, entry.exact, measured.exact)
    host = entry.host.get(measured.environment.host_key)
    if host is not None:
        findings += exact_findings(
            plan, "host", host, measured.host, measured.unavailable, _explained(measured, entry, host)
        )
    gated_by = "counts" if any(each.outcome is not Outcome.NOT_GATED for each in findings) else ""
    how = ""
    if measured.program is not None:
        about, how = program_findings(plan, measured, entry, evidence)
        about += emptied(measured.program, evidence.program)
    else:
        about, how = helper_findings(plan, measured, entry, evidence)
        if plan.stored_times:
            stored = stored_time(plan, measured, entry)
            about += stored
            if any(each.outcome is not Outcome.NOT_GATED for each in stored):
                how = how or "stored times"
    findings += about
    notes = () if host is not None else _host_note(plan, measured, entry)
    if not findings and notes:
        findings = [Finding(outcome=Outcome.NOT_GATED, sentence=f"{notes[0]}; record them with --jitperf-update")]
        notes = ()
    elif not findings and reference:
        findings = [Finding(outcome=Outcome.REFERENCE, sentence="the reference, nothing that is gated was measured")]
    elif not findings:
        sentence = "not gated: neither the baseline nor this run has anything that is gated"
        findings = [Finding(outcome=Outcome.NOT_GATED, sentence=sentence, short="nothing to compare")]
    verdict = Verdict(findings=tuple(findings), notes=notes, gated_by=how or gated_by)
    if changes and verdict.outcome not in (Outcome.OK, Outcome.OK_SAME):
        return _inputs_changed(changes, plan, measured, entry, evidence)
    return verdict


def _compiles_each_time(measured: Measurement, entry: Entry, evidence: Evidence) -> Finding | None:
    """What compiles in every call of the reference and did not when it was recorded: no other strategy shows it."""
    host = entry.host.get(measured.environment.host_key, {})
    old, new = host.get("compilations"), measured.host.get("compilations")
    lines = [each for each in evidence.retraces if _in_every_call(each)]
    if not lines or old is None or new is None or new <= old or input_changes(measured, entry):
        return None
    gate = 'eager is the reference; gate it with  tolerance={"eager": {"compilations": 0}}'
    moved = f"compilations {old:,} -> {new:,}"
    return Finding(
        outcome=Outcome.NOT_GATED,
        sentence=f"not gated: {moved}, compiled again in {lines[0]}; {gate}",
        metric="compilations",
        short=moved,
    )


def _in_every_call(line: str) -> bool:
    return line.startswith(f"{EVERY_CALL}: ")


def _without_python(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name not in _OF_PYTHON}


def _inputs_changed(changes: str, plan: Plan, measured: Measurement, entry: Entry, evidence: Evidence) -> Verdict:
    """Other inputs are not compared, but where it is the code that compiles more often.

    What compiles again in every call did not before; and an argument that was traced and is static now compiles again
    for each of its values.
    """
    around = changed(entry, measured.environment)
    sentence = f"inputs changed: {changes}{f' ({around})' if around else ''}"
    told = f"{sentence}; nothing was compared, record the new inputs with --jitperf-update"
    findings = [Finding(outcome=Outcome.INPUTS_CHANGED, sentence=told, short=changes)]
    host = entry.host.get(measured.environment.host_key)
    every_call = any(map(_in_every_call, evidence.retraces))
    if host is not None and (every_call or made_static(measured, entry)):
        counted = exact_findings(plan, "host", host, measured.host, measured.unavailable)
        again = [each for each in counted if each.metric == "compilations" and each.outcome is Outcome.REGRESSED]
        # What the note says besides, a row need not say twice.
        findings = [*again, *(replace(each, short="") if again else each for each in findings)]
    if len(findings) == 1:
        return Verdict(findings=tuple(findings))
    return Verdict(findings=tuple(findings), notes=(f"{sentence}; nothing else was compared",), gated_by="counts")


def _explained(measured: Measurement, entry: Entry, host: Mapping[str, int]) -> dict[str, Explained]:
    """What the operations that were traced account for; counts of another jax say nothing about today's."""
    if "trace_calls" not in host or entry.environment.jax != measured.environment.jax:
        return {}
    old, new = (
        sum(each.get("stablehlo_ops", 0) for each in (side.exact, *(helper.exact for helper in side.helpers.values())))
        for side in (entry, measured)
    )
    return {"trace_calls": trace_calls_explained(host["trace_calls"], old, new)}


def _undonated(now: Program | None, before: StoredProgram | None) -> tuple[str, ...]:
    """What is held to the last byte where fewer arguments are donated; what is donated is known of stored programs."""
    if now is None or before is None or None in (now.fingerprint, before.fingerprint):
        return ()
    return ("peak_bytes",) if len(now.donated) < len(before.donated) else ()


def _host_note(plan: Plan, measured: Measurement, entry: Entry) -> tuple[str, ...]:
    """Counts of Python's side say nothing about those of another Python or jax."""
    names = [name for name in gated_metrics(plan, "host") if name in measured.host]
    if not names:
        return ()
    recorded = recorded_with(entry, measured.environment)
    return (f"{listed(names)} not gated ({f'recorded with {recorded}' if recorded else 'not recorded'})",)


def _one(outcome: Outcome, sentence: str, short: str = "") -> Verdict:
    return Verdict(findings=(Finding(outcome=outcome, sentence=sentence, short=short),))


def _insisted(finding: Finding) -> Finding:
    rule = "fail_on_improvement: what is better is to be recorded (marker)"
    return replace(finding, insisted=True, rule=rule)
