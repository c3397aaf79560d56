"""A plugin for pytest: after every so many items, what they took of the processor and what the process holds.

One line of JSON each, appended to the file that the variable ``WATCH`` names; ``EVERY`` says how many.
"""

from __future__ import annotations

import gc
import json
import os
import time
from pathlib import Path

import pytest


class Watch:
    """Counts items and looks at the process.

    Args:
        file: Where the lines go.
        every: So many items are one line.
    """

    def __init__(self, file: Path, every: int) -> None:
        self._file, self._every = file, every
        self._items = 0
        self._start = time.process_time()

    def pytest_collection_finish(self) -> None:
        self._start = time.process_time()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        self._items += 1
        if self._items % self._every:
            return
        seconds = time.process_time() - self._start
        gc.collect()
        line = {"items": self._items, "ms": seconds / self._every * 1e3, **_held()}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._start = time.process_time()


def _held() -> dict[str, float]:
    """What the process holds, garbage collected before."""
    import jax

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    objects = gc.get_objects()
    return {
        "mib": pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "jits": sum(type(each).__name__ == "PjitFunction" for each in objects),
        "executables": len(jax.devices()[0].client.live_executables()),
        "arrays": len(jax.live_arrays()),
        "objects": len(objects),
    }


def pytest_configure(config: pytest.Config) -> None:
    file = os.environ.get("WATCH")
    if file:
        config.pluginmanager.register(Watch(Path(file), int(os.environ.get("EVERY", "200"))))
