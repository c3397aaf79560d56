"""What the plots of the HTML report show: read from the shapes, as an eye does from the picture."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.measurement import Ratio, Sample
from pytest_jitperf.report.costplot import cost_plot
from pytest_jitperf.report.drawing import Figure, Shape
from pytest_jitperf.report.grouping import groups
from pytest_jitperf.report.guide import advise
from pytest_jitperf.report.historyplot import Past, Step, history_plot
from pytest_jitperf.report.phaseplot import phase_plot
from pytest_jitperf.report.ratioplot import Compared, ratio_plot
from pytest_jitperf.report.sweepplot import sweep_plot
from pytest_jitperf.row import Row

MakeRow = Callable[..., Row]
MakeRatio = Callable[..., Ratio]


def of_kind(figure: Figure | None, kind: str) -> list[Shape]:
    """The shapes that have all the classes of ``kind``."""
    assert figure is not None
    return [each for each in figure.shapes if {*kind.split()} <= {*each.attributes["class"].split()}]


def texts(figure: Figure | None, kind: str = "") -> list[str]:
    return [each.text for each in of_kind(figure, kind) if each.tag == "text"]


def points(shape: Shape) -> list[tuple[float, float]]:
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", shape.attributes["d"])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def cost(rows: Iterable[Row]) -> Figure:
    (advice,) = advise(groups(rows)[0])
    return cost_plot(advice)


# Cost against calls


@pytest.fixture(name="crossing")
def rows_that_cross(row: MakeRow) -> list[Row]:
    """After 1.9 s / 3 ms = 633 calls outer has caught up with inner; eager never comes first."""
    return [
        row(strategy="eager", compile=0.59, run=98e-3),
        row(strategy="outer", compile=2.1, run=1.3e-3),
        row(strategy="inner", compile=0.2, run=4.3e-3),
    ]


def test_each_strategy_is_a_line_of_its_own_kind_with_its_name_at_the_end(crossing: list[Row]) -> None:
    figure = cost(crossing)
    assert texts(figure, "name") == ["eager", "outer", "inner"]
    assert [each.attributes["class"] for each in of_kind(figure, "series")] == ["series s0", "series s1", "series s2"]
    # They begin at the first call in the order of their cost, on an axis that points up.
    eager, outer, inner = (points(each)[0][1] for each in of_kind(figure, "series"))
    assert outer < eager < inner


def test_where_another_strategy_takes_over_there_is_a_dot_with_its_interval(crossing: list[Row]) -> None:
    figure = cost(crossing)
    (dot,) = of_kind(figure, "crossing")
    (interval,) = of_kind(figure, "interval")
    (low, y), (high, _) = points(interval)
    x = float(dot.attributes["cx"])
    assert low < x < high
    assert y == float(dot.attributes["cy"])
    # 633 of 1 to 10,000 calls is at 0.7 of a logarithmic axis.
    ticks = {each.text: float(each.attributes["x"]) for each in of_kind(figure, "tick") if each.text in ("1", "10k")}
    assert (x - ticks["1"]) / (ticks["10k"] - ticks["1"]) == pytest.approx(math.log10(633.3) / 4, abs=0.002)
    assert "a dot marks where another takes over" in figure.caption
    assert "outer is the cheapest from 630" in figure.description


def test_the_cheapest_is_underlined_from_turn_to_turn(crossing: list[Row]) -> None:
    figure = cost(crossing)
    inner, outer = map(points, of_kind(figure, "cheapest"))
    (dot,) = of_kind(figure, "crossing")
    assert inner[-1] == outer[0] == (float(dot.attributes["cx"]), float(dot.attributes["cy"]))
    assert outer[-1] == points(of_kind(figure, "series s1")[0])[-1]


def test_a_crossing_whose_end_is_beyond_all_calls_that_are_shown_reaches_to_the_edge(row: MakeRow) -> None:
    figure = cost([row(strategy="outer", compile=0.3, run=1.00e-3), row(strategy="inner", compile=0.2, run=1.0285e-3)])
    (interval,) = of_kind(figure, "interval")
    (name, _) = of_kind(figure, "name")
    assert points(interval)[1][0] == pytest.approx(float(name.attributes["x"]) - 5)


def test_the_calls_that_the_marker_names_are_marked(row: MakeRow) -> None:
    rows = [row(strategy=name, compile=0.1, run=run) for name, run in (("eager", 1e-3), ("outer", 1e-4))]
    assert of_kind(cost(rows), "expected") == []
    figure = cost([replace(each, expected_calls=50_000) for each in rows])
    assert len(of_kind(figure, "expected")) == 1
    assert "50,000 calls" in texts(figure)
    # There is a decade to see beyond them.
    assert "1M" in texts(figure, "tick")


def test_without_a_crossing_there_is_no_dot(row: MakeRow) -> None:
    figure = cost([row(strategy="eager", compile=0.1, run=1e-3), row(strategy="outer", compile=0.05, run=1e-4)])
    assert of_kind(figure, "crossing") == []
    assert "dot" not in figure.caption


# Ratios


def compared(ratio: Ratio, limit: float | None, outcome: Outcome, **changes: object) -> Compared:
    return replace(
        Compared(name="outer run", ratio=ratio, limit=limit, at_least=False, outcome=outcome, effect=outcome.effect),
        **changes,  # type: ignore[arg-type]  # names and values of fields
    )


def test_an_interval_beyond_its_limit_is_right_of_the_band(ratio: MakeRatio) -> None:
    figure = ratio_plot([compared(ratio(1.22, 1.20, 1.24), 1.05, Outcome.REGRESSED)])
    (band,), (limit,) = of_kind(figure, "band"), of_kind(figure, "limit")
    bar = of_kind(figure, "interval fail")[0]
    end = float(band.attributes["x"]) + float(band.attributes["width"])
    assert end == pytest.approx(points(limit)[0][0], abs=0.1)
    assert points(bar)[0][0] > end
    assert texts(figure, "value") == ["x1.22"]
    assert figure is not None
    assert figure.description == "outer run x1.22 (x1.20 ... x1.24), allowed x1.05: REGRESSED."


def test_of_faster_than_the_band_begins_at_what_was_asked_for(ratio: MakeRatio) -> None:
    figure = ratio_plot([compared(ratio(2.4, 2.2, 2.6), 2.0, Outcome.OK, name="outer against eager", at_least=True)])
    (band,), (limit,) = of_kind(figure, "band"), of_kind(figure, "limit")
    assert float(band.attributes["x"]) == pytest.approx(points(limit)[0][0], abs=0.1)
    assert float(band.attributes["x"]) + float(band.attributes["width"]) == pytest.approx(356)
    assert figure is not None
    assert figure.description == "outer against eager x2.40 (x2.20 ... x2.60), at least x2: ok."


def test_a_failure_an_open_verdict_and_a_good_one_differ_in_shape(ratio: MakeRatio) -> None:
    outcomes = (Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.OK)
    figure = ratio_plot([compared(ratio(1.0, 0.9, 1.1), 1.05, each) for each in outcomes])
    marks = [(each.tag, each.attributes["class"]) for each in of_kind(figure, "mark")]
    assert marks == [("rect", "mark fail"), ("circle", "mark warn"), ("circle", "mark pass")]


def test_ticks_hold_1_and_do_not_touch(ratio: MakeRatio) -> None:
    for low, high in ((0.99, 1.01), (0.5, 40.0), (1.2, 900.0)):
        figure = ratio_plot([compared(ratio(1.0, low, high), 1.1, Outcome.OK)])
        ticks = sorted((float(each.attributes["x"]), each.text) for each in of_kind(figure, "tick"))
        assert "x1" in [text for _, text in ticks]
        assert all(second - first >= 38 for (first, _), (second, _) in itertools.pairwise(ticks))


def test_ends_that_are_not_known_reach_to_the_edge(ratio: MakeRatio) -> None:
    figure = ratio_plot([compared(ratio(1.0, 0.0, math.inf), 1.1, Outcome.INCONCLUSIVE)])
    assert points(of_kind(figure, "interval")[0]) == [(4, 32), (356, 32)]


def test_of_many_ratios_the_first_are_drawn_and_the_rest_counted(ratio: MakeRatio) -> None:
    figure = ratio_plot([compared(ratio(1.0, 0.99, 1.01), 1.1, Outcome.OK)] * 20)
    assert figure is not None
    assert len(of_kind(figure, "band")) == 16
    assert figure.caption.endswith("4 more are among what was judged.")


def test_without_ratios_there_is_no_figure() -> None:
    assert ratio_plot([]) is None


# Phases


def phases(row: MakeRow, trace: float, lower: float, xla: float) -> Row:
    timed = {name: Sample(median=value, low=value, high=value, rounds=1) for name, value in
             (("trace", trace), ("lower", lower), ("xla", xla))}  # fmt: skip
    return row(timed=timed, compile=trace + lower + xla)


def test_the_phases_of_a_compile_stand_end_to_end_on_one_scale(row: MakeRow) -> None:
    figure = phase_plot([("eager", phases(row, 0.1, 0.2, 0.7)), ("outer", phases(row, 0.05, 0.05, 0.15))])
    bars = [
        [(float(each.attributes["x"]), float(each.attributes["width"])) for each in of_kind(figure, f"phase-{phase}")]
        for phase in ("trace", "lower", "xla")
    ]
    # 358 units are the second that eager takes.
    assert bars == [
        [(1, 35.8), (1, 17.9)],
        [(36.8, 71.6), (18.9, 17.9)],
        [(108.4, 250.6), (36.8, 53.7)],
    ]
    assert texts(figure) == ["eager", "1 s", "outer", "250 ms"]
    assert figure is not None
    assert [meaning.partition(":")[0] for _, meaning in figure.key] == ["trace", "lower", "xla"]


def test_without_phases_there_is_no_figure(row: MakeRow) -> None:
    assert phase_plot([("outer", row())]) is None


# Sweeps


def sweep_row(row: MakeRow, size: str, extent: float, run: float, **changes: object) -> Row:
    timed = {"run": Sample(median=run, low=0.9 * run, high=1.1 * run, rounds=9)}
    return row(measurement=size, sweep="main", size=size, extent=extent, timed=timed, **changes)


def test_a_time_that_grows_as_a_power_is_a_straight_line(row: MakeRow) -> None:
    rows = [sweep_row(row, str(n), float(n), 1e-9 * n**2) for n in (100, 1_000, 10_000)]
    figure = sweep_plot(rows, "run")
    ((x1, y1), (x2, y2), (x3, y3)) = points(of_kind(figure, "series")[0])
    assert (x2 - x1, y1 - y2) == pytest.approx((x3 - x2, y2 - y3), abs=0.11)
    assert [text for text in texts(figure, "tick") if text.isdecimal()] == ["100", "1000", "10000"]
    assert texts(figure, "name") == ["outer"]
    # Quartiles stand around each point.
    assert len(of_kind(figure, "spread")) == len(of_kind(figure, "point")) == 3


def test_where_sizes_are_words_the_axis_counts_elements(row: MakeRow) -> None:
    rows = [sweep_row(row, word, n, 1e-3, counted=True) for word, n in (("small", 1e3), ("large", 2e6))]
    figure = sweep_plot(rows, "run")
    assert [each for each in texts(figure, "tick") if not each.endswith("s")] == ["1k", "2M"]
    assert "elements of the arguments" in texts(figure)
    assert figure is not None
    assert figure.description == "outer: 1 ms at small, 1 ms at large."


def test_one_size_or_none_with_the_number_is_no_figure(row: MakeRow) -> None:
    assert sweep_plot([sweep_row(row, "8", 8.0, 1e-3)], "run") is None
    assert sweep_plot([sweep_row(row, str(n), float(n), 1e-3) for n in (8, 16)], "compile") is None


# History


def past(*seconds: float, changed: int | None = None, **changes: object) -> Past:
    steps = tuple(
        Step(place=n, commit=f"c{n}", date=f"2026-01-{n + 1:02d}", seconds=value, changed=n == changed)
        for n, value in enumerate(seconds)
    )
    return replace(Past(name="outer", strategy="outer", steps=steps), **changes)  # type: ignore[arg-type]  # of fields


def test_recordings_stand_in_the_order_of_their_commits_and_hold_until_the_next() -> None:
    figure = history_plot([past(1e-3, 1e-3, 2e-3, now=2.1e-3)])
    (stairs,) = of_kind(figure, "series")
    assert len(of_kind(figure, "point")) == 3
    xs = [x for x, _ in points(stairs)]
    assert xs == sorted(xs)
    ys = [y for _, y in points(stairs)]
    # Flat, flat, up at the third, flat to the edge; up is a smaller coordinate.
    assert ys[0] == ys[3] > ys[4] == ys[5]
    (now,) = of_kind(figure, "crossing")
    assert float(now.attributes["cx"]) == xs[-1]
    assert figure is not None
    assert figure.description == "outer: 3 recordings, 1 ms in c0, 2 ms in c2, 2.1 ms now."


def test_a_commit_that_changed_the_level_is_named() -> None:
    figure = history_plot([past(1e-3, 2e-3, changed=1)])
    assert len(of_kind(figure, "expected")) == 1
    assert "c1" in texts(figure, "tick")
    assert figure is not None
    assert figure.description.endswith("changed at c1.")


def test_what_is_in_no_commit_yet_is_called_so() -> None:
    found = past(1e-3, 2e-3)
    steps = (found.steps[0], replace(found.steps[1], commit="", date="", changed=True))
    figure = history_plot([replace(found, steps=steps)])
    assert "not committed" in texts(figure, "tick")


def test_what_was_recorded_once_has_no_history() -> None:
    assert history_plot([past(1e-3)]) is None
    assert history_plot([]) is None
