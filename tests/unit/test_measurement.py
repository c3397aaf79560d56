"""The values that a probe hands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_jitperf.measurement import Environment, Measurement


def test_environments_differ_in_all_but_the_name_of_the_machine(environment: Environment) -> None:
    other = Environment(
        jax="0.11.0",
        jaxlib="0.10.2",
        python="3.13",
        platform="cpu",
        device_count=4,
        xla_flags="--xla_foo",
        x64=True,
        config={"a": "1", "b": "2"},
        machine="another",
    )

    assert replace(environment, config={"b": "3", "c": "4"}).differences(other) == (
        ("jax", "0.10.2", "0.11.0"),
        ("python", "3.11", "3.13"),
        ("device_count", "1", "4"),
        ("xla_flags", "", "--xla_foo"),
        ("x64", "False", "True"),
        ("a", "default", "1"),
        ("b", "3", "2"),
        ("c", "4", "default"),
    )
    assert environment.differences(replace(environment, machine="another")) == ()


def test_counts_of_the_host_are_comparable_within_one_python_and_jax(environment: Environment) -> None:
    assert environment.host_key == "3.11/0.10.2"


@pytest.mark.parametrize(
    ("metric", "value"), [("run", 0.0012), ("launches", 1), ("peak_bytes", 8 * 2**20), ("xla", None)]
)
def test_a_value_is_found_wherever_it_was_measured(
    measure: Callable[..., Measurement], metric: str, value: float | None
) -> None:
    assert measure().value(metric) == value
