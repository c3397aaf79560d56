"""``jitperf prune``: removes programs that no entry refers to."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_jitperf.baseline.programs import prune, unreferenced
from pytest_jitperf.commands.output import add_output, print_fields, print_json, style_for
from pytest_jitperf.commands.shared import baseline_files, baseline_folders, complain, listed_paths
from pytest_jitperf.errors import BaselineError

__all__ = ["HELP", "add_arguments", "run"]

HELP = "remove stored programs that no entry refers to"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="baseline files, or folders to look in (default: .)"
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    add_output(
        parser,
        lines="folder and name of each program that is removed.",
        exit_codes="0; 1 where nothing was removed in a folder because a file in it cannot be read; 2 where there is\n"
        "no folder of baselines.",
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
    style, wrong = style_for(given), []
    done: dict[str, tuple[str, ...]] = {}
    for folder in folders:
        try:
            done[folder.as_posix()] = unreferenced(folder) if given.dry_run else prune(folder)
        except BaselineError as error:
            wrong.append(f"{folder}: nothing removed: {error}")
    if style.form == "json":
        print_json(done)
    elif style.form == "lines":
        for name, removed in done.items():
            for program in removed:
                print_fields(name, program)
    else:
        would = "would be removed" if given.dry_run else "removed"
        for name, removed in done.items():
            print(f"{name}: {len(removed)} program{'' if len(removed) == 1 else 's'} {would}")
            for program in removed:
                print(f"  {program}")
    for reason in wrong:
        complain(reason)
    return 1 if wrong else 0
