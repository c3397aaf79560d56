"""What one pytest run remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_jitperf.baseline import store
from pytest_jitperf.run import MOST_BASELINES, Run
from pytest_jitperf.settings import Settings


def test_a_baseline_is_read_once_and_of_many_only_the_last_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def reading(path: Path) -> store.Baseline:
        read.append(path)
        return store.Baseline(path=path, document={"tests": {}})

    monkeypatch.setattr(store, "read", reading)
    run = Run(settings=Settings(), rootdir=tmp_path, invocation_dir=tmp_path, worker=False)
    paths = [tmp_path / f"{number}.json" for number in range(MOST_BASELINES + 1)]

    found = [run.baseline(path).path for path in paths for _ in range(3)]

    assert found == [path for path in paths for _ in range(3)]
    assert read == paths
    assert list(run.baselines) == paths[1:]
