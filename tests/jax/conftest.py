from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest


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
