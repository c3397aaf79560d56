"""What besides the code decides which program is built and how fast it runs."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from pathlib import Path

import jax
import jaxlib.version

from pytest_jitperf.measurement import Environment

# jax.config values that change what is compiled or how it runs, with what they are when nobody touches them.
_CONFIG = {
    "jax_default_matmul_precision": "none",
    "jax_debug_nans": "false",
    "jax_debug_infs": "false",
    "jax_enable_checks": "false",
    "jax_numpy_dtype_promotion": "standard",
    "jax_default_prng_impl": "threefry2x32",
    "jax_threefry_partitionable": "true",
    "jax_optimization_level": "unknown",
    "jax_memory_fitting_level": "o2",
    "jax_exec_time_optimization_effort": "0.0",
    "jax_memory_fitting_effort": "0.0",
    "jax_disable_most_optimizations": "false",
    "jax_compiler_enable_remat_pass": "true",
    "jax_cpu_enable_async_dispatch": "true",
}


def environment(device: jax.Device) -> Environment:
    """Reads the environment of a measurement on ``device``.

    Args:
        device: The device that is measured.

    Returns:
        Versions, platform, flags and the ``jax.config`` values of the allow-list that are not at their defaults. No
        host name, path or other environment variable is read.
    """
    config = {}
    for name, usual in _CONFIG.items():
        value = _setting(name, usual)
        shown = str(getattr(value, "name", value)).lower()
        if shown != usual:
            config[name] = shown
    return Environment(
        jax=jax.__version__,
        jaxlib=jaxlib.version.__version__,
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        platform=device.platform,
        platform_version=_platform_version(device),
        device_count=jax.device_count(device.platform),
        xla_flags=without_paths(os.environ.get("XLA_FLAGS", "")),
        libtpu_init_args=without_paths(os.environ.get("LIBTPU_INIT_ARGS", "")),
        x64=bool(jax.config.jax_enable_x64),  # type: ignore[attr-defined]  # made at run time from JAX's flag table
        config=config,
        machine=_machine(),
    )


def _setting(name: str, usual: str) -> object:
    """A value of ``jax.config``, or ``usual`` where this JAX has no such switch."""
    try:
        return getattr(jax.config, name)
    except AttributeError:
        pass
    try:
        # Switches that no context manager sets are no attributes.
        return jax.config.read(name)
    except AttributeError:
        return usual


def without_paths(flags: str) -> str:
    """Sorts compiler flags and drops those that name a path or only write dumps.

    Example:
        >>> without_paths("--xla_b=2 --xla_dump_to=/home/me/x --xla_a=1")
        '--xla_a=1 --xla_b=2'
    """
    kept = [flag for flag in flags.split() if "/" not in flag and not flag.startswith("--xla_dump")]
    return " ".join(sorted(kept))


def _platform_version(device: jax.Device) -> str:
    """The runtime's version where it says more than jaxlib's (CUDA, ROCm, libtpu), one line without build paths."""
    if device.platform == "cpu":
        return ""
    text = str(getattr(device.client, "platform_version", ""))
    return " ".join(line for line in text.splitlines() if "/" not in line)[:80].strip()


@cache
def _machine() -> str:
    """Processor model and usable cores, for people only."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                model = " ".join(line.partition(":")[2].split())
                break
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{model}, {cores} core{'s' if cores != 1 else ''}"
