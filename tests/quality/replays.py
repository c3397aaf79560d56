"""One race at a time, judged by the package's own functions."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_jitperf.measurement import Ratio
from pytest_jitperf.probe import fresh, paired, rounds
from pytest_jitperf.probe.block import Side
from pytest_jitperf.probe.clock import Clocks
from rulemath import looks


def play_rule(rule: rounds.Rule, new: Sequence[float], old: Sequence[float], limit: float) -> tuple[int, int]:
    """Side and rounds of one race that is judged by the rule."""
    seen, most = rounds.Rounds(), len(new)
    at = set(looks(1, most, lambda n: n + 1 + n // 50))
    for count in range(1, most + 1):
        seen.wall.new.append(new[count - 1])
        seen.wall.old.append(old[count - 1])
        if count in at:
            (_, low, _), decided = rule.judge(seen, limit)
            if decided:
                return (1 if low > limit else -1), count
    return 0, most


def play_compiles(new: Sequence[float], old: Sequence[float], limit: float, *, max_seconds: float) -> tuple[int, int]:
    """Side and pairs of one comparison of compile times."""
    news, olds = iter(np.exp(new).tolist()), iter(np.exp(old).tolist())
    found = paired.paired_costs(
        news.__next__,
        olds.__next__,
        limit=math.exp(limit),
        max_seconds=max_seconds,
        rng=random.Random(0),
        first=(next(news), next(olds)),
        max_pairs=len(new),
        clocks=Clocks(wall=lambda: 0, process=lambda: 0),
    )
    return side_of(found, limit), found.rounds


def play_executables(new: Sequence[float], old: Sequence[float], limit: float) -> tuple[int, int]:
    """Side and pairs of one race of fresh executables."""
    clock, ratios = [0], iter(np.exp(np.subtract(new, old)).tolist())

    def takes(seconds: float) -> Side:
        def call(given: Any) -> None:
            clock[0] += round(seconds * 1e9)

        return Side(call=call)

    left = [len(new) - 1]

    def may_compile() -> bool:
        left[0] -= 1
        return left[0] >= 0

    found = fresh.race_afresh(
        lambda: (takes(1e-3 * next(ratios)), takes(1e-3)),
        known=[next(ratios)],
        limit=math.exp(limit),
        max_seconds=6.0,  # long enough for all of them
        may_compile=may_compile,
        block=lambda result: None,
        rng=random.Random(0),
        clocks=Clocks(wall=lambda: clock[0], process=lambda: clock[0]),
    )
    return side_of(found, limit), found.rounds


def side_of(ratio: Ratio, limit: float) -> int:
    """1 where it was found above the limit (a logarithm), -1 below, 0 where it was left open."""
    return 0 if not ratio.decided else 1 if math.log(ratio.low) > limit else -1
