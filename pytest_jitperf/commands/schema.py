"""``jitperf schema``: what the files hold, as JSON Schema."""

from __future__ import annotations

import argparse

from pytest_jitperf.commands.output import print_json
from pytest_jitperf.schemas import baseline_schema, results_schema

__all__ = ["HELP", "add_arguments", "run"]

HELP = "print the JSON Schema of results or of baselines"
_SCHEMAS = {"results": results_schema, "baseline": baseline_schema}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "kind",
        nargs="?",
        default="results",
        choices=tuple(_SCHEMAS),
        help="of which files: those of --jitperf-json, or those that an update writes (default: results)",
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command."""
    print_json(_SCHEMAS[given.kind]())
    return 0
