"""Stored programs: named after their content, checked before use, removed only when nothing refers to them."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_jitperf.baseline import programs
from pytest_jitperf.baseline.document import dump, empty
from pytest_jitperf.baseline.programs import (
    Damaged,
    Missing,
    artifact_name,
    load,
    pack,
    program_directory,
    prune,
    store,
    unpack,
    unreferenced,
)
from pytest_jitperf.errors import BaselineError

PACKED = pack(b"program")
NAME = artifact_name(PACKED)
OTHER = artifact_name(pack(b"other"))
AGAIN = "record it again with pytest --jitperf-update"


@pytest.fixture(autouse=True)
def _locks_of_tests_lie_among_the_temporary_files_of_tests(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.getbasetemp()))


@settings(deadline=None)
@given(raw=st.binary(max_size=200))
def test_a_program_survives_packing(raw: bytes) -> None:
    assert unpack(pack(raw), limit=200) == raw


@settings(deadline=None)
@given(cut=st.integers(0, len(PACKED) - 1))
def test_a_packed_program_that_is_cut_short_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="cut off"):
        unpack(PACKED[:cut], limit=200)


def test_a_packed_program_with_something_behind_it_is_refused() -> None:
    with pytest.raises(ValueError, match="has something after its end"):
        unpack(PACKED + b"x", limit=200)


def test_a_packed_program_may_unpack_to_the_limit_and_no_further() -> None:
    bomb = pack(bytes(10_000))

    assert unpack(bomb, limit=10_000) == bytes(10_000)
    with pytest.raises(ValueError, match="unpacks to more than 9999 bytes"):
        unpack(bomb, limit=9_999)


def test_a_name_is_32_digits_of_the_contents_digest() -> None:
    assert artifact_name(b"") == "e3b0c44298fc1c149afbf4c8996fb924.jaxexport"


def test_a_stored_program_is_loaded_as_it_was(tmp_path: Path) -> None:
    assert store(tmp_path, PACKED) is True
    assert load(tmp_path, NAME) == b"program"


def test_git_is_told_once_that_programs_are_binary(tmp_path: Path) -> None:
    attributes = program_directory(tmp_path) / ".gitattributes"

    store(tmp_path, PACKED)
    assert attributes.read_text() == "*.jaxexport binary\n"
    attributes.write_text("mine")
    store(tmp_path, pack(b"other"))
    assert attributes.read_text() == "mine"


def test_a_program_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    store(tmp_path, PACKED)
    path = program_directory(tmp_path) / NAME
    os.utime(path, (1, 1))

    assert store(tmp_path, PACKED) is False
    assert path.stat().st_mtime == 1


def test_a_program_that_was_damaged_is_written_again(tmp_path: Path) -> None:
    store(tmp_path, PACKED)
    (program_directory(tmp_path) / NAME).write_bytes(b"")

    assert store(tmp_path, PACKED) is True
    assert load(tmp_path, NAME) == b"program"


def test_a_program_that_is_not_there_is_missing(tmp_path: Path) -> None:
    path = program_directory(tmp_path) / NAME

    assert load(tmp_path, NAME) == Missing(
        f"the stored program {path} is not there; add it to the repository, or {AGAIN}"
    )


@pytest.mark.parametrize("name", ["../secret.json", "/etc/passwd", NAME.upper(), NAME + "\n", ""])
def test_only_names_of_programs_are_opened(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, name) == Damaged(f"{name!r} is not the name of a stored program; {AGAIN}")


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (PACKED[:-1], f"is not what was stored (its sha256 differs); restore it, or {AGAIN}"),
        (
            PACKED.replace(b"\n", b"\r\n") + b"\n",
            f"is not what was stored (its sha256 differs); restore it, or {AGAIN}",
        ),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a git-lfs pointer, not the program; run git lfs pull"),
    ],
)
def test_content_that_its_name_does_not_fit_is_damaged(tmp_path: Path, content: bytes, seen: str) -> None:
    path = program_directory(tmp_path) / NAME
    path.parent.mkdir()
    path.write_bytes(content)

    assert load(tmp_path, NAME) == Damaged(f"the stored program {path} {seen}")


def test_content_that_fits_its_name_and_is_no_program_is_damaged(tmp_path: Path) -> None:
    name = artifact_name(b"text")
    store(tmp_path, b"text")

    assert load(tmp_path, name) == Damaged(
        f"the stored program {program_directory(tmp_path) / name} is not zlib data "
        f"(Error -3 while decompressing data: incorrect header check); {AGAIN}"
    )


def test_a_program_that_would_fill_the_memory_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_PROGRAM_BYTES", 10_000)
    bomb = pack(bytes(10_001))
    store(tmp_path, bomb)
    path = program_directory(tmp_path) / artifact_name(bomb)

    assert load(tmp_path, path.name) == Damaged(f"the stored program {path} unpacks to more than 10000 bytes; {AGAIN}")


def test_a_file_too_large_for_a_program_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_PROGRAM_BYTES", len(PACKED) - 1)
    path = program_directory(tmp_path) / NAME
    path.parent.mkdir()
    path.write_bytes(PACKED)

    assert load(tmp_path, NAME) == Damaged(f"the stored program {path} has {len(PACKED)} bytes, more than any; {AGAIN}")


def test_a_pipe_in_place_of_a_program_is_not_waited_for(tmp_path: Path) -> None:
    path = program_directory(tmp_path) / NAME
    path.parent.mkdir()
    os.mkfifo(path)

    assert load(tmp_path, NAME) == Damaged(f"the stored program {path} is not a regular file; {AGAIN}")


@pytest.fixture(name="directory")
def directory_with_two_programs(tmp_path: Path) -> Path:
    """NAME is named by an entry that cannot be used, OTHER by nothing."""
    store(tmp_path, PACKED)
    store(tmp_path, pack(b"other"))
    (program_directory(tmp_path) / "notes.txt").write_text("not ours")
    (program_directory(tmp_path) / "short.jaxexport").write_text("not ours")
    tests = {"t": {"main": {"outer": {"cpu": {"program": {"artifact": NAME}, "exact": None}}}}}
    (tmp_path / "test_a.json").write_bytes(dump({**empty(), "tests": tests}))
    (tmp_path / "test_b.json").write_bytes(dump(empty()))
    return tmp_path


def names(directory: Path) -> set[str]:
    return {each.name for each in program_directory(directory).iterdir()}


def test_programs_that_nothing_refers_to_are_removed_and_only_they(directory: Path) -> None:
    before = names(directory)

    assert unreferenced(directory) == (OTHER,)
    assert prune(directory) == (OTHER,)
    assert names(directory) == before - {OTHER}
    assert prune(directory) == ()


@pytest.mark.parametrize(
    "content", [b"", b"<<<<<<< HEAD\n", b'{"format": "pytest-jitperf", "version": 2, "tests": {}}']
)
def test_nothing_is_removed_while_a_baseline_is_unreadable(directory: Path, content: bytes) -> None:
    before = names(directory)
    (directory / "test_b.json").write_bytes(content)

    with pytest.raises(BaselineError, match=r"test_b\.json"):
        prune(directory)
    assert names(directory) == before


def test_pruning_removes_what_killed_writers_left(directory: Path) -> None:
    (program_directory(directory) / ".jitperf-0123.tmp").write_text("half")

    prune(directory)

    assert ".jitperf-0123.tmp" not in names(directory)


def test_a_program_that_cannot_be_removed_is_named(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(BaselineError) as caught:
        prune(directory)

    path = program_directory(directory) / OTHER
    assert str(caught.value) == f"{path} cannot be removed: Permission denied; check its permissions"


def test_pruning_where_there_are_no_programs_does_nothing(tmp_path: Path) -> None:
    assert prune(tmp_path / "none") == ()
