"""Whatever is written says nothing of who ran it, where, and with which values."""

from __future__ import annotations

import platform
import re
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.cli import main

# Exactly representable, so that however it is written it is written like this.
NUMBER = 31337.515625
WORDS = {
    "user name": "sentinel-user",
    "environment": "sentinel-environment",
    "host": "sentinel-host",
    "remote": "sentinel-remote-token",
    "author": "nobody@example.org",
    "static argument": "sentinel-static-argument",
    "other static argument": "sentinel-other-argument",
    "static number": "918273645",
    "values": "31337.5",
    "error": "sentinel-error",
}
VALUES = {"values as bytes": struct.pack("<f", NUMBER), "values as bytes of 64 bits": struct.pack("<d", NUMBER)}

LIBRARY = """
import jax
import jax.numpy as jnp
import numpy as np

def f(x):
    return 2 * x + jnp.sin(x)

def g(x, how, n):
    return jnp.exp(-f(f(x)) ** 2) - x

def called_back(x):
    return jax.pure_callback(lambda v: np.asarray(v), x, x)

def broken(x):
    raise ValueError("sentinel-error")
"""

TESTS = f"""
import numpy as np

VALUES = jnp.full(64, {NUMBER})
WORDS = {{"how": "{WORDS["static argument"]}", "n": {WORDS["static number"]}}}
JIT = {{"static_argnames": ["how", "n"]}}

class Model:
    def __init__(self):
        self.weights = VALUES

    def apply(self, x):
        return x @ self.weights

@pytest.mark.jitperf(strategies=["outer", "inner"], inner=[library.f], jit=JIT, expected_calls=10)
def test_g(jitperf):
    jitperf(library.g, VALUES, **WORDS)

@pytest.mark.jitperf(strategies=["outer"], jit=JIT, compilations=1)
def test_retraces(jitperf):
    jitperf.measure(library.g, inputs=[
        (VALUES, WORDS["how"], 1), (VALUES, "{WORDS["other static argument"]}", 1), (VALUES[:3], WORDS["how"], 1),
    ])

@pytest.mark.jitperf(strategies=["outer"], jit={{"donate_argnums": 0}}, run="1 ns")
def test_donated(jitperf):
    jitperf(lambda x: x.astype(jnp.bfloat16), np.full(64, {NUMBER}, np.float32))

@pytest.mark.jitperf(strategies=["outer"])
def test_called_back(jitperf):
    jitperf(library.called_back, VALUES)

@pytest.mark.jitperf(strategies=["outer"])
def test_broken(jitperf):
    jitperf(library.broken, VALUES)

@pytest.mark.jitperf(strategies=["outer"], sizes={{n: lambda n=n: (VALUES[:n],) for n in (4, 8)}})
def test_sizes(jitperf):
    jitperf(library.f)

@pytest.mark.jitperf(strategies=["eager"])
def test_bound(jitperf):
    jitperf(Model().apply, VALUES)

@pytest.mark.jitperf(devices=["tpu:7"], strategies=["outer"])
def test_elsewhere(jitperf):
    jitperf(library.f, VALUES)
"""

REPORTS = {
    "json": "results.json",
    "html": "report.html",
    "summary": "summary.md",
    "codequality": "quality.json",
    "guide-file": "guide.md",
}


@pytest.fixture(name="secrets")
def what_nobody_may_read(
    project: Any, git_repository: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[str, bytes]:
    """What is in the environment, the repository and the arguments, by what it is."""
    home = tmp_path / "sentinel-home"
    home.mkdir()
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, WORDS["user name"])
    for name, value in {
        "HOME": str(home),
        "HOSTNAME": WORDS["host"],
        "SECRET_TOKEN": WORDS["environment"],
        # Flags are recorded, for they change programs; folders of somebody are not.
        "XLA_FLAGS": f"--xla_cpu_enable_fast_min_max=false --xla_gpu_cuda_data_dir={home}/cuda",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(project.pytester.path),
        "GITHUB_STEP_SUMMARY": str(project.pytester.path / "step_summary"),
    }.items():
        monkeypatch.setenv(name, value)
    repository = git_repository(project.pytester.path)
    repository.git("remote", "add", "origin", f"https://me:{WORDS['remote']}@git.example/x.git")
    folders = {
        "home": home.name,
        "root directory": str(project.pytester.path),
        "temporary directory": str(tmp_path.parent),
        "Python": sys.prefix,
        "true home": str(Path("~root").expanduser()) + "/",
    }
    if len(platform.node()) > 3:
        folders["true host"] = platform.node()
    return {**{name: text.encode() for name, text in {**WORDS, **folders}.items()}, **VALUES}


def written(project: Any) -> dict[str, bytes]:
    """What lies in the folder but for what the test itself put there, programs unpacked."""
    own = {"library.py", "test_g.py", "tox.ini", "pytest.ini"}
    found = {}
    for path in sorted(each for each in project.pytester.path.rglob("*") if each.is_file()):
        name = path.relative_to(project.pytester.path).as_posix()
        if name not in own and not name.startswith((".git/", ".pytest_cache/")):
            content = path.read_bytes()
            found[name] = zlib.decompress(content) if path.suffix == ".jaxexport" else content
    return found


def told(texts: dict[str, bytes], secrets: dict[str, bytes]) -> dict[str, list[str]]:
    """Which secrets are in which text."""
    found = {name: [what for what, secret in secrets.items() if secret in text] for name, text in texts.items()}
    return {name: whats for name, whats in found.items() if whats}


def test_neither_files_nor_reports_nor_commands_say_anything_of_it(
    project: Any, secrets: dict[str, bytes], git_repository: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = git_repository(project.pytester.path)
    project.write_library(LIBRARY)
    project.write_tests(TESTS)
    options = [f"--jitperf-{name}={file}" for name, file in REPORTS.items()]
    project.quick_run("--jitperf-update", "--jitperf-json=recorded.json").assert_outcomes(passed=5, failed=3, skipped=1)
    repository.commit("record")
    work = "return jnp.exp(-sum(f(jnp.tan(f(x * n))) for n in range(9)) ** 2) - x"
    project.write_library(LIBRARY.replace("return jnp.exp(-f(f(x)) ** 2) - x", work))

    result = project.quick_run("-vv", "--junitxml=junit.xml", *options)

    result.assert_outcomes(passed=3, failed=5, skipped=1, warnings=1)
    texts = written(project)
    assert {*REPORTS.values(), "recorded.json", "junit.xml", "step_summary", "__jitperf__/test_g.json"} <= texts.keys()
    assert sum(name.endswith(".jaxexport") for name in texts) == 4
    # These two attributes, and what pytest itself says of exceptions, are pytest's.
    texts["junit.xml"] = b"\n".join(re.findall(rb"<property .*?/>", texts["junit.xml"]))
    texts["annotations"] = "\n".join(line for line in result.outlines if line.startswith("::")).encode()
    assert texts["annotations"].count(b"::error file=test_g.py,line=") == 4
    capsys.readouterr()
    for command in (
        ["show", "--json"],
        ["show", "--table"],
        ["diff", "recorded.json", "results.json"],
        ["diff", "HEAD", "--json"],
        ["history", "--json"],
        ["prune", "--dry-run", "--json"],
        ["merge", "recorded.json", "-o", "-"],
        ["report", "results.json", "-o", "again.html"],
        ["update", "--from", "recorded.json", "--json"],
    ):
        main(command)
        texts[f"jitperf {' '.join(command)}"] = "".join(capsys.readouterr()).encode()
    texts["again.html"] = written(project)["again.html"]

    assert told(texts, secrets) == {}


def test_the_search_finds_what_there_is(secrets: dict[str, bytes]) -> None:
    every = b" ".join(secrets.values())

    assert told({"everything": every, "nothing": b""}, secrets) == {"everything": [*secrets]}
