"""``jitperf show``: what baselines hold."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tabulate import tabulate

from pytest_jitperf.baseline.model import Entry, to_json
from pytest_jitperf.baseline.store import Key, Unusable, read
from pytest_jitperf.commands.output import (
    Style,
    add_output,
    key_fields,
    key_object,
    print_fields,
    print_json,
    style_for,
)
from pytest_jitperf.commands.shared import baseline_files, complain, listed_paths
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["HELP", "add_arguments", "run"]

HELP = "print what baselines hold"
_HEADERS = ("test", "strategy", "device", "compile", "run", "peak memory")
_ALIGNED = ("left", "left", "left", "right", "right", "right")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="baseline or test files, or folders to look in (default: .)"
    )
    add_output(
        parser,
        lines="file, test, measurement, strategy, device kind, compile, run, peak memory\n"
        "(the first of these three is unusable where the entry is).",
        exit_codes="0; 1 where an entry or a file cannot be used and the rest was shown; 2 where there is nothing to\n"
        "show.",
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        BaselineError: There is nothing to show.
    """
    paths, style = given.paths or [Path()], style_for(given)
    files = baseline_files(paths)
    if not files:
        raise BaselineError(f"no baseline in {listed_paths(paths)}; record one with  pytest --jitperf-update")
    wrong: list[str] = []
    shown: dict[str, Any] = {}
    for file in files:
        try:
            if not file.exists():
                raise BaselineError(f"{file} is not there; record it with  pytest --jitperf-update")
            baseline = read(file)
        except BaselineError as error:
            wrong.append(str(error))
            continue
        found = {key: baseline.entry(*key.parts) for key in baseline.keys}
        wrong += [each.reason for each in found.values() if isinstance(each, Unusable)]
        if style.form == "json":
            shown[file.as_posix()] = [_plain(key, entry) for key, entry in found.items()]
        elif style.form == "lines":
            for key, entry in found.items():
                print_fields(file.as_posix(), *key_fields(key), *_numbers(entry))
        else:
            print(f"{style.paint(str(file), 'bold')}\n{_table(found, style)}")
    if style.form == "json":
        print_json(dict(sorted(shown.items())))
    for reason in wrong:
        complain(reason)
    return 1 if wrong else 0


def _plain(key: Key, entry: Entry | Unusable | None) -> dict[str, Any]:
    """An entry as an object: the parts of the key, and ``entry`` as in the file or ``unusable`` with the reason."""
    if isinstance(entry, Entry):
        return {**key_object(key), "entry": to_json(entry)}
    return {**key_object(key), "unusable": entry.reason if entry is not None else ""}


def _numbers(entry: Entry | Unusable | None) -> tuple[object, ...]:
    """Seconds, seconds, bytes; None for what is not known."""
    if not isinstance(entry, Entry):
        return "unusable", None, None
    compiling, running = (entry.timed.get(name) for name in ("compile", "run"))
    return compiling and compiling.median, running and running.median, entry.exact.get("peak_bytes")


def _table(entries: dict[Key, Entry | Unusable | None], style: Style) -> str:
    if not entries:
        return "no entries"
    rows = [_row(key, entry) for key, entry in entries.items()]
    table = tabulate(rows, headers=_HEADERS, tablefmt="plain", colalign=_ALIGNED, disable_numparse=True)
    if style.width is None or max(map(len, table.splitlines())) <= style.width:
        return table
    return _narrow(rows)


def _narrow(rows: Sequence[tuple[str, ...]]) -> str:
    """Each test on a line of its own, for names that leave no room beside them."""
    cells = [row[1:] for row in rows]
    table = tabulate(cells, headers=_HEADERS[1:], tablefmt="plain", colalign=_ALIGNED[1:], disable_numparse=True)
    header, *lines = table.splitlines()
    made = [f"  {header}"]
    for name, found in groupby(zip(rows, lines, strict=True), key=lambda pair: pair[0][0]):
        made += [name, *(f"  {line}" for _, line in found)]
    return "\n".join(made)


def _row(key: Key, entry: Entry | Unusable | None) -> tuple[str, ...]:
    name = key.test if key.measurement == "main" else f"{key.test} / {key.measurement}"
    names = (one_line(name), one_line(key.strategy), one_line(key.device_kind))
    compiling, running, peak = _numbers(entry)
    if not isinstance(entry, Entry):
        return (*names, str(compiling), "", "")
    return (*names, _shown(compiling, Unit.SECONDS), _shown(running, Unit.SECONDS), _shown(peak, Unit.BYTES))


def _shown(value: object, unit: Unit) -> str:
    return format_quantity(value if isinstance(value, (int, float)) else None, unit)
