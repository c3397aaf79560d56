"""The HTML report: one file that is well-formed, escaped, self-contained and readable without its pictures."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Ratio, Sample
from pytest_jitperf.report.html import html, why_not_available
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]
MakeRatio = Callable[..., Ratio]

VOID = {"meta", "link", "br"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A document as its elements, in order; fails where tags do not match."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parents = tuple(each.tag for each in self.open)
        element = Element(tag, {name: value or "" for name, value in attrs}, parents)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> does not match"

    def handle_data(self, data: str) -> None:
        for each in self.open:
            each.text += data

    def all(self, *tags: str) -> list[Element]:
        return [each for each in self.elements if each.tag in tags]

    def by_class(self, *classes: str) -> list[Element]:
        return [each for each in self.elements if {*classes} <= {*each.attributes.get("class", "").split()}]


def read(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def told(element: Element) -> str:
    return " ".join(element.text.split())


@pytest.fixture(name="results")
def results_of_a_run(row: MakeRow, ratio: MakeRatio) -> Results:
    """One test failed, one is new, one is fine, and one is a sweep."""
    phases = {name: Sample(median=0.01, low=0.01, high=0.01, rounds=1) for name in ("trace", "lower", "xla")}
    finding = Finding(
        outcome=Outcome.REGRESSED,
        sentence="run regressed: <slow-case> & <slow> -> more",
        metric="run",
        old=301e-6,
        new=367e-6,
        ratio=ratio(1.22, 1.20, 1.24, confirmed=True),
        limit=1.05,
        rule='tolerance run="5 %" (marker)',
    )
    outer = row()
    failed = replace(
        outer,
        test="test_a[<b>'x' & \"y\"]",
        timed={**outer.timed, **phases},
        metrics={"run": 367e-6},
        outcome="REGRESSED",
        failed=True,
        status="failed",
        findings=(finding,),
        failure="x\n  accept it with   pytest 'a b' --jitperf-update",
    )
    sizes = [
        row(test="test_d", measurement=str(n), sweep="main", size=str(n), extent=float(n), status="passed")
        for n in (8, 16, 32)
    ]
    return Results(
        plugin="1.2",
        mode="gate",
        rows=(
            failed,
            replace(failed, strategy="eager", outcome="reference", failed=False, status="passed", findings=()),
            row(test="test_b", outcome="new", effect="warn", status="passed"),
            row(test="test_b", strategy="eager", outcome="new", effect="warn", status="passed"),
            row(test="test_c", status="passed"),
            *sizes,
        ),
        unmeasured=(Unmeasured(nodeid="tests/test_step.py::test_gone[outer]", status=Status.SKIPPED),),
    )


@pytest.fixture(name="page")
def page_of_a_run(results: Results) -> Page:
    return read(html(results))


def test_the_headline_comes_first_and_headings_go_down_step_by_step(page: Page) -> None:
    headings = [(int(each.tag[1]), told(each)) for each in page.all("h1", "h2", "h3", "h4")]
    assert headings[0] == (1, "1 of 8 failed")
    assert [text for level, text in headings if level == 2] == [
        "Failed 1 test",
        "Unsettled 1 test",
        "Fine 2 tests",
        "Not measured skipped, or failed before",
    ]
    levels = [level for level, _ in headings]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_failed_or_is_unsettled_is_open_and_what_is_fine_is_folded(page: Page) -> None:
    cards = [each for each in page.all("details") if each.attributes["class"] == "card"]
    assert [(each.attributes["id"], "open" in each.attributes) for each in cards] == [
        ("t-tests-test-step-py-test-a-b-x-y", True),
        ("t-tests-test-step-py-test-b", True),
        ("t-tests-test-step-py-test-c", False),
        ("t-tests-test-step-py-test-d", False),
    ]


def test_several_failed_tests_are_listed_with_links_and_first_sentences(results: Results, row: MakeRow) -> None:
    another = replace(results.rows[0], test="test_z")
    page = read(html(replace(results, rows=(*results.rows, another))))
    links = [(each.attributes["href"], told(each)) for each in page.all("a")]
    assert links == [
        ("#t-tests-test-step-py-test-a-b-x-y", "test_a[<b>'x' & \"y\"] outer"),
        ("#t-tests-test-step-py-test-z", "test_z outer"),
    ]
    ids = {each.attributes.get("id") for each in page.elements}
    assert {target.removeprefix("#") for target, _ in links} <= ids
    assert [told(each) for each in page.by_class("first")] == ["run regressed: <slow-case> & <slow> -> more"] * 2


def test_texts_are_shown_as_they_are_and_never_as_markup(page: Page) -> None:
    assert page.all("b", "slow", "slow-case") == []
    assert told(page.by_class("lead")[0]) == "run regressed: <slow-case> & <slow> -> more"
    # Neither is broken at the end of a line.
    assert [each.text for each in page.by_class("whole")][:2] == ["<slow-case>", "<slow> -> more"]
    assert [told(each) for each in page.by_class("command")] == ["pytest 'a b' --jitperf-update"]
    assert "test_a[<b>'x' & \"y\"]" in told(page.all("h3")[0])


def test_the_file_asks_for_nothing_and_runs_nothing(results: Results) -> None:
    text = html(results)
    page = read(text)
    policy = next(each for each in page.all("meta") if each.attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy.attributes["content"].startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert page.all("script", "img", "iframe", "object", "embed", "form") == []
    targets = [
        value
        for each in page.elements
        for name, value in each.attributes.items()
        if name in ("href", "src", "xlink:href", "action", "srcset")
    ]
    assert [each for each in targets if not each.startswith(("#", "data:"))] == []
    assert re.findall(r"https?://|@import|url\(|\bon\w+=", text) == []


def test_no_two_elements_share_an_id_and_every_reference_has_its_target(page: Page) -> None:
    ids = Counter(each.attributes["id"] for each in page.elements if "id" in each.attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    wanted = [name for each in page.elements for name in each.attributes.get("aria-labelledby", "").split()]
    assert wanted
    assert {*wanted} <= {*ids}


def test_plots_say_in_words_what_they_show(page: Page) -> None:
    plots = [each for each in page.all("svg") if each.attributes.get("role") == "img"]
    assert len(plots) >= 6
    titles = [told(each) for each in page.all("title") if "svg" in each.parents]
    descriptions = [told(each) for each in page.all("desc")]
    assert len(titles) == len(descriptions) == len(plots)
    assert "outer run x1.22 (x1.20 ... x1.24), allowed x1.05: REGRESSED." in descriptions
    # What is not such a picture only repeats what stands beside it.
    assert all(each.attributes.get("aria-hidden") for each in page.all("svg") if each not in plots)


def test_tables_name_their_rows_and_columns_and_scroll_by_themselves(page: Page) -> None:
    assert {each.attributes.get("scope") for each in page.all("th")} == {"row", "col"}
    boxes = page.by_class("scroll")
    assert len(boxes) == len(page.all("table"))
    for each in boxes:
        assert each.attributes["tabindex"] == "0"
        assert each.attributes["aria-label"]


def test_a_verdict_is_always_a_word(page: Page) -> None:
    words = {told(each) for each in page.by_class("word")}
    assert {"REGRESSED", "2 new", "ok", "reference", "1 failed:", "2 unsettled:", "5 fine:"} <= words


def test_a_page_is_in_a_language_and_fits_a_narrow_screen(page: Page) -> None:
    (root,) = page.all("html")
    assert root.attributes["lang"] == "en"
    metas = {each.attributes.get("name"): each.attributes.get("content") for each in page.all("meta")}
    assert metas["viewport"] == "width=device-width, initial-scale=1"
    assert metas["color-scheme"] == "light dark"


def test_an_update_says_that_nothing_was_compared(results: Results) -> None:
    text = html(replace(results, mode="update"))
    assert "This run wrote baselines; nothing was compared with what they held." in text


def test_tests_whose_names_differ_in_signs_alone_have_links_of_their_own(row: MakeRow) -> None:
    rows = tuple(row(test=name, status="passed") for name in ("test_f[a-b]", "test_f[a_b]", "test_f[a/b]"))
    page = read(html(Results(plugin="1.2", mode="gate", rows=rows)))
    assert [each.attributes["id"] for each in page.by_class("card")] == [
        "t-tests-test-step-py-test-f-a-b",
        "t-tests-test-step-py-test-f-a-b-2",
        "t-tests-test-step-py-test-f-a-b-3",
    ]


def test_equal_results_give_equal_bytes(results: Results) -> None:
    assert html(results) == html(results)


def test_hundreds_of_tests_stay_small(row: MakeRow) -> None:
    def of(tests: int) -> int:
        rows = [
            row(test=f"test_{n:03d}", strategy=strategy, status="passed", run=run, compile=0.1)
            for n in range(tests)
            for strategy, run in (("eager", 1e-3), ("outer", 1e-4))
        ]
        return len(html(Results(plugin="1.2", mode="gate", rows=tuple(rows))))

    assert (of(300) - of(100)) / 200 < 8_000


def test_what_is_left_out_of_very_many_tests_is_said(row: MakeRow) -> None:
    rows = [row(test=f"test_{n}", status="passed") for n in range(401)]
    said = "More than 400 tests: those that are fine are shown without plots"
    assert said in html(Results(plugin="1.2", mode="gate", rows=tuple(rows)))
    assert said not in html(Results(plugin="1.2", mode="gate", rows=tuple(rows[:400])))


def test_where_jinja2_is_missing_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_not_available() == ""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert why_not_available() == (
        "the HTML report needs jinja2: pip install jinja2, or pytest-jitperf with its extra report"
    )
