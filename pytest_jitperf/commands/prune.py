"""``jitperf prune``: removes programs that no entry refers to."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_jitperf.baseline.programs import prune
from pytest_jitperf.commands.shared import baseline_files, baseline_folders, complain, listed_paths
from pytest_jitperf.errors import BaselineError

__all__ = ["HELP", "add_arguments", "run"]

HELP = "remove stored programs that no entry refers to"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="baseline files, or folders to look in (default: .)"
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        BaselineError: There is no folder of baselines.
    """
    paths = given.paths or [Path()]
    # Also a folder whose last baseline is gone, which leaves only programs.
    folders = sorted(
        {*(file.parent for file in baseline_files(paths)), *(each for path in paths for each in baseline_folders(path))}
    )
    if not folders:
        raise BaselineError(f"no baseline in {listed_paths(paths)}, so there is nothing to prune")
    code = 0
    for folder in folders:
        try:
            removed = prune(folder)
        except BaselineError as error:
            complain(f"{folder}: nothing removed: {error}")
            code = 1
            continue
        print(f"{folder}: {len(removed)} program{'' if len(removed) == 1 else 's'} removed")
        for name in removed:
            print(f"  {name}")
    return code
