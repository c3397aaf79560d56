"""A suite of any size that is recorded without measuring all of it: one file is, the others have copies of its entries.

Each copy names programs of its own, so that there is one for each entry, as in a suite whose programs all differ.
"""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path
from typing import Any

from playing import run_pytest, write_project
from pytest_jitperf.baseline import document
from pytest_jitperf.baseline.programs import artifact_name, unpack
from pytest_jitperf.baseline.store import FOLDER

PER_FILE = 50
"""Items of one test file."""

_PARAMETERS = 5

LIBRARY = """
import jax.numpy as jnp


def helper(x, n):
    return jnp.sin(x * (n + 0.5)) + n


def step(n):
    return lambda x: helper(helper(x, n), n + 1) * 2.0
"""

_TEST = """
@pytest.mark.jitperf(strategies=["outer"])
@pytest.mark.parametrize("n", range({first}, {last}))
def test_{name}(jitperf, n):
    jitperf(library.step(n), X)
"""

_SOAK = """
@pytest.mark.jitperf(strategies=["eager", "outer", "inner", "both"], inner=["library.helper"])
@pytest.mark.parametrize("n", range({items}))
def test_soak(jitperf, n):
    jitperf(library.step(n % {programs}), X)
"""

_HEAD = "import jax.numpy as jnp\nimport library\nimport pytest\n\nX = jnp.ones(16)\n"
_MOST_UNPACKED = 2**24


def suite_file() -> str:
    """One test file of the suite; all are alike."""
    tests = (
        _TEST.format(first=first, last=first + _PARAMETERS, name=f"step_{first}")
        for first in range(0, PER_FILE, _PARAMETERS)
    )
    return _HEAD + "".join(tests)


def recorded(folder: Path) -> Path:
    """Records one test file for real.

    Returns:
        The folder.
    """
    write_project(folder, {"library.py": LIBRARY, "test_0000.py": suite_file()})
    run_pytest(folder, "--jitperf-update", ends=(0,))
    return folder


def multiplied(one: Path, folder: Path, entries: int) -> list[Path]:
    """Makes a suite of so many entries.

    Args:
        one: What ``recorded`` made.
        folder: Where the suite goes.
        entries: How many; whole files of ``PER_FILE``.

    Returns:
        Its test files.
    """
    write_project(folder, {"library.py": LIBRARY})
    baselines = folder / FOLDER
    programs = baselines / "programs"
    programs.mkdir(parents=True)
    shutil.copy(one / FOLDER / "programs" / ".gitattributes", programs)
    content = json.loads((one / FOLDER / "test_0000.json").read_bytes())
    raw = {
        file.name: unpack(file.read_bytes(), _MOST_UNPACKED) for file in (one / FOLDER / "programs").glob("*.jaxexport")
    }
    files = []
    for number in range(entries // PER_FILE):
        file = folder / f"test_{number:04}.py"
        file.write_text(suite_file(), encoding="utf-8")
        made = _with_own_programs(content, raw, programs, number)
        (baselines / f"{file.stem}.json").write_bytes(document.dump(made))
        files.append(file)
    return files


def _with_own_programs(value: Any, raw: dict[str, bytes], programs: Path, number: int) -> Any:
    """A document in which each name of a program is that of a copy with other bytes."""
    if isinstance(value, dict):
        return {key: _with_own_programs(each, raw, programs, number) for key, each in value.items()}
    if isinstance(value, str) and value in raw:
        packed = zlib.compress(raw[value] + number.to_bytes(8, "big"), 1)
        name = artifact_name(packed)
        (programs / name).write_bytes(packed)
        return name
    return value


def soaked(folder: Path, items: int, programs: int) -> None:
    """Makes a suite of one file for many items in one process; every so many items it is the same programs again.

    Args:
        folder: Where it goes.
        items: How many, four of them for each parameter.
        programs: How many parameters have programs of their own.
    """
    parameters = items // 4
    write_project(
        folder, {"library.py": LIBRARY, "test_soak.py": _HEAD + _SOAK.format(items=programs, programs=programs)}
    )
    run_pytest(folder, "--jitperf-update", ends=(0,))
    (folder / "test_soak.py").write_text(_HEAD + _SOAK.format(items=parameters, programs=programs), encoding="utf-8")
    file = folder / FOLDER / "test_soak.json"
    content = json.loads(file.read_bytes())
    known = content["tests"]
    content["tests"] = {f"test_soak[{n}]": known[f"test_soak[{n % programs}]"] for n in range(parameters)}
    file.write_bytes(document.dump(content))
