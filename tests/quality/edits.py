"""Edits of a subject's text that must not matter, and those that change its work by a known share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from subjects import Subject

Edit = Callable[[Subject, str, str], tuple[str, str]]
"""From a subject, the text of its module and that of its test to both as they are afterwards."""


def replaced(text: str, old: str, new: str) -> str:
    """The text with every ``old`` replaced.

    Raises:
        ValueError: There is none, so that the edit would change nothing.
    """
    if old not in text:
        raise ValueError(f"{old!r} is not in the text that is to be changed")
    return text.replace(old, new)


def with_words(text: str, words: Mapping[str, str]) -> str:
    """The text with whole words replaced, all at once."""
    return re.sub(r"\b\w+\b", lambda found: words.get(found[0], found[0]), text)


def renamed(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """Other names for functions, parameters, variables and dictionary keys."""
    keys = {f'"{old}"': f'"{new}"' for old, new in subject.keys.items()}
    source = re.sub(r'"\w+"', lambda found: keys.get(found[0], found[0]), with_words(source, subject.names))
    return source, with_words(test, subject.names)


def helper_renamed(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """Another name for the helper alone, in the marker too."""
    words = {subject.helper: f"{subject.helper}_again"}
    return with_words(source, words), with_words(test, words)


def moved(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """The main function before its helper, comments and empty lines."""
    names = "|".join((subject.helper, subject.main, "example"))
    first, helper, main, rest = re.split(rf"^(?=def (?:{names})\()", source, flags=re.MULTILINE)
    source = "# Moved.\n\n\n" + re.sub(
        r"^( +)return", r"\1# The result.\n\n\1return", first + main + helper + rest, flags=re.MULTILINE
    )
    return source, test


def reordered(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """Two independent statements the other way round."""
    before, after = subject.swapped
    return replaced(source, before + after, after + before), test


def split(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """A part of the helper as a function of its own."""
    head, expression, call = subject.split
    function = f"def {head}:\n    return {expression}\n\n\n"
    source = replaced(source, expression, call)
    return replaced(source, f"def {subject.helper}(", f"{function}def {subject.helper}("), test


def folded(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """An operation that XLA folds away."""
    return replaced(source, *subject.folded), test


def doubled(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """A product with two for a sum of equals."""
    return replaced(source, *subject.doubled), test


def unused(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """One more parameter for the main function and for its helper, neither of which is used."""
    source = replaced(source, *subject.unused)
    for name, parameter in ((subject.main, "verbose: bool = False"), (subject.helper, "spare: object")):
        source = re.sub(rf"(^def {name}\(.*?)\)( ->)", rf"\1, {parameter})\2", source, flags=re.MULTILINE)
    return source, test


def equal_speed(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """Another constant of the same kind: another program, as fast as the one before."""
    return replaced(source, *subject.equal), test


def unchanged(subject: Subject, source: str, test: str) -> tuple[str, str]:
    """The same texts."""
    return source, test


def more_steps(share: Fraction) -> Edit:
    """More work in run: so many more rounds of the loop that holds all of it."""

    def edit(subject: Subject, source: str, test: str) -> tuple[str, str]:
        steps = subject.steps * (1 + share)
        # A subject whose steps cannot be so divided is left out.
        return replaced(source, f"STEPS = {subject.steps}", f"STEPS = {steps}"), test if steps.denominator == 1 else ""

    return edit


HARMLESS: Mapping[str, Edit] = MappingProxyType(
    {each.__name__: each for each in (renamed, helper_renamed, moved, reordered, split, folded, doubled, unused)}
)
"""Every harmless edit by name."""
