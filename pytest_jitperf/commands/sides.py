"""The two sides of ``jitperf diff``, from what stood on the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pytest_jitperf.baseline.comparison import Place, Snapshot, take
from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.baseline.store import Baseline, Unusable, baseline_path
from pytest_jitperf.baseline.versions import at_revision, in_work_tree, parsed
from pytest_jitperf.commands.shared import baseline_files
from pytest_jitperf.errors import BaselineError, OptionError
from pytest_jitperf.git import GitError, Repository, Revision, find_repository
from pytest_jitperf.results import Results
from pytest_jitperf.resultsfile import FORMAT as RESULTS_FORMAT
from pytest_jitperf.resultsfile import parse as parse_results

__all__ = ["sides"]

_HERE = "the work tree"


def sides(operands: Sequence[str], behind: Sequence[str] = ()) -> tuple[Snapshot, Snapshot]:
    """Finds what is to be compared.

    Args:
        operands: Two files or folders; or up to two revisions and then paths. What is there as a file or folder is one.
        behind: What stood behind ``--``: paths, also such as are not there any more.

    Returns:
        The old side and the new one.

    Raises:
        JitperfError: What is named is not there, or cannot be compared.
    """
    there = [os.path.lexists(each) for each in operands]
    if there == [True, True] and not behind:
        return _of_paths(Path(operands[0]), Path(operands[1]))
    names = operands[: there.index(True)] if True in there else operands
    paths = [Path(each) for each in (*operands[len(names) :], *behind)]
    lost = next((each for each, found in zip(operands, there, strict=True) if not found and each not in names), None)
    if lost is not None:
        raise OptionError(f"{lost} does not exist; revisions come first, and what is only in one of them after --")
    if not names and len(paths) > 1 and not behind:
        raise OptionError(
            f"diff takes two files or folders, not {len(paths)}; for what changed in files since a commit, "
            f"name it first:  jitperf diff HEAD {paths[0]} ..."
        )
    return _of_revisions(names, paths)


def _of_revisions(names: Sequence[str], paths: Sequence[Path]) -> tuple[Snapshot, Snapshot]:
    try:
        repository = find_repository(Path())
    except GitError as error:
        seen = f"{names[0]} is no file or folder, so it would be a git revision: " if names else ""
        raise GitError(f"{seen}{error}; without git, two files or folders can be compared") from error
    revisions = _revisions(repository, names or ["HEAD"])
    inside = [repository.inside(_of_test_file(path)) for path in paths] or ["."]
    old, *more = [_at(repository, each, inside) for each in revisions]
    new = more[0] if more else _shown(repository, _HERE, in_work_tree(repository, inside))
    if not any((old.entries, old.wrong, new.entries, new.wrong)):
        where = f" in {', '.join(map(str, paths))}" if paths else ""
        raise BaselineError(f"there is no baseline{where}, neither in {old.name} nor in {new.name}")
    return old, new


def _revisions(repository: Repository, names: Sequence[str]) -> list[Revision]:
    """The commits that were named: ``A``, ``A B``, ``A..B``, or ``A...B`` for what B did since the two parted."""
    if len(names) > 2:
        raise OptionError(f"diff takes two revisions at most, not {len(names)}; paths are files or folders that exist")
    if len(names) == 1 and ".." in names[0]:
        dots = "..." if "..." in names[0] else ".."
        before, _, after = names[0].partition(dots)
        one, other = repository.revision(before or "HEAD"), repository.revision(after or "HEAD")
        return [repository.merge_base(one, other) if dots == "..." else one, other]
    return [repository.revision(each) for each in names]


def _at(repository: Repository, revision: Revision, inside: Sequence[str]) -> Snapshot:
    return _shown(repository, revision.name, at_revision(repository, revision, inside))


def _shown(repository: Repository, name: str, found: dict[str, Baseline | Unusable]) -> Snapshot:
    """Files by the path that one would type here."""
    here = os.path.realpath(os.curdir)
    return take(
        name, {Path(os.path.relpath(repository.root / path, here)).as_posix(): each for path, each in found.items()}
    )


def _of_paths(old: Path, new: Path) -> tuple[Snapshot, Snapshot]:
    if old.is_dir() != new.is_dir():
        folder, file = (old, new) if old.is_dir() else (new, old)
        raise OptionError(f"{folder} is a folder and {file} a file; give two of a kind")
    if old.is_dir():
        return _of_folder(old), _of_folder(new)
    old, new = _of_test_file(old), _of_test_file(new)
    contents = [_content(each) for each in (old, new)]
    results = [f'"{RESULTS_FORMAT}"'.encode() in content[:200] for content in contents]
    if all(results):
        return _of_results(old, contents[0]), _of_results(new, contents[1])
    if any(results):
        these, others = (old, new) if results[0] else (new, old)
        raise OptionError(f"{these} holds results and {others} does not; give two of a kind")
    # Two files are compared whatever they are called.
    before, after = (parsed(content, str(path)) for path, content in zip((old, new), contents, strict=True))
    return take(str(old), {str(new): before}), take(str(new), {str(new): after})


def _of_folder(folder: Path) -> Snapshot:
    files = baseline_files([folder])
    if not files:
        raise BaselineError(f"no baseline in {folder}, so there is nothing to compare")
    return take(str(folder), {each.relative_to(folder).as_posix(): parsed(_content(each), str(each)) for each in files})


def _of_results(path: Path, content: bytes) -> Snapshot:
    """What the results would store; of the legs of a matrix each by itself."""
    results: Results = parse_results(content, str(path))
    entries: dict[Place, Entry] = {}
    for row in results.rows:
        entry, _ = row.to_store()
        if entry is None:
            continue
        place = Place(row.baseline or row.file, row.key)
        if place in entries:
            place = Place(f"{place.file} ({entry.environment.host_key})", row.key)
        entries[place] = entry
    return Snapshot(name=str(path), entries=entries)


def _of_test_file(path: Path) -> Path:
    return baseline_path(path, None, path.parent) if path.suffix == ".py" else path


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            kind = "is not there" if not path.exists() else "is not a regular file"
            raise BaselineError(f"{path} {kind}; give a baseline file or results of --jitperf-json")
        return path.read_bytes()
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}; check its permissions") from error
