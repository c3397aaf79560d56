"""Devices as words: checked, and selected by the command line."""

from __future__ import annotations

import pytest

from pytest_jitperf.devices import check_devices, is_selected

VALID = "Valid: cpu, gpu, tpu, cuda, rocm, gpu:0, all, as-is"


@pytest.mark.parametrize("asked", [["cpu"], ["gpu:0", "gpu:12"], ["cuda", "rocm:1", "tpu"], ["all"], ["as-is", "cpu"]])
def test_devices_that_are_accepted(asked: list[str]) -> None:
    assert check_devices(asked) == []


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], ["no device is named; leave it out for JAX's default device"]),
        (["cup"], [f'unknown device "cup"; did you mean "cpu"? {VALID}']),
        (["CPU"], [f'unknown device "CPU"; did you mean "cpu"? {VALID}']),
        (["gpu:01"], [f'unknown device "gpu:01"; did you mean "gpu:0"? {VALID}']),
        (["gpu:\N{ARABIC-INDIC DIGIT FIVE}"], [f'unknown device "gpu:\u0665"; did you mean "gpu:0"? {VALID}']),
        (["all:0"], [f'unknown device "all:0"; did you mean "all"? {VALID}']),
        (["cpu", "cpu", "cpu"], ['"cpu" is named twice']),
        (["all", "cpu"], ['"all" is every device already; name it alone']),
        ([0], ['0 is not the name of a device; write one such as "cpu" or "gpu:0"']),
    ],
)
def test_devices_that_are_refused(asked: list[object], expected: list[str]) -> None:
    assert check_devices(asked) == expected


@pytest.mark.parametrize(
    ("device", "asked", "expected"),
    [
        ("cpu", ["cpu"], True),
        ("cpu", ["gpu", "cpu"], True),
        ("cpu", ["gpu"], False),
        ("gpu:1", ["gpu"], True),
        ("gpu:1", ["gpu:0"], False),
        ("gpu", ["gpu:0"], True),
        ("gpu", ["gpu:1"], False),
        ("cuda:1", ["gpu"], True),
        ("gpu", ["cuda"], False),
        ("as-is", ["as-is"], True),
        ("as-is", ["cpu"], False),
        ("cpu", ["all"], True),
        ("all", ["cpu"], False),
    ],
)
def test_command_line_selects_devices(device: str, asked: list[str], expected: bool) -> None:
    assert is_selected(device, asked) == expected
