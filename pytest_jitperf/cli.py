"""The ``jitperf`` command: what baselines hold, and programs that nothing refers to.

Exit codes: 0 where it did what was asked, 2 where the command line or a file is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tabulate import tabulate

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.baseline.programs import prune
from pytest_jitperf.baseline.store import Baseline, Key, read
from pytest_jitperf.errors import BaselineError, JitperfError
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["main"]

_FOLDER = "__jitperf__"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: Without the name of the program; those of the process where None.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="jitperf", description="Baselines of pytest-jitperf.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print what baselines hold")
    show.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="baseline files or folders (default: .)")
    pruning = commands.add_parser("prune", help="remove stored programs that no entry refers to")
    pruning.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="folders to look in (default: .)")
    given = parser.parse_args(arguments)
    paths = given.paths or [Path()]
    try:
        lines = _show(paths) if given.command == "show" else _prune(paths)
        for line in lines:
            print(line)
    except JitperfError as error:
        print(f"jitperf: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return 0


def _show(paths: Sequence[Path]) -> Iterator[str]:
    files = [file for path in paths for file in _files(path)]
    if not files:
        raise BaselineError(
            f"no baseline in {', '.join(map(str, paths))}; record one with  pytest --jitperf-update"
        )
    for file in files:
        baseline = read(file)
        yield str(file)
        rows = [_row(baseline, key) for key in baseline.keys]
        yield from tabulate(
            rows, headers=("test", "strategy", "device", "compile", "run", "peak memory"), disable_numparse=True
        ).splitlines()


def _row(baseline: Baseline, key: Key) -> tuple[str, ...]:
    entry = baseline.entry(*key.parts)
    name = key.test if key.measurement == "main" else f"{key.test} / {key.measurement}"
    if not isinstance(entry, Entry):
        return (name, key.strategy, key.device_kind, "unusable", "", "")
    return (
        name,
        key.strategy,
        key.device_kind,
        _time(entry, "compile"),
        _time(entry, "run"),
        format_quantity(entry.exact.get("peak_bytes"), Unit.BYTES),
    )


def _time(entry: Entry, metric: str) -> str:
    sample = entry.timed.get(metric)
    return format_quantity(sample.median if sample is not None else None, Unit.SECONDS)


def _prune(paths: Sequence[Path]) -> Iterator[str]:
    folders = sorted({file.parent for path in paths for file in _files(path)})
    if not folders:
        raise BaselineError(f"no baseline in {', '.join(map(str, paths))}, so there is nothing to prune")
    for folder in folders:
        removed = prune(folder)
        yield f"{folder}: {len(removed)} program{'' if len(removed) == 1 else 's'} removed"
        yield from (f"  {name}" for name in removed)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        folders = [path] if path.name == _FOLDER else path.rglob(_FOLDER)
        return sorted(file for folder in folders for file in folder.glob("*.json"))
    if not path.exists():
        raise BaselineError(f"{path} does not exist; give a baseline file or a folder")
    return [path]
