"""A plugin for pytest: what the parts of a run took of the processor.

Written as JSON to the file that the variable ``STOPWATCH`` names.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SECONDS: dict[str, float] = {}
_START = time.process_time()


@contextmanager
def left_out() -> Iterator[None]:
    """What is done within it is no part of anything."""
    start = time.process_time()
    try:
        yield
    finally:
        _SECONDS["left out"] = _SECONDS.get("left out", 0.0) + time.process_time() - start


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    _SECONDS["collected"] = time.process_time() - _START


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish() -> Iterator[None]:
    """From the last test on: whatever is written, and the summary on the terminal."""
    start = time.process_time()
    _SECONDS["tests"] = start - _START - _SECONDS.get("collected", 0.0) - _SECONDS.get("left out", 0.0)
    try:
        yield
    finally:
        _SECONDS["end"] = time.process_time() - start
        file = os.environ.get("STOPWATCH")
        if file:
            Path(file).write_text(json.dumps(_SECONDS), encoding="utf-8")
