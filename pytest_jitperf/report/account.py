"""What a row has to say of itself outside the terminal: the parts of its failure, or of what is left open."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_jitperf.judge.outcome import Verdict
from pytest_jitperf.report.failure import command_in, unconfirmed
from pytest_jitperf.report.standing import failed_otherwise
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

__all__ = ["Account", "account_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a row has to say of itself.

    Attributes:
        sentence: What weighs most.
        also: What else was found.
        why: What changed, weightiest first.
        rules: What set the limits.
        notes: What decides nothing.
        accept: The command that accepts a failure; empty where recording anew does not put it right.
    """

    sentence: str
    also: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    accept: str = ""


def account_of(row: Row) -> Account:
    """The account of a row: of what fails, else of what is unsettled, else of what decided.

    Args:
        row: As it stands once its test has ended.
    """
    if not row.findings:
        return Account(sentence=": ".join(filter(None, (row.outcome, row.note))), notes=row.notes)
    verdict = Verdict(findings=row.findings)
    told = verdict.failures or verdict.unsettled or (verdict.worst,)
    doubt = unconfirmed(told)
    return Account(
        sentence=told[0].sentence,
        also=tuple(each.sentence for each in told[1:]),
        why=row.why,
        rules=tuple(dict.fromkeys(each.rule for each in told if each.rule)),
        notes=(*([doubt] if doubt else []), *_ending(row), *row.notes),
        accept=command_in(row.failure),
    )


def _ending(row: Row) -> list[str]:
    """How its test ended, where the verdict does not say so."""
    if failed_otherwise(row):
        return ["the test itself failed: in its body after the measurement, or at its end"]
    ending = {Status.XFAILED.value: "the test is expected to fail", Status.SKIPPED.value: "the test was skipped"}
    return [ending[row.status]] if row.status in ending else []
