"""Keys of baseline entries: the ids of the user, without what plugins add to them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_jitperf.markers import baseline_key


def item(ids: str, **params: object) -> Any:
    """A collected function, as far as its key goes."""
    return SimpleNamespace(
        name=f"test_f[{ids}]",
        originalname="test_f",
        listchain=list,
        callspec=SimpleNamespace(id=ids, params=params),
    )


@pytest.mark.parametrize(
    ("ids", "key"),
    [
        ("outer", "test_f"),
        ("64-outer", "test_f[64]"),
        ("-5-outer", "test_f[-5]"),
        ("outer-outer", "test_f[outer]"),
        ("a-outer-b-outer", "test_f[a-outer-b]"),
        ("outer--5", "test_f[-5]"),  # another plugin came later
        ("outside", "test_f[outside]"),
        ("a-outer-b", "test_f[a-b]"),
    ],
)
def test_the_strategy_is_left_out_of_a_key(ids: str, key: str) -> None:
    assert baseline_key(item(ids), "outer") == key


@pytest.mark.parametrize("ids", ["64-outer-2-10", "2-10-64-outer", "64-2-10-outer"])
def test_repetitions_are_one_test(ids: str) -> None:
    assert baseline_key(item(ids, __pytest_repeat_step_number=1), "outer") == "test_f[64]"


def test_numbers_of_the_users_own_are_no_repetition() -> None:
    assert baseline_key(item("2-10-outer-2-3", __pytest_repeat_step_number=1), "outer") == "test_f[2-10]"
    assert baseline_key(item("2-10-outer"), "outer") == "test_f[2-10]"
