from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

# pytester puts sys.modules back after each run in this process. Were jax first imported inside such a run, the next
# one would import it a second time, and jaxlib aborts the process then; numpy's and scipy's extensions refuse it. The
# plugin's own late imports are kept as well, since its package remembers the classes that it hands out.
import jax  # noqa: F401  (imported to be kept)
import pytest
import scipy.stats  # noqa: F401  (imported to be kept)

import pytest_jitperf.items
import pytest_jitperf.judging
import pytest_jitperf.outputs
import pytest_jitperf.pipelinereports
import pytest_jitperf.probe.compare
import pytest_jitperf.report.annotations
import pytest_jitperf.report.codequality
import pytest_jitperf.report.guidebook
import pytest_jitperf.report.markdown
import pytest_jitperf.report.terminal
import pytest_jitperf.resultsfile  # noqa: F401  (imported to be kept)

# How the names of the variables begin by which a pipeline, and a pull request in it, can be told.
PIPELINE_VARIABLES = ("BITBUCKET_", "BUILD", "CHANGE_", "CI", "GITHUB_", "GITLAB_", "SYSTEM_", "TRAVIS")


@pytest.fixture(autouse=True)
def outside_any_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pytest runs inside a test behave as on a developer's machine, wherever the test itself runs."""
    for name in list(os.environ):
        if name.startswith(PIPELINE_VARIABLES):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def in_the_order_of_the_file(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pytest runs inside a test are not shuffled, unless the test asks for it with ``-p randomly``.

    Nor do they hear of pytest-asyncio, which has something to say in every run.
    """
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly -p no:asyncio")


@pytest.fixture(autouse=True)
def alone_on_its_device(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run waits for other pytest processes of this machine: locks lie in the temporary directory."""
    folder = str(tmp_path_factory.mktemp("locks"))
    monkeypatch.setenv("TMPDIR", folder)
    monkeypatch.setattr(tempfile, "tempdir", folder)


@pytest.fixture(autouse=True)
def on_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the terminal of those who run these tests is like."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def without_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module rewritten within the same second is read again, and not its old bytecode."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


LIBRARY = """
import jax.numpy as jnp

def f(x):
    return 2 * x + jnp.sin(x)

def g(x):
    return jnp.exp(f(f(x))) - x
"""

# More than twice the work of g, with the same result.
SLOWER = LIBRARY.replace(
    "return jnp.exp(f(f(x))) - x",
    "y = f(f(x))\n    for _ in range(6):\n        x = x + 0 * jnp.sin(jnp.cos(x) + y)\n    return jnp.exp(y) - x",
)

TEST = """
import jax.numpy as jnp
import pytest
import library

@pytest.mark.jitperf(strategies=["eager", "outer"])
def test_g(jitperf):
    y = jitperf(library.g, jnp.linspace(0.0, 1.0, 40_000))
    assert jnp.isfinite(y).all()
"""


PRELUDE = """
import jax
import jax.numpy as jnp
import pytest
import library
from pytest_jitperf import Strategy

X = jnp.ones(8)
"""

# A line of pytest that begins another failure or another section.
HEADLINE = re.compile(r"(_+|=+) (?P<title>[^_=].*) [_=]+")


class Project:
    """A small project with one marked test, in the folder of the pytester."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeini("[pytest]\npythonpath = .\n")
        self.write_library(LIBRARY)
        self.write_test(TEST)

    def write_library(self, text: str) -> None:
        (self.pytester.path / "library.py").write_text(text)

    def write_test(self, text: str) -> None:
        (self.pytester.path / "test_g.py").write_text(text)

    def write_tests(self, body: str) -> None:
        """Tests of a file that has the usual imports, and small inputs ``X``."""
        self.write_test(PRELUDE + textwrap.dedent(body))

    @property
    def baseline(self) -> Path:
        return self.pytester.path / "__jitperf__" / "test_g.json"

    def run(self, *arguments: str) -> pytest.RunResult:
        """One run in a fresh process."""
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    def quick_run(self, *arguments: str) -> pytest.RunResult:
        """One run in this process."""
        with warnings.catch_warnings():
            # Those of the pytest around it turn warnings into errors.
            warnings.resetwarnings()
            return self.pytester.runpytest_inprocess(*arguments)

    def record(self, *arguments: str) -> bytes:
        """Records baselines in this process; returns the bytes of the file."""
        result = self.quick_run("--jitperf-update", *arguments)
        assert result.ret == pytest.ExitCode.OK
        return self.baseline.read_bytes()

    def entries(self) -> dict[str, Any]:
        """The entries of the baseline by ``test / measurement / strategy``, all of one device."""
        tests = json.loads(self.baseline.read_bytes())["tests"] if self.baseline.exists() else {}
        return {
            f"{test} / {measurement} / {strategy}": kinds
            for test, measurements in tests.items()
            for measurement, strategies in measurements.items()
            for strategy, kinds in strategies.items()
        }

    def edit_baseline(self, edit: Callable[[dict[str, Any]], None]) -> bytes:
        """Changes the baseline as somebody might by hand; returns its new bytes."""
        document = json.loads(self.baseline.read_bytes())
        edit(document["tests"])
        self.baseline.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
        return self.baseline.read_bytes()

    def messages(self, result: pytest.RunResult) -> dict[str, str]:
        """What a run said about each item that failed or had an error, by the item's name."""
        found: dict[str, list[str]] = {}
        current: list[str] = []
        for line in result.outlines:
            headline = HEADLINE.fullmatch(line)
            if headline is not None:
                current = []
                if line.startswith("_"):
                    found[headline["title"].rpartition(" ")[2]] = current
            else:
                current.append(line)
        return {name: "\n".join(lines) for name, lines in found.items()}

    def assert_messages(self, result: pytest.RunResult, expected: Mapping[str, str]) -> None:
        """Exactly these items failed or had an error, each with a message like its pattern, brackets literal."""
        found = self.messages(result)
        told = {
            name: fnmatchcase(found.get(name, ""), pattern.replace("[", "[[]")) or found.get(name)
            for name, pattern in expected.items()
        }
        assert told == dict.fromkeys(expected, True)
        assert sorted(found) == sorted(expected)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


@pytest.fixture
def slower() -> str:
    """The library with a g that does more than twice the work."""
    return SLOWER


@pytest.fixture
def library() -> str:
    """The library as it is."""
    return LIBRARY
