"""What a measurement asks the baseline of its test file: entries, and the programs they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_jitperf.baseline import programs
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.baseline.store import Baseline, Key
from pytest_jitperf.errors import BaselineError

__all__ = ["Baselines"]


class Baselines:
    """Entries and programs of one test file.

    Args:
        path: The baseline file.
        read: Reads a baseline file; the file is read only when something is asked.
    """

    def __init__(self, path: Path, read: Callable[[Path], Baseline]) -> None:
        self.path = path
        self._read = read

    def entry(self, key: Key) -> Entry | None:
        """The entry, or None where there is none.

        Raises:
            BaselineError: The file or the entry cannot be used.
        """
        found = self._read(self.path).entry(*key.parts)
        if found is None or isinstance(found, Entry):
            return found
        raise BaselineError(found.reason)

    def other_kinds(self, key: Key) -> tuple[str, ...]:
        """Other kinds of devices for which there is such an entry.

        Raises:
            BaselineError: The file cannot be used.
        """
        found = self._read(self.path).keys
        return tuple(
            each.device_kind
            for each in found
            if each.parts[:3] == key.parts[:3] and each.device_kind != key.device_kind
        )

    def lost(self, entry: Entry) -> tuple[str, ...]:
        """Why stored programs of an entry are of no use, a sentence each; none where they are there and intact."""
        every = [*([entry.program] if entry.program is not None else []), *entry.helpers.values()]
        reasons = (self.raw(each)[1] for each in every if each.artifact is not None)
        return tuple(dict.fromkeys(reason for reason in reasons if reason))

    def raw(self, stored: StoredProgram) -> tuple[bytes | None, str]:
        """The bytes of a stored program, or why there are none."""
        if stored.artifact is None:
            return None, stored.no_artifact or "no program was stored"
        loaded = programs.load(self._read(self.path).directory, stored.artifact)
        return (loaded, "") if isinstance(loaded, bytes) else (None, loaded.reason)
