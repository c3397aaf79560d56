"""``jitperf schema``: what the files hold, as JSON Schema."""

from __future__ import annotations

import argparse

from pytest_jitperf.commands.output import print_json
from pytest_jitperf.errors import OptionError
from pytest_jitperf.schemas import baseline_schema, results_schema
from pytest_jitperf.wording import choose, show

__all__ = ["HELP", "add_arguments", "run"]

HELP = "print the JSON Schema of results or of baselines"
_SCHEMAS = {"results": results_schema, "baseline": baseline_schema}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "kind",
        nargs="?",
        default="results",
        metavar="{results,baseline}",
        help="of which files: those of --jitperf-json, or those that an update writes (default: results)",
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        OptionError: There are no such files.
    """
    if given.kind not in _SCHEMAS:
        raise OptionError(f"there is no schema of {show(given.kind)}; {choose(given.kind, _SCHEMAS)}")
    print_json(_SCHEMAS[given.kind]())
    return 0
