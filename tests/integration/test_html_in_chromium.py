"""The HTML report in a browser: nothing asked of the network, nothing complained of, readable by everybody.

Needs the packages of the ``browser`` group and a Chromium that is installed; the environment variable ``CHROMIUM`` may
say where.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
else:
    pytest.importorskip("playwright", reason="needs the packages of the browser group: playwright is not installed")

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

LIBRARY = """
import jax.numpy as jnp

def f(x):
    return 2 * x + jnp.sin(x)

def g(x):
    return jnp.exp(f(f(x))) - x
"""
SLOWER = LIBRARY.replace("jnp.exp(f(f(x))) - x", "jnp.exp(f(f(x))) - x + 0 * jnp.linalg.norm(jnp.outer(x, x) @ x)")

TESTS = """
import jax.numpy as jnp
import pytest
import library

@pytest.mark.jitperf(inner=[library.f], faster_than={"outer": {"eager": 1.01}}, expected_calls=5_000)
def test_g(jitperf):
    jitperf(library.g, jnp.linspace(0.0, 1.0, 512))

@pytest.mark.jitperf(sizes={n: lambda n=n: (jnp.ones(n),) for n in (16, 1024, 65536)})
def test_of_many_sizes_with_a_name_that_is_longer_than_the_screen_of_a_phone_is_wide(jitperf):
    jitperf(lambda x: jnp.sin(x) + 0.5 * x)

@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "&amp;"])
def test_names(jitperf, text):
    jitperf(library.f, jnp.ones(8))

@pytest.mark.jitperf(strategies=["outer"], budgets={"outer": {"peak_bytes": "8 B"}})
def test_budget(jitperf):
    jitperf(library.f, jnp.ones(8))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run in which a test regressed, one is over its budget, some are new and one is fine."""
    folder = tmp_path_factory.mktemp("project")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "GITHUB_"))}
    environment["TMPDIR"] = str(tmp_path_factory.mktemp("locks"))

    def run(*options: str) -> None:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *options]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), done.stdout

    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (folder / "library.py").write_text(LIBRARY)
    (folder / "test_it.py").write_text(textwrap.dedent(TESTS))
    run("-k", "test_g or many_sizes", "--jitperf-update")
    (folder / "library.py").write_text(SLOWER)
    run("--jitperf-html=report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass
class View:
    """A page that is open, with what it asked for and what was said on the console."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open_all(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[1280, 390, 360])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def view(browser: Browser, report: Path, scheme: Any, width: int) -> Iterator[View]:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    view = View(context.new_page())
    view.page.on("request", lambda request: view.requests.append(request.url))
    view.page.on("console", lambda message: view.complaints.append(message.text))
    view.page.on("pageerror", lambda error: view.complaints.append(str(error)))
    view.page.goto(report.as_uri())
    yield view
    context.close()


@pytest.mark.parametrize("scheme", ["light"], indirect=True)
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_the_file_is_all_that_is_asked_for_and_nothing_is_complained_of(view: View, report: Path) -> None:
    view.open_all()
    view.page.screenshot(full_page=True)
    assert [url for url in view.requests if not url.startswith("data:")] == [report.as_uri()]
    assert view.complaints == []
    assert view.page.title().endswith(" failed - jitperf")


def test_the_page_itself_never_scrolls_sideways(view: View, width: int) -> None:
    view.open_all()
    assert view.page.evaluate("document.documentElement.scrollWidth") == width


def test_axe_finds_no_serious_or_critical_fault(view: View) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    view.open_all()
    found = axe.Axe().run(view.page).response
    faults = [
        f"{each['id']}: {node['target']}: {node.get('failureSummary', '')}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert faults == []
    # It looked at colours, too.
    assert "color-contrast" in [each["id"] for each in found["passes"]]


def test_everything_is_there_without_scripts(browser: Browser, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(report.as_uri())
    card = page.locator("details.card", has_text="test_names")
    table = card.locator("table.strategies").first
    assert card.first.get_attribute("open") is not None or not table.is_visible()
    failed = page.locator("section.failed details.card").first
    assert failed.locator("table.strategies").is_visible()
    failed.locator("summary").first.click()
    assert not failed.locator("table.strategies").is_visible()
    context.close()


def test_a_link_leads_to_the_test(browser: Browser, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    link = page.locator("section.failed .contents a").last
    target = link.get_attribute("href")
    assert target is not None
    link.click()
    top = page.locator(f"[id='{target.removeprefix('#')}']").evaluate("each => each.getBoundingClientRect().top")
    height = page.evaluate("window.innerHeight")
    assert 0 <= top < height
    page.close()


def test_on_paper_it_is_dark_on_light_whatever_the_screen_is(browser: Browser, report: Path) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(report.as_uri())
    on_screen = page.evaluate("getComputedStyle(document.body).color")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(23, 25, 28)" != on_screen
    context.close()
