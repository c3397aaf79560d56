"""Failures as GitHub's annotations: workflow commands that put a message beside a line of the changed files.

Only failures are annotated. What passes with a warning is in the summary of the run; beside the lines of a pull request
it would teach people to overlook annotations.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from pytest_jitperf.report.account import account_of
from pytest_jitperf.report.grouping import groups, one_line
from pytest_jitperf.report.standing import Standing, standing
from pytest_jitperf.row import Row

__all__ = ["MOST", "below", "error_commands"]

MOST = 10
"""GitHub shows as many errors of one step."""

_LINES_OF_WHY = 2


def error_commands(rows: Iterable[Row], folder: str = "") -> list[str]:
    """One workflow command for each failing row, at most ten in all; the last one says how many more there are.

    Neither expected failures nor attempts that a rerun put right are annotated.

    Args:
        rows: All rows of the run.
        folder: Where the paths of the rows begin, relative to the top of the checkout.
    """
    found = [
        (row, f"{row.outcome}: {group.title} under {group.name_of(row)}")
        for group in groups(rows)
        for row in group.rows
        if standing(row) is Standing.FAILED
    ]
    more = len(found) - MOST
    commands: list[str] = []
    for row, title in found[:MOST]:
        lines = _message(row)
        if more > 0 and len(commands) == MOST - 1:
            lines.append(
                f"({more} more {'failure' if more == 1 else 'failures'}: see the summary or the log of the run)"
            )
        message = "\n".join(one_line(each) for text in lines for each in text.splitlines())
        commands.append(_command(below(folder, row.file), row.line, title, message))
    return commands


def below(folder: str, file: str) -> str:
    """The path of a test file from the top of a checkout, in the form in which services know it."""
    return posixpath.normpath(posixpath.join(folder, file))


def _message(row: Row) -> list[str]:
    account = account_of(row)
    lines = [account.sentence, *(f"also: {each}" for each in account.also)]
    lines += [f"why: {each}" for each in account.why[:_LINES_OF_WHY]]
    lines += [f"rule: {each}" for each in account.rules]
    if account.accept:
        lines.append(f"accept it with: {account.accept}")
    return lines


def _command(file: str, line: int, title: str, message: str) -> str:
    """A file outside of the checkout is nothing that GitHub could show."""
    place = {} if file.startswith("../") or posixpath.isabs(file) else {"file": file, "line": str(line or 1)}
    properties = ",".join(f"{name}={_property(value)}" for name, value in {**place, "title": title}.items())
    return f"::error {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
