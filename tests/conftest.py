from __future__ import annotations

import datetime
import gc
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

# Before any test imports jax. Set it outside to run the tests of the probe on another platform.
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(autouse=True)
def what_earlier_tests_left_is_not_collected() -> None:
    """The collector looks at what the test itself makes alone.

    Every measurement collects first. After some hundred tests a process holds a million objects of compiled programs
    and of finished runs, and to walk them again and again took a third of the time of the tests.
    """
    gc.collect()
    gc.freeze()


class GitRepository:
    """A git repository of a test, cut off from the settings of whoever runs it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._day = datetime.date(2026, 1, 1)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        """Runs git; what it prints."""
        who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgSign=false")
        noon = f"{self._day.isoformat()}T12:00:00+00:00"
        done = subprocess.run(
            ["git", *who, *arguments],
            cwd=self.root,
            env={**os.environ, "GIT_AUTHOR_DATE": noon, "GIT_COMMITTER_DATE": noon},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, subject: str) -> str:
        """Commits all that is in the folder, one day after the last commit; returns the hash."""
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        self._day += datetime.timedelta(days=1)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def git_repository(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], GitRepository]:
    """Makes a folder a git repository, its first commit on 2026-01-01 and the others a day later each."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return GitRepository
