"""One process at a time on a device."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_jitperf.probe.lock import DeviceLock

HOLD = """
import sys
from pytest_jitperf.probe.lock import DeviceLock
with DeviceLock("test:9").held():
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_another_process_is_waited_for_and_the_wait_is_told() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        told: list[str] = []

        def progress(text: str) -> None:
            told.append(text)
            assert other.stdin is not None
            other.stdin.write(b"\n")
            other.stdin.flush()

        lock = DeviceLock("test:9", progress)
        with DeviceLock("test:8").held():
            assert told == []
        with lock.held():
            assert other.wait(10) == 0
    assert told == ["waiting for another process on this device"]
    assert lock.waited_seconds > 0


def test_a_measurement_within_a_measurement_does_not_wait_for_itself() -> None:
    first, second = DeviceLock("test:9"), DeviceLock("test:9")
    with first.held(), first.held(), second.held():
        pass
    with second.held():
        pass
    assert (first.waited_seconds, second.waited_seconds) == (0, 0)


def test_a_body_that_raises_lets_go() -> None:
    with pytest.raises(ZeroDivisionError), DeviceLock("test:9").held():
        _ = 1 // 0
    done = subprocess.run([sys.executable, "-c", HOLD], input=b"\n", capture_output=True, timeout=60, check=True)
    assert done.stdout == b"held\n"


def test_where_no_lock_can_be_had_the_measurement_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("", encoding="ascii")
    monkeypatch.setattr(tempfile, "tempdir", str(nowhere / "folder"))
    with DeviceLock("test:9").held():
        pass


def test_where_there_is_no_temporary_directory_at_all_it_goes_on_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with DeviceLock("test:9").held():
        pass
