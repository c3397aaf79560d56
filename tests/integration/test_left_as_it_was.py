"""After each item the process is as it was before it, and what others did to it changes no verdict."""

from __future__ import annotations

from typing import Any

import pytest

CONFTEST = """
import gc
import os
import random
import signal
import sys
import threading
import warnings

import jax
import numpy
import pytest
from jax._src import monitoring

import library

HEARD = []


def listen(event, duration, **kwargs):
    HEARD.append(event)


jax.monitoring.register_event_duration_secs_listener(listen)


def state():
    gc.collect()
    return {
        "config": {name: value for name, value in jax.config.values.items()},
        "code": [(each.__code__, dict(each.__dict__)) for each in (library.f, library.g)],
        "listeners": [*monitoring.get_event_duration_listeners(), *monitoring.get_event_listeners()],
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), list(gc.callbacks)),
        "hooks": (sys.getprofile(), sys.gettrace(), threading.getprofile(), sys.getswitchinterval()),
        "threads": sorted(each.name for each in threading.enumerate()),
        "signals": [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)],
        "process": (os.getcwd(), {name: each for name, each in os.environ.items() if name != "PYTEST_CURRENT_TEST"}),
        "random": (random.getstate(), numpy.random.get_state()[1].tolist()),
        "filters": list(warnings.filters),
        "cores": os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None,
        "files": len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None,
        "jits": sum(type(each).__name__ == "PjitFunction" for each in gc.get_objects()),
    }


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    before = state()
    yield
    after = state()
    if "again" in item.name:
        before["jits"] = max(before["jits"], after["jits"])  # those of the item before may go
        changed = [name for name in before if before[name] != after[name]]
        print("LEFT", item.name, changed, bool(HEARD))
    return True
"""

TESTS = """
def fails(x):
    library.f(x)
    raise ZeroDivisionError

@pytest.mark.jitperf(strategies=["outer", "inner"], inner=[library.f], faster_than={"outer": {"inner": 0.001}})
@pytest.mark.parametrize("how", ["first", "again"])
def test_g(jitperf, how):
    jitperf.measure(library.g, inputs=[jnp.ones(8), jnp.ones(9)])

@pytest.mark.jitperf(strategies=["both"], inner=[library.f])
@pytest.mark.parametrize("how", ["first", "again"])
def test_fails(jitperf, how):
    with pytest.raises(ZeroDivisionError):
        jitperf(fails, X)
"""


def test_each_item_leaves_the_process_as_it_was(project: Any) -> None:
    project.pytester.makeconftest(CONFTEST)
    project.write_tests(TESTS)
    project.record("-k", "not fails")
    before = project.baseline.read_bytes()
    slower = (project.pytester.path / "library.py").read_text().replace("2 * x", "jnp.cos(2 * x) + jnp.sin(x)")
    project.write_library(slower)  # so that old programs are compiled and raced
    result = project.run("-s", "-p", "no:randomly", "--jitperf-tolerance=run=90000%,compile=90000%")
    left = sorted(line.partition("LEFT ")[2] for line in result.outlines if "LEFT " in line)
    assert left == [
        "test_fails[again-both] [] True",
        "test_g[again-inner] [] True",
        "test_g[again-outer] [] True",
    ]
    assert project.baseline.read_bytes() == before


NEIGHBOURS = """
import jax.monitoring

@pytest.fixture(autouse=True)
def neighbour():
    if "{kind}" == "caches":
        jax.clear_caches()
    if "{kind}" == "listener":
        heard = []
        listener = lambda event, duration, **_: heard.append(event)
        jax.monitoring.register_event_duration_secs_listener(listener)
    yield
    if "{kind}" == "listener":
        assert heard
        jax.monitoring.unregister_event_duration_listener(listener)

def test_others_fill_the_caches():
    library.g(jnp.ones(8)), jax.jit(library.g)(jnp.ones(8)), jax.jit(library.f)(jnp.ones(8))

@pytest.mark.jitperf(inner=[library.f])
def test_g(jitperf):
    if "{kind}" == "caches":
        library.g(X)
    jitperf(library.g, X)
    if "{kind}" == "caches":
        jax.clear_caches()
"""


@pytest.mark.parametrize("kind", ["caches", "listener"])
def test_neither_caches_nor_listeners_nor_the_selection_change_a_count(project: Any, kind: str) -> None:
    project.write_tests(NEIGHBOURS.format(kind="nothing"))
    project.record()
    project.write_tests(NEIGHBOURS.format(kind=kind))
    before = project.baseline.read_bytes()
    last = "4 measured, 3 gated (3 same program), 1 reference, 0 without a baseline"
    for options in ((), ("-k", "test_g")):
        result = project.quick_run(*options, "-p", "no:randomly")
        result.stdout.fnmatch_lines([last])
    project.quick_run("--jitperf-update", "-k", "test_g").stdout.fnmatch_lines(["*: 0 written, 4 unchanged"])
    assert project.baseline.read_bytes() == before
