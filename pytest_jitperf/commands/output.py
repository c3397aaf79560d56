"""The three forms in which the commands print: a table for people, lines for a shell, JSON for programs.

On a terminal it is the table, fitted to its width. Anywhere else it is one line for each thing, its fields separated by
tabs, whole and without units: what ``cut``, ``sort -g`` and ``awk`` take. ``--table`` and ``--json`` choose.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from pytest_jitperf.baseline.store import Key
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.report.sparkline import PLAIN, bars_for

__all__ = ["Style", "add_output", "key_fields", "key_object", "print_fields", "print_json", "style_for"]

_COLOURS = {"red": "31", "green": "32", "bold": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How to print.

    Attributes:
        form: Which of the three.
        width: Columns of the terminal, or None where there is none to keep within.
        colour: Whether to use colours.
        bars: Characters for sparklines.
    """

    form: Literal["table", "lines", "json"]
    width: int | None = None
    colour: bool = False
    bars: str = PLAIN

    def paint(self, text: str, colour: str) -> str:
        """The text in ``"red"``, ``"green"`` or ``"bold"``, where there are colours."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colour and text else text


def add_output(parser: argparse.ArgumentParser, lines: str, exit_codes: str) -> None:
    """Adds the options that choose a form, and says what the lines and the exit codes are.

    Args:
        parser: Of the command.
        lines: Names of the fields of a line.
        exit_codes: Meaning of each.
    """
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON")
    forms.add_argument("--table", action="store_true", help="print the table, also where stdout is not a terminal")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "Where stdout is not a terminal, lines with fields separated by tabs, seconds and bytes as plain numbers:\n"
        f"{lines}\n\nExit codes: {exit_codes}"
    )


def style_for(given: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> Style:
    """Decides how to print."""
    if given.json:
        return Style(form="json")
    stream = sys.stdout
    terminal = stream.isatty()
    if not (terminal or given.table):
        return Style(form="lines")
    return Style(
        form="table",
        # COLUMNS is heeded wherever it is set.
        width=shutil.get_terminal_size().columns if terminal or environment.get("COLUMNS") else None,
        colour=_colour(stream, environment),
        bars=bars_for(stream.encoding),
    )


def print_json(value: object) -> None:
    """Prints a value as JSON, in ASCII."""
    print(json.dumps(value, indent=2, ensure_ascii=True))


def print_fields(*fields: object) -> None:
    """Prints one line; nothing in it but the separators is a tab, and what is not known is empty."""
    print("\t".join("" if each is None else one_line(f"{each}") for each in fields))


def key_fields(key: Key) -> tuple[str, str, str, str]:
    """The fields that say which entry it is."""
    return key.parts


def key_object(key: Key) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "test": key.test,
        "measurement": key.measurement,
        "strategy": key.strategy,
        "device_kind": key.device_kind,
    }


def _colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """See no-color.org and force-color.org; what is set to nothing is not set."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"
