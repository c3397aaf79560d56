from __future__ import annotations

import os
from pathlib import Path

# pytester puts sys.modules back after each run in this process. Were jax first imported inside such a run, the next
# one would import it a second time, and jaxlib aborts the process then.
import jax  # noqa: F401  (imported to be kept)
import pytest

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
    """The pytest runs inside a test are not shuffled, unless the test asks for it with ``-p randomly``."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly")


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

    @property
    def baseline(self) -> Path:
        return self.pytester.path / "__jitperf__" / "test_g.json"

    def run(self, *arguments: str) -> pytest.RunResult:
        """One run in a fresh process."""
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    def quick_run(self, *arguments: str) -> pytest.RunResult:
        """One run in this process."""
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)


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
