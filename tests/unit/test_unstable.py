"""Ids that change from run to run."""

from __future__ import annotations

import pytest

from pytest_jitperf.unstable import masked, unstable_part


@pytest.mark.parametrize(
    ("test", "part"),
    [
        ("test_net[<Net object at 0x7f3b2c1d0e80>]", "0x7f3b2c1d0e80"),
        ("test_net[<function f at 0X7F3B2C1D0E80>-64]", "0X7F3B2C1D0E80"),
        ("test_u[3fa85f64-5717-4562-b3fc-2c963f66afa6]", "3fa85f64-5717-4562-b3fc-2c963f66afa6"),
        ("test_t[2026-12-01 03:46:43.123456]", "2026-12-01 03:46:43.123456"),
        ("test_t[2026-12-01T03:46:43.123456+00:00]", "2026-12-01T03:46:43.123456"),
        ("test_t[1764561603.52134]", "1764561603.52134"),
        ("test_g[64-float32-0x10]", ""),
        ("test_g[2026-12-01]", ""),
        ("test_g[2026-12-01T00:00:00]", ""),
        ("test_g[1764561603]", ""),
        ("test_g[31764561603.521]", ""),
    ],
)
def test_an_address_a_uuid_and_a_time_are_found(test: str, part: str) -> None:
    assert unstable_part(test) == part
    assert masked(test) == (test.replace(part, "#") if part else test)
