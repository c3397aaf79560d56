"""A test that freezes time is measured with the real clock, and ends."""

from __future__ import annotations

from typing import Any


def test_frozen_time_is_not_measured(project: Any) -> None:
    project.write_tests(
        """
        @pytest.fixture
        def frozen(monkeypatch):
            import time
            for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
                monkeypatch.setattr(time, name, lambda: 1000.0)
                monkeypatch.setattr(time, f"{name}_ns", lambda: 10**12)

        @pytest.mark.jitperf(strategies=["eager", "outer"])
        def test_f(jitperf, frozen):
            jitperf(library.f, X)
            assert jitperf.measurement.value("run") > 0
            assert jitperf.strategy == "eager" or jitperf.measurement.value("compile") > 0
        """
    )
    project.quick_run("--jitperf-missing=ok").assert_outcomes(passed=2)
