"""What the commands share: the files that paths stand for, and where complaints go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_jitperf.baseline.store import FOLDER, baseline_path
from pytest_jitperf.errors import BaselineError

__all__ = ["baseline_files", "baseline_folders", "complain", "listed_paths"]


def complain(sentence: str) -> None:
    """Says what is wrong where it does not mix with the output."""
    print(f"jitperf: {sentence}", file=sys.stderr)


def listed_paths(paths: Sequence[Path]) -> str:
    """Paths in a sentence."""
    return ", ".join(map(str, paths))


def baseline_files(paths: Sequence[Path]) -> list[Path]:
    """Baseline files at and below the paths, each once; a test file stands for its own.

    Raises:
        BaselineError: A path does not exist.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BaselineError(f"{path} does not exist; give a baseline file or a folder")
        if path.is_dir():
            files = [file for folder in baseline_folders(path) for file in sorted(folder.glob("*.json"))]
            # A directory given to --jitperf-baseline-dir has no folders of that name.
            found += files or [file for file in sorted(path.rglob("*.json")) if _is_baseline(file)]
        elif path.suffix == ".py":
            found.append(baseline_path(path, None, path.parent))
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def baseline_folders(path: Path) -> list[Path]:
    """Folders of baselines at and below a path."""
    if not path.is_dir():
        return []
    return [path] if path.name == FOLDER else sorted(path.rglob(FOLDER))


def _is_baseline(file: Path) -> bool:
    try:
        return b'"pytest-jitperf"' in file.read_bytes()
    except OSError:
        return False
