"""``jitperf show``: what baselines hold."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tabulate import tabulate

from pytest_jitperf.baseline.model import Entry, to_json
from pytest_jitperf.baseline.store import Key, Unusable, read
from pytest_jitperf.commands.shared import baseline_files, complain, listed_paths
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["HELP", "add_arguments", "run"]

HELP = "print what baselines hold"
_HEADERS = ("test", "strategy", "device", "compile", "run", "peak memory")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument("--json", action="store_true", help="print entries as JSON, by file")
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="baseline files, or folders to look in (default: .)"
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        BaselineError: There is nothing to show.
    """
    paths, as_json = given.paths or [Path()], given.json
    files = baseline_files(paths)
    if not files:
        raise BaselineError(f"no baseline in {listed_paths(paths)}; record one with  pytest --jitperf-update")
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
        complain(reason)
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
