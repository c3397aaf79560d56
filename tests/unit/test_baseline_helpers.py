"""Which helper of today is which of the baseline."""

from __future__ import annotations

import pytest

from pytest_jitperf.baseline.helpers import match_helpers, name_of, signature_of
from pytest_jitperf.baseline.model import StoredProgram


def helpers(**programs: str) -> dict[str, StoredProgram]:
    """``f_8="a"`` is the helper ``lib.f(f32[8])`` with the program a, ``f_8x9`` takes an ``f32[9]`` too.

    A program that is a dash cannot be exported.
    """
    made = {}
    for name, program in programs.items():
        word, size, *number = name.split("_")
        takes = ", ".join(f"f32[{each}]" for each in size.split("x"))
        key = f"lib.{word}({takes})" + (f" #{number[0]}" if number else "")
        made[key] = StoredProgram(fingerprint=None if program == "-" else f"sha256:{program}")
    return made


@pytest.mark.parametrize(
    ("today", "stored", "pairs"),
    [
        (helpers(f_8="a"), helpers(f_8="a"), "f_8 f_8"),
        (helpers(f_8="b"), helpers(f_8="a"), "f_8 f_8"),
        (helpers(f_8="-"), helpers(f_8="a"), "f_8 f_8"),
        (helpers(g_8="a"), helpers(f_8="a"), "g_8 f_8"),  # renamed
        (helpers(g_9="a"), helpers(f_8="a"), "g_9 f_8"),  # and with an argument that it does not read
        (helpers(g_8="b"), helpers(f_8="a"), "g_8 f_8"),  # renamed and changed: the only one that takes this
        (helpers(g_8="-"), helpers(f_8="-"), "g_8 f_8"),
        (helpers(g_9="b"), helpers(f_8="a"), ""),
        (helpers(g_8="b", h_8="c"), helpers(f_8="a"), ""),  # which of the two, nobody can say
        (helpers(g_8="b"), helpers(f_8="a", e_8="c"), ""),
        (helpers(g_8="b", h_9="c"), helpers(f_8="a", e_9="d"), "g_8 f_8, h_9 e_9"),
        (helpers(g_8="a", h_8="c"), helpers(f_8="a", e_8="d"), "g_8 f_8, h_8 e_8"),
        (helpers(f_8="b", g_8="a"), helpers(f_8="a", g_8="b"), "f_8 f_8, g_8 g_8"),  # a name goes before a program
        (helpers(f_8="b", f_8_2="a"), helpers(f_8="a", f_8_2="b"), "f_8 f_8_2, f_8_2 f_8"),  # not among those alike
        (helpers(f_8="a", f_8_2="c"), helpers(f_8="a", f_8_2="b"), "f_8 f_8, f_8_2 f_8_2"),
        (helpers(f_8="a", f_9="b"), helpers(f_8="a"), "f_8 f_8"),
        (helpers(f_8x9="a"), helpers(f_9x8="b"), "f_8x9 f_9x8"),  # with its parameters in another order
        (helpers(f_8x9="a", g_8x9="c"), helpers(f_9x8="b", g_9x8="d"), "f_8x9 f_9x8, g_8x9 g_9x8"),
        (helpers(g_8x9="a"), helpers(f_9x8="b"), "g_8x9 f_9x8"),  # and renamed
        (helpers(f_8x9="a", g_9x8="c"), helpers(e_9x8="b"), "g_9x8 e_9x8"),
        (helpers(f_8x9="a"), helpers(f_9x8="b", f_8x9="c"), "f_8x9 f_8x9"),
        (helpers(f_8x9x7="a"), helpers(f_9x8x7="b", f_7x8x9="c"), ""),
        (helpers(f_8x8="a"), helpers(f_8="b"), ""),
        (helpers(g_8="-"), helpers(), ""),
        ({}, helpers(f_8="a"), ""),
    ],
)
def test_helpers_are_matched(today: dict[str, StoredProgram], stored: dict[str, StoredProgram], pairs: str) -> None:
    expected = {}
    for pair in pairs.split(", ") if pairs else ():
        (now,), (before,) = (helpers(**{name: ""}) for name in pair.split(" "))
        expected[now] = before
    assert match_helpers(today, stored) == expected


@pytest.mark.parametrize(
    ("key", "name", "signature"),
    [
        ("pkg.mod.f(f32[8], static int #1f)", "pkg.mod.f", "(f32[8], static int #1f)"),
        ("pkg.C.f(f32[8]) #2", "pkg.C.f", "(f32[8])"),
        ("f()", "f", "()"),
        ("f", "f", ""),
    ],
)
def test_a_key_has_a_name_and_a_signature(key: str, name: str, signature: str) -> None:
    assert (name_of(key), signature_of(key)) == (name, signature)
