"""Failures, and what is unsettled, as GitLab's code-quality report: shown in a merge request beside the lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.report.account import account_of
from pytest_jitperf.report.annotations import below
from pytest_jitperf.report.grouping import Group, groups, one_line
from pytest_jitperf.report.standing import Standing, standing
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

__all__ = ["code_quality"]

# What passes with a warning: the first two say that something may be wrong, the rest that nothing was looked at.
_MINOR = frozenset({Outcome.INCONCLUSIVE.value, Outcome.ENVIRONMENT_CHANGED.value})


def code_quality(rows: Iterable[Row], folder: str = "") -> str:
    """The report, a JSON array; empty where nothing failed and nothing is unsettled.

    An issue is known again by its fingerprint: that of a test, strategy and outcome is the same in every run, whatever
    was measured and wherever in its file the test stands.

    Args:
        rows: All rows of the run.
        folder: Where the paths of the rows begin, relative to the top of the checkout.
    """
    issues = [
        _issue(row, group, folder) for group in groups(rows) for row in group.rows if _is_failing(row) or _is_open(row)
    ]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _is_failing(row: Row) -> bool:
    return standing(row) is Standing.FAILED


def _is_open(row: Row) -> bool:
    """Whether it passes with a warning or lacks its device; an expected failure is what somebody has accepted."""
    return row.effect in (Effect.WARN.value, Effect.SKIP.value) and row.status != Status.XFAILED.value


def _issue(row: Row, group: Group, folder: str) -> dict[str, Any]:
    path, check = below(folder, row.file), f"jitperf.{re.sub('[^a-z]+', '-', row.outcome.lower()).strip('-')}"
    device = row.device_kind, row.device
    identity = "\0".join((path, row.test, row.measurement, row.strategy, *device, check))
    return {
        "description": one_line(f"{group.title} under {group.name_of(row)}: {account_of(row).sentence}"),
        "check_name": check,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest(),
        "severity": _severity(row),
        "location": {"path": one_line(path), "lines": {"begin": row.line or 1}},
    }


def _severity(row: Row) -> str:
    if _is_failing(row):
        return "critical" if row.outcome == Outcome.WRONG_RESULT.value else "major"
    return "minor" if row.outcome in _MINOR else "info"
