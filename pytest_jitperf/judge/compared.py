"""Programs against those of the baseline: the one of a jitted strategy, or those of the helpers that Python drives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pytest_jitperf.baseline.helpers import match_helpers, name_of, signature_of
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.counts import exact_findings
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.phases import phase_findings
from pytest_jitperf.judge.ratios import largest_run_ratio, ratio_finding
from pytest_jitperf.judge.times import compile_ratio, stored_time, trace_finding
from pytest_jitperf.judge.upgrade import raced_in_another, same_in_another
from pytest_jitperf.measurement import NOT_ONE_PROGRAM, Comparison, Measurement, Program
from pytest_jitperf.plan import DEFAULT, Plan
from pytest_jitperf.wording import listed

__all__ = ["helper_findings", "program_findings"]

# Of a helper with more new signatures than this they are counted and not named.
_MOST_SIGNATURES_NAMED = 3


def program_findings(plan: Plan, measured: Measurement, entry: Entry, evidence: Evidence) -> tuple[list[Finding], str]:
    """Judges a strategy whose call starts one compiled program.

    Returns:
        The findings, and by what it was gated: ``"same program"``, ``"race"``, ``"stored times"`` or empty.
    """
    comparison = evidence.program
    if comparison is None:
        reason = "a wrong result is not compared" if evidence.wrong else "the program was not compared"
        return [_not_gated(reason)], ""
    phases = phase_findings(plan, measured, entry, comparison, evidence.trace_again)
    if comparison.same:
        findings = trace_finding(plan, measured, entry, evidence.trace_again)
        return [*findings, *phases, _same(measured, entry, "the program", comparison)], "same program"
    stored: list[Finding] = []
    if comparison.run is None and comparison.cannot and plan.stored_times:
        stored = stored_time(plan, measured, entry)
    races = [
        *_run(plan, comparison, measured.value("run")),
        *compile_ratio(plan, measured, entry, comparison),
        *phases,
        *raced_in_another(measured, entry, comparison),
    ]
    if any(each.outcome is not Outcome.NOT_GATED for each in stored):
        reason = f" (not raced: {comparison.cannot})"
        # Its stored times are few, and of other processes: they tell no regression.
        silent = comparison.xla is None and _gated(plan, "compile", of_helper=False)
        also = "; compile time is not compared" if silent else ""
        told = [
            replace(each, sentence=f"{each.sentence}{reason}{also}", short=f"{each.short}{also}") for each in stored
        ]
        return [*told, *races], "stored times"
    missing = [] if _is_driven(plan, measured, entry) else _not_compared(plan, comparison)
    return [*missing, *stored, *races], "race" if races else ""


def helper_findings(plan: Plan, measured: Measurement, entry: Entry, evidence: Evidence) -> tuple[list[Finding], str]:
    """Judges the program of each helper of a strategy that Python drives, as one program is judged.

    Returns:
        The findings, and by what it was gated: ``"same program"`` (all of them), ``"race"`` or empty.
    """
    findings: list[Finding] = []
    matched = match_helpers(measured.helpers, entry.helpers)
    renamed = _renamed(matched)
    missing = [key for key in entry.helpers if key not in set(matched.values())]
    same, raced = True, False
    new = Counter(name_of(key) for key in measured.helpers if key not in matched)
    many = [name for name, count in new.items() if count > _MOST_SIGNATURES_NAMED]
    for name in many:
        findings.append(_many_not_gated(name, new[name], sum(name_of(key) == name for key in missing)))
    for key, name in _names(measured.helpers).items():
        if key not in matched and name_of(key) in many:
            same = False
            continue
        comparison = evidence.helpers.get(key)
        label = f"{name} ({renamed[key]} in the baseline)" if key in renamed else name
        if key not in matched:
            others = [signature_of(each) for each in missing if name_of(each) == name_of(key)]
            reason = _takes_other(signature_of(key), others) if others else "is not in the baseline"
            about = [_not_gated(f"{name_of(key) if others else key} {reason}", f"{name} {reason}")]
        elif comparison is None:
            about = [_not_gated(f"{key} was not compared", f"{name} was not compared")]
        else:
            about = _helper(plan, comparison, entry.helpers[matched[key]], measured.helpers[key], measured.unavailable)
            about = [replace(each, short=f"{name}: {each.short}" if each.short else "") for each in about]
            raced = raced or comparison.run is not None
        same = same and comparison is not None and comparison.same
        findings += [replace(each, sentence=f"helper {label}: {each.sentence}", helper=key) for each in about]
    new_names = {name_of(key) for key in measured.helpers if key not in matched}
    for key, name in _names({key: key for key in missing}).items():
        if name_of(key) not in new_names:
            findings.append(_not_gated(f"helper {key} of the baseline was not called", f"{name} was not called"))
    if same and not missing and measured.helpers:
        noun = "the helper's program" if len(measured.helpers) == 1 else "the helpers' programs"
        found = _same(measured, entry, noun)
        if renamed and found.outcome is Outcome.OK_SAME:
            names = listed(f"{name_of(key).rpartition('.')[2]} is {before}" for key, before in renamed.items())
            found = replace(found, sentence=f"{found.sentence}, where {names}")
        return [*findings, found], "same program"
    return findings, "race" if raced else ""


def _is_driven(plan: Plan, measured: Measurement, entry: Entry) -> bool:
    """Whether there never was a program: as under ``inner``, counts are what is gated where nobody asks for more."""
    programs = (measured.program, entry.program)
    asked = any(name in plan.allowed and plan.allowed[name].rule != DEFAULT for name in ("run", "compile"))
    return not asked and all(each is not None and each.no_artifact.startswith(NOT_ONE_PROGRAM) for each in programs)


def _renamed(matched: Mapping[str, str]) -> dict[str, str]:
    """For each helper that has another name now its name in the baseline, as short as it can be told apart."""
    found: dict[str, str] = {}
    for key, stored in matched.items():
        now, before = name_of(key), name_of(stored)
        if now != before:
            last = before.rpartition(".")[2]
            found[key] = before if last == now.rpartition(".")[2] else last
    return found


def _many_not_gated(name: str, count: int, before: int) -> Finding:
    """One finding for all signatures of one helper that the baseline does not have."""
    word = name.rpartition(".")[2]
    instead = f" (which has {before} that {'is' if before == 1 else 'are'} not called)" if before else ""
    reason = f"is called with {count} signatures that are not in the baseline{instead}"
    found = _not_gated(f"{name} {reason}", f"{word} {reason}")
    return replace(found, sentence=f"helper {word}: {found.sentence}")


def _takes_other(now: str, before: list[str]) -> str:
    return f"is called with {now} now, and with {listed(before)} in the baseline"


def _helper(
    plan: Plan, comparison: Comparison, stored: StoredProgram, now: Program, unavailable: Mapping[str, str]
) -> list[Finding]:
    counts = exact_findings(plan, "program", stored.exact, now.exact, unavailable)
    if comparison.same:
        return counts
    # Its first call is timed as a part of the whole, so there is no time of its own, only the ratio.
    return [*counts, *_not_compared(plan, comparison, of_helper=True), *_run(plan, comparison, None, of_helper=True)]


def _same(measured: Measurement, entry: Entry, noun: str, comparison: Comparison | None = None) -> Finding:
    verb = "are" if noun.endswith("s") else "is"
    same = Finding(outcome=Outcome.OK_SAME, sentence=f"{noun} {verb} the same as the baseline's")
    return same_in_another(measured, entry, noun, comparison) or same


def _not_compared(plan: Plan, comparison: Comparison, *, of_helper: bool = False) -> list[Finding]:
    """What should have been compared and was not, with the reason."""
    wanted = [
        name
        for name, ratio in (("run", comparison.run), ("compile", comparison.xla))
        if ratio is None and _gated(plan, name, of_helper=of_helper)
    ]
    if not wanted and not (comparison.cannot and comparison.run is None):
        return []
    reason = comparison.cannot or "there was no time for it"
    if comparison.run is None:
        return [_not_gated(reason)]
    return [replace(_not_gated(reason), sentence=f"{' and '.join(wanted)} not gated: {reason}", metric=wanted[0])]


def _run(plan: Plan, comparison: Comparison, new: float | None, *, of_helper: bool = False) -> list[Finding]:
    ratio = comparison.run
    if ratio is None or not _gated(plan, "run", of_helper=of_helper):
        return []
    allowed = plan.allowed["run"]
    old = new / ratio.estimate if new is not None and ratio.estimate > 0 else None
    limit = largest_run_ratio(allowed.tolerance, new)
    return [ratio_finding("run", ratio, limit, allowed.describe("run"), old=old, new=new)]


def _gated(plan: Plan, metric: str, *, of_helper: bool) -> bool:
    """A helper's run time is gated although that of the whole is not; its compile time never is."""
    allowed = plan.allowed.get(metric)
    return allowed is not None and (metric == "run" if of_helper else allowed.gated)


def _not_gated(reason: str, short: str = "") -> Finding:
    return Finding(outcome=Outcome.NOT_GATED, sentence=f"not gated: {reason}", short=short or reason)


def _names(helpers: Mapping[str, object]) -> dict[str, str]:
    """A short name for each key: without its signature, where there is no other with the same name."""
    short = {key: key.partition("(")[0].rpartition(".")[2] for key in helpers}
    often = Counter(short.values())
    return {key: name if often[name] == 1 else f"{name}{key[key.find('(') :]}" for key, name in short.items()}
