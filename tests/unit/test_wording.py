"""Refusals show values as they stand in source, list words and point at the likely typo."""

from __future__ import annotations

import pytest

from pytest_jitperf.wording import choose, listed, show


class Broken:
    """A value of a user's whose repr fails."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("outer", '"outer"'),
        ('say "x"', "'say \"x\"'"),
        (5, "5"),
        (["a"], "['a']"),
        (len, "len"),
        (Broken, "Broken"),
        (None, "None"),
    ],
)
def test_value_is_shown_as_in_source(value: object, expected: str) -> None:
    assert show(value) == expected


def test_long_values_are_cut_and_failing_ones_named() -> None:
    assert len(show("x" * 1000)) <= 62
    assert len(show(list(range(1000)))) <= 62
    assert show(Broken()) == "<Broken instance>"


@pytest.mark.parametrize(
    ("words", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_joined_for_a_sentence(words: list[str], expected: str) -> None:
    assert listed(words) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("oter", 'did you mean "outer"? Valid: eager, outer'),
        ("OUTER", 'did you mean "outer"? Valid: eager, outer'),
        ("xyz", "valid: eager, outer"),
    ],
)
def test_wrong_word_is_answered_with_the_right_ones(word: str, expected: str) -> None:
    assert choose(word, ["eager", "outer"]) == expected
