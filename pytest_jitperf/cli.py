"""The ``jitperf`` command.

Exit codes: 0 where it did what was asked, 1 where an entry or a file cannot be used and the rest was shown, 2 where the
command line is wrong or nothing could be done, 130 where it was interrupted. ``diff`` alone ends as that of the shell
does, with 1 where there are differences.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_jitperf.commands.shared import complain
from pytest_jitperf.errors import JitperfError
from pytest_jitperf.wording import choose, show

__all__ = ["main"]

_COMMANDS = ("show", "diff", "history", "prune", "merge", "update", "report", "schema")

# Where the commands have their files, and what these are made.
_FILES: dict[str, Callable[[str], Any]] = {"paths": Path, "operands": str}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: Without the name of the program; those of the process where None.

    Returns:
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        # Names of tests may hold letters that the terminal cannot show; they are escaped rather than fatal.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    given = _parsed(sys.argv[1:] if arguments is None else list(arguments))
    try:
        code: int = given.run(given)
        sys.stdout.flush()
    except JitperfError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Python flushes once more at its end, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _parsed(arguments: list[str]) -> argparse.Namespace:
    """Parses the command line; files may stand before, between and behind options."""
    parser = _parser()
    command = next(iter(arguments), "-")
    if not command.startswith("-") and command not in _COMMANDS:
        parser.error(f"there is no command {show(command)}; {choose(command, _COMMANDS)}")
    given, left = parser.parse_known_args(arguments)
    files = next((name for name in _FILES if hasattr(given, name)), None)
    place = left.index("--") if "--" in left else len(left)
    if files is None or any(each.startswith("-") for each in left[:place]):
        if left:
            parser.error(f"unrecognized arguments: {' '.join(left)}")
    else:
        # The parser takes them in one place alone.
        getattr(given, files).extend(map(_FILES[files], left[:place] + left[place + 1 :]))
    # It also drops the sign that what follows are paths, which matters where something else may stand before them.
    given.behind = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    return given


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jitperf", description="Baselines and results of pytest-jitperf.")
    parser.add_argument("--version", action="version", version=f"pytest-jitperf {version('pytest-jitperf')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in _COMMANDS:
        module = import_module(f"pytest_jitperf.commands.{name}")
        command = commands.add_parser(name, help=module.HELP, description=f"{module.HELP[0].upper()}{module.HELP[1:]}.")
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser
