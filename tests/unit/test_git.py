"""What git is asked, of real repositories."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.git import GitError, Repository, find_repository

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture(name="made")
def made_repository(tmp_path: Path, git_repository: Callable[[Path], Any]) -> Any:
    return git_repository(tmp_path)


def found(made: Any) -> Repository:
    return find_repository(made.root)


def history(made: Any, path: str, limit: int | None = None) -> list[tuple[str, str, str, str]]:
    """Date, subject, path and content of each commit."""
    repository = found(made)
    commits = repository.log(path, limit)
    contents = {"": b"(removed)", **repository.contents(each.blob for each in commits if each.blob)}
    return [(each.date, each.subject, each.path, contents[each.blob].decode()) for each in commits]


def write(made: Any, path: str, text: str) -> None:
    (made.root / path).parent.mkdir(parents=True, exist_ok=True)
    (made.root / path).write_text(text)


def test_the_commits_of_a_file_come_oldest_first_and_only_those_that_changed_it(made: Any) -> None:
    write(made, "a", "one\n")
    first = made.commit("first")
    write(made, "b", "other\n")
    made.commit("other")
    write(made, "a", "two\n")
    last = made.commit("Zweiter\t: größer")

    assert history(made, "a") == [
        ("2026-01-01", "first", "a", "one\n"),
        ("2026-01-03", "Zweiter\t: größer", "a", "two\n"),
    ]
    assert [each.hash for each in found(made).log("a")] == [first, last]
    assert [each.short for each in found(made).log("a")] == [first[:9], last[:9]]
    assert history(made, "a", limit=1) == [("2026-01-03", "Zweiter\t: größer", "a", "two\n")]
    assert history(made, "never") == []


def test_a_file_is_followed_through_renames_and_not_into_what_it_was_copied_from(made: Any) -> None:
    write(made, "old/a", TEXT)
    made.commit("first")
    (made.root / "new").mkdir()
    (made.root / "old" / "a").rename(made.root / "new" / "b")
    made.commit("moved")
    write(made, "new/c", TEXT)
    made.commit("copied")
    write(made, "new/c", f"{TEXT}more\n")
    made.commit("changed")

    assert [each[1:3] for each in history(made, "new/b")] == [("first", "old/a"), ("moved", "new/b")]
    assert [each[1:3] for each in history(made, "new/c")] == [("copied", "new/c"), ("changed", "new/c")]


def test_what_a_branch_brought_counts_where_it_was_merged(made: Any) -> None:
    write(made, "a", "one\n")
    made.commit("first")
    made.git("checkout", "-q", "-b", "side")
    for content in ("two\n", "three\n"):
        write(made, "a", content)
        made.commit(f"side {content.strip()}")
    made.git("checkout", "-q", "main")
    write(made, "b", "other\n")
    made.commit("other")
    made.git("merge", "-q", "--no-ff", "-m", "merged", "side")

    assert [each[1::2] for each in history(made, "a")] == [("first", "one\n"), ("merged", "three\n")]


def test_a_file_that_was_removed_and_came_back_has_all_of_its_history(made: Any) -> None:
    write(made, "a", "one\n")
    made.commit("first")
    (made.root / "a").unlink()
    made.commit("removed")
    assert [each[1::2] for each in history(made, "a")] == [("first", "one\n"), ("removed", "(removed)")]

    write(made, "a", "two\n")
    made.commit("back")
    assert [each[1] for each in history(made, "a")] == ["first", "removed", "back"]


def test_what_the_user_has_set_for_reading_changes_nothing(made: Any) -> None:
    write(made, "a", "one\n")
    made.commit("größer")
    settings = {
        "color.ui": "always",
        "log.decorate": "full",
        "log.follow": "true",
        "log.showRoot": "false",
        "log.diffMerges": "off",
        "i18n.logOutputEncoding": "latin1",
        "format.pretty": "oneline",
        "diff.noprefix": "true",
        "log.date": "relative",
        "core.abbrev": "4",
    }
    for name, value in settings.items():
        made.git("config", name, value)

    assert history(made, "a") == [("2026-01-01", "größer", "a", "one\n")]


def test_files_of_a_revision_and_of_the_work_tree(made: Any) -> None:
    for path in ("a", "sub/ünïcode name", "ignored/x", "gone"):
        write(made, path, path)
    write(made, ".gitignore", "ignored/\n")
    (made.root / "link").symlink_to("a")
    made.commit("first")
    (made.root / "gone").unlink()
    write(made, "new", "new")
    repository = found(made)

    files = repository.files(repository.revision("HEAD"))
    assert sorted(files) == [".gitignore", "a", "gone", "sub/ünïcode name"]
    assert repository.contents([files["sub/ünïcode name"]]) == {files["sub/ünïcode name"]: "sub/ünïcode name".encode()}
    assert repository.work_tree_files() == (".gitignore", "a", "link", "new", "sub/ünïcode name")


def test_contents_are_given_as_they_are(made: Any) -> None:
    contents = {"empty": b"", "binary": bytes(range(256)), "lines": b"a\n\nb", "mark": b"1234 blob 5\n"}
    for name, content in contents.items():
        (made.root / name).write_bytes(content)
    made.commit("first")
    repository = found(made)
    files = repository.files(repository.revision("main"))

    read = repository.contents(files[name] for name in contents)

    assert {name: read[files[name]] for name in contents} == contents
    assert repository.contents([]) == {}
    with pytest.raises(GitError, match=r"git does not have the object 1{40} any more"):
        repository.contents(["1" * 40])


def test_paths_are_found_from_wherever_they_are_named(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(made, "sub/a", "one")
    monkeypatch.chdir(made.root / "sub")
    repository = find_repository(Path("no", "such", "folder"))

    assert repository == Repository(root=Path(os.path.realpath(tmp_path)))
    assert [repository.inside(Path(each)) for each in ("a", "../sub/a", "..", ".", "gone/b")] == [
        "sub/a",
        "sub/a",
        ".",
        "sub",
        "sub/gone/b",
    ]
    with pytest.raises(GitError, match=r"^\.\./\.\./x lies outside the repository at hand"):
        repository.inside(Path("../../x"))


def test_revisions_are_named_as_git_takes_them(made: Any) -> None:
    first, second = made.commit("first"), made.commit("second")
    made.git("tag", "-a", "v1", "-m", "annotated", first)
    repository = found(made)

    names = {"HEAD": second, "main": second, "HEAD~1": first, "v1": first, second[:8]: second}
    assert {name: repository.revision(name).hash for name in names} == names
    for wrong in ("HEAD~9", "nosuch", "-h", "--all", "HEAD:a", ""):
        with pytest.raises(GitError, match=r"is neither a file or folder nor a revision of this repository$"):
            repository.revision(wrong)


def test_branches_part_where_they_part(made: Any) -> None:
    first = made.commit("first")
    made.git("checkout", "-q", "-b", "side")
    made.commit("side")
    made.git("checkout", "-q", "main")
    made.commit("second")
    made.git("checkout", "-q", "--orphan", "other")
    made.commit("other")
    repository = found(made)
    main, side, other = map(repository.revision, ("main", "side", "other"))

    assert repository.merge_base(main, side).hash == first
    with pytest.raises(GitError, match=r"^main and other have no commit in common$"):
        repository.merge_base(main, other)


def test_a_shallow_clone_says_that_there_may_be_more(made: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    for content in ("one", "two", "three"):
        write(made, "a", content)
        made.commit(content)
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    made.git("clone", "-q", "--depth", "2", f"file://{made.root}", str(clone))
    repository = find_repository(clone)

    assert (repository.shallow, found(made).shallow) == (True, False)
    assert [each.subject for each in repository.log("a")] == ["two", "three"]
    with pytest.raises(GitError, match="this clone is shallow, so fetch the rest with  git fetch --unshallow"):
        repository.revision("HEAD~2")


def test_where_there_is_no_commit_there_is_no_history(made: Any) -> None:
    write(made, "a", "one")
    assert (found(made).has_commits, found(made).log("a")) == (False, ())


def test_outside_a_repository_it_says_so(tmp_path: Path, git_repository: object) -> None:
    with pytest.raises(GitError, match=r"a\.json is not in a git repository, so git has no history of it$"):
        find_repository(tmp_path / "a.json")


def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match=r"^git is not installed, or not on PATH"):
        find_repository(tmp_path)


def test_what_git_complains_of_is_passed_on(made: Any) -> None:
    write(made, "a", "one")
    made.commit("first")
    (made.root / ".git" / "config").write_text("[core\n")
    with pytest.raises(GitError, match="git cannot read its repository: bad config line 1"):
        find_repository(made.root)
