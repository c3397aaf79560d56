"""Devices as they are asked for: words, with no device behind them yet."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_jitperf.wording import choose, show

__all__ = ["ALL", "AS_IS", "check_devices", "is_selected"]

ALL = "all"
"""Every local device in turn, in one item."""

AS_IS = "as-is"
"""Where the test put its inputs."""

_PLATFORMS = ("cpu", "gpu", "tpu", "cuda", "rocm")
_VALID = (*_PLATFORMS, "gpu:0", ALL, AS_IS)
_DEVICE = re.compile(rf"({'|'.join(_PLATFORMS)})(:(0|[1-9][0-9]*))?|{ALL}|{AS_IS}")
_GPU_VENDORS = ("cuda", "rocm")


def check_devices(asked: Iterable[object]) -> list[str]:
    """Says what is wrong with a list of devices.

    Args:
        asked: ``"cpu"``, ``"gpu"`` (the first one), ``"gpu:1"``, ``"tpu"``, ``"cuda"``, ``"rocm"``, ``"all"``,
            ``"as-is"``.

    Returns:
        One sentence for each mistake, to be read after the name of what was set.
    """
    every = list(asked)
    found = []
    for device in every:
        if not isinstance(device, str):
            found.append(f'{show(device)} is not the name of a device; write one such as "cpu" or "gpu:0"')
        elif not _DEVICE.fullmatch(device):
            found.append(f"unknown device {show(device)}; {choose(device, _VALID)}")
        elif every.count(device) > 1 and f"{show(device)} is named twice" not in found:
            found.append(f"{show(device)} is named twice")
    if not every:
        found.append("no device is named; leave it out for JAX's default device")
    if ALL in every and len(every) > 1 and not found:
        found.append(f'"{ALL}" is every device already; name it alone')
    return found


def is_selected(device: str, asked: Iterable[str]) -> bool:
    """Whether a device that a marker names is among those that the command line asks for.

    Args:
        device: As the marker names it.
        asked: As the command line names them: a platform selects each of its devices, ``gpu`` those of CUDA and ROCm
            too, and ``all`` selects everything.
    """
    platform, _, index = device.partition(":")
    words = {device, platform, ALL, f"{platform}:{index or 0}", *(["gpu"] if platform in _GPU_VENDORS else [])}
    return not words.isdisjoint(asked)
