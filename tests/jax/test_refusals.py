"""Errors of JAX and XLA in one line that may be stored."""

from __future__ import annotations

import pytest

from pytest_jitperf.probe.refusals import one_line, why_not_exported


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("first\nsecond", "ValueError: first"),
        ("\n  not on this backend  \n", "ValueError: not on this backend"),
        ("", "ValueError"),
        ("cannot open /home/me/data/table.npy: gone", "ValueError: cannot open table.npy: gone"),
        ("in ~/x/lib.py, '/opt/xla/libs/a.bc'", "ValueError: in lib.py, 'a.bc'"),
        ("<Net object at 0x7f3b2c1d0e80> of a/b", "ValueError: <Net object> of a/b"),
        ("a" * 200, f"ValueError: {'a' * 160}"),
    ],
)
def test_the_first_line_without_paths_and_addresses(said: str, line: str) -> None:
    assert one_line(ValueError(said)) == line


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("pure_callback is not supported", "it calls back into Python, which cannot be stored"),
        (
            "Custom calls `my_kernel` are not guaranteed to be stable",
            "it holds a custom call that JAX does not keep stable (my_kernel)",
        ),
        (
            "Cannot serialize code with custom calls whose targets have no compatibility guarantees. Examples are:\n"
            '%0 = stablehlo.custom_call @my_kernel(%arg0) {backend_config = "other"} : ...',
            "it holds a custom call that JAX does not keep stable (my_kernel)",
        ),
        ("no rule in /opt/x/y.py", "it cannot be exported: ValueError: no rule in y.py"),
    ],
)
def test_why_a_program_cannot_be_exported(said: str, sentence: str) -> None:
    assert why_not_exported(ValueError(said)) == sentence
