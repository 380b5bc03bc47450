"""The page in a real browser: Debian's Chromium (or Chrome), driven by Playwright."""

import os
import shutil
import threading

import pytest

from report.runs import HOSTILE, hostile, save_and_load, solve_constrained, solve_least_squares
from unipd.report import LiveServer, RunCollector, write_report
from unipd.run import watch_runs

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed (pip install playwright)"
    )
    place = os.environ.get("UNIPD_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if place is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium, or set UNIPD_CHROMIUM)")
    with playwright.sync_playwright() as steering:
        try:
            started = steering.chromium.launch(executable_path=place, args=["--no-sandbox", "--disable-gpu"])
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start: {str(error).splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report of these results; whatever the browser complains of fails the test."""
    complaints, contexts = [], []

    def open_page(runs, **settings):
        path = write_report(runs, tmp_path / "report.html")
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def runs():
    return {"universal": solve_constrained("unipdgrad", 400), "accelerated": solve_constrained("accunipdgrad", 200)}


def curve(page, panel="gap", number=0):
    return page.locator(f"#panel-{panel} path.line").nth(number).get_attribute("d")


def ticks(page, panel="gap"):
    return page.locator(f"#panel-{panel} text").all_text_contents()


def drag(page, panel, begin, end):
    page.locator(f"#panel-{panel}").scroll_into_view_if_needed()
    box = page.locator(f"#panel-{panel}").bounding_box()
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (begin, end)]
    page.mouse.move(*points[0])
    page.mouse.down()
    page.mouse.move(*points[1], steps=4)
    page.mouse.up()


def test_curves_are_drawn(visit, runs):
    page = visit(runs)
    for panel in ("residual", "gap", "smoothness", "exponent"):
        assert page.locator(f"#panel-{panel} path.line").count() == 2
        assert curve(page, panel).count("L") > 20
    assert page.locator("#panel-infeasibility path.line").count() == 4
    assert page.locator("#panel-infeasibility path.theorem").count() == 2
    assert "NaN" not in page.locator("#panels").inner_html()
    assert page.locator("#panel-gap line.requested").count() == 1


def test_a_run_without_constraints_has_no_empty_panel(visit):
    page = visit({"loss": solve_least_squares("pairwise", 20)})
    assert page.locator("#panel-gap").is_visible()
    assert not page.locator("#panel-infeasibility").is_visible()
    assert not page.locator("#theorem").is_visible()


def test_the_axis_can_be_chosen(visit, runs):
    page = visit(runs)
    before = curve(page)
    for label in ("sharp-oracle calls", "matrix-vector products", "seconds", "iterations"):
        page.select_option("#axis", label=label)
        assert label in ticks(page)
        assert (curve(page) == before) == (label == "iterations")


@pytest.mark.parametrize("box", ["logx", "logy"])
def test_logarithmic_and_linear(visit, runs, box):
    page = visit(runs)
    before = ticks(page)
    page.click(f"#{box}")
    assert ticks(page) != before
    page.click(f"#{box}")
    assert ticks(page) == before


@pytest.mark.parametrize("way_back", ["button", "double click", "key"])
def test_dragging_zooms_and_there_is_a_way_back(visit, runs, way_back):
    page = visit(runs)
    before, other = ticks(page), ticks(page, "residual")
    drag(page, "gap", (0.3, 0.2), (0.7, 0.6))
    assert ticks(page) != before
    assert ticks(page, "residual") != other
    assert page.locator("#panel-gap .brush").count() == 0
    if way_back == "button":
        page.click("#reset")
    elif way_back == "key":
        page.focus("#panel-gap")
        page.keyboard.press("Escape")
    else:
        page.dblclick("#panel-gap")
    assert (ticks(page), ticks(page, "residual")) == (before, other)


def test_a_click_does_not_zoom(visit, runs):
    page = visit(runs)
    before = curve(page)
    page.click("#panel-gap")
    assert curve(page) == before


def test_the_keyboard_zooms_and_moves(visit, runs):
    page = visit(runs)
    seen = [curve(page)]
    page.focus("#panel-gap")
    for key in ("+", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
        assert curve(page) not in seen
        seen.append(curve(page))
    page.keyboard.press("0")
    assert curve(page) == seen[0]


def test_the_legend_hides_and_shows(visit, runs):
    page = visit(runs)
    button = page.get_by_role("button", name="universal")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.locator("#panel-gap path.line").count() == 1
    assert page.locator("#panel-gap path.line").get_attribute("data-run") == "accelerated"
    page.get_by_role("button", name="accelerated").click()
    assert page.locator("#panel-gap path.line").count() == 0
    assert "nothing" in ticks(page)[0]
    button.press("Enter")
    assert page.locator("#panel-gap path.line").count() == 1


def test_values_are_read_off_under_the_pointer(visit, runs):
    page = visit(runs)
    page.hover("#panel-gap", position={"x": 200, "y": 100})
    said = page.locator("figure:has(#panel-gap) output").text_content()
    assert said.startswith("at ")
    assert "universal: " in said
    assert "accelerated: " in said


def test_hostile_texts_are_inert(visit, tmp_path):
    page = visit({HOSTILE: hostile(tmp_path), "other": save_and_load(solve_constrained(), tmp_path)})
    assert page.evaluate("window.hit") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("#legend button").first.text_content() == HOSTILE
    page.hover("#panel-gap", position={"x": 200, "y": 100})
    assert page.evaluate("window.hit") is None


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 31)")])
def test_light_and_dark(visit, runs, scheme, background):
    page = visit(runs, color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background


def test_a_narrow_screen_needs_no_scrolling_sideways(visit, runs):
    page = visit(runs, viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert curve(page).count("L") > 20


def test_many_runs_are_distinguished(visit, runs):
    page = visit({f"run {k}": runs["universal"] for k in range(9)})
    kinds = page.locator("#panel-gap path.line").evaluate_all("paths => paths.map(path => path.getAttribute('class'))")
    assert len(set(kinds)) == 9


def test_no_script_still_says_everything(visit, runs):
    page = visit(runs, java_script_enabled=False)
    assert page.get_by_role("heading", name="Certificates").is_visible()
    assert page.get_by_text("The optimal value is at least").first.is_visible()


def test_a_live_page_follows_the_run_and_says_when_it_ends(browser):
    complaints, collector, context = [], RunCollector(), browser.new_context()
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def wait(happened):
        for _ in range(200):
            if happened():
                return
            page.wait_for_timeout(100)
        pytest.fail("the page does not follow")

    def look(info):
        if info.state.iteration == 20:
            page.goto(server.url)
        elif info.state.iteration == 60:
            server._next = 0.0
            wait(lambda: curve(page).count("L") > 30)

    with LiveServer(collector.runs, title=HOSTILE) as server, watch_runs(collector):
        result = solve_constrained("unipdgrad", 80, look)
        assert "Still running" in page.locator("#live").text_content()
        assert page.locator(".badge").first.text_content() == "running"
        collector.finish("done", result)
        closing = threading.Thread(target=server.close)
        closing.start()
        wait(lambda: "has ended" in page.locator("#live").text_content())
        closing.join(10)
    assert page.locator(".badge").first.text_content() == "iteration limit"
    assert page.evaluate("window.hit") is None
    context.close()
    assert complaints == []
