"""What git knows of files: revisions, their files, and the commits that changed one. Nothing here writes.

The program ``git`` is run, since it alone understands every repository there is (worktrees, packs, partial clones,
replaced objects), and never through a shell.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_jitperf.errors import JitperfError

__all__ = ["Commit", "GitError", "Repository", "Revision", "find_repository"]

_REGULAR = frozenset({"100644", "100755"})
# A record for each commit, followed by what --raw says of the file.
_LOG_FORMAT = "%x01%H%x00%cs%x00%s"
_RECORD = re.compile(rb"\x01(?=[0-9a-f]{40,64}\0)")
# What the user has set for reading must not change what is read here.
_SETTINGS = (
    "i18n.logOutputEncoding=UTF-8",
    "log.diffMerges=separate",
    "log.showRoot=true",
    "log.showSignature=false",
)


class GitError(JitperfError):
    """Git is missing or cannot answer: install it, or name a repository, revision or file that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit that changed a file.

    Attributes:
        hash: All of it.
        date: When it was committed, ``"2026-02-11"``.
        subject: First line of its message.
        path: Where the file was then, below the root of the repository.
        blob: Id of its content; empty where the commit removed it.
    """

    hash: str
    date: str
    subject: str
    path: str
    blob: str

    @property
    def short(self) -> str:
        """The first digits of the hash, which git takes for it."""
        return self.hash[:9]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit as somebody named it: ``name`` for messages, ``hash`` for git."""

    name: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository with a work tree.

    Attributes:
        root: Its top folder, without symbolic links.
    """

    root: Path

    @property
    def shallow(self) -> bool:
        """Whether only the newest part of the history was fetched, as pipelines do."""
        return self._git("rev-parse", "--is-shallow-repository").strip() == b"true"

    @property
    def has_commits(self) -> bool:
        """Whether anything has been committed yet."""
        return self._try("rev-parse", "--verify", "--quiet", "HEAD") is not None

    def inside(self, path: Path) -> str:
        """The place of a file or folder below the root, ``"."`` for the root; it need not exist.

        Raises:
            GitError: It lies outside the repository.
        """
        # The last part may be a link that is itself in the repository.
        whole = Path(os.path.abspath(path))
        place = Path(os.path.realpath(whole.parent), whole.name)
        if os.path.realpath(whole) == str(self.root):
            place = self.root
        if not place.is_relative_to(self.root):
            raise GitError(f"{path} lies outside the repository at hand; give a path inside it")
        return place.relative_to(self.root).as_posix()

    def revision(self, name: str) -> Revision:
        """Finds the commit that a name stands for: ``HEAD~20``, a branch, a tag, a hash.

        Raises:
            GitError: There is none, or more than one.
        """
        found = self._try("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found is None:
            cut = "; this clone is shallow, so fetch the rest with  git fetch --unshallow" if self.shallow else ""
            raise GitError(f"{name} is neither a file or folder nor a revision of this repository{cut}")
        return Revision(name=name, hash=found.decode().strip())

    def merge_base(self, one: Revision, other: Revision) -> Revision:
        """The commit at which two branches parted.

        Raises:
            GitError: They have none in common.
        """
        found = self._try("merge-base", one.hash, other.hash)
        if found is None:
            cut = "; this clone is shallow, so fetch the rest with  git fetch --unshallow" if self.shallow else ""
            raise GitError(f"{one.name} and {other.name} have no commit in common{cut}")
        return Revision(name=f"{one.name}...{other.name}", hash=found.decode().strip())

    def files(self, revision: Revision) -> dict[str, str]:
        """The regular files of a commit: ids of their contents by path below the root."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", revision.hash).split(b"\0")
        found = {}
        for each in listed:
            about, _, path = each.partition(b"\t")
            if path and about.split()[0].decode() in _REGULAR:
                found[os.fsdecode(path)] = about.split()[2].decode()
        return found

    def work_tree_files(self) -> tuple[str, ...]:
        """Files of the work tree that are tracked, or new and not ignored; paths below the root."""
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name")
        paths = {os.fsdecode(each) for each in listed.split(b"\0") if each}
        return tuple(sorted(path for path in paths if (self.root / path).is_file()))

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Contents by id, read in one go.

        Raises:
            GitError: One is not there (a damaged repository, or a partial clone without its server).
        """
        wanted = list(dict.fromkeys(blobs))
        if not wanted:
            return {}
        answer = self._git("cat-file", "--batch", given="".join(f"{each}\n" for each in wanted).encode())
        found = {}
        for blob in wanted:
            header, _, rest = answer.partition(b"\n")
            words = header.split()
            if len(words) != 3:
                raise GitError(f"git does not have the object {blob} any more; run  git fsck  or fetch again")
            size = int(words[2])
            found[blob], answer = rest[:size], rest[size + 1 :]
        return found

    def log(self, path: str, limit: int | None = None) -> tuple[Commit, ...]:
        """The commits that changed a file, oldest first, followed through renames.

        Only first parents are walked, so that the file has one value at each step: what a branch brought counts where
        it was merged.

        Args:
            path: Below the root; the file need not exist any more.
            limit: At most so many, the newest.
        """
        if not self.has_commits:
            return ()
        most = [] if limit is None else [f"-n{limit}"]
        walk = ["--follow", "--first-parent", "-m", "--raw", "--no-abbrev", "-z", f"--format={_LOG_FORMAT}"]
        records = _RECORD.split(self._git("log", *most, *walk, "--", path))[1:]
        found: list[Commit] = []
        for record in records:
            full, date, subject, *raw = record.split(b"\0")
            if not raw or not raw[0].strip():
                continue
            _, _, _, blob, status = raw[0].strip().split()
            found.append(
                Commit(
                    hash=full.decode(),
                    date=date.decode(),
                    subject=subject.decode("utf-8", "replace"),
                    # A rename has two paths, of which the second is the new one.
                    path=os.fsdecode(raw[2] if status[:1] in b"RC" else raw[1]),
                    blob="" if status == b"D" else blob.decode(),
                )
            )
            if status[:1] == b"C":
                # What it was copied from has a history of its own.
                break
        return tuple(reversed(found))

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        done = _run(self.root, arguments, given)
        if done.returncode:
            raise GitError(f"git {arguments[0]} failed: {_reason(done)}")
        return done.stdout

    def _try(self, *arguments: str) -> bytes | None:
        """What git says, or None where its answer is no."""
        done = _run(self.root, arguments)
        return None if done.returncode else done.stdout


def find_repository(path: Path) -> Repository:
    """Finds the repository of a file or folder, which need not exist.

    Raises:
        GitError: It is in none, or there is no git.
    """
    folder = Path(os.path.abspath(path))
    while not folder.is_dir():
        folder = folder.parent
    done = _run(folder, ("rev-parse", "--show-toplevel"))
    if done.returncode:
        reason = _reason(done)
        if "not a git repository" in reason:
            named = "this folder" if path == Path() else path
            raise GitError(f"{named} is not in a git repository, so git has no history of it")
        raise GitError(f"{path}: git cannot read its repository: {reason}")
    return Repository(root=Path(os.path.realpath(os.fsdecode(done.stdout.rstrip(b"\n")))))


def _run(folder: Path, arguments: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = ["git", "--no-pager", "--literal-pathspecs", *settings, *arguments]
    environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        return subprocess.run(command, cwd=folder, env=environment, input=given, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise GitError("git is not installed, or not on PATH; this needs it to read old versions of files") from error
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}") from error


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """The first line that git complained with."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"exit code {done.returncode}"
