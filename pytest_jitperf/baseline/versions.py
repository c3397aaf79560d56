"""Baselines as git has them: of a revision, of the work tree, and one file over the commits that changed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_jitperf.baseline.document import FORMAT, parse
from pytest_jitperf.baseline.store import FOLDER, Baseline, Unusable
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.git import Commit, GitError, Repository, Revision, find_repository

__all__ = ["FileHistory", "Version", "at_revision", "file_history", "in_work_tree", "parsed"]

_MARK = f'"{FORMAT}"'.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a commit made of a baseline file.

    Attributes:
        commit: None for what stands in the work tree and in no commit yet.
        baseline: None where it removed the file.
    """

    commit: Commit | None
    baseline: Baseline | Unusable | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHistory:
    """A baseline file over the commits that changed it.

    Attributes:
        versions: Oldest first, at least one.
        cut: Whether this clone is shallow, so that there may have been more commits.
    """

    versions: tuple[Version, ...]
    cut: bool = False

    @property
    def baselines(self) -> tuple[Baseline | None, ...]:
        """What can be read of each version."""
        return tuple(each.baseline if isinstance(each.baseline, Baseline) else None for each in self.versions)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Why versions cannot be read, a sentence each."""
        return tuple(each.baseline.reason for each in self.versions if isinstance(each.baseline, Unusable))


def file_history(path: Path, limit: int | None = None) -> FileHistory:
    """Reads the versions of a baseline file.

    Args:
        path: The file; it need not be there any more.
        limit: At most so many commits, the newest.

    Raises:
        GitError: There is no git, no repository, or no commit that has the file.
    """
    repository = find_repository(path)
    inside = repository.inside(path)
    commits = repository.log(inside, limit)
    if not commits:
        where = "is not there" if not path.exists() else "is in no commit yet"
        raise GitError(f"{path} {where}, so there is no history of it; give a baseline file that git has")
    contents = repository.contents(each.blob for each in commits if each.blob)
    versions = [
        Version(
            commit=each,
            baseline=parsed(contents[each.blob], f"{each.short}:{each.path}") if each.blob else None,
        )
        for each in commits
    ]
    content = path.read_bytes() if path.is_file() else None
    if content is not None and content != contents.get(commits[-1].blob):
        versions.append(Version(commit=None, baseline=parsed(content, str(path))))
    return FileHistory(versions=tuple(versions), cut=repository.shallow)


def at_revision(repository: Repository, revision: Revision, paths: Sequence[str]) -> dict[str, Baseline | Unusable]:
    """The baselines of a commit at and below paths, by path below the root.

    Args:
        repository: The repository.
        revision: The commit.
        paths: Below its root; ``"."`` is the root.
    """
    files = repository.files(revision)
    chosen, doubtful = _chosen(files, paths)
    contents = repository.contents(files[each] for each in chosen)
    found = {each: contents[files[each]] for each in chosen if not doubtful or _MARK in contents[files[each]]}
    return {path: parsed(content, f"{revision.name}:{path}") for path, content in found.items()}


def in_work_tree(repository: Repository, paths: Sequence[str]) -> dict[str, Baseline | Unusable]:
    """The same of the work tree, new files that are not ignored among them."""
    chosen, doubtful = _chosen(repository.work_tree_files(), paths)
    contents = {each: (repository.root / each).read_bytes() for each in chosen}
    found = {path: content for path, content in contents.items() if not doubtful or _MARK in content}
    return {path: parsed(content, path) for path, content in found.items()}


def parsed(content: bytes, name: str) -> Baseline | Unusable:
    """Reads the content of a baseline file.

    Args:
        content: All of it.
        name: Of the file, for messages.
    """
    try:
        return Baseline(path=Path(name), document=parse(content, name))
    except BaselineError as error:
        return Unusable(str(error))


def _chosen(files: Iterable[str], paths: Sequence[str]) -> tuple[list[str], bool]:
    """Baselines by where they are; where there are none, JSON files that may be some, as of a baseline directory."""
    named = [each for each in files if each.endswith(".json") and _within(each, paths)]
    found = [each for each in named if each in paths or PurePosixPath(each).parent.name == FOLDER]
    return (found, False) if found else (named, True)


def _within(path: str, places: Sequence[str]) -> bool:
    return any(place == "." or path == place or path.startswith(f"{place}/") for place in places)
