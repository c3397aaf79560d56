"""The projects that are recorded: subjects, what stands beside them, and their tests."""

from __future__ import annotations

from collections.abc import Mapping

from subjects import SUBJECTS, source_of

Files = Mapping[str, str]
"""Texts by file name; a file without text is left out."""

_PLAIN = """
import pytest
import {name} as subject

@pytest.mark.jitperf(strategies=[{strategies}], inner=["{name}.{helper}"])
def test_{name}(jitperf):
    jitperf(subject.{main}, *subject.example())
"""

_BESIDE = """
import pytest
import {name} as subject
from beside import beside

@pytest.mark.jitperf(strategies=["outer", "both", "inner"], inner=["{name}.{helper}"])
def test_{name}(jitperf):
    jitperf(beside(subject.{main}), *subject.example())
"""

_INPUTS = """
import jax
import jax.numpy as jnp
import pytest
import {name} as subject

def keep(out):
    return out

def tuned(last, scale, *args):
    return last(jax.tree.map(lambda leaf: scale * leaf, subject.{main}(*args)))

@pytest.mark.jitperf(strategies=["outer", "both"], inner=["{name}.{helper}"], jit={{"static_argnums": [0]}})
def test_{name}(jitperf):
    args = subject.example()
    first = (keep, jnp.float32(0.5), *args)
    second = (keep, jnp.float32(0.5), *args)
    jitperf.measure(tuned, inputs=[first, second])
"""

_BLOCKS = """
import jax.numpy as jnp
import pytest
import blocks

@pytest.mark.jitperf(strategies=["outer", "both"], inner=["blocks.{name}"])
@pytest.mark.parametrize("size", [2048, 3072, 4096])
def test_{name}(jitperf, size):
    jitperf(blocks.guarded(blocks.{name}), jnp.linspace(0.0, 1.0, size))
"""


# What is planted there does not depend on the subject, so the ones that compile quickest will do.
_QUICK = ("mlp", "chain", "stencil", "rnn", "blur", "orbit", "ranks")


def _of_subjects(test: str, *also: str, only: tuple[str, ...] = ()) -> dict[str, str]:
    files = {f"{name}.py": source_of(name) for name in also}
    for each in SUBJECTS:
        if only and each.name not in only:
            continue
        strategies = '"outer", "both", "inner"' if each.inner else '"outer", "both"'
        names = {"name": each.name, "main": each.main, "helper": each.helper}
        files[f"{each.name}.py"] = each.source
        files[f"test_{each.name}.py"] = test.format(**names, strategies=strategies)
    return files


def base_files(base: str) -> dict[str, str]:
    """The files of a project before the change.

    Args:
        base: ``subjects`` for the subjects alone, ``beside`` for them with what is planted beside them, ``inputs`` for
            them with two inputs, ``blocks`` for programs that are nothing but work for the compiler.
    """
    if base == "blocks":
        kinds = ("reduced", "rolled", "sorted_again")
        files = {f"test_{name}.py": _BLOCKS.format(name=name) for name in kinds}
        return {**files, "blocks.py": source_of("blocks")}
    if base == "beside":
        return _of_subjects(_BESIDE, "beside", only=_QUICK)
    if base == "inputs":
        return _of_subjects(_INPUTS, only=_QUICK)
    return _of_subjects(_PLAIN)
