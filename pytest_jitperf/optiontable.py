"""Every option of the command line and its ini key: one table, from which both are registered and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pytest_jitperf.optionvalues import read_devices, read_missing, read_strategies, read_tolerances
from pytest_jitperf.settings import MAX_COMPILE, MAX_RACE
from pytest_jitperf.units import parse_duration

__all__ = ["OPTIONS", "Option"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, from which the command-line option and the ini key are made.

    Attributes:
        flag: On the command line.
        help: Help text: capital first; one phrase without a full stop, several with one each.
        kind: ``"flag"`` takes no value; ``"list"`` takes values separated by commas, in the ini file also on several
            lines; ``"text"`` takes one value.
        metavar: How the help shows the value.
        ini: Whether there is an ini key; actions have none.
        ini_help: Help text of the ini key, where it does less than the option.
        read: From the text (a list of texts for ``"list"``) to the value; raises QuantityError or WrongValueError.
    """

    flag: str
    help: str
    kind: Literal["flag", "list", "text"] = "flag"
    metavar: str = ""
    ini: bool = True
    ini_help: str = ""
    read: Callable[[Any], Any] = bool

    @property
    def dest(self) -> str:
        """Name under which pytest keeps the option, and name of the ini key: ``jitperf_max_time``."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS = (
    Option(flag="--jitperf-update", ini=False, help="Write the baselines of the tests that pass"),
    Option(
        flag="--jitperf-update-force",
        ini=False,
        help="Like --jitperf-update, in the pipeline of a pull request too",
    ),
    Option(
        flag="--jitperf-prune",
        ini=False,
        help="Remove entries of tests that are gone, and stored programs that none refers to",
    ),
    Option(flag="--jitperf-disable", help="Call each function once under its strategy, unmeasured"),
    Option(flag="--jitperf-strict", help="Fail where nothing could be gated, and where a device is not there"),
    Option(
        flag="--jitperf-stored-times",
        help="Let stored times fail a test where nothing can be raced. For dedicated machines.",
    ),
    Option(
        flag="--jitperf-strategies",
        kind="list",
        metavar="NAME,...",
        read=read_strategies,
        help="Run these strategies alone, and take them where a marker names none",
        ini_help="Take these strategies where a marker names none",
    ),
    Option(
        flag="--jitperf-devices",
        kind="list",
        metavar="DEVICE,...",
        read=read_devices,
        help="Run on these devices alone, and take them where a marker names none: cpu, gpu, gpu:1, tpu, all, as-is",
        ini_help="Take these devices where a marker names none: cpu, gpu, gpu:1, tpu, all, as-is",
    ),
    Option(
        flag="--jitperf-tolerance",
        kind="list",
        metavar="METRIC=TOLERANCE,...",
        read=read_tolerances,
        help="How much worse than the baseline is still fine, such as run=10%,peak_bytes=64KiB",
    ),
    Option(
        flag="--jitperf-missing",
        kind="text",
        metavar="{ok,warn,fail}",
        read=read_missing,
        help="What a test without a baseline does (default: warn)",
    ),
    Option(
        flag="--jitperf-max-time",
        kind="text",
        metavar="TIME",
        read=parse_duration,
        help=f"Longest time for one race (default: {MAX_RACE})",
    ),
    Option(
        flag="--jitperf-max-compile",
        kind="text",
        metavar="TIME",
        read=parse_duration,
        help=f"Longest time for the extra compiling of one test, but for the two compilations without which nothing "
        f"can be compared (default: {MAX_COMPILE})",
    ),
    Option(
        flag="--jitperf-baseline-dir",
        kind="text",
        metavar="PATH",
        read=str,
        help="Keep the baselines here instead of beside the tests",
    ),
    Option(
        flag="--jitperf-guide",
        help="Print for each test where to put the jit: which strategy is the cheapest for how many calls",
    ),
    Option(
        flag="--jitperf-guide-file",
        kind="text",
        metavar="PATH",
        read=str,
        help="Write the guide to this file, as Markdown",
    ),
    Option(
        flag="--jitperf-json",
        kind="text",
        metavar="PATH",
        read=str,
        help="Write the results to this file, for other programs, jitperf merge and jitperf update",
    ),
    Option(
        flag="--jitperf-html",
        kind="text",
        metavar="PATH",
        read=str,
        help="Write a report to look at to this file, one HTML file that needs no network",
    ),
    Option(
        flag="--jitperf-summary",
        kind="text",
        metavar="PATH",
        read=str,
        help="Write a summary of the run to this file, as Markdown",
    ),
    Option(
        flag="--jitperf-codequality",
        kind="text",
        metavar="PATH",
        read=str,
        help="Write what failed or is unsettled to this file, as GitLab's code-quality report",
    ),
)
