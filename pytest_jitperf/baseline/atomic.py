"""Files that are whole at every moment, whoever is killed, and one writer at a time per directory."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from pytest_jitperf.errors import BaselineError

__all__ = ["directory_lock", "encoded", "real_path", "remove_leftovers", "why_not_writable", "write"]

# A name of its own, not one made from the target's: that may be as long as a name can be.
_PREFIX, _SUFFIX = ".jitperf-", ".tmp"
_LOCK_SECONDS = 60.0
# Open files of this process by their numbers. Were one replaced, whoever else writes to it would be cut off.
_OPEN_FILE = re.compile(r"/dev/fd/(\d+)|/proc/self/fd/(\d+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
# What an option swallows whose own value was forgotten: pytest --jitperf-html tests/test_a.py
_SOURCES = (".cfg", ".ini", ".py", ".pyi", ".toml")
_BASELINE = re.compile(rb'\s*\{\s*"format"\s*:\s*"pytest-jitperf"')


def real_path(path: Path) -> Path:
    """The path without symbolic links; a loop of them stays as it is, for whoever opens it to report.

    So does a stream, ``/dev/stdout``: what it leads to has no name that could be opened.
    """
    return path if _is_stream(path) else Path(os.path.realpath(path))


def _is_stream(path: Path) -> bool:
    """Whether it is a device or a pipe, or a name of an open file: something to write to, and never to replace."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _descriptor(path: Path) -> int | None:
    """The number of the open file that the path names, if it does."""
    found = _OPEN_FILE.fullmatch(str(path))
    return int(found[1] or found[2]) if found is not None else _STANDARD.get(str(path))


@contextmanager
def directory_lock(directory: Path, timeout: float = _LOCK_SECONDS) -> Iterator[None]:
    """Keeps other updates out of a directory of baselines.

    The lock file lies in the temporary directory of the system, so that the repository stays clean; one per user, since
    nobody may open another's there. It is the operating system that holds the lock, so a killed process leaves none.

    Raises:
        BaselineError: Another process has held it for ``timeout`` seconds, or there is nowhere to lock.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else ""
    digest = hashlib.sha256(os.fsencode(real_path(directory))).hexdigest()[:16]
    name = f"pytest-jitperf-{user}-{digest}.lock"
    try:
        path = Path(tempfile.gettempdir()) / name
    except OSError as error:
        raise BaselineError(
            f"{directory} cannot be locked: there is no temporary directory; set TMPDIR to a writable directory"
        ) from error
    lock = filelock.FileLock(path, timeout=timeout)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise BaselineError(
            f"{directory} has been locked by another update for {timeout:g} s ({path}); "
            "wait for it to end, then update again"
        ) from error
    except OSError as error:
        raise BaselineError(
            f"{directory} cannot be locked: {path}: {error.strerror}; set TMPDIR to a writable directory"
        ) from error
    except NotImplementedError as error:
        raise BaselineError(
            f"{directory} cannot be locked: {path} is on a file system without locks; set TMPDIR to another directory"
        ) from error
    try:
        yield
    finally:
        lock.release()


def write(path: Path, content: bytes) -> None:
    """Replaces a file, or makes it; until the last step the old content stands, and after it the new.

    A device or a pipe is written to as it is: ``/dev/null`` has to stay what it is for every process of the machine.

    Args:
        path: The file, from ``real_path``; its directory must exist. Its permissions and owner are kept.
        content: All of it.

    Raises:
        OSError: Nothing was changed and no temporary file is left.
    """
    if _is_stream(path):
        descriptor = _descriptor(path)
        # Opened anew, a file would be written to where others that have it open go on writing.
        with path.open("ab") if descriptor is None else open(os.dup(descriptor), "wb") as stream:
            stream.write(content)
        return
    old = path.stat() if path.exists() else None
    if old is not None and not os.access(path, os.W_OK):
        # Renaming over it would work and go against what its owner said.
        raise PermissionError(errno.EACCES, "the file is write-protected", str(path))
    temporary = path.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            _take_after(temporary, old)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(path.parent)


def encoded(text: str) -> bytes:
    """UTF-8, whatever is in the text.

    A file name that the locale does not know has its own bytes again, and half of a surrogate pair, as the id of a test
    may hold, is escaped.
    """
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")
    return content.decode("utf-8", "backslashreplace").encode()


def _take_after(path: Path, old: os.stat_result) -> None:
    """Gives a file the owner, where we may, and the permissions of the one that it replaces."""
    new = path.stat()
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) and hasattr(os, "chown"):
        # Root in a container must not take the files of a checkout from their owner.
        with contextlib.suppress(OSError):
            os.chown(path, old.st_uid, old.st_gid)
    path.chmod(stat.S_IMODE(old.st_mode))


def why_not_writable(path: Path) -> str:
    """Says why ``write`` would fail, or do harm, before there is anything to write; empty where it would not."""
    if path.is_dir():
        return "it is a directory; give a file"
    if _is_stream(path) and path.exists():
        return "" if os.access(path, os.W_OK) else "it cannot be written to; give another path"
    if path.suffix in _SOURCES and path.exists():
        return "it is a source file, which would be overwritten; give another path"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}; make it, or give another path"
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        return f"no file can be made in {path.parent}: {error.strerror}; give another path"
    if path.exists() and not os.access(path, os.W_OK):
        return "the file is write-protected; give another path"
    if _is_baseline(path):
        return "it is a baseline, which would be overwritten; give another path"
    return ""


def _is_baseline(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _BASELINE.match(file.read(200)) is not None
    except OSError:
        return False


def remove_leftovers(directory: Path) -> None:
    """Removes temporary files of writers that were killed; only to be called under the directory's lock."""
    # A folder may hold ten thousand programs, and each file that is updated looks into it.
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(directory)
    for name in names:
        if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
            with contextlib.suppress(OSError):
                (directory / name).unlink()


def _sync_directory(directory: Path) -> None:
    """Makes the renaming outlast a power cut, where the system can do that; the file itself is safe either way."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
