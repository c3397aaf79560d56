"""The baseline was recorded on another host."""

import json
import os
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

CHANGED = "CHANGED" in os.environ
RIGHT = "ok (same program): the program is the same as the baseline's"

baseline = Path(__file__).parent / "__jitperf__" / f"{Path(__file__).stem}.json"
if CHANGED and baseline.exists():
    document = json.loads(baseline.read_text())
    entry = document["tests"]["test_lie"]["main"]["outer"]["cpu"]
    entry["environment"]["machine"] = "Cray-1, 1 core"
    for each in (*entry["timed"].values(), entry["relative"]):
        each.update({name: value / 3 for name, value in each.items() if name != "rounds"})
    baseline.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")


def f(x: Any) -> Any:
    return jnp.sin(x) * 1.5 + jnp.cos(x)


@pytest.mark.jitperf(strategies=["outer"])
def test_lie(jitperf: Any) -> None:
    jitperf(f, jnp.ones(20_000))
