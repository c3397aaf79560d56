"""Imports point downwards, and JAX is imported by the probe alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_jitperf

PACKAGE = Path(pytest_jitperf.__file__).parent

# What each part may import of the others; a part is a folder, or "plan" for the modules on top of none.
LEVELS = (
    {
        "errors",
        "measurement",
        "inner",
        "status",
        "sizes",
        "wording",
        "tracebacks",
        "jsontext",
        "git",
        "hookspecs",
        "rehearsing",
        "unstable",
    },
    {"quantity", "units", "devices"},
    {"metrics", "optionvalues", "pullrequest", "pipeline"},
    {"strategies", "settings", "custom"},
    {"layers", "reader", "merging", "markertables", "spec", "optiontable", "options", "plan"},
    {"baseline"},
    {"judge"},
    {"probe"},
    {"gathering", "tried"},
    {"completing"},
    {"trial"},
    {"row", "calling", "fixture"},
    {"leftovers", "session", "results", "resultsfile", "schemas", "recording"},
    {"report"},
    {"failures", "run", "markers", "collected", "joining", "pasts"},
    {"extensions"},
    {"items", "judging", "rehearsal", "controller", "outputs", "pipelinereports"},
    {"plugin", "commands"},
    {"cli"},
)
# The clock is taken early and imports nothing; statistics are numbers only, for the probe too.
EXCEPTIONS = {("report", "probe.clock"), ("strategies", "metrics"), ("optionvalues", "strategies")}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module, name: str, *, everywhere: bool) -> Iterator[str]:
    """Full names that a module imports; ``everywhere`` also inside functions, but never for type checkers alone."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = f"pytest_jitperf.{name.rpartition('.')[0]}".rstrip(".") if node.level else ""
            yield ".".join(part for part in (package, node.module) if part)
        elif everywhere or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            pending.extend(ast.iter_child_nodes(node))


def level(part: str) -> int:
    return next(n for n, names in enumerate(LEVELS) if part in names)


@pytest.mark.parametrize(("name", "tree"), [pytest.param(*each, id=each[0]) for each in modules()])
def test_imports_point_downwards(name: str, tree: ast.Module) -> None:
    part = name.partition(".")[0]
    if part == "__init__":
        return
    for full in imported(tree, name, everywhere=False):
        target = full.removeprefix("pytest_jitperf.")
        if target == full or (part, target) in EXCEPTIONS:
            continue
        other = target.partition(".")[0]
        assert other == part or level(other) <= level(part), f"{name} imports {target}"


@pytest.mark.parametrize(("name", "tree"), [pytest.param(*each, id=each[0]) for each in modules()])
def test_jax_is_imported_by_the_probe_alone(name: str, tree: ast.Module) -> None:
    roots = {full.partition(".")[0] for full in imported(tree, name, everywhere=True)}
    if not name.startswith("probe."):
        assert not roots & {"jax", "jaxlib"}


def test_the_plugin_is_imported_without_jax() -> None:
    code = "import sys, pytest_jitperf.plugin, pytest_jitperf.items; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_that_check_can_fail() -> None:
    code = "import sys, pytest_jitperf.probe.stages; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1


def test_importing_the_pinning_leaves_the_environment_as_it_was() -> None:
    code = "import os, pytest_jitperf.probe.onecore; import sys; sys.exit('KMP_DUPLICATE_LIB_OK' in os.environ)"
    environment = {name: value for name, value in os.environ.items() if name != "KMP_DUPLICATE_LIB_OK"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
