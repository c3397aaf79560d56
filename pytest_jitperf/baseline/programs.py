"""Stored programs: files named after their content, under ``programs/`` beside the baselines that refer to them.

A name that is the digest of the content makes three things simple: two entries with one program share a file, a file
never changes (so git never merges it), and whether it is intact can be told from itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import stat
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_jitperf.baseline import atomic
from pytest_jitperf.baseline.document import read_document
from pytest_jitperf.errors import BaselineError

__all__ = [
    "ARTIFACT_PATTERN",
    "MAX_ARTIFACT_BYTES",
    "MAX_PROGRAM_BYTES",
    "Damaged",
    "Missing",
    "artifact_name",
    "intact",
    "load",
    "pack",
    "program_directory",
    "prune",
    "store",
    "unpack",
    "unreferenced",
]

ARTIFACT_PATTERN = r"[0-9a-f]{32}\.jaxexport"
MAX_ARTIFACT_BYTES = 2**20
"""Compressed programs above this are not stored, unless the user says otherwise: captured constants, mostly."""
MAX_PROGRAM_BYTES = 2**28
"""What a stored program may unpack to. A few kilobytes can be made to unpack to the whole memory of a machine."""

# Git turns line ends around in what it takes for text, which would destroy a program; without a NUL byte in its first
# few kilobytes, or under "* text" in the project's own attributes, it is taken for that.
_ATTRIBUTES = b"*.jaxexport binary\n"
_AGAIN = "record it again with pytest --jitperf-update"
_QUOTED_NAME = re.compile(f'"({ARTIFACT_PATTERN})"'.encode())


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such file; ``reason`` says so in a sentence with the cure."""

    reason: str


@dataclass(frozen=True, slots=True)
class Damaged:
    """The file is there and not what its name says; ``reason`` is a sentence with the cure."""

    reason: str


def program_directory(directory: Path) -> Path:
    """Where the programs of the baselines in ``directory`` lie."""
    return directory / "programs"


def pack(raw: bytes) -> bytes:
    """Compresses a serialised program for storing."""
    return zlib.compress(raw, 9)


def unpack(packed: bytes, limit: int) -> bytes:
    """Undoes ``pack``.

    Raises:
        ValueError: It is not whole, has something after its end, or unpacks to more than ``limit`` bytes.
    """
    decoder = zlib.decompressobj()
    try:
        raw = decoder.decompress(packed, limit + 1)
    except zlib.error as error:
        raise ValueError(f"is not zlib data ({error})") from error
    if len(raw) > limit:
        raise ValueError(f"unpacks to more than {limit} bytes")
    if not decoder.eof:
        raise ValueError("is cut off")
    if decoder.unused_data:
        raise ValueError("has something after its end")
    return raw


def artifact_name(packed: bytes) -> str:
    """The name under which packed content is stored."""
    return f"{hashlib.sha256(packed).hexdigest()[:32]}.jaxexport"


def store(directory: Path, packed: bytes) -> bool:
    """Stores a packed program unless an intact one is there, and once tells git that such files are binary.

    Returns:
        Whether a file was written.

    Raises:
        OSError: It cannot be written.
    """
    name = artifact_name(packed)
    if intact(directory, name):
        return False
    target = program_directory(directory)
    target.mkdir(parents=True, exist_ok=True)
    if not (target / ".gitattributes").exists():
        atomic.write(target / ".gitattributes", _ATTRIBUTES)
    atomic.write(target / name, packed)
    return True


def load(directory: Path, name: str) -> bytes | Missing | Damaged:
    """Reads a stored program, checked against its name.

    Args:
        directory: Of the baseline file that names it.
        name: As in the entry.

    Returns:
        The program as it was given to ``pack``, or why there is none.
    """
    packed = _content(directory, name)
    if not isinstance(packed, bytes):
        return packed
    try:
        return unpack(packed, MAX_PROGRAM_BYTES)
    except ValueError as error:
        return Damaged(f"the stored program {program_directory(directory) / name} {error}; {_AGAIN}")


def intact(directory: Path, name: str) -> bool:
    """Whether the program is there with the content that its name says."""
    return isinstance(_content(directory, name), bytes)


def unreferenced(directory: Path) -> tuple[str, ...]:
    """Names of stored programs that no baseline of the directory refers to, sorted.

    Raises:
        BaselineError: A JSON file of the directory is damaged or unreadable, so that nobody can say what it refers to.
    """
    stored = {
        each.name
        for each in program_directory(directory).glob("*.jaxexport")
        if re.fullmatch(ARTIFACT_PATTERN, each.name) and each.is_file()
    }
    files = sorted(directory.glob("*.json"))
    if not stored - _names_written_in(files):
        return ()  # Asked after each update, so a large directory is not taken apart for the usual answer.
    for path in files:
        stored -= _names_in(read_document(path))
    return tuple(sorted(stored))


def prune(directory: Path) -> tuple[str, ...]:
    """Removes the programs that nothing refers to.

    Returns:
        The names of the files removed.

    Raises:
        BaselineError: See ``unreferenced``; then nothing is removed. Or a file cannot be removed.
    """
    if not program_directory(directory).is_dir():
        return ()
    with atomic.directory_lock(directory):
        names = unreferenced(directory)
        for name in names:
            path = program_directory(directory) / name
            try:
                path.unlink()
            except OSError as error:
                raise BaselineError(f"{path} cannot be removed: {error.strerror}; check its permissions") from error
        atomic.remove_leftovers(program_directory(directory))
    return names


def _content(directory: Path, name: str) -> bytes | Missing | Damaged:
    if not re.fullmatch(ARTIFACT_PATTERN, name):
        return Damaged(f"{name!r} is not the name of a stored program; {_AGAIN}")
    path = program_directory(directory) / name
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return Damaged(f"the stored program {path} is not a regular file; {_AGAIN}")
        if found.st_size > MAX_PROGRAM_BYTES:
            return Damaged(f"the stored program {path} has {found.st_size} bytes, more than any; {_AGAIN}")
        packed = path.read_bytes()
    except FileNotFoundError:
        return Missing(f"the stored program {path} is not there; add it to the repository, or {_AGAIN}")
    except OSError as error:
        return Damaged(f"the stored program {path} cannot be read: {error.strerror}; {_AGAIN}")
    if artifact_name(packed) == name:
        return packed
    if packed.startswith(b"version https://git-lfs.github.com/"):
        return Damaged(f"the stored program {path} is a git-lfs pointer, not the program; run git lfs pull")
    return Damaged(f"the stored program {path} is not what was stored (its sha256 differs); restore it, or {_AGAIN}")


def _names_written_in(files: Iterable[Path]) -> set[str]:
    """Names of programs in the bytes of files, whatever else is in them."""
    found: set[str] = set()
    for path in filter(Path.is_file, files):
        with contextlib.suppress(OSError):
            found |= {each.decode() for each in _QUOTED_NAME.findall(path.read_bytes())}
    return found


def _names_in(value: object) -> set[str]:
    """Every name of a program anywhere in a document: an entry that cannot be used still refers to its program."""
    if isinstance(value, str):
        return {value} if re.fullmatch(ARTIFACT_PATTERN, value) else set()
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(_names_in, inner))
