"""What was asked for on the command line and in the ini file, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_jitperf.units import Tolerance, parse_duration

__all__ = ["MAX_COMPILE", "MAX_RACE", "SetTolerance", "Settings"]

MAX_RACE = "5 s"
MAX_COMPILE = "120 s"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTolerance:
    """A tolerance that an option set, and which one.

    Attributes:
        tolerance: How much worse than the baseline is still fine.
        rule: ``"--jitperf-tolerance"`` or ``"ini jitperf_tolerance"``.
    """

    tolerance: Tolerance
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked for on the command line and in the ini file.

    Attributes:
        mode: ``"gate"`` compares with the baselines, ``"update"`` writes them, ``"disable"`` measures nothing.
        prune: Whether entries of tests that are gone are removed.
        strict: Whether what could not be gated, and a device that is not there, fails.
        stored_times: Whether the machine is dedicated, so that stored times may serve where nothing can be raced.
        strategies: For tests whose markers name none; empty for the plugin's own default.
        selected_strategies: Those to run at all, by the command line; empty for all.
        devices: For tests whose markers name none; empty for JAX's default device.
        selected_devices: Those to run on at all, by the command line; empty for all.
        tolerances: Metric to tolerance.
        missing: What a test without a baseline does.
        max_race_seconds: Longest that one race may take.
        max_compile_seconds: Longest that one item may spend on compiling beyond its first compile.
        baseline_dir: Where baselines are kept; empty for beside the tests.
        guide: Whether the guide to all tests is printed.
        guide_file: Where the guide is written as Markdown, relative to where pytest was started; empty for nowhere.
        json: Where the results are written, likewise.
        html: Where the report to look at is written, likewise.
        summary: Where the summary of the run is written as Markdown, likewise.
        codequality: Where the code-quality report for GitLab is written, likewise.
    """

    mode: Literal["gate", "update", "disable"] = "gate"
    prune: bool = False
    strict: bool = False
    stored_times: bool = False
    strategies: tuple[str, ...] = ()
    selected_strategies: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    selected_devices: tuple[str, ...] = ()
    tolerances: Mapping[str, SetTolerance] = field(default_factory=dict)
    missing: Literal["ok", "warn", "fail"] = "warn"
    max_race_seconds: float = parse_duration(MAX_RACE)
    max_compile_seconds: float = parse_duration(MAX_COMPILE)
    baseline_dir: str = ""
    guide: bool = False
    guide_file: str = ""
    json: str = ""
    html: str = ""
    summary: str = ""
    codequality: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files that are written at the end."""
        return tuple(filter(None, (self.guide_file, self.json, self.html, self.summary, self.codequality)))
