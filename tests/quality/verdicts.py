"""A conftest that keeps what the plugin makes of each test: a line of JSON in the file that ``VERDICTS`` names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from pytest_jitperf.run import STATE


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    state = item.stash.get(STATE, None)
    if call.when == "call" and state is not None and state.fixture is not None:
        with open(os.environ["VERDICTS"], "a", encoding="utf-8") as file:
            for tried in state.fixture.tried:
                worst = tried.verdict.worst
                seen = {
                    "test": item.nodeid,
                    "outcome": worst.outcome.value,
                    "sentence": worst.sentence,
                    "findings": [f"{each.outcome.value}: {each.sentence}" for each in tried.verdict.findings],
                    "why": tried.verdict.why,
                    "compiles": tried.compiles,
                    "cut": tried.cut,
                }
                print(json.dumps(seen), file=file)
    return report
