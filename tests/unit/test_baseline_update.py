"""Updating a baseline file: what is written, what is left alone, and what stops it."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline import atomic
from pytest_jitperf.baseline.document import dump
from pytest_jitperf.baseline.model import StoredProgram, from_json
from pytest_jitperf.baseline.programs import artifact_name, load, pack, program_directory
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import UpdateResult, update
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.measurement import Sample

ENTRY = from_json(
    {
        "exact": {"peak_bytes": 64},
        "timed": {"run": {"high": 0.3, "low": 0.1, "median": 0.2, "rounds": 5}},
        "environment": {"jax": "0.10.2", "jaxlib": "0.10.2", "platform": "cpu", "python": "3.11"},
    }
)
CHANGED = replace(ENTRY, exact={"peak_bytes": 128})
JITTER = replace(ENTRY, timed={"run": Sample(median=0.9, low=0.8, high=1, rounds=5)})
A = Key(test="test_a", strategy="outer", device_kind="cpu")
B = Key(test="test_b", strategy="outer", device_kind="cpu")
PACKED = pack(b"program")
NAME = artifact_name(PACKED)
FILES = {NAME: PACKED}
WITH_PROGRAM = replace(ENTRY, program=StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=NAME))


@pytest.fixture(autouse=True)
def _locks_of_tests_lie_among_the_temporary_files_of_tests(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.getbasetemp()))


@pytest.fixture(name="path")
def path_of_a_baseline(tmp_path: Path) -> Path:
    return tmp_path / "tests" / "__jitperf__" / "test_step.json"


def document(path: Path) -> Any:
    return json.loads(path.read_bytes())


def everything(directory: Path) -> dict[str, bytes]:
    return {str(each.relative_to(directory)): each.read_bytes() for each in directory.rglob("*") if each.is_file()}


def test_a_first_update_makes_the_directory_and_the_file_in_canonical_form(path: Path) -> None:
    result = update(path, {B: ENTRY, A: WITH_PROGRAM}, files=FILES)

    assert result == UpdateResult(path=path, changed={A: ("new",), B: ("new",)}, programs=(NAME,))
    assert path.read_bytes() == dump(document(path))
    assert everything(path.parent).keys() == {"test_step.json", f"programs/{NAME}", "programs/.gitattributes"}
    assert [read(path).entry(*key.parts) for key in (A, B)] == [WITH_PROGRAM, ENTRY]
    assert load(path.parent, NAME) == b"program"


@pytest.mark.parametrize(("entries", "removals"), [({}, []), ({}, [A])])
def test_an_update_with_nothing_to_write_makes_nothing(
    path: Path, entries: dict[Key, Any], removals: list[Key]
) -> None:
    assert update(path, entries, removals) == UpdateResult(path=path)
    assert not path.parent.exists()


def test_numbers_within_noise_leave_every_byte_and_the_time_of_the_file(path: Path) -> None:
    update(path, {A: WITH_PROGRAM, B: ENTRY}, files=FILES)
    before = path.read_bytes()
    os.utime(path, (1, 1))

    result = update(path, {A: replace(JITTER, program=WITH_PROGRAM.program), B: JITTER}, [], FILES)

    assert result == UpdateResult(path=path, unchanged=(A, B))
    assert (path.read_bytes(), path.stat().st_mtime) == (before, 1)


def test_a_file_that_another_tool_formatted_is_not_rewritten_for_that(path: Path) -> None:
    update(path, {A: ENTRY})
    path.write_text(json.dumps(document(path)))
    before = path.read_bytes()

    update(path, {A: JITTER})

    assert path.read_bytes() == before


def test_only_the_lines_of_the_changed_entry_change(path: Path) -> None:
    update(path, {A: ENTRY, B: ENTRY})
    before = path.read_text().splitlines()

    result = update(path, {B: CHANGED})

    after = path.read_text().splitlines()
    assert result == UpdateResult(path=path, changed={B: ("peak_bytes 64 B -> 128 B",)})
    assert [(old.strip(), new.strip()) for old, new in zip(before, after, strict=True) if old != new] == [
        ('"peak_bytes": 64', '"peak_bytes": 128')
    ]


def test_an_update_merges_with_what_is_on_disk_then_and_not_with_what_was_read_before(path: Path) -> None:
    update(path, {A: ENTRY})
    stale = read(path)
    update(path, {B: ENTRY})
    update(path, {A: CHANGED})

    assert stale.keys == (A,)
    assert [read(path).entry(*key.parts) for key in (A, B)] == [CHANGED, ENTRY]


def test_options_of_merging_reach_each_entry(path: Path) -> None:
    update(path, {A: ENTRY, B: ENTRY})

    assert update(path, {A: JITTER, B: JITTER}, stored_times=True).changed.keys() == {A, B}
    assert update(path, {A: ENTRY, B: ENTRY}, renew=[B]).changed == {B: ("run 900 ms -> 200 ms",)}


def test_removed_entries_leave_no_empty_objects_behind(path: Path) -> None:
    gpu = replace(A, device_kind="gpu")
    update(path, {A: ENTRY, gpu: ENTRY, B: ENTRY})

    assert update(path, {}, [A, B, B]).removed == (A, B)
    assert read(path).keys == (gpu,)
    assert update(path, {}, [gpu, A]).removed == (gpu,)
    assert document(path)["tests"] == {}


def test_an_entry_that_was_measured_is_not_removed(path: Path) -> None:
    update(path, {A: ENTRY})

    assert update(path, {A: ENTRY}, [A]) == UpdateResult(path=path, unchanged=(A,))


def test_unknown_keys_are_kept_everywhere(path: Path) -> None:
    update(path, {A: WITH_PROGRAM, B: ENTRY}, files=FILES)
    edited = document(path)
    edited["x-team-note"] = "keep me"
    edited["tests"]["x-note"] = ["keep", None, "ü"]
    edited["tests"]["test_a"]["main"]["outer"]["cpu"]["why"] = "accepted in review"
    edited["tests"]["test_a"]["main"]["outer"]["cpu"]["timed"]["run"]["unit"] = "s"
    edited["tests"]["test_a"]["main"]["outer"]["cpu"]["program"]["from"] = "a newer version"
    edited["tests"]["test_b"]["main"]["outer"]["cpu"]["why"] = "too"
    path.write_text(json.dumps(edited))

    update(path, {A: replace(CHANGED, program=WITH_PROGRAM.program)})

    edited["tests"]["test_a"]["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = 128
    assert path.read_bytes() == dump(edited)


def test_an_unusable_entry_is_replaced_by_what_was_measured(path: Path) -> None:
    update(path, {A: ENTRY})
    edited = document(path)
    edited["tests"]["test_a"]["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = math.nan
    path.write_text(json.dumps(edited))

    assert update(path, {A: ENTRY}).changed == {A: ("replaces an entry that could not be used",)}
    assert read(path).entry(*A.parts) == ENTRY


def test_a_nan_elsewhere_in_the_file_stops_the_update_and_is_named(path: Path) -> None:
    update(path, {A: ENTRY, B: ENTRY})
    edited = document(path)
    edited["tests"]["test_b"]["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = math.nan
    path.write_text(json.dumps(edited))
    before = path.read_bytes()

    with pytest.raises(BaselineError) as caught:
        update(path, {A: CHANGED})

    assert str(caught.value) == (
        f"{path} cannot be updated: there is a number that is not JSON at tests / test_b / main / outer / cpu / exact "
        "/ peak_bytes; record that entry again as well, or remove it"
    )
    assert path.read_bytes() == before


def test_what_is_no_object_is_not_written_over(path: Path) -> None:
    update(path, {B: ENTRY})
    edited = document(path)
    edited["tests"]["test_a"] = "a note"
    path.write_text(json.dumps(edited))
    before = path.read_bytes()

    with pytest.raises(BaselineError) as caught:
        update(path, {A: ENTRY})

    assert str(caught.value) == (
        f"{path} cannot be updated: 'test_a' of test_a / outer / cpu does not lead to an object; "
        "remove it from the file"
    )
    assert path.read_bytes() == before


def test_programs_that_nothing_needs_are_not_stored(path: Path) -> None:
    update(path, {A: WITH_PROGRAM}, files=FILES)
    again = pack(b"the same program exported once more")
    new = replace(JITTER, program=StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=artifact_name(again)))

    assert update(path, {A: new}, files={artifact_name(again): again}) == UpdateResult(path=path, unchanged=(A,))
    assert list(program_directory(path.parent).glob("*.jaxexport")) == [program_directory(path.parent) / NAME]


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_bytes(b"")])
def test_a_program_that_was_lost_is_stored_again(path: Path, damage: Callable[[Path], None]) -> None:
    update(path, {A: WITH_PROGRAM}, files=FILES)
    before = path.read_bytes()
    os.utime(path, (1, 1))
    damage(program_directory(path.parent) / NAME)

    result = update(path, {A: replace(JITTER, program=WITH_PROGRAM.program)}, files=FILES)

    assert result == UpdateResult(path=path, changed={A: ("stored program restored",)}, programs=(NAME,))
    assert load(path.parent, NAME) == b"program"
    assert (path.read_bytes(), path.stat().st_mtime) == (before, 1)


def test_a_lost_program_is_replaced_by_another_export_of_it(path: Path) -> None:
    update(path, {A: WITH_PROGRAM}, files=FILES)
    (program_directory(path.parent) / NAME).unlink()
    again = pack(b"the same program exported once more")
    program = StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=artifact_name(again))

    result = update(path, {A: replace(JITTER, program=program)}, files={artifact_name(again): again})

    assert result.changed == {A: ("program: stored again",)}
    assert read(path).entry(*A.parts) == replace(ENTRY, program=program)


def test_a_lost_program_that_cannot_be_stored_again_leaves_the_entry(path: Path) -> None:
    update(path, {A: WITH_PROGRAM}, files=FILES)
    (program_directory(path.parent) / NAME).unlink()
    before = path.read_bytes()
    without = StoredProgram(fingerprint="sha256:" + "a" * 64, no_artifact="above 1 MiB")

    assert update(path, {A: replace(JITTER, program=without)}) == UpdateResult(path=path, unchanged=(A,))
    assert path.read_bytes() == before


def test_an_entry_never_names_a_program_that_is_not_stored(path: Path) -> None:
    with pytest.raises(ValueError, match=f"the program {NAME} is neither stored nor given"):
        update(path, {A: WITH_PROGRAM})
    assert not path.exists()


def test_permissions_of_the_file_are_kept(path: Path) -> None:
    update(path, {A: ENTRY})
    path.chmod(0o640)

    update(path, {A: CHANGED})

    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_permissions_that_any_new_file_has(path: Path) -> None:
    update(path, {A: ENTRY})
    (path.parent / "other").write_text("")

    assert path.stat().st_mode == (path.parent / "other").stat().st_mode


@pytest.mark.parametrize("dangling", [False, True])
def test_a_symbolic_link_stays_and_its_target_is_written(path: Path, tmp_path: Path, dangling: bool) -> None:
    target = tmp_path / "shared" / "b.json"
    if not dangling:
        update(target, {B: ENTRY})
    path.parent.mkdir(parents=True)
    path.symlink_to(target)

    update(path, {A: WITH_PROGRAM}, files=FILES)

    assert path.is_symlink()
    assert read(target).keys == ((A,) if dangling else (A, B))
    assert load(read(path).directory, NAME) == b"program"
    assert [each.name for each in path.parent.iterdir()] == ["test_step.json"]


def test_paths_with_spaces_and_other_letters_and_the_longest_names_work(tmp_path: Path) -> None:
    path = tmp_path / "with space 🙂" / ("n" * 250 + ".json")

    update(path, {A: ENTRY})

    assert read(path).keys == (A,)


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(path: Path) -> None:
    update(path, {A: WITH_PROGRAM}, files=FILES)
    (path.parent / ".jitperf-0123.tmp").write_text('{"half": ')
    (program_directory(path.parent) / ".jitperf-4567.tmp").write_text("half")
    (path.parent / "mine.tmp").write_text("mine")

    update(path, {A: WITH_PROGRAM}, files=FILES)

    assert everything(path.parent).keys() == {
        "test_step.json",
        "mine.tmp",
        f"programs/{NAME}",
        "programs/.gitattributes",
    }


@pytest.mark.parametrize("content", [b"", b"{", b"<<<<<<< HEAD\n", b"\x1f\x8b"])
def test_a_damaged_file_is_never_overwritten(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    with pytest.raises(BaselineError, match=r"test_step\.json"):
        update(path, {A: WITH_PROGRAM}, files=FILES)
    assert everything(path.parent) == {"test_step.json": content}


def test_a_file_in_the_way_of_the_directory_is_named(path: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").write_text("a file")

    with pytest.raises(BaselineError) as caught:
        update(path, {A: ENTRY})

    assert str(caught.value) == f"{path} cannot be read: Not a directory; check the path and its permissions"


def test_a_file_in_the_way_of_the_programs_is_named_and_nothing_is_changed(path: Path) -> None:
    update(path, {A: ENTRY})
    (path.parent / "programs").write_text("a file")
    before = everything(path.parent)

    with pytest.raises(BaselineError) as caught:
        update(path, {A: WITH_PROGRAM}, files=FILES)

    assert str(caught.value) == (
        f"{path} cannot be written: File exists; nothing was changed; check the permissions and the free space of "
        f"{path.parent}"
    )
    assert everything(path.parent) == before


def in_child(action: Callable[[], object]) -> str:
    """Runs an action in a process of its own, without the rights of root; returns its exception, or ``done``."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Other tests of this process may have started threads; the child touches nothing but files.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            action()
            said = "done"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, "rb") as pipe:
        return pipe.read().decode()


@pytest.fixture(name="anybodys")
def path_that_anybody_may_write(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Outside pytest's own temporary directory, which root's children cannot enter once they are not root."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    with tempfile.TemporaryDirectory() as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        path = Path(directory, "__jitperf__", "test_step.json")
        update(path, {A: ENTRY})
        for each, mode in ((path.parent.parent, 0o777), (path.parent, 0o777), (path, 0o666)):
            each.chmod(mode)
        if in_child(lambda: read(path)) != "done":
            pytest.skip("the temporary directory of this system is closed to other users")
        yield path
        path.parent.chmod(0o777)


def test_a_read_only_directory_stops_an_update_in_one_line_and_not_the_reading(anybodys: Path) -> None:
    anybodys.parent.chmod(0o555)
    before = everything(anybodys.parent)

    said = in_child(lambda: update(anybodys, {A: CHANGED}))

    assert said == (
        f"BaselineError: {anybodys} cannot be written: Permission denied; nothing was changed; check the permissions "
        f"and the free space of {anybodys.parent}"
    )
    assert in_child(lambda: read(anybodys)) == "done"
    assert everything(anybodys.parent) == before


def test_a_write_protected_file_is_not_replaced(anybodys: Path) -> None:
    anybodys.chmod(0o444)
    before = everything(anybodys.parent)

    said = in_child(lambda: update(anybodys, {A: CHANGED}))

    assert said == (
        f"BaselineError: {anybodys} cannot be written: the file is write-protected; nothing was changed; check the "
        f"permissions and the free space of {anybodys.parent}"
    )
    assert everything(anybodys.parent) == before


def test_an_unreadable_file_is_named_and_left(anybodys: Path) -> None:
    anybodys.chmod(0o200)

    assert in_child(lambda: update(anybodys, {A: CHANGED})) == (
        f"BaselineError: {anybodys} cannot be read: Permission denied; check the path and its permissions"
    )


def test_a_full_disk_changes_nothing_and_leaves_nothing(anybodys: Path) -> None:
    resource = pytest.importorskip("resource", reason="only POSIX systems can limit the size of files")
    before = everything(anybodys.parent)
    large = replace(CHANGED, program=WITH_PROGRAM.program, inputs="x" * 5000)

    def with_little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        update(anybodys, {A: large}, files=FILES)

    assert in_child(with_little_space) == (
        f"BaselineError: {anybodys} cannot be written: File too large; nothing was changed; check the permissions and "
        f"the free space of {anybodys.parent}"
    )
    assert {
        name: content for name, content in everything(anybodys.parent).items() if name != "programs/.gitattributes"
    } == before


def test_an_update_waits_for_another_and_gives_up_with_a_sentence(path: Path) -> None:
    with (
        atomic.directory_lock(path.parent),
        pytest.raises(BaselineError, match=r"has been locked by another update for 0 s \(.*\); wait for it to end"),
        atomic.directory_lock(path.parent, timeout=0),
    ):
        pass
    with atomic.directory_lock(path.parent, timeout=0):
        pass


def test_a_lock_can_be_taken_under_each_name_of_a_directory_by_one_only(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    (tmp_path / "link").symlink_to(path.parent)

    with (
        atomic.directory_lock(path.parent),
        pytest.raises(BaselineError),
        atomic.directory_lock(tmp_path / "link", timeout=0),
    ):
        pass


def test_without_a_place_for_the_lock_nothing_is_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))

    with pytest.raises(BaselineError, match=r"__jitperf__ cannot be locked: .*; set TMPDIR to a writable directory$"):
        update(path, {A: ENTRY})
    assert not path.exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_branches_that_update_different_tests_merge_without_conflict(path: Path) -> None:
    """One block per entry: git never sees two branches touch neighbouring lines."""
    keys = [Key(test=f"test_{test}", strategy=name, device_kind="cpu") for test in "ab" for name in ("eager", "outer")]
    update(path, dict.fromkeys(keys, ENTRY))
    versions = {"base": path.read_bytes()}
    for branch, key in (("ours", keys[1]), ("theirs", keys[2])):
        path.write_bytes(versions["base"])
        update(path, {key: replace(CHANGED, timed=JITTER.timed)})
        versions[branch] = path.read_bytes()
    for name, content in versions.items():
        (path.parent / name).write_bytes(content)

    merged = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=path.parent, capture_output=True, check=False
    )

    assert merged.returncode == 0
    path.write_bytes(merged.stdout)
    assert [read(path).entry(*key.parts) == ENTRY for key in keys] == [True, False, False, True]
