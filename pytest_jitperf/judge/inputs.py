"""Whether the inputs of today are those of the baseline."""

from __future__ import annotations

from collections import Counter

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.measurement import Measurement

__all__ = ["input_changes"]

_MOST_SHOWN = 3
_Leaf = tuple[str, str]


def input_changes(measured: Measurement, entry: Entry) -> str:
    """How the inputs differ in shape, dtype or static value.

    Leaves are paired by path. Those that remain were renamed or moved to another key where the same descriptions are
    left over on both sides, and that is no change.

    Returns:
        ``"f32[64] -> f32[128]"`` where one leaf is all there is, else ``"x: f32[64] -> f32[128]; b: f32[8] is new"``;
        empty where only names or their order changed.
    """
    before, today = _leaves(entry.inputs), _leaves(measured.inputs)
    if [described for _, described in before] == [described for _, described in today]:
        return ""  # Nothing changed, or names did: two parameters may also have exchanged theirs.
    gone, added = _without(before, today), _without(today, before)
    here = {path for path, _ in gone} & {path for path, _ in added}
    if not here and sorted(described for _, described in gone) == sorted(described for _, described in added):
        return ""
    if len(before) == len(today) == 1:
        return f"{before[0][1]} -> {today[0][1]}"
    old, new = dict(gone), dict(added)
    changes = [f"{path}: {old[path]} -> {new[path]}" for path in new if path in here]
    changes += [f"{path}: {new[path]} is new" for path in new if path not in here]
    changes += [f"{path}: {old[path]} is gone" for path in old if path not in here]
    if len(changes) > _MOST_SHOWN:
        changes = [*changes[:_MOST_SHOWN], f"and {len(changes) - _MOST_SHOWN} more"]
    return "; ".join(changes)


def _leaves(text: str) -> list[_Leaf]:
    parts = (part.rpartition(": ") for part in text.split("; ") if part)
    return [(path, described) for path, _, described in parts]


def _without(leaves: list[_Leaf], others: list[_Leaf]) -> list[_Leaf]:
    left = Counter(others)
    left.subtract(leaves)
    return [leaf for leaf in leaves if left[leaf] < 0]
