"""How old stored programs are, by the version of jax that exported them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_jitperf.baseline.ages import grown_old, months_apart, spoken_of
from pytest_jitperf.baseline.model import Entry, StoredProgram

NAME = "0" * 32 + ".jaxexport"


@pytest.mark.parametrize(
    ("old", "new", "months"),
    [
        ("0.10.2", "0.10.2", 0),
        ("0.8.0", "0.8.1", 1),
        ("0.8.0", "0.9.0", 3),
        ("0.8.2", "0.9.0", 1),
        ("0.8.2", "0.10.2", 6),
        ("0.9.7", "0.10.0", 1),  # however many patches there are, the next minor version comes after three months
        ("0.10.2", "0.12.0.1", 4),
        ("0.10.2", "0.8.0", -8),
        ("0.10", "0.11.0.dev20260701+abc", 3),
        ("0.15.0", "1.0.0", None),
        ("", "0.10.2", None),
        ("unknown", "0.10.2", None),
    ],
)
def test_versions_of_jax_are_about_so_many_months_apart(old: str, new: str, months: int | None) -> None:
    assert months_apart(old, new) == months


@pytest.mark.parametrize(
    ("today", "old", "soon"),
    [
        ("0.10.2", False, False),
        ("0.11.2", False, False),
        ("0.12.0", True, False),
        ("0.12.1", True, True),
        ("0.13.0", True, True),
        ("1.0.0", True, False),
        ("0.9.0", False, False),
    ],
)
@pytest.mark.parametrize("stored", ["program", "helper"])
def test_programs_are_exported_anew_after_three_months_and_spoken_of_from_five_on(
    record: Callable[..., Entry], stored: str, today: str, old: bool, soon: bool
) -> None:
    program = StoredProgram(artifact=NAME)
    held = {"program": program} if stored == "program" else {"program": None, "helpers": {"f()": program}}
    entry = record(**held)

    assert (grown_old(entry, today), spoken_of(entry, today)) == (old, "0.10.2" if soon else "")


def test_an_entry_without_a_stored_program_does_not_age(record: Callable[..., Entry]) -> None:
    entry = record(program=StoredProgram(no_artifact="too large"))

    for each in (entry, replace(entry, program=None)):
        assert (grown_old(each, "0.13.0"), spoken_of(each, "0.13.0")) == (False, "")
