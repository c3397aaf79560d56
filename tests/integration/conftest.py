from __future__ import annotations

import os

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
