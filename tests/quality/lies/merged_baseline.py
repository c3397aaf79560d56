"""A merge took one side's fingerprint and the other side's stored program, which is slower."""

import json
import os
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "not gated: not gated: the stored program is not the one that its entry names"

baseline = Path(__file__).parent / "__jitperf__" / f"{Path(__file__).stem}.json"
if CHANGED and baseline.exists():
    document = json.loads(baseline.read_text())
    tests = document["tests"]
    tests["test_lie"]["main"]["outer"]["cpu"]["program"]["artifact"] = tests["test_slow"]["main"]["outer"]["cpu"][
        "program"
    ]["artifact"]
    baseline.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")


def f(x: Any) -> Any:
    for _ in range(8 if CHANGED else 2):
        x = jnp.sin(x)
    return x


def slow(x: Any) -> Any:
    for _ in range(30):
        x = jnp.sin(x)
    return x


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(20_000))


@pytest.mark.jitperf(strategies=["outer"])
def test_slow(jitperf: Any) -> None:
    jitperf(slow, jnp.ones(20_000))
