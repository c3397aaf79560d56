"""What an update makes of an entry that is there already: as few changed bytes as the new facts allow.

An update run measures everything again, and the timings of unchanged code come out different each time. Were they all
written, every update would rewrite the whole file, bury the one change that was meant, and conflict with every other
branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_jitperf.baseline.ages import grown_old
from pytest_jitperf.baseline.helpers import match_helpers
from pytest_jitperf.baseline.inputs import leaves_of, program_inputs, read_leaves
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.measurement import Sample

__all__ = ["merge_entry", "same_count"]

# A CI matrix records the same entry with several of these; what they change is kept apart, under ``Entry.host``.
_VERSIONS = frozenset({"python", "jax", "jaxlib", "platform_version"})
# Python calls vary by some with hash seeds and import order, with jax 0.12 by 0.3 % with what was traced before in the
# process; compilations, launches and leaves never do.
_VARYING_COUNTS = frozenset({"trace_calls", "host_calls"})
_VARYING_SHARE, _VARYING_CALLS = 0.005, 20
# Below what the gate lets pass (50 % and 50 ms, of a reference trace of some ms), above what noise does.
_TRACE_FACTOR, _TRACE_UNITS = 1.45, 3.0


def merge_entry(old: Entry | None, new: Entry, *, stored_times: bool = False, renew: bool = False) -> Entry:
    """Decides what stands in the file after an update.

    ==============================================================  ===========================================
    new against old                                                 result
    ==============================================================  ===========================================
    same inputs, programs, exact metrics, counts and environment    old: its timings cannot have moved by code
    the same, ``stored_times``, and a timing's quartiles are apart  old with the new timings
    the same, recorded with another Python or jax                   old, with the counts of this one added
    the same but for names of arguments and helpers, and arguments  old with the new names
    that nothing reads
    the same, another environment (flags, devices, …)               new, with the counts of other versions kept
    the same, but tracing takes another time (Python without calls)  new, likewise
    the same, its programs exported by a jax more than 3 months old  new, likewise
    anything else                                                   new
    ==============================================================  ===========================================

    JAX promises to read what it exported for six months, hence the last but one. Counts of other Python and jax
    versions go where the code changed: they would fail the other jobs of a matrix over a change that has been accepted.
    An artifact that old lacks is taken from new.

    Args:
        old: What the file has, or None.
        new: What was measured now.
        stored_times: Timings are a gate (a dedicated machine): record them again when they moved, and in each new
            environment.
        renew: Take the new numbers and artifacts though nothing says that they differ, because the change was judged
            and is accepted.

    Returns:
        The entry to store; the very object ``old`` where nothing is to be written.
    """
    if old is None:
        return new
    named = _under_names_of(new, old)
    if named is None or not _same_counts(named, new):
        return new
    moved = {key for key, _, _ in old.environment.differences(new.environment)}
    # With the same jax, another jaxlib or driver is not a row of the matrix of versions but a change to record.
    versions = _VERSIONS if old.environment.jax != new.environment.jax else frozenset({"python"})
    allowed = frozenset[str]() if stored_times else versions
    differs = _exact(named) != _exact(new) or moved - allowed or new.timed.keys() - old.timed.keys()
    aged = grown_old(old, new.environment.jax) and _stores_as_much(named, new)
    if renew or aged or differs or ("python" not in moved and "jax" not in moved and _trace_moved(old, new)):
        return replace(new, host={**named.host, **new.host})
    merged = replace(
        named,
        host={**new.host, **named.host},
        program=_with_artifact(named.program, new.program) if named.program and new.program else None,
        helpers={name: _with_artifact(each, new.helpers[name]) for name, each in named.helpers.items()},
    )
    if stored_times and _times_moved(old.timed, new.timed):
        # The machine's name is not compared, but it goes with the timings.
        merged = replace(merged, timed=new.timed, relative=new.relative, environment=new.environment)
    return old if merged == old else merged


def same_count(name: str, old: float, new: float) -> bool:
    """Whether two numbers of a metric that never varies are the same, but for the few calls by which some do."""
    slack = max(_VARYING_SHARE * old, _VARYING_CALLS) if name in _VARYING_COUNTS else 0
    return abs(new - old) <= slack


def _trace_moved(old: Entry, new: Entry) -> bool:
    """Whether tracing the same program became so much slower or faster that the gate would say so."""
    before, after = sum(old.relative.values()), sum(new.relative.values())
    if not before or not after:
        return False
    return max(before, after) > _TRACE_FACTOR * min(before, after) and abs(after - before) > _TRACE_UNITS


def _under_names_of(new: Entry, old: Entry) -> Entry | None:
    """The old entry with the names that arguments and helpers have now; None where more than names differ."""
    matched = match_helpers(new.helpers, old.helpers)
    if _shapes(old) != _shapes(new) or not len(matched) == len(new.helpers) == len(old.helpers):
        return None
    helpers = {key: old.helpers[matched[key]] for key in new.helpers}
    pairs = [(old.program, new.program), *((each, new.helpers[key]) for key, each in helpers.items())]
    if not all(_same_program(before, now) for before, now in pairs):
        return None
    leaves = {name: counts[name] for counts in new.host.values() for name in ("leaves",) if name in counts}
    return replace(
        old,
        inputs=new.inputs,
        program=_renamed(old.program, new.program) if old.program and new.program else None,
        helpers={key: _renamed(each, new.helpers[key]) for key, each in helpers.items()},
        # Arguments that nothing reads come and go like names.
        host={key: {**counts, **leaves} if "leaves" in counts else counts for key, counts in old.host.items()},
    )


def _shapes(entry: Entry) -> list[str]:
    """What is read of the arguments, names aside."""
    leaves = leaves_of(entry.inputs)
    if entry.program is not None:
        leaves = read_leaves(entry.inputs, program_inputs(entry.program, entry), entry.program.unused)
    return [described for _, described in leaves]


def _same_program(old: StoredProgram | None, new: StoredProgram | None) -> bool:
    if old is None or new is None:
        return old is new
    leaves = [read_leaves(each.inputs, each.inputs, each.unused) for each in (old, new)]
    before, now = ([described for _, described in each] for each in leaves)
    # Fingerprints taken by different rules say nothing; the same bytes are the same program.
    other_rules = old.fingerprint_version != new.fingerprint_version
    same = old.artifact == new.artifact is not None if other_rules else old.fingerprint == new.fingerprint
    return same and before == now


def _renamed(old: StoredProgram, new: StoredProgram) -> StoredProgram:
    return replace(
        old,
        fingerprint=new.fingerprint,
        fingerprint_version=new.fingerprint_version,
        inputs=new.inputs,
        unused=new.unused,
    )


def _exact(entry: Entry) -> tuple[object, ...]:
    return entry.exact, {name: each.exact for name, each in entry.helpers.items()}


def _same_counts(old: Entry, new: Entry) -> bool:
    """Whether the counts of each version that both have are the same but for what varies from run to run."""
    return all(_counts_agree(old.host[key], new.host[key]) for key in old.host.keys() & new.host.keys())


def _counts_agree(old: Mapping[str, int], new: Mapping[str, int]) -> bool:
    if old.keys() != new.keys():
        return False
    return all(same_count(name, before, new[name]) for name, before in old.items())


def _stores_as_much(old: Entry, new: Entry) -> bool:
    """Whether each program that the old entry stores is stored by the new one too."""
    pairs = [(each, new.helpers[name]) for name, each in old.helpers.items()]
    if old.program is not None and new.program is not None:
        pairs.append((old.program, new.program))
    return all(now.artifact is not None for before, now in pairs if before.artifact is not None)


def _with_artifact(old: StoredProgram, new: StoredProgram) -> StoredProgram:
    if old.artifact is None and new.artifact is not None:
        return replace(old, artifact=new.artifact, no_artifact="")
    return old


def _times_moved(old: Mapping[str, Sample], new: Mapping[str, Sample]) -> bool:
    return any(new[name].low > old[name].high or new[name].high < old[name].low for name in old.keys() & new.keys())
