"""Why a metric moved, in words, weightiest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from pytest_jitperf.baseline.helpers import match_helpers
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.attribution import Subject, code_part, compiler_effects, compiler_part, then_and_now
from pytest_jitperf.judge.compiling import compile_parts
from pytest_jitperf.judge.differences import Difference, Traits, differences, family, likeness, ranked
from pytest_jitperf.judge.environments import compiler_changes, surroundings
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding, Outcome, weight
from pytest_jitperf.measurement import Comparison, Measurement, Program
from pytest_jitperf.metrics import METRICS, is_custom
from pytest_jitperf.units import format_change

__all__ = ["explain", "launched"]

_MOST_FACTS = 5
_MOST_BESIDE_CAUSES = 3
_MOST_LAUNCHED = 5
_MEMORY = frozenset({"constants", "temp", "io", "donated"})
# Known where a program is traced, which the stored one was when it was recorded.
_OF_THE_TRACE = frozenset({"jaxpr_eqns", "unused_donation_bytes"})
_LOOPS = "what a loop does is counted once, however often it runs: it may take more steps"


def explain(measured: Measurement, entry: Entry, evidence: Evidence, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Says why metrics regressed or improved: which part of them, by what in the program, and whose doing it is.

    Args:
        measured: Today's measurement.
        entry: The baseline's entry.
        evidence: The comparisons with the stored programs.
        findings: What was judged; nothing is said where nothing regressed or improved.

    Returns:
        Lines. The first ones are for everybody: what changed about the program that explains the worst of the
        findings. Then what else changed, counts on the host, and what is different besides the code.
    """
    moved = [each for each in findings if each.outcome in (Outcome.REGRESSED, Outcome.IMPROVED)]
    moved.sort(key=weight)
    if not moved:
        return ()
    blocks: list[list[str]] = []
    host = _host(measured, entry)
    if _of_host(moved[0].metric) and family(moved[0].metric) != "trace":
        again = (each for one in moved for each in evidence.compiled_again.get(one.metric, ()))
        blocks.append([*(f"compiled{_again(each)}: {each}" for each in again), *launched(measured, moved), *host])
    if measured.program is not None and evidence.program is not None:
        subject = _subject(evidence.program, entry.exact, entry.program, measured.program, measured.exact)
        own = [each for each in moved if not each.helper]
        blocks.append(_of_program(measured, entry, evidence, subject, own))
    matched = match_helpers(measured.helpers, entry.helpers)
    known = [key for key in evidence.helpers if key in matched]
    for key in sorted(known, key=lambda key: _place(key, moved)):
        comparison, now, before = evidence.helpers[key], measured.helpers[key], entry.helpers[matched[key]]
        subject = _subject(comparison, before.exact, before, now, now.exact)
        own = [each for each in moved if each.helper == key]
        lines = _of_program(measured, entry, evidence, subject, own)
        if not own and not comparison.same:
            lines = [_program(subject, ranked(differences(subject.before, subject.now), "run", worse=True))]
        blocks.append([f"helper {key.partition('(')[0]}: {line}" for line in lines])
    # Of other inputs nothing was compared but what they do not decide.
    others = any(each.outcome is Outcome.INPUTS_CHANGED for each in findings)
    around = [] if others else [surroundings(entry, measured.environment)]
    return tuple(dict.fromkeys([*_in_turns(blocks), *launched(measured, moved), *host, *around]))


def launched(measured: Measurement, findings: Sequence[Finding]) -> list[str]:
    """What each call launches, most often first, where that is too often; the baseline has only how often."""
    failed = (Outcome.REGRESSED, Outcome.OVER_BUDGET)
    if not any(each.metric == "launches" and each.outcome in failed for each in findings) or not measured.launched:
        return []
    names = sorted(measured.launched, key=lambda name: (-measured.launched[name], name))
    shown = ", ".join(f"{name} {measured.launched[name]:,}" for name in names[:_MOST_LAUNCHED])
    more = f" (and {len(names) - _MOST_LAUNCHED} more)" if len(names) > _MOST_LAUNCHED else ""
    return [f"each call launches {shown}{more}"]


def _of_host(metric: str) -> bool:
    return not is_custom(metric) and METRICS[metric].side == "host"


def _again(line: str) -> str:
    return "" if "for the first time" in line else " again"


def _of_program(
    measured: Measurement, entry: Entry, evidence: Evidence, subject: Subject, moved: Sequence[Finding]
) -> list[str]:
    """Lines on one program, of which the first two matter most."""
    if not moved:
        return []
    worst = moved[0]
    worse = worst.outcome is Outcome.REGRESSED
    found = ranked(differences(subject.before, subject.now), worst.metric, worse=worse)
    about = next((each.metric for each in moved if family(each.metric) == "memory"), "")
    memory = [each for each in found if about and each.kind in _MEMORY]
    advice = "; pass what is captured as an argument" if memory and memory[0].kind == "constants" and worse else ""
    split = [f"{about}: {_listed(memory)}{advice}"] if memory else []
    rest = [each for each in found if each not in memory]
    was, here = entry.environment, measured.environment
    # Another compiler or another jax may have done it, unless it is Python's alone.
    open_cause = bool(compiler_changes(entry, here)) or was.jax != here.jax
    open_cause = open_cause and any(_not_of_python(each, subject) for each in moved)
    most = _MOST_BESIDE_CAUSES if open_cause else _MOST_FACTS
    # Where memory is all that differs, there is nothing left to say of the program.
    gained = [_program(subject, rest[:most])] if rest or not split else []
    if open_cause:
        first, later = _causes(measured, entry, subject, moved, "".join(gained or split)), split
    elif worst.metric == about:
        first, later = [*split, *gained], []
    else:
        first, later = gained, split
    if any(each.metric == "run" and _faster_than_counted(each, subject) for each in moved):
        first.append(_LOOPS)
    if not worst.helper:
        first += compile_parts(measured, entry, evidence, moved)
    if open_cause and subject.comparison.same:
        return first  # What XLA made of the same program has been said.
    return [*first, *later, *([f"further changes: {_listed(rest[most:])}"] if rest[most:] else [])]


def _causes(measured: Measurement, entry: Entry, subject: Subject, moved: Sequence[Finding], gained: str) -> list[str]:
    """Whose doing it is: the compiler's, or that of the code and of jax's lowering, by what the program gained."""
    compiler = compiler_changes(entry, measured.environment)
    jax_changed = entry.environment.jax != measured.environment.jax
    rest = code_part(subject, moved, gained, jax_changed=jax_changed)
    if not compiler:
        return [rest]
    # A helper is not timed alone.
    times = {} if moved[0].helper else then_and_now(measured, entry, subject.comparison)
    effects = compiler_effects(subject, moved, times)
    recorded = f"the baseline's own program, recorded -> with today's XLA: {', '.join(effects)}"
    return [compiler_part(compiler, subject, moved), rest, *([recorded] if effects else [])]


def _program(subject: Subject, found: Sequence[Difference]) -> str:
    """What the program gained and lost."""
    comparison = subject.comparison
    if comparison.same:
        what = "the program" if comparison.how == "fingerprint" else "the program after XLA"
        return f"{what} is the same{f', but for {_listed(found)}' if found else ': what changed is what Python does'}"
    if comparison.how == "fingerprint":
        return "the program is the same: what costs more is to hand over the leaves of its arguments"
    if found:
        return f"the program changed{likeness(subject.before, subject.now)}: {_listed(found)}"
    if not (subject.before.operations and subject.now.operations):
        reason = f"; the stored one could not be compared: {comparison.cannot}" if comparison.cannot else ""
        return f"nothing that is counted of the program differs{reason}"
    callback = any("callback" in name for name in subject.now.operations)
    hidden = "the order of its operations, or values of constants" + (", or what it calls back" if callback else "")
    return f"the program changed in nothing that is counted; that leaves {hidden}"


def _faster_than_counted(finding: Finding, subject: Subject) -> bool:
    """Whether a program with a loop, as before, takes longer by more than the work that is counted of it."""
    loops = subject.now.operations.get("while", 0)
    if finding.outcome is not Outcome.REGRESSED or finding.ratio is None or not loops:
        return False
    if loops != subject.before.operations.get("while", 0):
        return False
    old, new = subject.before.exact.get("flops"), subject.now.exact.get("flops")
    return bool(old and new and 1.1 * new / old < finding.ratio.estimate)


def _not_of_python(finding: Finding, subject: Subject) -> bool:
    """Whether it is a cost of the program, or a time to which both programs were held."""
    timed = finding.metric in ("run", "compile", "xla") and not subject.comparison.same
    return timed or finding.metric in subject.stored


def _host(measured: Measurement, entry: Entry) -> list[str]:
    before = entry.host.get(measured.environment.host_key, {})
    moved = [
        f"{name} {format_change(before[name], measured.host[name], METRICS[name].unit)}"
        for name in METRICS
        if name in before and name in measured.host and before[name] != measured.host[name]
    ]
    return [f"on the host: {', '.join(moved)}"] if moved else []


def _subject(
    comparison: Comparison,
    stored: Mapping[str, float],
    program: StoredProgram | None,
    now: Program,
    exact: Mapping[str, float],
) -> Subject:
    program = program or StoredProgram()
    # Positions of donated leaves are stored with a program that can be built again only.
    donated = None if None in (program.fingerprint, now.fingerprint) else (len(program.donated), len(now.donated))
    before = Traits(
        exact={**(comparison.old_exact or stored), **{name: stored[name] for name in _OF_THE_TRACE & stored.keys()}},
        operations=comparison.old_operations,
        constants=comparison.old_constants,
        donated=donated and donated[0],
        options=program.options,
    )
    today = Traits(
        exact=exact,
        operations=comparison.new_operations or now.operations,
        constants=now.constants,
        donated=donated and donated[1],
        options=now.options,
    )
    return Subject(comparison=comparison, stored=stored, before=before, now=today)


def _place(key: str, moved: Sequence[Finding]) -> int:
    return next((n for n, each in enumerate(moved) if each.helper == key), len(moved))


def _in_turns(blocks: Sequence[Sequence[str]]) -> Iterable[str]:
    """The first line of each block, then the second of each."""
    return (line for lines in zip_longest(*blocks) for line in lines if line is not None)


def _listed(found: Sequence[Difference]) -> str:
    return ", ".join(each.text for each in found)
