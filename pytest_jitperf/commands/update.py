"""``jitperf update``: writes baselines from results that were recorded elsewhere."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_jitperf.commands.output import key_object, print_json
from pytest_jitperf.commands.shared import complain
from pytest_jitperf.errors import OptionError, ResultsError
from pytest_jitperf.joining import join
from pytest_jitperf.pullrequest import in_pull_request
from pytest_jitperf.recording import Recorded, record
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.report.terminal import written_lines
from pytest_jitperf.resultsfile import read

__all__ = ["HELP", "add_arguments", "run"]

HELP = "write baselines from results recorded elsewhere, such as on a runner with a GPU"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "--from",
        dest="files",
        nargs="+",
        required=True,
        type=Path,
        metavar="RESULTS.json",
        help="what pytest --jitperf-json has written",
    )
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="DIR", help="root directory of the project (default: .)"
    )
    parser.add_argument(
        "--baseline-dir",
        type=Path,
        metavar="DIR",
        help="keep the baselines here instead of beside the tests, as --jitperf-baseline-dir does",
    )
    parser.add_argument(
        "--stored-times", action="store_true", help="record timings anew as --jitperf-stored-times does"
    )
    parser.add_argument("--force", action="store_true", help="in the pipeline of a pull request too")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    parser.epilog = (
        "Exit codes: 0 written, 1 where an entry or a file could not be written and the rest was, 2 where nothing "
        "could be read or stored."
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        OptionError: It is the pipeline of a pull request, or the root is no directory.
        ResultsError: A file cannot be read, or there is nothing in them that may be stored.
    """
    pull_request = in_pull_request(os.environ)
    if pull_request and not given.force:
        raise OptionError(
            f"update in the pipeline of a pull request ({pull_request}) would accept the change that is to be judged. "
            "Update on your own machine and commit the baseline, or use --force."
        )
    root = Path(os.path.abspath(given.root))
    if not root.is_dir():
        raise OptionError(f"--root={given.root} is not a directory; give the root directory of the project")
    joined = join([(str(file), read(file)) for file in given.files])
    for conflict in joined.conflicts:
        complain(conflict)
    recorded = record(joined.results, root, given.baseline_dir, stored_times=given.stored_times)
    if given.json:
        print_json(_plain(recorded))
    else:
        for line in _lines(recorded):
            print(one_line(line))
    for error in recorded.written.errors:
        complain(error)
    if not recorded.written.results and not recorded.written.errors:
        raise ResultsError("no measurement in the results may be stored, so there is nothing to update")
    return 1 if recorded.written.errors else 0


def _lines(recorded: Recorded) -> list[str]:
    """What was done, old -> new, and what was not; errors are told beside these."""
    done = written_lines(replace(recorded.written, errors=[]), _shown)
    return [*done, *(f"left out {each.nodeid}: {each.reason}" for each in recorded.left_out)]


def _plain(recorded: Recorded) -> dict[str, Any]:
    """The same for programs."""
    return {
        "files": [
            {
                "file": _shown(result.path),
                "changed": [{**key_object(key), "changes": list(changes)} for key, changes in result.changed.items()],
                "unchanged": [key_object(key) for key in result.unchanged],
                "programs": list(result.programs),
            }
            for result in recorded.written.results
        ],
        "left_out": [{"nodeid": each.nodeid, "reason": each.reason} for each in recorded.left_out],
        "errors": list(recorded.written.errors),
    }


def _shown(path: Path) -> str:
    """As one would type it here."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:  # on another drive
        return path.as_posix()
