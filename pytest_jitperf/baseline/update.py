"""Updating a baseline file without losing anybody's entry.

Under one lock per directory, from what is on disk at that moment, programs first, and the file replaced as a whole: at
every instant it is the old one or the new one. Whatever is not being changed stays: other entries, and keys that this
version does not know.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_jitperf.baseline import atomic, programs
from pytest_jitperf.baseline.changes import changes
from pytest_jitperf.baseline.codec import keep_unknown
from pytest_jitperf.baseline.document import dump, not_finite
from pytest_jitperf.baseline.merge import merge_entry
from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.store import Baseline, Key, Unusable, read
from pytest_jitperf.errors import BaselineError

__all__ = ["UpdateResult", "update"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateResult:
    """What an update did.

    Attributes:
        path: As asked for.
        changed: Each entry that was written, with lines for people: ``run 301 us -> 367 us``.
        unchanged: Entries that were left as they are, since nothing that matters differs.
        removed: Entries that were removed.
        programs: Names of program files that were written.
    """

    path: Path
    changed: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    unchanged: tuple[Key, ...] = ()
    removed: tuple[Key, ...] = ()
    programs: tuple[str, ...] = ()


def update(
    path: Path,
    entries: Mapping[Key, Entry],
    removals: Collection[Key] = (),
    files: Mapping[str, bytes] | None = None,
    *,
    stored_times: bool = False,
    renew: Collection[Key] = (),
) -> UpdateResult:
    """Merges entries into a baseline file.

    Args:
        path: The file; it and its directory are made where needed. Where it is a symbolic link, its target is written.
        entries: What was measured, by key; see ``merge_entry`` for what becomes of each.
        removals: Entries to remove, unless they are among ``entries``.
        files: Packed content of the programs that ``entries`` name, from ``entry_from_measurement``. Only what the file
            refers to afterwards is stored.
        stored_times: See ``merge_entry``.
        renew: Keys of entries that are to be recorded again though nothing says that they differ.

    Returns:
        What was done. Where nothing differs, not a byte is written.

    Raises:
        BaselineError: The file is damaged, cannot be written, or is being updated by somebody else for too long. It is
            as it was before.
        ValueError: An entry names a program that is neither stored nor in ``files``.
    """
    if not entries and not removals:
        return UpdateResult(path=path)
    directory = atomic.real_path(path).parent
    with atomic.directory_lock(directory):
        atomic.remove_leftovers(directory)
        atomic.remove_leftovers(programs.program_directory(directory))
        baseline = read(path)
        removed = [
            key for key in sorted({*removals} - entries.keys()) if _remove(baseline.document["tests"], key.parts)
        ]
        changed: dict[Key, tuple[str, ...]] = {}
        needed: set[str] = set()
        for key, new in sorted(entries.items()):
            found = baseline.entry(*key.parts)
            old = found if isinstance(found, Entry) else None
            present = old and _without_lost(old, directory)
            merged = merge_entry(present, new, stored_times=stored_times, renew=key in renew)
            if merged == present:
                continue
            if isinstance(found, Unusable):
                changed[key] = ("replaces an entry that could not be used",)
            else:
                changed[key] = changes(old, merged) or ("stored program restored",)
            needed |= _artifacts(merged)
            _put(baseline, key, merged)
        written: tuple[str, ...] = ()
        if changed or removed:
            written = _write(baseline, {name: (files or {}).get(name) for name in sorted(needed)})
    return UpdateResult(
        path=path,
        changed=changed,
        unchanged=tuple(sorted(entries.keys() - changed.keys())),
        removed=tuple(removed),
        programs=written,
    )


def _write(baseline: Baseline, files: Mapping[str, bytes | None]) -> tuple[str, ...]:
    """Programs first, so that no entry ever names one that is not there; returns the names of those written."""
    path, directory = baseline.path, baseline.directory
    try:
        content = dump(baseline.document)
    except ValueError as error:
        raise BaselineError(
            f"{path} cannot be updated: there is a number that is not JSON at {not_finite(baseline.document)}; "
            "record that entry again as well, or remove it"
        ) from error
    for name, packed in files.items():
        if packed is None and not programs.intact(directory, name):
            raise ValueError(f"the program {name} is neither stored nor given")
    written: list[str] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, packed in files.items():
            if packed is not None and programs.store(directory, packed):
                written.append(name)
        real = atomic.real_path(path)
        if not real.exists() or real.read_bytes() != content:
            atomic.write(real, content)
    except OSError as error:
        # Only here, where the file is certainly the old one: the new one would need its programs.
        for name in written:
            with contextlib.suppress(OSError):
                (programs.program_directory(directory) / name).unlink()
        raise BaselineError(
            f"{path} cannot be written: {error.strerror}; nothing was changed; "
            f"check the permissions and the free space of {directory}"
        ) from error
    return tuple(written)


def _remove(level: Any, parts: tuple[str, ...]) -> bool:
    """Removes what the parts lead to, and each object that this leaves empty; says whether it was there."""
    first, *rest = parts
    if not isinstance(level, dict) or first not in level:
        return False
    if rest and not _remove(level[first], tuple(rest)):
        return False
    if not rest or not level[first]:
        del level[first]
    return True


def _put(baseline: Baseline, key: Key, entry: Entry) -> None:
    level = baseline.document["tests"]
    for part in key.parts[:-1]:
        level = level.setdefault(part, {})
        if not isinstance(level, dict):
            raise BaselineError(
                f"{baseline.path} cannot be updated: {part!r} of {key} does not lead to an object; "
                "remove it from the file"
            )
    level[key.device_kind] = keep_unknown(Entry, level.get(key.device_kind), to_json(entry))


def _without_lost(entry: Entry, directory: Path) -> Entry:
    """The entry without the artifacts whose files are gone or damaged, so that the new ones take their place."""

    def checked(program: StoredProgram) -> StoredProgram:
        lost = program.artifact is not None and not programs.intact(directory, program.artifact)
        return replace(program, artifact=None) if lost else program

    return replace(
        entry,
        program=entry.program and checked(entry.program),
        helpers={name: checked(each) for name, each in entry.helpers.items()},
    )


def _artifacts(entry: Entry) -> set[str]:
    every = [*entry.helpers.values(), *([entry.program] if entry.program else [])]
    return {each.artifact for each in every if each.artifact is not None}
