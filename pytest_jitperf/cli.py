"""The ``jitperf`` command: what baselines hold, and programs that nothing refers to.

Exit codes: 0 where it did what was asked, 1 where an entry or a file cannot be used and the rest was shown, 2 where the
command line is wrong or nothing could be done.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabulate import tabulate

from pytest_jitperf.baseline.model import Entry, to_json
from pytest_jitperf.baseline.programs import prune
from pytest_jitperf.baseline.store import FOLDER, Key, Unusable, baseline_path, read
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["main"]

_HEADERS = ("test", "strategy", "device", "compile", "run", "peak memory")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: Without the name of the program; those of the process where None.

    Returns:
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        # Names of tests may hold letters that the terminal cannot show; they are escaped rather than fatal.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    given = _parser().parse_args(arguments)
    paths = given.paths or [Path()]
    try:
        code = _show(paths, as_json=given.json) if given.command == "show" else _prune(paths)
        sys.stdout.flush()
    except BaselineError as error:
        _complain(str(error))
        return 2
    except BrokenPipeError:
        # The reader has seen enough. Python flushes once more at its end, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jitperf", description="Baselines of pytest-jitperf.")
    parser.add_argument("--version", action="version", version=f"pytest-jitperf {version('pytest-jitperf')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print what baselines hold")
    show.add_argument("--json", action="store_true", help="print entries as JSON, by file")
    pruning = commands.add_parser("prune", help="remove stored programs that no entry refers to")
    for each in (show, pruning):
        each.add_argument(
            "paths", nargs="*", type=Path, metavar="PATH", help="baseline files, or folders to look in (default: .)"
        )
    return parser


def _show(paths: Sequence[Path], *, as_json: bool) -> int:
    files = _files(paths)
    if not files:
        raise BaselineError(f"no baseline in {_listed(paths)}; record one with  pytest --jitperf-update")
    wrong: list[str] = []
    shown: dict[str, Any] = {}
    for file in files:
        try:
            baseline = read(file)
        except BaselineError as error:
            wrong.append(str(error))
            continue
        found = {key: baseline.entry(*key.parts) for key in baseline.keys}
        wrong += [each.reason for each in found.values() if isinstance(each, Unusable)]
        if as_json:
            shown[file.as_posix()] = _plain(found)
        else:
            print(f"{file}\n{_table(found)}")
    if as_json:
        print(json.dumps(shown, indent=2, sort_keys=True, ensure_ascii=True))
    for reason in wrong:
        _complain(reason)
    return 1 if wrong else 0


def _plain(entries: dict[Key, Entry | Unusable | None]) -> list[dict[str, Any]]:
    """Entries as objects: the parts of the key, and ``entry`` as in the file or ``unusable`` with the reason."""
    made = []
    for key, entry in entries.items():
        about: dict[str, Any] = {
            "test": key.test,
            "measurement": key.measurement,
            "strategy": key.strategy,
            "device_kind": key.device_kind,
        }
        if isinstance(entry, Entry):
            about["entry"] = to_json(entry)
        elif isinstance(entry, Unusable):
            about["unusable"] = entry.reason
        made.append(about)
    return made


def _table(entries: dict[Key, Entry | Unusable | None]) -> str:
    if not entries:
        return "no entries"
    rows = [_row(key, entry) for key, entry in entries.items()]
    aligned = ("left", "left", "left", "right", "right", "right")
    return tabulate(rows, headers=_HEADERS, tablefmt="plain", colalign=aligned, disable_numparse=True)


def _row(key: Key, entry: Entry | Unusable | None) -> tuple[str, ...]:
    name = key.test if key.measurement == "main" else f"{key.test} / {key.measurement}"
    names = (_one_line(name), _one_line(key.strategy), _one_line(key.device_kind))
    if not isinstance(entry, Entry):
        return (*names, "unusable", "", "")
    peak = format_quantity(entry.exact.get("peak_bytes"), Unit.BYTES)
    return (*names, _time(entry, "compile"), _time(entry, "run"), peak)


def _one_line(text: str) -> str:
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def _time(entry: Entry, metric: str) -> str:
    sample = entry.timed.get(metric)
    return format_quantity(sample.median if sample is not None else None, Unit.SECONDS)


def _prune(paths: Sequence[Path]) -> int:
    # Also a folder whose last baseline is gone, which leaves only programs.
    folders = sorted({*(file.parent for file in _files(paths)), *(each for path in paths for each in _folders(path))})
    if not folders:
        raise BaselineError(f"no baseline in {_listed(paths)}, so there is nothing to prune")
    code = 0
    for folder in folders:
        try:
            removed = prune(folder)
        except BaselineError as error:
            _complain(f"{folder}: nothing removed: {error}")
            code = 1
            continue
        print(f"{folder}: {len(removed)} program{'' if len(removed) == 1 else 's'} removed")
        for name in removed:
            print(f"  {name}")
    return code


def _complain(sentence: str) -> None:
    print(f"jitperf: {sentence}", file=sys.stderr)


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))


def _files(paths: Sequence[Path]) -> list[Path]:
    """Baseline files at and below the paths, each once."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BaselineError(f"{path} does not exist; give a baseline file or a folder")
        if path.is_dir():
            files = [file for folder in _folders(path) for file in sorted(folder.glob("*.json"))]
            # A directory given to --jitperf-baseline-dir has no folders of that name.
            found += files or [file for file in sorted(path.rglob("*.json")) if _is_baseline(file)]
        elif path.suffix == ".py":
            found.append(baseline_path(path, None, path.parent))
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _folders(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return [path] if path.name == FOLDER else sorted(path.rglob(FOLDER))


def _is_baseline(file: Path) -> bool:
    try:
        return b'"pytest-jitperf"' in file.read_bytes()
    except OSError:
        return False
