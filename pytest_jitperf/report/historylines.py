"""The history of a metric in lines for people: a sparkline for each entry, and the commits that changed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_jitperf.baseline.versions import Version
from pytest_jitperf.git import Commit
from pytest_jitperf.judge.trend import Trend
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.report.sparkline import sparkline
from pytest_jitperf.units import Unit, format_change, format_quantity

__all__ = ["Look", "lines_of", "shown_commit"]

_MOST_BARS, _LEAST_BARS = 60, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the lines are to look.

    Attributes:
        paint: Colours a text: ``paint(text, "red")``.
        bars: Characters of a sparkline, from low to high.
        width: Columns to keep within; None for any.
        every: Whether each recording has a line, and not only those that changed something.
    """

    paint: Callable[[str, str], str]
    bars: str
    width: int | None = None
    every: bool = False


def lines_of(name: str, metric: str, versions: Sequence[Version], trends: Sequence[Trend], look: Look) -> list[str]:
    """Writes the history of one file.

    Args:
        name: Of the file.
        metric: Name of the metric.
        versions: Of the file, oldest first.
        trends: Of its entries.
        look: How the lines are to look.
    """
    titles = [str(each.series.key) for each in trends]
    told = [_told(each) for each in trends]
    widest, longest = max(map(len, titles), default=0), max(map(len, told), default=0)
    # Beside its title where the terminal has room for both, else below.
    room = None if look.width is None else look.width - longest - widest - 4
    beside = room is None or room >= min(len(versions), _LEAST_BARS)
    if not beside:
        room = (look.width or 0) - longest - 4
    bars = max(min(len(versions), _MOST_BARS if room is None else room, _MOST_BARS), 1)
    lines = [look.paint(f"{name}: {metric} over {_span(versions)}", "bold")]
    for title, text, each in zip(titles, told, trends, strict=True):
        drawn = f"{sparkline(each.series.values, look.bars, bars):{bars}}  {text}"
        lines += [f"{title:{widest}}  {drawn}"] if beside else [title, f"  {drawn}"]
        lines += _marks(each, versions, look)
    return lines


def shown_commit(version: Version) -> Commit:
    """The commit of a version, or something like it for what is in none."""
    nothing = Commit(hash="-" * 40, date="-" * 10, subject="not committed yet", path="", blob="")
    return version.commit or nothing


def _span(versions: Sequence[Version]) -> str:
    commits = [each.commit for each in versions if each.commit is not None]
    count = f"{len(commits)} commit{'' if len(commits) == 1 else 's'}"
    dates = list(dict.fromkeys((commits[0].date, commits[-1].date))) if commits else []
    pending = " and what is not committed" if len(commits) < len(versions) else ""
    return f"{count}{pending}, {' to '.join(dates)}"


def _told(trend: Trend) -> str:
    recordings, unit = trend.series.recordings, trend.series.unit
    first, last = recordings[0].value, recordings[-1].value
    # A number that was recorded once has not changed.
    text = format_change(first, last, unit) if len(recordings) > 1 else format_quantity(last, unit)
    if first and len(recordings) > 1:
        text += f"  {format_quantity(last / first, Unit.FACTOR)}"
    if not trend.enough and len(recordings) > 1:
        text += f"  ({len(recordings)} recordings)"
    return text if trend.series.present else f"{text}  (gone)"


def _marks(trend: Trend, versions: Sequence[Version], look: Look) -> Iterator[str]:
    changes = {each.version: each for each in trend.changes}
    for point in trend.series.recordings:
        change = changes.get(point.version)
        if change is None and not look.every:
            continue
        commit = shown_commit(versions[point.version])
        if change is None:
            text = format_quantity(point.value, trend.series.unit)
            yield _cut(f"    {commit.short} {commit.date}  {text}  {one_line(commit.subject)}", look.width)
            continue
        text = format_change(change.old, change.new, trend.series.unit)
        ratio = "" if change.ratio is None else f"  {format_quantity(change.ratio, Unit.FACTOR)}"
        line = _cut(f"  > {commit.short} {commit.date}  {text}{ratio}  {one_line(commit.subject)}", look.width)
        yield look.paint(line, "red" if change.new > change.old else "green")
        yield from (_cut(f"      {one_line(each)}", look.width) for each in change.circumstances)


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else f"{line[: max(width - 3, 0)]}..."
