"""The page in a real browser: Debian's Chromium (or Chrome), driven by Playwright."""

import dataclasses
import os
import shutil
import threading

import numpy as np
import pytest

import unipd
import unipd.io
from report.runs import HOSTILE, hostile, save_and_load, solve_constrained, solve_least_squares
from unipd.apps.tomography import Noise, PauliTomography, simulate
from unipd.report import AXES, LiveServer, RunCollector, write_report
from unipd.run import History, watch_runs

WEBGL_HINTS = ("GL Driver Message", "willReadFrequently")
"""What Chromium says of any page with a turning 3D picture, drawn without a graphics card."""
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


def is_complaint(text):
    return not any(hint in text for hint in WEBGL_HINTS)


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report of these results; whatever the browser complains of fails the test."""
    complaints, contexts = [], []

    def open_page(runs, **settings):
        path = write_report(runs, tmp_path / "report.html")
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: is_complaint(message.text) and complaints.append(message.text))
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


def figure(page, what, name="curves"):
    """Return what Plotly has drawn: a JavaScript expression of the figure's element."""
    return page.evaluate(f"(({{ data, layout, _fullLayout }}) => {what})(document.getElementById('{name}'))")


def curves(page, axis="y3", name="curves"):
    """Return the drawn paths of the panel with this vertical axis."""
    return page.locator(f"#{name} .subplot.x{axis[1:]}{axis} path.js-line").evaluate_all(
        "paths => paths.map(path => path.getAttribute('d'))"
    )


def ranges(page):
    return figure(page, "[_fullLayout.xaxis.range, _fullLayout.yaxis3.range, _fullLayout.xaxis3.range]")


def drag(page, begin, end):
    panel = page.locator("#curves .draglayer .x3y3 .nsewdrag")
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (begin, end)]
    page.mouse.move(*points[0])
    page.mouse.down()
    page.mouse.move(*points[1], steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)


def test_curves_are_drawn(visit, runs):
    page = visit(runs)
    for axis in ("y", "y3", "y4", "y5"):
        assert len(curves(page, axis)) == 2
        assert all(path.count("L") > 0 for path in curves(page, axis))
    assert len(curves(page, "y2")) == 4
    assert figure(page, "data.filter(trace => trace.line.dash === 'dash').length") == 2
    assert "NaN" not in page.locator("#curves").inner_html()
    assert page.locator("#curves .shapelayer path").count() == 3
    assert page.locator("#curves .legend .legendtext").all_text_contents() == [
        "universal",
        "accelerated",
        "theorem's bound (an estimate)",
    ]


def test_a_run_without_constraints_has_no_empty_panel(visit):
    page = visit({"loss": solve_least_squares("pairwise", 20)})
    titles = page.locator("#curves .annotation-text").all_text_contents()
    assert len(titles) == 2
    assert not any("Infeasibility" in title for title in titles)


def test_a_run_without_history_says_so(visit):
    page = visit({"certified": dataclasses.replace(solve_constrained(), history=History())})
    assert page.get_by_text("The run has no history to draw.").is_visible()
    assert not page.locator("#curves").is_visible()


def test_the_axis_can_be_chosen(visit, runs):
    page = visit(runs)
    for key, label in (("oracle_calls", "sharp-oracle calls"), ("seconds", "seconds"), ("iterations", "iterations")):
        page.select_option("#axis", label=label)
        assert figure(page, "layout.xaxis3.title.text") == label
        drawn = figure(page, "data[0].x")
        assert drawn[-1] == pytest.approx(runs["universal"].history[AXES[key][0]][-1], rel=1e-6)


@pytest.mark.parametrize(("box", "axis"), [("logx", "xaxis"), ("logy", "yaxis")])
def test_logarithmic_and_linear(visit, runs, box, axis):
    page = visit(runs)
    kinds = []
    for _ in range(3):
        kinds.append(figure(page, f"_fullLayout.{axis}.type"))
        page.click(f"#{box}")
    assert kinds == ["log", "linear", "log"]


def test_dragging_zooms_all_panels_and_a_double_click_resets(visit, runs):
    page = visit(runs)
    before = ranges(page)
    drag(page, (0.3, 0.2), (0.7, 0.6))
    zoomed = ranges(page)
    assert zoomed != before
    assert zoomed[0] == zoomed[2]
    page.locator("#curves .draglayer .x3y3 .nsewdrag").dblclick()
    page.wait_for_timeout(600)
    assert ranges(page) == before


def test_the_legend_hides_and_shows(visit, runs):
    page = visit(runs)
    page.locator("#curves .legendtoggle").first.click()
    page.wait_for_timeout(600)
    assert len(curves(page)) == 1
    page.locator("#curves .legendtoggle").first.click()
    page.wait_for_timeout(600)
    assert len(curves(page)) == 2


def test_values_are_read_off_under_the_pointer(visit, runs):
    page = visit(runs)
    box = page.locator("#curves .draglayer .x3y3 .nsewdrag")
    box.scroll_into_view_if_needed()
    shape = box.bounding_box()
    for height in range(0, 100, 4):
        page.mouse.move(shape["x"] + 0.5 * shape["width"], shape["y"] + shape["height"] * height / 100)
        page.wait_for_timeout(30)
        said = " ".join(page.locator("#curves .hoverlayer .hovertext").all_text_contents())
        if said:
            break
    assert "universal" in said or "accelerated" in said


def test_a_state_is_drawn_as_a_city(visit):
    data = simulate("ghz", 2, noise=Noise(shots=400), seed=1).data
    page = visit(PauliTomography().fit_data(data).result_)
    assert page.get_by_role("heading", name="State", exact=True).is_visible()
    if not page.evaluate("Boolean(document.createElement('canvas').getContext('webgl'))"):
        pytest.skip("this Chromium has no WebGL")
    assert page.locator("#figure-0 .gl-container canvas").count() == 1
    assert figure(page, "data[0].z.length + data[1].z.length", "figure-0") == 16 * 8
    assert page.locator("#figure-1 .bars .point").count() >= 1


def test_sections_of_applications_are_drawn(visit):
    nodes = np.arange(12)
    found = unipd.MaxCut().fit(unipd.io.Graph.of(12, nodes, (nodes + 1) % 12, np.ones(12)))
    page = visit(found.result_)
    assert page.get_by_role("heading", name="Cut", exact=True).is_visible()
    assert page.locator("#figure-0 .bars .point").count() == 2
    assert page.locator("#figure-1 .scatterlayer .point").count() >= 1
    assert page.get_by_text("DIMACS error measure").is_visible()


def test_hostile_texts_are_inert(visit, tmp_path):
    page = visit({HOSTILE: hostile(tmp_path), "other": save_and_load(solve_constrained(), tmp_path)})
    assert page.evaluate("window.hit") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    assert page.locator("#curves .legendtext").first.text_content() == HOSTILE
    page.hover("#curves .draglayer .x3y3 .nsewdrag", force=True)
    assert page.evaluate("window.hit") is None


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 31)")])
def test_light_and_dark(visit, runs, scheme, background):
    page = visit(runs, color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    assert figure(page, "data[0].line.color") == {"light": "#0072b2", "dark": "#56b4e9"}[scheme]


def test_a_narrow_screen_needs_no_scrolling_sideways(visit, runs):
    page = visit(runs, viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert figure(page, "_fullLayout.xaxis2.domain") == [0, 1]


def test_many_runs_are_distinguished(visit, runs):
    page = visit({f"run {k}": runs["universal"] for k in range(9)})
    looks = figure(page, "data.filter(trace => trace.yaxis === 'y3').map(trace => trace.line.color + trace.line.dash)")
    assert len(set(looks)) == 9


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
            wait(lambda: len(figure(page, "data[0].x")) > 30)

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
