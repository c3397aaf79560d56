"""From a device as asked for (``"cpu"``, ``"gpu:0"``, ``"as-is"``) to JAX's device, and inputs put onto it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from pytest_jitperf.errors import MeasurementError

from .inputs import is_array
from .refusals import one_line

AS_IS = "as-is"
ALL = "all"


class NoDeviceError(MeasurementError):
    """The device asked for is not in this machine."""


def find(asked: str) -> jax.Device:
    """Finds the device a measurement was asked for.

    Args:
        asked: ``""`` or ``"as-is"`` (first device of the default backend), a platform (``"gpu"``: its first local
            device) or a platform with an index (``"gpu:1"``).

    Raises:
        NoDeviceError: There is no such device here.
    """
    platform, _, index = ("" if asked == AS_IS else asked).partition(":")
    try:
        devices = jax.local_devices(backend=platform) if platform else jax.local_devices()
    except Exception as error:  # JAX raises RuntimeError, but AssertionError when JAX_PLATFORMS names a missing one
        raise NoDeviceError(f"no {platform or 'default'} device here") from error
    if int(index or 0) >= len(devices):
        raise NoDeviceError(f"no {asked} here: {len(devices)} {platform} device{'s' if len(devices) != 1 else ''}")
    return devices[int(index or 0)]


def are_running() -> bool:
    """Whether JAX has started its devices in this process, or in the one that it was forked from."""
    # Private: in public nobody tells without starting them. Where that is gone, nobody tells.
    try:
        from jax._src.xla_bridge import backends_are_initialized
    except ImportError:
        return False
    return bool(backends_are_initialized())


def local_devices() -> list[str]:
    """Every local device of the default backend, as ``platform:index``; the plain platform where there is one."""
    devices = jax.local_devices()
    if len(devices) == 1:
        return [devices[0].platform]
    return [f"{device.platform}:{number}" for number, device in enumerate(devices)]


def place(tree: Any, device: jax.Device, asked: str) -> Any:
    """Commits every array leaf of ``tree`` to ``device``; numpy arrays become device arrays.

    Python and numpy scalars stay as they are (JAX gives them weak types, and they may be static arguments).

    Raises:
        MeasurementError: A leaf is spread over several devices and placement was not left ``as-is``.
    """
    if asked == AS_IS:
        return tree

    def put(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array):
            if len(leaf.sharding.device_set) > 1:
                raise MeasurementError(
                    f"an input of shape {leaf.shape} is spread over {len(leaf.sharding.device_set)} devices, but the "
                    f"test is measured on {device.platform}:{device.id}. "
                    'To keep the placement, add  devices=["as-is"]  to the marker.'
                )
            return jax.device_put(leaf, device)
        if isinstance(leaf, np.ndarray) and is_array(leaf):
            return jax.device_put(leaf, device)
        return leaf

    return jax.tree.map(put, tree)


# How JAX begins where arrays that are on one device meet a jit, shard_map or pmap that spreads over others.
_ELSEWHERE = ("Received incompatible devices for ", "Sharding passed to jit does not match the sharding on ")


def explain_elsewhere(error: Exception, device: jax.Device, asked: str) -> str | None:
    """A sentence for inputs that JAX refuses where they were put, since the function itself works on other devices.

    Args:
        error: What a call raised.
        device: Where its inputs were put.
        asked: The device as asked for.

    Returns:
        What to do; None where the error is another one, or the placement is the test's own.
    """
    if asked == AS_IS or not isinstance(error, ValueError) or not str(error).startswith(_ELSEWHERE):
        return None
    return (
        f"the function spreads its work over devices by itself, and its inputs were put onto {device.platform}:"
        f'{device.id}, where the test is measured. To leave them where the test has them, add  devices=["as-is"]  to '
        f"the marker. JAX says: {one_line(error)}"
    )


@contextmanager
def on(device: jax.Device, asked: str) -> Iterator[None]:
    """Makes ``device`` the default for arrays that the function creates itself."""
    if asked == AS_IS:
        yield
        return
    with jax.default_device(device):
        yield
