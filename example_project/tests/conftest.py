"""A hook of pytest-jitperf: one line more below its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_jitperf.row import Row


@pytest.hookimpl(optionalhook=True)  # for runs without the plugin
def pytest_jitperf_report(config: pytest.Config, rows: Sequence[Row]) -> list[str]:
    timed = [(row.compile, row.nodeid) for row in rows if row.compile is not None]
    return [f"longest to compile: {max(timed)[1]}"] if timed else []
