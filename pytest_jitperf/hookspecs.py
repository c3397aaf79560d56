"""Hooks by which a ``conftest.py`` or another plugin extends this one.

A ``conftest.py`` in a folder speaks for the tests in it, as with pytest's own hooks. Mark an implementation with
``@pytest.hookimpl(optionalhook=True)`` where runs without this plugin (``-p no:jitperf``) are to pass it over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_jitperf.custom import CustomMetric
    from pytest_jitperf.judge.outcome import Verdict
    from pytest_jitperf.measurement import Measurement
    from pytest_jitperf.row import Row
    from pytest_jitperf.strategies import Strategy


@pytest.hookspec
def pytest_jitperf_strategies(config: pytest.Config) -> Sequence[Strategy] | None:
    """Adds strategies that markers and ``--jitperf-strategies`` may name.

    Called while tests are collected, so do not import JAX outside of ``build``.

    Example:
        .. code-block:: python

            def pytest_jitperf_strategies(config):
                return [Strategy("remat", lambda f: jax.jit(jax.checkpoint(f)))]

    Args:
        config: pytest's.

    Returns:
        The strategies; a name may be registered once.
    """


@pytest.hookspec
def pytest_jitperf_metrics(config: pytest.Config) -> Sequence[CustomMetric] | None:
    """Adds metrics: counts of the user's own, stored, gated and shown as the exact metrics of the plugin.

    Called while tests are collected, so do not import JAX outside of ``count``.

    Example:
        .. code-block:: python

            def all_reduces(seen):
                return seen.compiled and seen.compiled.as_text().count(" all-reduce(")

            def pytest_jitperf_metrics(config):
                return [CustomMetric("all_reduces", all_reduces, tolerance="0 %")]

    Args:
        config: pytest's.

    Returns:
        The metrics; a name may be registered once.
    """


@pytest.hookspec
def pytest_jitperf_environment(config: pytest.Config) -> Mapping[str, str] | None:
    """Adds facts that decide which program is built or how fast it runs, such as the version of a driver.

    They are stored with each entry, and where one differs from the baseline's the outcome is ``environment changed``.
    Whatever depends on the machine, the user or the time makes every baseline differ.

    Args:
        config: pytest's.

    Returns:
        Name to value, both texts of one line.
    """


@pytest.hookspec(firstresult=True)
def pytest_jitperf_verdict(item: pytest.Item, measurement: Measurement, verdict: Verdict) -> Verdict | None:
    """Annotates a verdict, or takes it back.

    Example:
        .. code-block:: python

            def pytest_jitperf_verdict(item, measurement, verdict):
                if verdict.failed and measurement.environment.jaxlib == "0.10.2":
                    return verdict.vetoed("jaxlib 0.10.2 compiles this slowly, see issue 12")

    Args:
        item: The test item.
        measurement: What was measured.
        verdict: What was made of it.

    Returns:
        ``verdict.annotated(note)``, ``verdict.vetoed(reason)``, or None to leave it. The first answer counts.
    """


@pytest.hookspec
def pytest_jitperf_report(config: pytest.Config, rows: Sequence[Row]) -> Sequence[str] | None:
    """Adds lines to the reports of a run: the table on the terminal, the summary, the HTML report and the JSON.

    Called once, where the results are gathered: in the controller of xdist, or the only process.

    Args:
        config: pytest's.
        rows: What was measured, one for each measurement, strategy and device.

    Returns:
        Lines of text.
    """
