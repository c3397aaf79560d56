from __future__ import annotations

import importlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import pytest

from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.measurement import Comparison
from pytest_jitperf.probe import parts
from pytest_jitperf.probe.compare import Effort, Stored, compare
from pytest_jitperf.probe.lock import DeviceLock
from pytest_jitperf.probe.measure import Probed, ReferenceResults, Request, measure


@pytest.fixture
def write_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Writes modules that can then be imported: ``write_modules({"pkg/mod.py": source})``."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(sources: dict[str, str]) -> None:
        for name, source in sources.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        importlib.invalidate_caches()

    yield write
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def import_modules(write_modules: Callable[[dict[str, str]], None]) -> Callable[..., list[ModuleType]]:
    """Writes modules and imports them in the order given."""

    def write_and_import(**sources: str) -> list[ModuleType]:
        write_modules({f"{name}.py": source for name, source in sources.items()})
        return [importlib.import_module(name) for name in sources]

    return write_and_import


@pytest.fixture
def request_for() -> Callable[..., Request]:
    """Makes a request: ``request_for(function, *args, strategy="inner", inner=[helper], kwargs={...}, ...)``."""

    def make(function: Any, *args: Any, strategy: Any = "outer", inner: Any = (), **fields: Any) -> Request:
        return Request(
            **{"test": "test_x", "name": "main", **fields},
            function=function,
            args=args,
            strategy=strategy,
            inner=tuple(each if isinstance(each, InnerTarget) else InnerTarget(each) for each in inner),
        )

    return make


@pytest.fixture
def measured(
    request_for: Callable[..., Request], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Probed]:
    """Measures what ``request_for`` makes, with next to no time for the sample of the run time."""
    # Locks of its own: other test runs on this machine are not waited for.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(parts, "_RUN_SECONDS", 0.002)
    references = ReferenceResults()

    def run(function: Any, *args: Any, **fields: Any) -> Probed:
        return measure(request_for(function, *args, **fields), references, lambda text: None)

    return run


@pytest.fixture
def stored() -> Callable[..., Stored]:
    """What a baseline would hold of a measurement's program: ``stored(probed, raw=...)``."""

    def make(probed: Probed, **fields: Any) -> Stored:
        program = probed.measurement.program
        assert program is not None
        known = {
            "fingerprint": program.fingerprint,
            "raw": program.artifact,
            "inputs": program.inputs,
            "unused": program.unused,
            "donated": program.donated,
            "options": program.options,
            "jax": jax.__version__,
        }
        return Stored(**{**known, **fields})

    return make


@pytest.fixture
def compared() -> Callable[..., Comparison]:
    """Compares a measurement's program with a stored one; limits so wide that a race is decided at once."""

    def run(probed: Probed, stored: Stored, key: str = "", **fields: Any) -> Comparison:
        effort = {
            "run_limit": 1e4,
            "compiling": None,
            "race_seconds": 5.0,
            "compile_seconds": 30.0,
            "random": random.Random(0),
        }
        program = probed.measurement.program
        why = program.no_artifact if program is not None else ""
        lock = DeviceLock("cpu:0")
        new = probed.programs.get(key)
        return compare(new, why, probed.subject, stored, Effort(**{**effort, **fields}), lock, lambda text: None)

    return run
