"""``jitperf report``: the HTML report of results that a run has written."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_jitperf.baseline import atomic
from pytest_jitperf.commands.shared import complain
from pytest_jitperf.errors import ResultsError
from pytest_jitperf.joining import join, refuse_mixed
from pytest_jitperf.pasts import pasts
from pytest_jitperf.report.html import html, why_not_available
from pytest_jitperf.resultsfile import read

__all__ = ["HELP", "add_arguments", "run"]

HELP = "make the HTML report of results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="RESULTS.json",
        help="what pytest --jitperf-json or jitperf merge has written; several are joined as jitperf merge does. "
        "Started in pytest's root directory, the report has the history of the baselines too",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="REPORT.html", help="where the report goes")


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        ResultsError: A file cannot be read, they do not belong together, or the report cannot be written.
    """
    why_not = why_not_available()
    if why_not:
        raise ResultsError(why_not)
    path: Path = given.output
    why_not = atomic.why_not_writable(path)
    if atomic.real_path(path) in map(atomic.real_path, map(Path, given.files)):
        why_not = "it is one of the results; give another path"
    if why_not:
        raise ResultsError(f"{path}: {why_not}")
    named = [(str(file), read(file)) for file in given.files]
    refuse_mixed(named)
    joined = join(named)
    for conflict in joined.conflicts:
        complain(conflict)
    text = html(joined.results, pasts(joined.results.rows, Path()))
    try:
        atomic.write(atomic.real_path(path), atomic.encoded(text))
    except OSError as error:
        raise ResultsError(f"{path} cannot be written: {error.strerror}; give another path") from error
    count, files = len(joined.results.rows), len(named)
    measured = f"{count} measurement{'' if count == 1 else 's'}"
    print(f"{path}: report of {measured}{'' if files == 1 else f' in {files} files'}")
    return 0
