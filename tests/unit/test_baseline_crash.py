"""Many writers at once lose nothing; a writer that is killed anywhere leaves a whole file."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pytest_jitperf.baseline import atomic, programs
from pytest_jitperf.baseline import update as update_module
from pytest_jitperf.baseline.model import StoredProgram, from_json
from pytest_jitperf.baseline.programs import artifact_name, pack, program_directory
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import update

ENTRY = from_json(
    {
        "exact": {"peak_bytes": 64},
        "environment": {"jax": "0.10.2", "jaxlib": "0.10.2", "platform": "cpu", "python": "3.11"},
    }
)
A = Key(test="test_a", strategy="outer", device_kind="cpu")
PACKED = pack(b"program")
NAME = artifact_name(PACKED)
NEW = replace(ENTRY, program=StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=NAME))

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from pytest_jitperf.baseline.model import StoredProgram, from_json
from pytest_jitperf.baseline.programs import artifact_name, pack
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import update

path, me = Path(sys.argv[1]), sys.argv[2]
environment = {"jax": "0.10.2", "jaxlib": "0.10.2", "platform": "cpu", "python": "3.11"}
print("ready", flush=True)
sys.stdin.readline()
for number in range(4):
    packed = pack(f"{me} {number}".encode())
    entry = from_json({
        "inputs": me,
        "program": {"fingerprint": "sha256:" + "a" * 64, "artifact": artifact_name(packed)},
        "environment": environment,
    })
    key = Key(test=f"test_{number}", strategy=me, device_kind="cpu")
    update(path, {key: entry}, files={artifact_name(packed): packed})
"""


@pytest.fixture(autouse=True)
def _locks_of_tests_lie_among_the_temporary_files_of_tests(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.getbasetemp()))


def test_processes_that_update_one_file_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "__jitperf__" / "test_step.json"
    names = [f"strategy{number}" for number in range(6)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": tempfile.gettempdir()}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for name in names
    ]
    try:
        for each in writers:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in writers:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        while any(each.poll() is None for each in writers):
            read(path)  # whole at every moment, or this raises
        assert [each.wait() for each in writers] == [0] * len(names)
    finally:
        for each in writers:
            each.kill()
            each.communicate()

    baseline = read(path)
    expected = {Key(test=f"test_{n}", strategy=name, device_kind="cpu"): name for n in range(4) for name in names}
    found = {key: baseline.entry(*key.parts) for key in baseline.keys}
    assert {key: getattr(entry, "inputs", entry) for key, entry in found.items()} == expected
    assert {programs.load(path.parent, each.name) for each in program_directory(path.parent).glob("*.jaxexport")} == {
        f"{name} {n}".encode() for n in range(4) for name in names
    }
    assert {each.name for each in path.parent.iterdir()} == {"test_step.json", "programs"}


def test_the_content_is_on_the_disk_before_the_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming first would leave an empty file after a power cut."""
    steps: list[tuple[str, int, int]] = []
    fsync, rename = os.fsync, os.replace

    def noting_fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        steps.append(("sync", found.st_ino, found.st_size if stat.S_ISREG(found.st_mode) else 0))
        fsync(descriptor)

    def noting_rename(source: Path, target: Path) -> None:
        steps.append(("rename", os.stat(source).st_ino, os.stat(source).st_size))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", noting_rename)
    path = tmp_path / "b.json"
    atomic.write(path, b"content")

    file = path.stat().st_ino
    assert steps == [("sync", file, 7), ("rename", file, 7), ("sync", tmp_path.stat().st_ino, 0)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_writer_killed_before_any_line_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """Kills a writer before its first line in the modules that touch the disk, then before its second, and so on."""
    path = tmp_path / "__jitperf__" / "test_step.json"
    update(path, {A: ENTRY})
    old = path.read_bytes()
    update(path, {A: NEW}, files={NAME: PACKED})
    new = path.read_bytes()
    seen = set()
    for lines in range(1, 10_000):
        path.write_bytes(old)
        for each in program_directory(path.parent).iterdir():
            each.unlink()
        survived = run_and_kill(path, lines)
        content = path.read_bytes()
        seen.add(content)
        assert content in (old, new), f"killed before line {lines}"
        assert content == old or programs.load(path.parent, NAME) == b"program", f"killed before line {lines}"
        update(path, {A: NEW}, files={NAME: PACKED})
        assert path.read_bytes() == new
        assert programs.load(path.parent, NAME) == b"program"
        assert sorted(each.name for each in path.parent.rglob("*") if each.is_file()) == sorted(
            [".gitattributes", NAME, "test_step.json"]
        )
        if survived:
            break
    assert survived
    assert seen == {old, new}


def run_and_kill(path: Path, lines: int) -> bool:
    """Updates in a child that is killed before a line; whether it got to its end before that."""
    watched = {module.__file__ for module in (atomic, programs, update_module)}
    left = lines

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in watched:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    with warnings.catch_warnings():
        # Other tests of this process may have started threads; the child touches nothing but files.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        sys.settrace(trace)
        update(path, {A: NEW}, files={NAME: PACKED})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
