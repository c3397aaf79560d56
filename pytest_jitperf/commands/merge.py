"""``jitperf merge``: joins the results of several runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_jitperf.baseline import atomic
from pytest_jitperf.commands.shared import complain
from pytest_jitperf.errors import ResultsError
from pytest_jitperf.joining import join, refuse_mixed
from pytest_jitperf.resultsfile import dump, read

__all__ = ["HELP", "add_arguments", "run"]

HELP = "join the results of shards, of the legs of a matrix, or of a rerun"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="RESULTS.json",
        help="what pytest --jitperf-json has written; of the same test on the same device the last given counts",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="RESULTS.json", help="where the joined results go; - prints them"
    )
    parser.epilog = (
        "What two files say differently of one test is told on stderr. Exit codes: 0 joined, 2 where a file cannot be "
        "read or written, or they do not belong together."
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        ResultsError: A file cannot be read, they do not belong together, or the joined one cannot be written.
    """
    named = [(str(file), read(file)) for file in given.files]
    refuse_mixed(named)
    joined = join(named)
    content = dump(joined.results)
    for conflict in joined.conflicts:
        complain(conflict)
    if given.output == "-":
        # Bytes, since the encoding of the terminal is not that of the format.
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return 0
    path = Path(given.output)
    why_not = atomic.why_not_writable(path)
    if why_not:
        raise ResultsError(f"{path}: {why_not}")
    try:
        atomic.write(atomic.real_path(path), content)
    except OSError as error:
        raise ResultsError(f"{path} cannot be written: {error.strerror}; give another path") from error
    measured, files = len(joined.results.rows), len(named)
    counted = f"{measured} measurement{'' if measured == 1 else 's'} of {files} file{'' if files == 1 else 's'}"
    print(f"{path}: {counted}")
    return 0
