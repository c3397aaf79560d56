"""Projects without a marked test pay next to nothing: JAX is imported when something is measured."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from pytest_jitperf.metrics import METRICS

CONFTEST = """
import sys

def pytest_terminal_summary(terminalreporter):
    heavy = [name for name in ("jax", "jaxlib", "numpy", "scipy", "msgspec", "tabulate") if name in sys.modules]
    terminalreporter.write_line(f"heavy: {heavy}")
"""


def test_nothing_heavy_is_imported_for_unmarked_tests(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # others import numpy
    project.pytester.makeconftest(CONFTEST)
    project.write_test("def test_ordinary():\n    pass\n")
    result = project.run("-p", "pytest_jitperf.plugin")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["jitperf: gate; default device; jax *, jaxlib *", "heavy: ??"])
    result.stdout.no_fnmatch_line("*= jitperf*")


def test_collecting_marked_tests_imports_no_jax(project: Any) -> None:
    project.pytester.makeconftest(CONFTEST)
    project.write_test(
        'import pytest\n\n@pytest.mark.jitperf(inner=["library.f"], devices=["cpu"])\ndef test_f(jitperf):\n    pass\n'
    )
    result = project.run("--collect-only", "-q")
    result.stdout.fnmatch_lines(["test_g.py::test_f?both-cpu?", "4 tests collected*"])
    assert "jax" not in next(line for line in result.outlines if line.startswith("heavy:"))


@pytest.mark.parametrize("option", ["--version", "--help", "--markers"])
def test_informing_options_import_no_jax(project: Any, option: str) -> None:
    code = f"import sys, pytest\npytest.main([{option!r}])\nprint('heavy', 'jax' in sys.modules)"
    result = project.pytester.run(sys.executable, "-c", code)
    assert result.outlines[-1] == "heavy False"


def test_two_runs_in_one_process_know_nothing_of_each_other(project: Any) -> None:
    project.write_tests("@pytest.mark.jitperf(strategies=['outer'])\ndef test_f(jitperf):\n    jitperf(library.f, X)\n")
    code = (
        "import sys, pytest\n"
        "runs = ['--jitperf-update', '--jitperf-json=1'], ['--jitperf-strict', '--jitperf-json=2'], ['-k', 'no']\n"
        "codes = [pytest.main([*sys.argv[1:], *more]) for more in runs]\n"
        "print('codes', *map(int, codes), sys.gettrace(), sys.getprofile(), sys.excepthook is sys.__excepthook__)"
    )
    result = project.pytester.run(sys.executable, "-c", code, "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(
        ["1 measured", "1 measured, 1 gated (1 same program), 0 without a baseline", "codes 0 0 5 None None True"],
        consecutive=False,
    )
    assert sum("= jitperf" in line for line in result.outlines) == 2
    first, second = (json.loads((project.pytester.path / name).read_text())["measurements"][0] for name in "12")
    counts = [name for name, metric in METRICS.items() if metric.kind == "exact"]
    assert [first["metrics"].get(name) for name in counts] == [second["metrics"].get(name) for name in counts]
