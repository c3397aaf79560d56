"""``jitperf history``: a metric over the git history of baselines, and the commits that changed it."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_jitperf.baseline.history import Series, metrics_of, series, unusable
from pytest_jitperf.baseline.store import Key, baseline_path
from pytest_jitperf.baseline.versions import FileHistory, file_history
from pytest_jitperf.commands.output import (
    Style,
    add_output,
    key_fields,
    key_object,
    print_fields,
    print_json,
    style_for,
)
from pytest_jitperf.commands.shared import baseline_files, complain, listed_paths
from pytest_jitperf.errors import BaselineError, OptionError
from pytest_jitperf.git import GitError
from pytest_jitperf.judge.changepoints import FEWEST, METHOD, MissingLibrary
from pytest_jitperf.judge.trend import EACH_VALUE, Change, Trend, trend
from pytest_jitperf.report.historylines import Look, lines_of, shown_commit
from pytest_jitperf.wording import choose, show

__all__ = ["HELP", "add_arguments", "run"]

HELP = "draw a metric over the git history of baselines, and name the commits that changed it"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A metric of one file, and what became of it."""

    file: Path
    metric: str
    history: FileHistory
    trends: tuple[Trend, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of this command."""
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="FILE", help="baseline or test files, or folders to look in (default: .)"
    )
    many: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("--metric", metavar="NAME", help="default: run; may be repeated, as may the next three", **many)
    parser.add_argument("--test", metavar="TEST", help="only this one; without its [ids], all of them", **many)
    parser.add_argument("--strategy", metavar="NAME", help="only this one", **many)
    parser.add_argument("--device", metavar="KIND", help="only this kind of device", **many)
    parser.add_argument("-n", type=_count, metavar="N", dest="limit", help="the last N commits that changed the file")
    parser.add_argument("--all", action="store_true", help="also entries that the file no longer has")
    parser.add_argument("-v", "--verbose", action="store_true", help="every recording, also where nothing changed")
    add_output(
        parser,
        lines="one for each recording: file, metric, test, measurement, strategy, device\n"
        "kind, commit, date, value, changed (or nothing), old and new level, subject of the commit.",
        exit_codes="0; 1 where a version or an entry could not be used, or changes of timings not be\n"
        "looked for; 2 where there is nothing to show.",
    )


def run(given: argparse.Namespace) -> int:
    """Runs the command.

    Raises:
        JitperfError: There is nothing to show.
    """
    histories, wrong = _histories(given.paths or [Path()], given.limit)
    for history in histories.values():
        wrong += [*history.wrong, *unusable(history.baselines)]
    if any(history.cut for history in histories.values()):
        complain("this clone is shallow, so older commits are missing; fetch them with  git fetch --unshallow")
    told = []
    for metric in given.metric or ["run"]:
        chosen = _chosen(histories, metric, given)
        for file, rows in chosen.items():
            try:
                trends = tuple(map(trend, rows))
            except MissingLibrary as error:
                trends = tuple(Trend(series=each, method="") for each in rows)
                wrong.append(str(error))
            told.append(_Told(file=file, metric=metric, history=histories[file], trends=trends))
    _print(told, style_for(given), given.verbose)
    for reason in dict.fromkeys(wrong):
        complain(reason)
    return 1 if wrong else 0


def _histories(paths: Sequence[Path], limit: int | None) -> tuple[dict[Path, FileHistory], list[str]]:
    """The versions of each file that git has, and what is wrong with the others."""
    found, errors = {}, []
    files = dict.fromkeys(each for path in paths for each in _files(path))
    if not files:
        raise BaselineError(f"no baseline in {listed_paths(paths)}; record one with  pytest --jitperf-update")
    for file in files:
        try:
            found[file] = file_history(file, limit)
        except GitError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return found, [str(each) for each in errors]


def _files(path: Path) -> list[Path]:
    """The baseline files that a path stands for; one that is gone may still have a history."""
    if path.suffix == ".py":
        return [baseline_path(path, None, path.parent)]
    return baseline_files([path]) if path.is_dir() else [path]


def _chosen(histories: dict[Path, FileHistory], metric: str, given: argparse.Namespace) -> dict[Path, list[Series]]:
    """The rows of a metric that were asked for, by file.

    Raises:
        OptionError: What was asked for is nowhere.
    """
    every = {file: series(history.baselines, metric) for file, history in histories.items()}
    if not any(every.values()):
        held = dict.fromkeys(name for history in histories.values() for name in metrics_of(history.baselines))
        raise OptionError(f"--metric={metric}: no entry has it; {choose(metric, held)}")
    current = {file: [row for row in rows if given.all or row.present] for file, rows in every.items()}
    rows = [row for rows in current.values() for row in rows]
    filters: list[tuple[str, list[str], Callable[[Key], Iterable[str]]]] = [
        ("test", given.test, lambda key: _names(key.test)),
        ("strategy", given.strategy, lambda key: (key.strategy,)),
        ("device", given.device, lambda key: (key.device_kind,)),
    ]
    for option, asked, names in filters:
        for word in asked:
            known = dict.fromkeys(name for row in rows for name in names(row.key))
            if word not in known:
                gone = any(word in names(row.key) for rows in every.values() for row in rows)
                way_out = "only older versions have it: add --all" if gone else choose(word, known)
                raise OptionError(f"--{option}={word}: no entry has it; {way_out}")
    found = {
        file: [row for row in rows if all(not asked or {*asked} & {*names(row.key)} for _, asked, names in filters)]
        for file, rows in current.items()
    }
    if not any(found.values()):
        together = " and ".join(f"{option} {show(word)}" for option, words, _ in filters for word in words)
        left = "no entry is left; add --all for those that are gone"
        raise OptionError(f"no entry is of {together}" if together else left)
    return {file: rows for file, rows in found.items() if rows}


def _names(test: str) -> tuple[str, ...]:
    """What a test may be called: all of it, without its ids, without its class."""
    without_ids = test.partition("[")[0]
    method = without_ids.rpartition("::")[2]
    return tuple(dict.fromkeys((test, without_ids, method, f"{method}{test[len(without_ids) :]}")))


def _print(told: Sequence[_Told], style: Style, verbose: bool) -> None:
    if style.form == "json":
        print_json([_plain(each) for each in told])
    elif style.form == "lines":
        for each in told:
            for row in each.trends:
                _print_row(each, row)
    else:
        look = Look(paint=style.paint, bars=style.bars, width=style.width, every=verbose)
        for place, each in enumerate(told):
            if place:
                print()
            for line in lines_of(each.file.as_posix(), each.metric, each.history.versions, each.trends, look):
                print(line)
        method = _method(told)
        print("", *(textwrap.wrap(method, max(style.width, 30)) if style.width else [method]), sep="\n")


def _method(told: Sequence[_Told]) -> str:
    methods = {row.method for each in told for row in each.trends}
    said = []
    if METHOD in methods:
        said.append(f"timings by level ({METHOD}, by ruptures; it takes {FEWEST} recordings)")
    if EACH_VALUE in methods:
        said.append("counts and sizes by value")
    return f"changes: {', '.join(said)}" if said else "changes: not looked for"


def _print_row(told: _Told, row: Trend) -> None:
    changes = {each.version: each for each in row.changes}
    for point in row.series.recordings:
        commit = told.history.versions[point.version].commit
        change = changes.get(point.version)
        print_fields(
            told.file.as_posix(),
            told.metric,
            *key_fields(row.series.key),
            commit and commit.hash,
            commit and commit.date,
            point.value,
            change and "changed",
            change and change.old,
            change and change.new,
            commit and commit.subject,
        )


def _plain(told: _Told) -> dict[str, Any]:
    unit = told.trends[0].series.unit
    return {
        "file": told.file.as_posix(),
        "metric": told.metric,
        "unit": unit.name.lower(),
        "versions": [_version(told, place) for place in range(len(told.history.versions))],
        "entries": [
            {
                **key_object(row.series.key),
                "values": list(row.series.values),
                "recorded": [point.version for point in row.series.recordings],
                "method": row.method or None,
                "noise": row.noise,
                "changes": [_change(told, each) for each in row.changes],
            }
            for row in told.trends
        ],
    }


def _change(told: _Told, change: Change) -> dict[str, Any]:
    return {
        **_version(told, change.version),
        "version": change.version,
        "old": change.old,
        "new": change.new,
        "ratio": change.ratio,
        "circumstances": list(change.circumstances),
    }


def _version(told: _Told, place: int) -> dict[str, Any]:
    version = told.history.versions[place]
    commit = shown_commit(version)
    known = version.commit is not None
    return {"commit": commit.hash if known else None, "date": commit.date if known else None, "subject": commit.subject}


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of commits; give 1 or more")
    return number
