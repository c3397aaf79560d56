"""Many writers at once lose nothing; those that are killed are the subject of ``quality/test_quality_crashes.py``."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_jitperf.baseline import atomic, programs
from pytest_jitperf.baseline.programs import program_directory
from pytest_jitperf.baseline.store import Key, read

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
