"""Kills processes that update one baseline, between any two of their calls to the system, and looks at what is left.

python tests/quality/crashes.py --rounds 200

Python tells a profiler of each call into C; those of the modules that reach the system are counted, and the process is
killed (SIGKILL, so that nothing of it can tidy up) before or after the one that is its turn. That a write is cut short
by a kill is brought about by a limit on the size of files, whose signal ends a process in the midst of a write.

What has to hold: the file is at every moment the old one or the new one, whole, with the programs that it names;
nothing is lost that an update said was written; and the next update leaves no temporary file.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from tabulate import tabulate

from pytest_jitperf.baseline import programs
from pytest_jitperf.baseline.model import Entry, StoredProgram, from_json
from pytest_jitperf.baseline.programs import artifact_name, pack, program_directory
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import update
from pytest_jitperf.errors import BaselineError

ENTRY = from_json(
    {
        "exact": {"peak_bytes": 64},
        "environment": {"jax": "0.10.2", "jaxlib": "0.10.2", "platform": "cpu", "python": "3.11"},
    }
)
A = Key(test="test_a", strategy="outer", device_kind="cpu")
B = Key(test="test_b", strategy="outer", device_kind="cpu")
_REACH_THE_SYSTEM = frozenset({"posix", "fcntl", "_io", "io"})


@dataclass(slots=True)
class Found:
    """What came of many kills.

    Attributes:
        kills: Processes that were killed.
        left: How often which state was left.
        faults: What was wrong, a line each.
    """

    kills: int = 0
    left: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Killer:
    """A profiler that kills its process at one of the calls that reach the system, or counts them.

    Attributes:
        at: Which one, from 1; each call has two turns, one before and one after it. None kills nothing.
        count: How many there were.
    """

    at: int | None = None
    count: int = 0

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:
        if event.startswith("c_") and _module(called) in _REACH_THE_SYSTEM:
            self.count += 1
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def _module(called: Any) -> str:
    named = getattr(called, "__module__", None)
    return named if isinstance(named, str) else type(getattr(called, "__self__", None)).__module__


def forked(action: Callable[[], object]) -> int:
    """Starts a process that does something and ends; its id."""
    with warnings.catch_warnings():
        # Whoever calls this may have threads; the child touches nothing but files.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            sys.setprofile(None)
            os._exit(code)
    return child


def ended(child: int) -> int:
    """Waits for a process: its exit code, or the number of the signal that killed it, negative."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def stored(content: bytes, peak: int) -> tuple[Entry, dict[str, bytes]]:
    """An entry with a program, and the program's file."""
    packed = pack(content)
    program = StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=artifact_name(packed))
    return replace(ENTRY, program=program, exact={"peak_bytes": peak}), {artifact_name(packed): packed}


OLD, OLD_FILES = stored(b"old", 64)
CHANGED, CHANGED_FILES = stored(b"new program", 128)

# What is there before, and what is done that is killed.
SITUATIONS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "first update": (lambda path: None, lambda path: update(path, {A: OLD}, files=OLD_FILES)),
    "entry and program changed": (
        lambda path: update(path, {A: OLD, B: OLD}, files=OLD_FILES),
        lambda path: update(path, {A: CHANGED}, files=CHANGED_FILES),
    ),
    "entry removed": (
        lambda path: update(path, {A: OLD, B: OLD}, files=OLD_FILES),
        lambda path: update(path, {}, [A]),
    ),
    "programs pruned": (
        lambda path: (update(path, {A: OLD}, files=OLD_FILES), update(path, {A: CHANGED}, files=CHANGED_FILES)),
        lambda path: programs.prune(path.parent),
    ),
}


def kill_everywhere(situation: str, folder: Path, step: int = 1, first: int = 1) -> Found:
    """Kills one process at each of its turns, or at each ``step``-th.

    Args:
        situation: Which of ``SITUATIONS``.
        folder: Empty.
        step: Every how many turns.
        first: The first turn.
    """
    before, action = SITUATIONS[situation]
    found = Found()
    old, new = (_state_after(folder / name, each) for name, each in (("old", (before,)), ("new", (before, action))))
    for turn in range(first, 10_000, step):
        path = folder / str(turn) / "__jitperf__" / "test_a.json"
        before(path)

        def killed(path: Path = path, turn: int = turn) -> None:
            sys.setprofile(Killer(turn))
            action(path)

        code = ended(forked(killed))
        found.kills += code == -signal.SIGKILL
        _look(found, f"{situation}, turn {turn}", path, old, new, action)
        if code != -signal.SIGKILL:
            if code:
                found.faults.append(f"{situation}, turn {turn}: ended with {code}")
            break
    return found


def cut_short(situation: str, folder: Path, step: int) -> Found:
    """Kills one process in the midst of a write, after each ``step`` bytes of a file."""
    before, action = SITUATIONS[situation]
    found = Found()
    old, new = (_state_after(folder / name, each) for name, each in (("old", (before,)), ("new", (before, action))))
    for size in range(0, 100_000, step):
        path = folder / str(size) / "__jitperf__" / "test_a.json"
        before(path)

        def killed(path: Path = path, size: int = size) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            action(path)

        code = ended(forked(killed))
        found.kills += code == -signal.SIGXFSZ
        _look(found, f"{situation}, cut after {size} bytes", path, old, new, action)
        if code != -signal.SIGXFSZ:
            break
    return found


def together(folder: Path, seed: int, *, processes: int = 8, victims: int = 5, updates: int = 4) -> Found:
    """Lets processes update one file at once, of which some are killed at turns that chance chooses.

    Each writes its own entries, one of them twice; one of them prunes the programs in between.

    Args:
        folder: Empty.
        seed: Chooses the turns.
        processes: How many there are.
        victims: How many of them are killed, if their turn comes.
        updates: How many updates each makes.
    """
    chance = random.Random(seed)
    path = folder / "__jitperf__" / "test_a.json"
    update(path, {A: OLD}, files=OLD_FILES)
    found = Found()
    said: list[int] = []
    children = []
    for number in range(processes):
        reading, writing = os.pipe()
        turn = chance.randrange(1, 2_000) if number < victims else None

        def work(number: int = number, turn: int | None = turn, writing: int = writing) -> None:
            killer = Killer(turn)
            for round_ in range(updates):
                sys.setprofile(killer)
                _own_update(path, number, round_)
                sys.setprofile(None)
                os.write(writing, b"x")
                if number == processes - 1:
                    programs.prune(path.parent)

        children.append(forked(work))
        os.close(writing)
        said.append(reading)
    while any(os.waitid(os.P_PID, each, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None for each in children):
        try:
            read(path)
        except BaselineError as error:
            found.faults.append(f"seed {seed}: while it was written: {error}")
    codes = [ended(each) for each in children]
    found.kills = codes.count(-signal.SIGKILL)
    found.faults += [f"seed {seed}: ended with {code}" for code in codes if code not in (0, -signal.SIGKILL)]
    for number, (reading, code) in enumerate(zip(said, codes, strict=True)):
        with open(reading, "rb") as pipe:
            done = len(pipe.read())
        _look_at_own(found, f"seed {seed}, process {number}", path, number, done, tried=done + bool(code))
    before = read(path)
    update(path, {B: CHANGED}, files=CHANGED_FILES)
    after = read(path)
    lost = [str(key) for key in before.keys if before.entry(*key.parts) != after.entry(*key.parts) and key != B]
    found.faults += [f"seed {seed}: the next update lost {key}" for key in lost]
    _look_for_strays(found, f"seed {seed}", path)
    return found


def _own_update(path: Path, number: int, round_: int) -> None:
    entry, files = stored(f"{number} {round_}".encode(), round_)
    # The last writes what the first has written.
    key = Key(test=f"test_{round_ % 3}", strategy=f"process{number}", device_kind="cpu")
    update(path, {key: entry}, files=files)


def _look_at_own(found: Found, when: str, path: Path, number: int, done: int, *, tried: int) -> None:
    """What a process wrote last is there, or what it was killed over."""
    for slot in range(3):
        finished = [each for each in range(done) if each % 3 == slot][-1:]
        begun = [each for each in range(tried) if each % 3 == slot][-1:]
        entry = read(path).entry(f"test_{slot}", "main", f"process{number}", "cpu")
        if entry is None:
            if finished:
                found.faults.append(f"{when}: what was written of test_{slot} is lost")
            continue
        if not isinstance(entry, Entry) or entry.program is None:
            found.faults.append(f"{when}: test_{slot} cannot be used")
            continue
        peak = int(entry.exact.get("peak_bytes", -1))
        found.left["old" if [peak] == finished else "new"] += 1
        if [peak] not in (finished, begun):
            found.faults.append(f"{when}: test_{slot} is of round {peak}, not of {finished or begun}")
        content = programs.load(path.parent, entry.program.artifact or "")
        if content != f"{number} {peak}".encode():
            found.faults.append(f"{when}: the program of test_{slot} is {content!r}")


def _state_after(folder: Path, actions: tuple[Callable[[Path], object], ...]) -> bytes | None:
    path = folder / "__jitperf__" / "test_a.json"
    for action in actions:
        action(path)
    return path.read_bytes() if path.exists() else None


def _look(
    found: Found, when: str, path: Path, old: bytes | None, new: bytes | None, action: Callable[[Path], object]
) -> None:
    """The file is the old or the new one, the programs that it names are there, and doing it again does it."""
    content = path.read_bytes() if path.exists() else None
    found.left["new" if content == new else "old"] += 1
    if content not in (old, new):
        found.faults.append(f"{when}: neither the old file nor the new one")
    try:
        _look_for_programs(found, when, path)
        action(path)
    except BaselineError as error:
        found.faults.append(f"{when}: {error}")
        return
    if (path.read_bytes() if path.exists() else None) != new:
        found.faults.append(f"{when}: done again it is not the new file")
    _look_for_programs(found, when, path)
    _look_for_strays(found, when, path)


def _look_for_programs(found: Found, when: str, path: Path) -> None:
    baseline = read(path)
    for key in baseline.keys:
        entry = baseline.entry(*key.parts)
        if not isinstance(entry, Entry):
            found.faults.append(f"{when}: {entry}")
        elif entry.program is not None and entry.program.artifact is not None:
            loaded = programs.load(path.parent, entry.program.artifact)
            if not isinstance(loaded, bytes):
                found.faults.append(f"{when}: {loaded.reason}")


def _look_for_strays(found: Found, when: str, path: Path) -> None:
    known = {path.name, "programs", ".gitattributes"}
    stray = [each.name for each in path.parent.rglob("*") if each.name not in known and each.suffix != ".jaxexport"]
    found.faults += [f"{when}: {name} is left" for name in stray]
    for each in program_directory(path.parent).glob("*.jaxexport"):
        if artifact_name(each.read_bytes()) != each.name:
            found.faults.append(f"{when}: {each.name} is not whole")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50, help="rounds of eight processes at once")
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    given = parser.parse_args()
    rows = []
    every: list[str] = []

    def add(name: str, found: Found) -> None:
        left = ", ".join(f"{word} {count:,}" for word, count in sorted(found.left.items()))
        rows.append((name, f"{found.kills:,}", left, len(found.faults)))
        every.extend(found.faults)

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = folder  # for locks
        for situation in SITUATIONS:
            add(f"{situation}, between two calls", kill_everywhere(situation, Path(folder, situation)))
        for situation in list(SITUATIONS)[:2]:
            add(f"{situation}, within a write", cut_short(situation, Path(folder, "cut", situation), 7))
        whole = Found()
        for seed in range(given.seed, given.seed + given.rounds):
            found = together(Path(folder, "together", str(seed)), seed)
            whole.kills += found.kills
            whole.left += found.left
            whole.faults += found.faults
        add(f"8 processes at once, {given.rounds:,} rounds", whole)
    print(tabulate(rows, headers=("situation", "kills", "what is left", "faults"), tablefmt="plain"))
    for fault in every:
        print(fault, file=sys.stderr)
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
