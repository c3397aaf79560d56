"""Each rule of a race with what it is tested on: a limit, a planted regression, and noise of some size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from noise import NOISES, Array, orders
from pytest_jitperf.judge.stats import ERROR, PAIR_SD
from pytest_jitperf.probe import fresh, paired, rounds
from replays import play_compiles, play_executables, play_rule
from rulemath import Verdicts, by_median, by_t, looks

RUN_LIMIT, RUN_PLANTED = math.log(1.10), math.log(1.20)
COMPILE_LIMIT, COMPILE_PLANTED = math.log(1.25), math.log(1.50)
SMALL_LIMIT, SMALL_PLANTED = math.log(1.01), math.log(1.03)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A rule, and what it is tested with.

    Attributes:
        title: For the table.
        limit: Logarithm of the limit.
        planted: Logarithm of a regression.
        size: Of the noise on one side.
        rounds: At the most.
        many: The rule for many races at once.
        one: The package's own, for one race: side and rounds.
        by_turns: Whether every other round is run in the order that the one before it was not.
        noises: Kinds of noise.
    """

    title: str
    limit: float
    planted: float
    size: float
    rounds: int
    many: Callable[[Array, Array, float], Verdicts]
    one: Callable[[Sequence[float], Sequence[float], float], tuple[int, int]]
    by_turns: bool = True
    noises: Sequence[str] = tuple(NOISES)

    def played(self, noise: str, ratio: float, races: int, seed: int, checked: int) -> Verdicts:
        """Plays races at a true ratio, and some of them by the package's own rule too.

        Raises:
            AssertionError: The two do not agree.
        """
        rng = np.random.default_rng([seed, list(NOISES).index(noise)])
        new, old = NOISES[noise](rng, orders(rng, races, self.rounds, by_turns=self.by_turns), self.size)
        verdicts = self.many(new + ratio, old, self.limit)
        for race_number in range(min(checked, races)):
            own = self.one((new[race_number] + ratio).tolist(), old[race_number].tolist(), self.limit)
            here = int(verdicts.side[race_number]), int(verdicts.rounds[race_number])
            if own != here:
                raise AssertionError(f"{self.title}, {noise}: {own} by the package, {here} by the simulation")
        return verdicts

    def row(self, noise: str, races: int, seed: int, checked: int) -> list[str]:
        limit, same, planted = (
            self.played(noise, ratio, races, seed, checked) for ratio in (self.limit, 0.0, self.planted)
        )
        return [
            noise,
            f"{races}",
            limit.error(-1, 1),
            same.error(1),
            f"{100 * same.share(-1):.1f}",
            f"{np.median(same.rounds):.0f}",
            planted.error(-1),
            f"{100 * planted.share(1):.1f}",
        ]

    def headers(self) -> list[str]:
        limit, planted = math.exp(self.limit), math.exp(self.planted)
        return [
            f"{self.title} (%)",
            "races",
            f"x{limit:.2f}: any verdict",
            "x1.00: slower",
            "decided",
            "rounds",
            f"x{planted:.2f}: fine",
            "decided",
        ]


def _few(title: str, most: int, first_look: int) -> Trial:
    error = ERROR * 0.92 / 2
    rule = rounds.Rule(interval=rounds.few_rounds(error, first_look), first_look=first_look, balanced=True)
    many = partial(
        by_t,
        at=range(first_look, most + 1),
        floor=rounds._ROUND_SD,
        prior_df=rounds._ROUND_PRIOR_DF,
        error=error,
    )
    return Trial(
        title=title,
        limit=RUN_LIMIT,
        planted=RUN_PLANTED,
        size=0.05,
        rounds=most,
        many=many,
        one=partial(play_rule, rule),
    )


def _compiles(title: str, first_look: int, prior_df: float, max_seconds: float) -> Trial:
    most = 12
    at = list(looks(first_look, most, lambda n: int(n * paired._MORE_TO_SEE)))
    return Trial(
        title=title,
        limit=COMPILE_LIMIT,
        planted=COMPILE_PLANTED,
        size=0.03,
        rounds=most,
        many=partial(
            by_t,
            at=at,
            floor=PAIR_SD,
            prior_df=prior_df,
            error=ERROR,
            near=(paired._PAIRS_WHEN_NEAR, math.log(paired._NEAR)),
        ),
        one=partial(play_compiles, max_seconds=max_seconds),
    )


def _executables(title: str, size: float) -> Trial:
    most = 20
    at = list(looks(fresh.FIRST_LOOK, most, lambda n: int(n * fresh._MORE_TO_SEE)))
    many = partial(by_t, at=at, floor=fresh._LEAST_SD, prior_df=0.0, error=ERROR, sides=False)
    noises = ("normal", "heavy tails (t, 2 df)", "two speeds", "interference")
    return Trial(
        title=title,
        limit=SMALL_LIMIT,
        planted=SMALL_PLANTED,
        size=size,
        rounds=most,
        many=many,
        one=play_executables,
        noises=noises,
    )


MANY_ERROR = ERROR * 0.92
TRIALS = (
    Trial(
        title="many rounds",
        limit=RUN_LIMIT,
        planted=RUN_PLANTED,
        size=0.05,
        rounds=200,
        many=partial(by_median, error=MANY_ERROR),
        one=partial(play_rule, rounds.Rule(interval=rounds.many_rounds(MANY_ERROR))),
        by_turns=False,
    ),
    _few("up to 24 rounds", 24, 6),
    _few("up to 6 rounds", 6, 6),
    _few("3 rounds", 3, 3),
    _compiles("cheap compiles", 3, paired._CHEAP_DF, 1000.0),
    _compiles("dear compiles", 1, paired._DEAR_DF, 60.0),
    _executables("fresh pairs, sd 0.9 %", 0.009 / math.sqrt(2)),
    _executables("fresh pairs, sd 0.3 %", 0.003 / math.sqrt(2)),
)
