"""The report page."""

import dataclasses
import html
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report.runs import HOSTILE, hostile, save_and_load, solve_constrained, solve_infeasible, solve_least_squares
from unipd import Status
from unipd.errors import InvalidInput, MissingExtra
from unipd.report import (
    BOUND_KINDS,
    MEANINGS,
    PAGE_POINTS,
    PANELS,
    describe_certificate,
    page_content,
    render_page,
    run_data,
    write_report,
)
from unipd.report import page as page_module
from unipd.run import COLUMNS, History, ProblemFacts, problem_facts, summary_rows


class Reader(HTMLParser):
    """Elements and texts of a page, and whether every element is closed in order."""

    EMPTY = ("meta", "input", "br", "img")

    CDATA_CONTENT_ELEMENTS = ("script", "style")

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self.open = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append((self.open[-1] if self.open else "", data))


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def page(folder):
    runs = {
        "first": save_and_load(solve_constrained(), folder, seed=7),
        "second": save_and_load(solve_constrained("corrective"), folder),
    }
    return render_page(runs)


def test_the_page_is_well_formed_and_alone(page):
    reader = Reader(page)
    assert reader.open == []
    names = [name for name, _ in reader.elements]
    assert names.count("script") == 3
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(names)
    for _, attributes in reader.elements:
        assert not {"src", "href", "style", "srcset", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"https?://", page.split("<script>")[-1])


def test_the_policy_allows_the_pages_own_script_and_style_only(page):
    policy = next(a["content"] for name, a in Reader(page).elements if a.get("http-equiv"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}=' 'sha256-[A-Za-z0-9+/]{43}='", rules["script-src"])
    assert rules["style-src"] == "'unsafe-inline'"  # Plotly sets styles; what is inserted as text is escaped
    assert rules["img-src"] == "data: blob:"
    assert "connect-src" not in rules
    assert "connect-src 'self'" in html.unescape(render_page({}, live="data"))


def test_every_label_has_its_control_and_every_heading_is_unique(page):
    elements = Reader(page).elements
    known = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(known) == len(set(known))
    referred = [a["aria-labelledby"] for _, a in elements if "aria-labelledby" in a]
    assert set(referred) <= set(known)
    assert ("html", {"lang": "en"}) in elements


def test_what_the_page_says(page):
    text = " ".join(part for _, part in Reader(page).text)
    for words in ("first", "second", "iteration limit", "solved", "The optimal value is at least", "rigorous"):
        assert words in text
    for words in ("Problem(Linear, DenseMatrix", "numpy", "saved (UTC)", "What the status means", "max_doublings"):
        assert words in text
    for status in set(Status) - {Status.RUNNING}:
        assert status.message in text.replace("  ", " ")


def test_the_curves_are_those_of_the_history(page, folder):
    data, result = data_of(page), solve_constrained()
    assert [axis["key"] for axis in data["axes"]] == ["iterations", "oracle_calls", "matvecs", "seconds"]
    assert data["runs"][0]["axes"]["oracle_calls"] == result.history["oracle_calls"].tolist()
    figure = data["figures"]["curves"]
    titles = [note["text"] for note in figure["layout"]["annotations"]]
    assert [title in text for (_, title, _), text in zip(PANELS, titles, strict=True)] == [True] * len(PANELS)
    drawn = [(trace["yaxis"], trace["legendgroup"]) for trace in figure["traces"]]
    assert drawn.count(("y2", "theorem")) == 1
    panels = {("y", "residual"), ("y2", "infeasibility"), ("y3", "gap"), ("y4", "smoothness"), ("y5", "exponent")}
    curves = run_data("first", result)["curves"]
    for axis, key in panels:
        (trace,) = (each for each in figure["traces"] if (each["yaxis"], each["legendgroup"]) == (axis, "run0"))
        expected = [value if value is None or value > 0 or key == "exponent" else 1e-20 for value in curves[key]]
        np.testing.assert_allclose(np.array(trace["y"], float), np.array(expected, float), rtol=1e-6)
    np.testing.assert_allclose(curves["gap"], np.abs(result.history["gap"]), rtol=1e-6)


def test_gaps_of_likelihoods_are_in_nats_and_figures_have_their_intervals():
    figures = {"purity": 0.9, "purity_stderr": 0.01, "purity_low": 0.85, "purity_high": 0.95}
    result = solve_constrained().with_extras(**figures)
    result = dataclasses.replace(result, facts=dataclasses.replace(problem_facts(result), gap_unit="nats"))
    content = page_content({"fit": result})
    titles = [note["text"] for note in content["figures"]["curves"]["layout"]["annotations"]]
    assert ["in nats" in title for title in titles[:3]] == [True, False, True]
    assert "0.9 [0.85, 0.95]" in content["before"]
    assert "purity stderr" not in content["before"]


def test_panels_are_placed_apart_in_one_column_and_in_two(page):
    figure = data_of(page)["figures"]["curves"]
    for layout, columns in ((figure["layout"], 2), (figure["narrow"], 1)):
        places = {
            (tuple(layout[f"xaxis{k}"]["domain"]), tuple(layout[f"yaxis{k}"]["domain"])) for k in ("", 2, 3, 4, 5)
        }
        assert len(places) == 5
        assert len({x for x, _ in places}) == columns
        assert all(0 <= low < high <= 1 for place in places for low, high in place)


def test_a_loss_has_no_infeasibility_and_its_bound_is_that_of_the_objective():
    run = run_data("loss", solve_least_squares())
    assert "infeasibility" not in run["curves"]
    assert run["bound"]["panel"] == "residual"


def test_long_histories_are_thinned_at_both_scales():
    result = solve_constrained()
    rows = np.repeat(result.history.table, 2000, axis=0)
    rows[:, COLUMNS.index("iteration")] = np.arange(1, rows.shape[0] + 1)
    found = run_data("long", dataclasses.replace(result, history=History(rows)))
    at = np.array(found["axes"]["iterations"])
    assert at.size <= 2 * PAGE_POINTS
    assert at[:10].tolist() == list(range(1, 11))
    assert at[-1] == rows.shape[0]
    assert np.diff(at).max() <= 1 + rows.shape[0] / (PAGE_POINTS - 1)


def test_nothing_that_is_not_a_number_enters_the_page():
    page = render_page({"none": solve_infeasible()})
    data_of(page)
    for word in ("NaN", "Infinity"):
        assert word not in re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]


def test_a_result_without_history_has_a_page_too(folder):
    empty = dataclasses.replace(save_and_load(solve_constrained(), folder), history=History())
    page = render_page({"empty": empty})
    assert data_of(page)["figures"]["curves"]["traces"] == []
    assert "The run has no history" in page


def test_hostile_texts_stay_texts(folder):
    page = render_page({HOSTILE: hostile(folder), "other": save_and_load(solve_constrained(), folder)}, title=HOSTILE)
    reader = Reader(page)
    assert [name for name, _ in reader.elements].count("script") == 3
    assert "img" not in [name for name, _ in reader.elements]
    assert "<script>window" not in page
    assert data_of(page)["figures"]["curves"]["traces"][0]["name"] == html.escape(HOSTILE, quote=False)
    shown = [text for tag, text in reader.text if tag in ("td", "th", "h1", "h3", "p")]
    assert HOSTILE in shown


@given(st.text(max_size=20))
def test_any_name_survives_in_the_page_as_text(text):
    result = solve_least_squares("pairwise", 2)
    content = page_content({text: result, "other": result})
    shown = "".join(part for _, part in Reader(content["before"]).text)
    assert text in shown
    (name, *_) = [trace["name"] for trace in content["figures"]["curves"]["traces"]]
    assert name == html.escape(text, quote=False)


def test_the_file_is_whole_or_not_there(tmp_path, monkeypatch):
    result = solve_constrained()
    path = write_report({"a": result, "b": result}, tmp_path / "page.html", title="Two runs")
    assert "<title>Two runs</title>" in path.read_text(encoding="utf-8")
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        write_report(result, path)
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == ["page.html"]


def test_bad_arguments(tmp_path):
    with pytest.raises(InvalidInput, match=r"\.html"):
        write_report(solve_constrained(), tmp_path / "page.pdf")
    with pytest.raises(InvalidInput, match="at least one"):
        write_report({}, tmp_path / "page.html")


class TestWords:
    def test_a_point_outside_the_constraints_may_lie_below_the_bound(self):
        text = " ".join(describe_certificate(solve_constrained()))
        assert "violates the constraints by" in text
        assert "no contradiction" in text
        assert "was not certified" in text

    def test_a_loss_has_no_constraints_to_violate(self):
        result = solve_least_squares("pairwise")
        below = dataclasses.replace(result, dual_bound=result.objective + 1e-16, gap=-1e-16)
        text = " ".join(describe_certificate(below))
        assert "no contradiction: the difference is rounding" in text
        assert "violates" not in text
        assert dict(summary_rows(result.summary()))["infeasibility"] == "0"

    def test_infeasible(self):
        text = " ".join(describe_certificate(solve_infeasible()))
        assert "No point satisfies all constraints" in text
        assert "returned point" not in text

    @pytest.mark.parametrize("kind", list(BOUND_KINDS))
    def test_the_kind_of_bound_is_said(self, kind):
        result = dataclasses.replace(solve_least_squares("pairwise"), bound_kind=kind)
        text = " ".join(describe_certificate(result))
        assert BOUND_KINDS[kind] in text
        assert ("is proven" in text) == (kind == "rigorous")
        beginnings = {
            "probabilistic": "With the probability named below, the",
            "conditional": "For points up to the size named below, the",
            "stated": "If the user-supplied parts are right, the",
        }
        beginning = {"rigorous": "The", "residual": "Probably the", **beginnings}[kind]
        assert f"{beginning} optimal value is at least" in text
        assert ("is then within" in text) == (kind != "rigorous")

    @pytest.mark.parametrize("kind", list(BOUND_KINDS))
    def test_infeasibility_is_as_sure_as_the_bound(self, kind):
        text = describe_certificate(dataclasses.replace(solve_infeasible(), bound_kind=kind))[0]
        assert text.startswith("No point") == (kind == "rigorous")

    def test_a_maximum_is_bounded_from_above(self):
        result = solve_least_squares("accunipdgrad", 30)
        assert result.gap > 0
        assert "at least" in describe_certificate(result)[1]
        assert "no point of the set has a value below" in describe_certificate(result)[1]
        facts = dataclasses.replace(problem_facts(result), maximise=True)
        mirrored = dataclasses.replace(result, objective=-result.objective, dual_bound=-result.dual_bound, facts=facts)
        assert "at most" in describe_certificate(mirrored)[1]
        assert "above" in describe_certificate(mirrored)[1]

    @pytest.mark.parametrize("bound", [0.123456784, 0.123456786, -0.123456784, -0.123456786])
    @pytest.mark.parametrize("maximise", [False, True])
    def test_the_bound_is_never_rounded_to_the_wrong_side(self, bound, maximise):
        objective = bound - 1.0 if maximise else bound + 1.0
        facts = ProblemFacts(loss=True, maximise=maximise)
        result = dataclasses.replace(solve_least_squares(), objective=objective, dual_bound=bound, gap=1.0, facts=facts)
        said = float(re.search(r"at (?:least|most) (\S+):", describe_certificate(result)[1])[1])
        assert said >= bound if maximise else said <= bound

    def test_without_a_bound(self):
        result = dataclasses.replace(solve_constrained(), dual_bound=-np.inf, gap=np.inf)
        text = " ".join(describe_certificate(result))
        assert "No bound" in text
        assert "Kind of bound" not in text

    def test_every_status_and_kind_is_explained(self):
        assert set(MEANINGS) == set(Status)
        assert set(BOUND_KINDS) == {"rigorous", "probabilistic", "conditional", "stated", "residual"}


def test_curves_of_a_maximum_are_measured_from_its_own_bound():
    result = solve_least_squares("accunipdgrad", 30)
    facts = dataclasses.replace(problem_facts(result), maximise=True)
    values = {"objective": -result.objective, "dual_bound": -result.dual_bound}
    history = result.history.convert_values(lambda value: -value)
    mirrored = dataclasses.replace(result, **values, history=history, facts=facts)
    assert run_data("a", mirrored)["curves"]["residual"] == run_data("a", result)["curves"]["residual"]


@pytest.mark.parametrize(
    ("package", "forget"), [("jinja2", page_module._environment), ("plotly.offline", page_module._plotly)]
)
def test_a_missing_package_is_named(package, forget, monkeypatch):
    forget.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"unipd\[report\]"):
        render_page({"a": solve_least_squares("pairwise", 2)})
