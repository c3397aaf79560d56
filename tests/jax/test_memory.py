"""A race that would not fit in memory is not started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import pytest

from pytest_jitperf.probe.memory import memory_missing

GIB = 2**30


def device(stats: Any, platform: str = "gpu") -> Any:
    return SimpleNamespace(memory_stats=lambda: stats, platform=platform)


@pytest.mark.parametrize(
    ("stats", "sentence"),
    [
        ({"bytes_limit": 10 * GIB, "bytes_in_use": 3 * GIB}, "a race needs 8.0 GiB, 7.0 GiB free"),
        ({"bytes_limit": 10 * GIB, "bytes_in_use": 2 * GIB}, ""),
        ({"bytes_limit": 10 * GIB}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_two_programs_must_fit(stats: Any, sentence: str) -> None:
    assert memory_missing({"peak_bytes": 4 * GIB}, device(stats)) == sentence


def test_where_the_device_does_not_say_the_host_does_for_its_own() -> None:
    def refuse() -> None:
        raise NotImplementedError

    cpu = jax.devices("cpu")[0]
    assert memory_missing({"peak_bytes": 2**60}, cpu).startswith("a race needs 2147483648.0 GiB, ")
    assert memory_missing({"peak_bytes": 1}, cpu) == ""
    assert memory_missing({}, cpu) == ""
    unknown: Any = SimpleNamespace(memory_stats=refuse, platform="gpu")
    assert memory_missing({"peak_bytes": 2**60}, unknown) == ""
