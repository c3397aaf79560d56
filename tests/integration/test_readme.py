"""What the README shows is what the example project prints."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def example(pytester: pytest.Pytester) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv")
    shutil.copytree(ROOT / "example_project", pytester.path / "example_project", ignore=ignored)
    return pytester.path / "example_project"


@pytest.fixture
def same_jax(example: Path) -> None:
    """Programs, and so the words of the output, are those of one jax version."""
    baseline = json.loads((example / "tests" / "__jitperf__" / "test_waves.json").read_text(encoding="utf-8"))
    recorded = baseline["tests"]["test_cascade"]["main"]["outer"]["cpu"]["environment"]["jax"]
    if recorded != version("jax"):
        pytest.skip(f"the example was recorded with jax {recorded}, here is {version('jax')}")


def shown(name: str) -> list[str]:
    """A block of the README, marked by a comment before it."""
    match = re.search(rf"<!-- output: {name} -->\n```\n(.*?)```", README, re.DOTALL)
    assert match, name
    return comparable(match[1].splitlines())


def comparable(lines: list[str]) -> list[str]:
    """Lines without what varies from run to run: numbers, units of time, widths."""
    joined: list[str] = []
    for line in lines:
        # A note that did not fit is printed below its line; where it fits depends on the width of the numbers.
        if line.startswith("    ") and joined:
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
    # What the guide says hangs on the times.
    joined = [re.sub(r"^  guide .*", "  guide", line) for line in joined]
    without_time = [re.sub(r"\b(ns|us|ms|s)\b", "t", line) for line in joined]
    return [" ".join(re.sub(r"\d[\d.,]*", "#", re.sub(r"[=_]{3,}", "=", line)).split()) for line in without_time]


def part(lines: list[str], first: str, last: str) -> list[str]:
    """Lines from the first that contains ``first`` to the next that contains ``last``."""
    start = next(n for n, line in enumerate(lines) if first in line)
    end = next(n for n, line in enumerate(lines[start:], start) if last in line)
    return comparable(lines[start : end + 1])


def test_the_marked_test_is_the_examples(example: Path) -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block
    assert block[1] in (example / "tests" / "test_waves.py").read_text(encoding="utf-8")


@pytest.mark.usefixtures("same_jax")
def test_the_gate_of_the_example_prints_what_the_readme_shows(pytester: pytest.Pytester, example: Path) -> None:
    result = pytester.runpytest_subprocess("example_project")

    result.assert_outcomes(passed=18)
    assert part(result.outlines, "jitperf: cpu", "measured") == shown("gate")


@pytest.mark.usefixtures("same_jax")
def test_the_failure_in_the_readme_is_the_one_of_a_dearer_helper(
    pytester: pytest.Pytester, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waves = example / "wavelab" / "waves.py"
    text = waves.read_text(encoding="utf-8")
    dearer = text.replace("return 2.0 * x + jnp.sin(x)", "return 2.0 * x + jnp.sin(jnp.arcsin(jnp.sin(x)))")
    assert dearer != text
    waves.write_text(dearer, encoding="utf-8")
    monkeypatch.chdir(example)

    result = pytester.run(
        sys.executable,
        "-m",
        "pytest",
        "tests/test_waves.py",
        "-k",
        "test_cascade and not depth",
    )

    printed = part(result.outlines, "test_cascade[outer] _", ": Regressed")
    assert certain(printed) == certain(shown("failure"))


@pytest.mark.usefixtures("same_jax")
def test_the_guide_in_the_readme_is_the_one_of_the_example(
    pytester: pytest.Pytester, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example)

    result = pytester.run(
        sys.executable, "-m", "pytest", "tests/test_waves.py", "-k", "test_cascade and not depth", "--jitperf-guide"
    )

    at = next(n for n, line in enumerate(result.outlines) if "jitperf guide" in line)
    *printed, _ = part(result.outlines[at:], "tests/test_waves.py::test_cascade", " passed")
    assert untimed(printed) == untimed(shown("guide"))


def test_what_the_readme_shows_of_a_baseline_is_what_is_in_it(
    pytester: pytest.Pytester, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example)
    monkeypatch.setenv("COLUMNS", "100")  # as wide as the table

    result = pytester.run("jitperf", "show", "--table", "tests/test_waves.py")

    assert "\n".join(result.outlines) in README


def untimed(lines: list[str]) -> list[str]:
    """The lines of a guide whose words do not hang on the times."""
    words = re.compile(r"(gain|guide|- both takes|- both and outer take|- while tracing,|- inner is|- inner would) ")
    return [line for line in lines if not words.match(line)]


def certain(lines: list[str]) -> list[str]:
    """Lines without those on compile time, which on a busy machine may stay inconclusive.

    Another line explains then, and how many more there are changes with it.
    """
    unsure = ("compile", "further changes", "more with -vv")
    return [line for line in lines if not any(words in line for words in unsure)]


def test_every_option_of_the_readme_exists_and_none_is_left_out(
    pytester: pytest.Pytester, same: Callable[[str], set[str]]
) -> None:
    result = pytester.runpytest_inprocess("--help")
    assert same(result.stdout.str()) == same(README)


@pytest.fixture
def same() -> Callable[[str], set[str]]:
    """The options named in a text."""
    return lambda text: set(re.findall(r"--jitperf-[a-z]+(?:-[a-z]+)*", text))
