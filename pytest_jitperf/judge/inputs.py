"""Whether the inputs of today are those of the baseline."""

from __future__ import annotations

from pytest_jitperf.baseline.inputs import leaves_of, program_inputs, read_leaves, without
from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.measurement import Measurement

__all__ = ["input_changes", "made_static", "perhaps_unread"]

_MOST_SHOWN = 3
_STATIC = "static "


def input_changes(measured: Measurement, entry: Entry) -> str:
    """How the inputs differ in shape, dtype or static value.

    Leaves are paired by path. Those that remain were renamed or moved to another key where the same descriptions are
    left over on both sides, and that is no change. Neither is one that is not read, whatever becomes of it.

    Returns:
        ``"f32[64] -> f32[128]"`` where one leaf is all there is, else ``"x: f32[64] -> f32[128]; b: f32[8] is new"``;
        empty where only names or their order changed.
    """
    before, today = every_before, every_today = leaves_of(entry.inputs), leaves_of(measured.inputs)
    if entry.program is not None and measured.program is not None:
        before = read_leaves(entry.inputs, program_inputs(entry.program, entry), entry.program.unused)
        today = read_leaves(measured.inputs, measured.program.inputs, measured.program.unused)
    if [described for _, described in before] == [described for _, described in today]:
        return ""  # Nothing changed, or names did: two parameters may also have exchanged theirs.
    # What is read now may have been there before and not been read, and the other way round.
    gone, added = without(before, every_today), without(today, every_before)
    old, new = dict(every_before), dict(every_today)
    moved = dict.fromkeys(path for path, _ in [*added, *gone] if path in old and path in new and old[path] != new[path])
    if not moved and sorted(described for _, described in gone) == sorted(described for _, described in added):
        return ""
    if len(before) == len(today) == 1:
        return f"{before[0][1]} -> {today[0][1]}"
    changes = [f"{path}: {old[path]} -> {new[path]}" for path in moved]
    changes += [f"{path}: {described} is new" for path, described in dict.fromkeys(added) if path not in moved]
    changes += [f"{path}: {described} is gone" for path, described in dict.fromkeys(gone) if path not in moved]
    if len(changes) > _MOST_SHOWN:
        changes = [*changes[:_MOST_SHOWN], f"and {len(changes) - _MOST_SHOWN} more"]
    return "; ".join(changes)


def perhaps_unread(measured: Measurement, entry: Entry) -> bool:
    """Whether arguments came or went of which nobody knows whether they were read, and no other one changed.

    One program shows what it reads. Where Python drives, only what can be compared shows whether it mattered.
    """
    before, today = dict(leaves_of(entry.inputs)), dict(leaves_of(measured.inputs))
    driven = measured.program is None and entry.program is None
    return driven and all(before[path] == today[path] for path in before.keys() & today.keys())


def made_static(measured: Measurement, entry: Entry) -> bool:
    """Whether all that changed is that arguments which were traced are static now.

    Then it is the code that changed and not what it is called with: it may compile again for values that it shared a
    program for.
    """
    before, today = leaves_of(entry.inputs), leaves_of(measured.inputs)
    gone, added = without(before, today), without(today, before)
    static = [path for path, described in added if described.startswith(_STATIC)]
    traced = [path for path, described in gone if not described.startswith(_STATIC)]
    if not (static and traced) or (len(static), len(traced)) != (len(added), len(gone)):
        return False
    # An argument that is static as a whole had leaves of its own before: ``cfg`` for ``cfg.width`` and ``cfg['lr']``.
    return all(any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in static) for path in traced)
