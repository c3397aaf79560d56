"""Files that are whole at every moment, and what is no file and must stay what it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import filelock
import pytest

from pytest_jitperf.baseline import atomic
from pytest_jitperf.errors import BaselineError

WRITE = """
import sys
from pathlib import Path
from pytest_jitperf.baseline import atomic

print("before", flush=True)
path = Path(sys.argv[1])
assert atomic.why_not_writable(path) == ""
atomic.write(atomic.real_path(path), b"content\\n")
print("after", flush=True)
"""


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """Were a device replaced, /dev/null would be a file for every process of the machine from then on."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()

    assert atomic.why_not_writable(link) == ""
    atomic.write(atomic.real_path(link), b"content")

    reader.join(60)
    assert got == [b"content"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_full_device_is_an_error_and_stays_a_device() -> None:
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("this system has no /dev/full")

    with pytest.raises(OSError, match="No space left on device"):
        atomic.write(atomic.real_path(full), b"content")
    assert full.is_char_device()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("redirected", [False, True], ids=["pipe", "file"])
def test_the_output_of_the_process_is_written_to_between_what_else_goes_there(
    tmp_path: Path, name: str, redirected: bool
) -> None:
    if not Path(name).exists():
        pytest.skip(f"this system has no {name}")
    output = tmp_path / "output"
    with output.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-c", WRITE, name],
            stdout=file if redirected else subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )

    assert (output.read_bytes() if redirected else done.stdout) == b"before\ncontent\nafter\n"


def test_a_file_on_a_device_for_memory_is_a_file_like_others() -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or not memory.is_dir():
        pytest.skip("this system has no /dev/shm")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        path = Path(folder, "a")
        for content in (b"longer", b"short"):
            atomic.write(atomic.real_path(path), content)

        assert path.read_bytes() == b"short"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_root_leaves_a_file_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    path.chmod(0o640)

    atomic.write(path, b"new")

    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o640)
    assert path.read_bytes() == b"new"


def test_a_link_to_a_file_keeps_the_mode_of_the_file(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o604)
    link.symlink_to(target)

    atomic.write(atomic.real_path(link), b"new")

    assert (link.is_symlink(), target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (True, b"new", 0o604)


@pytest.mark.parametrize("fault", ["write", "fsync", "chmod", "replace"])
def test_a_fault_at_any_step_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "b.json"
    path.write_bytes(b"old")
    if fault == "write":
        with monkeypatch.context() as context:
            context.setattr(Path, "open", fail)
            with pytest.raises(OSError, match="No space left"):
                atomic.write(path, b"new")
    else:
        monkeypatch.setattr(os if fault in ("fsync", "chmod", "replace") else Path, fault, fail)
        with pytest.raises(OSError, match="No space left"):
            atomic.write(path, b"new")

    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["b.json"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("ä 🙂", "ä 🙂".encode()),
        (os.fsencode("é").decode("ascii", "surrogateescape"), "é".encode()),
        ("half \udc80", rb"half \x80"),
        ("half \ud800", rb"half \ud800"),
    ],
)
def test_any_text_has_bytes_that_are_utf_8(text: str, content: bytes) -> None:
    assert atomic.encoded(text) == content
    assert content.decode("utf-8")


def test_a_directory_that_cannot_be_synchronised_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some network file systems; the file itself is safe by then."""
    fsync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    atomic.write(tmp_path / "a", b"new")

    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("folder", "it is a directory; give a file"),
        ("none/a", "there is no directory {}/none; make it, or give another path"),
        ("with space \U0001f642", ""),
        ("new.py", ""),
        ("test_a.py", "it is a source file, which would be overwritten; give another path"),
        ("baseline.json", "it is a baseline, which would be overwritten; give another path"),
        ("results.json", ""),
    ],
)
def test_why_a_file_cannot_be_written_is_said_before_there_is_anything_to_write(
    tmp_path: Path, what: str, said: str
) -> None:
    (tmp_path / "folder").mkdir()
    contents = {
        "baseline.json": '{\n  "format": "pytest-jitperf",\n  "tests": {}\n}\n',
        "results.json": '{"format": "pytest-jitperf-results"}',
        "test_a.py": "",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")

    assert atomic.why_not_writable(tmp_path / what) == said.format(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["baseline.json", "folder", "results.json", "test_a.py"]


def test_where_there_is_no_temporary_directory_nothing_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(BaselineError) as caught, atomic.directory_lock(tmp_path):
        pass

    assert str(caught.value) == (
        f"{tmp_path} cannot be locked: there is no temporary directory; set TMPDIR to a writable directory"
    )


def test_where_a_file_system_has_no_locks_nothing_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: object, **__: object) -> None:
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(filelock.FileLock, "acquire", without)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    told = "is on a file system without locks; set TMPDIR to another directory"
    with pytest.raises(BaselineError, match=told), atomic.directory_lock(tmp_path):
        pass
