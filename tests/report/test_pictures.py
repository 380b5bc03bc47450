"""Pictures of runs."""

import dataclasses
import subprocess
import sys

import matplotlib
import matplotlib.style
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

import unipd
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.io import load, save
from unipd.report import (
    THEMES,
    WIDTHS,
    decimate,
    group_extremes,
    plot_comparison,
    plot_convergence,
    plot_spectrum,
    spectrum_of,
    write_report,
)
from unipd.run import COLUMNS, History, common_scale

BEGINS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
MATRIX = np.random.default_rng(3).standard_normal((4, 9))


@pytest.fixture(scope="module")
def constrained_results():
    sharp = unipd.sharp.Linear(np.arange(9.0) / 9, unipd.sharp.Simplex(9))
    problem = unipd.Problem(sharp, MATRIX, MATRIX @ np.full(9, 1 / 9), "=")
    stop = unipd.MaxIterations(60)
    return {name: unipd.solve(problem, name, stop=stop) for name in ("unipdgrad", "accunipdgrad")}


@pytest.fixture(scope="module")
def losses():
    problem = unipd.Problem(unipd.sharp.Simplex(9), MATRIX, np.ones(4), unipd.couplings.LeastSquares())
    stop = unipd.MaxIterations(40)
    return {name: unipd.solve(problem, name, stop=stop) for name in ("frank-wolfe", "accunipdgrad")}


def labels(axes):
    return [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]


@pytest.mark.parametrize(("extension", "theme"), [(".png", "dark"), (".svg", "light"), (".pdf", "light")])
def test_files(constrained_results, tmp_path, extension, theme):
    path = tmp_path / f"run{extension}"
    plot_convergence(constrained_results["unipdgrad"], path, theme=theme)
    assert path.read_bytes().startswith(BEGINS[extension])
    assert path.stat().st_size > 5000


def test_the_same_result_gives_the_same_file(tmp_path):
    for name in ("a.svg", "b.svg"):
        plot_spectrum([3.0, 2.0], tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_themes_are_seen_on_the_page(losses):
    for name in THEMES:
        figure = plot_convergence(losses["frank-wolfe"], theme=name)
        with matplotlib.style.context([f"unipd.report.{each}" for each in dict.fromkeys(("light", name))]):
            background, ink = (to_hex(matplotlib.rcParams[key]) for key in ("figure.facecolor", "text.color"))
        assert background == {"light": "#ffffff", "dark": "#14181f"}[name]
        assert to_hex(figure.get_facecolor()) == to_hex(figure.axes[0].get_facecolor()) == background
        assert to_hex(figure.axes[0].yaxis.label.get_color()) == ink


def test_a_picture_keeps_its_style_when_it_is_drawn_later_and_leaves_no_settings_behind(losses):
    before = dict(matplotlib.rcParams)
    figure = plot_convergence(losses["frank-wolfe"], theme="dark", xscale="linear")
    assert dict(matplotlib.rcParams) == before
    figure.draw_without_rendering()
    ticks = [tick for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_major_ticks()]
    assert len(ticks) > 6
    assert {to_hex(tick.label1.get_color()) for tick in ticks} == {"#e8eaed"}
    assert {tick.label1.get_size() for tick in ticks} == {7.0}
    assert {tick.tick1line.get_markersize() for tick in ticks} == {3.0}


def test_convergence_of_a_constrained_problem(constrained_results):
    figure = plot_convergence(constrained_results["unipdgrad"], title="a run")
    errors, smoothness, exponent = figure.axes
    assert labels(errors) == [
        "objective residual", "certified gap", "infeasibility", "theorem's bound (estimate)", "requested accuracy"
    ]  # fmt: skip
    assert errors.get_ylabel() == "relative error"
    assert (errors.get_xscale(), errors.get_yscale()) == ("log", "log")
    assert exponent.get_xlabel() == "iterations"
    assert smoothness.get_xlabel() == ""
    assert "M_k" in smoothness.get_ylabel()
    assert "nu" in exponent.get_ylabel()
    assert figure.legends[0].get_title().get_text() == "a run"
    np.testing.assert_array_equal(
        errors.lines[2].get_ydata(), constrained_results["unipdgrad"].history["infeasibility"]
    )


def test_convergence_of_a_loss_and_of_a_method_without_smoothness(losses):
    figure = plot_convergence(losses["accunipdgrad"], show_bound=False)
    assert labels(figure.axes[0]) == ["objective residual", "certified gap", "requested accuracy"]
    figure = plot_convergence(losses["frank-wolfe"], axis="seconds", xscale="linear", width="page")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_xscale()) == ("seconds", "linear")
    assert figure.get_figwidth() == WIDTHS["page"]


def test_a_run_of_one_iteration_can_be_drawn(constrained_results, tmp_path):
    problem = constrained_results["unipdgrad"].problem
    result = unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(1))
    plot_convergence(result, tmp_path / "one.png")
    assert plot_convergence(result).axes[0].get_xscale() == "linear"
    assert plot_convergence(result, xscale="log").axes[0].get_xscale() == "log"


@pytest.mark.parametrize("method", ["unipdgrad", "corrective"])
def test_an_exact_start_can_be_drawn(method):
    """Zero gap, zero infeasibility: nothing has a logarithm."""
    problem = unipd.Problem(unipd.sharp.Simplex(1), np.ones((1, 1)), [1.0], "=")
    figure = plot_convergence(unipd.solve(problem, method))
    assert "infeasibility" not in labels(figure.axes[0])


def test_the_curves_stay_inside_the_page(constrained_results):
    """Nothing hangs over the edge at column width: legend, labels, ticks."""
    figure = plot_convergence(constrained_results["accunipdgrad"], title="a title of some length over the picture")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    page = figure.bbox
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes] + [figure.legends[0].get_window_extent(renderer)]
    for box in boxes:
        assert box.x0 >= page.x0 - 1
        assert box.x1 <= page.x1 + 1
        assert box.y1 <= page.y1 + 1
    assert figure.axes[0].get_window_extent(renderer).width > 0.6 * page.width
    assert figure.legends[0].get_window_extent(renderer).y0 >= figure.axes[0].get_window_extent(renderer).y1


def test_comparison(losses, constrained_results, tmp_path):
    figure = plot_comparison(losses, tmp_path / "losses.png")
    (axes,) = figure.axes
    assert labels(axes) == ["frank-wolfe", "accunipdgrad"]
    assert axes.get_xlabel() == "sharp-oracle calls"
    best = max(result.dual_bound for result in losses.values())
    history = losses["frank-wolfe"].history["objective"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), (history - best) / losses["frank-wolfe"].problem.scale(1.0))
    scale = common_scale(constrained_results)
    assert [panel.get_ylabel() for panel in plot_comparison(constrained_results, width="page").axes] == [
        f"objective residual\nrelative to {scale:.4g}",
        "relative infeasibility",
    ]
    (axes,) = plot_comparison(losses, quantities=("gap",), axis="iterations").axes
    assert axes.get_ylabel().startswith("certified gap\nrelative to ")
    narrow, page = (plot_comparison(constrained_results, axis="all", width=width) for width in ("column", "page"))
    assert [axes.get_xlabel() for axes in narrow.axes[-2:]] == ["sharp-oracle calls", "seconds"]
    assert len(page.axes) == 3 * 4


@pytest.mark.parametrize("quantity", ["objective", "gap"])
def test_equal_values_of_different_methods_are_drawn_at_the_same_height(quantity):
    """The methods end at different objectives, hence at different scales; the picture has one."""
    random = np.random.default_rng(1)
    A, cost = random.standard_normal((10, 50)), 20.0 * random.standard_normal(50)
    b = A @ random.dirichlet(np.ones(50))
    problem = unipd.Problem(unipd.sharp.Linear(cost, unipd.sharp.Simplex(50)), A, b)
    limit = unipd.MaxIterations(20)
    runs = {name: unipd.solve(problem, name, accuracy=1e-6, stop=limit) for name in ("accunipdgrad", "corrective")}
    (axes,) = plot_comparison(runs, quantities=(quantity,), axis="iterations").axes
    scale = problem.scale(runs["corrective"].objective)
    assert axes.get_ylabel().endswith(f"relative to {scale:.4g}")
    for line, result in zip(axes.lines, runs.values(), strict=True):
        reference = runs["corrective"].dual_bound if quantity == "objective" else result.history["dual_bound"]
        exact = np.abs(result.history["objective"] - reference) / scale
        drawn = line.get_ydata()
        np.testing.assert_allclose(drawn[exact > 0.0], np.maximum(exact, 1e-12)[exact > 0.0], rtol=1e-9, atol=1e-11)


def test_saved_results_can_be_compared(losses, tmp_path):
    saved = {name: load(save(result, tmp_path / f"{name}.npz")) for name, result in losses.items()}
    before, after = plot_comparison(losses), plot_comparison(saved)
    for left, right in zip(before.axes[0].lines, after.axes[0].lines, strict=True):
        np.testing.assert_array_equal(left.get_ydata(), right.get_ydata())
    assert len(saved["accunipdgrad"].plot().axes) == len(losses["accunipdgrad"].plot().axes)


def test_spectrum(tmp_path):
    figure = plot_spectrum({"estimate": [1.0, -3.0, 0.0, 1e-30], "truth": [2.0]}, tmp_path / "s.svg", title="rho")
    (axes,) = figure.axes
    assert axes.lines[0].get_ydata().tolist() == [3.0, 1.0]
    assert labels(axes) == ["estimate", "truth"]
    assert "singular value" in (tmp_path / "s.svg").read_text()
    plot_spectrum(np.zeros(3), tmp_path / "zero.png", title="nothing", theme="dark")


def test_refusals(losses, tmp_path):
    result = losses["accunipdgrad"]
    without = dataclasses.replace(result, history=None)
    bad = [
        lambda: plot_convergence(result, tmp_path / "run.bmp"),
        lambda: plot_convergence(result, theme="pink"),
        lambda: plot_convergence(result, width="poster"),
        lambda: plot_convergence(result, width=-1.0),
        lambda: plot_convergence(result, axis="miles"),
        lambda: plot_convergence(result, xscale="sqrt"),
        lambda: plot_comparison({}),
        lambda: plot_comparison(losses, quantities=("infeasibility",)),
        lambda: plot_comparison(losses, quantities=("speed",)),
        lambda: plot_comparison(losses, xscale="sqrt"),
        lambda: plot_comparison(losses, axis=("seconds", "miles")),
        *(lambda scale=scale: plot_comparison(losses, scale=scale) for scale in (0.0, -1.0)),
        lambda: plot_comparison({"run": without}),
        lambda: plot_convergence(without),
        lambda: plot_spectrum([]),
        lambda: plot_spectrum({}),
        lambda: plot_spectrum([np.nan]),
    ]
    for action in bad:
        with pytest.raises(InvalidInput):
            action()


def test_long_curves_are_thinned():
    kept = decimate(10**6)
    assert (kept[0], kept[-1]) == (0, 10**6 - 1)
    assert kept.size <= 1500
    position = np.arange(1.0, 1e4)
    at, low, middle, high = group_extremes(position, np.where(position % 2, 1.0, 3.0))
    assert at.size <= 120
    assert (low.min(), high.max()) == (1.0, 3.0)
    assert (low <= middle).all()
    assert (middle <= high).all()


def test_matplotlib_is_imported_late_and_without_global_state():
    code = (
        "import sys, numpy as np, unipd, unipd.report\n"
        "assert 'matplotlib' not in sys.modules\n"
        "unipd.report.plot_spectrum([1.0])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_curvature_of_other_methods_is_not_called_smoothness():
    problem = unipd.Problem(unipd.sharp.Simplex(9), MATRIX, np.ones(4), unipd.couplings.LeastSquares())
    result = unipd.solve(problem, "corrective", stop=unipd.MaxIterations(3))
    assert len(plot_convergence(result).axes) == 1


def test_errors_of_rounding_do_not_stretch_the_axis(constrained_results):
    saved = constrained_results["unipdgrad"]
    rows = saved.history.table
    rows[-1, COLUMNS.index("infeasibility")] = 1e-17
    figure = plot_convergence(dataclasses.replace(saved, history=History(rows)))
    assert figure.axes[0].get_ylim()[0] == pytest.approx(0.5e-6 * saved.accuracy)


@pytest.mark.parametrize("method", ["auto", "unipdgrad", "accunipdgrad"])
@pytest.mark.parametrize("accuracy", [5e-324, 1e-300, 1e-20, 1e300])
def test_any_accuracy_can_be_drawn(method, accuracy, tmp_path):
    """Accuracies beyond floating point: M_k and the theorem's bound leave the floating range, pictures do not."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 12))
    loss = unipd.Problem(unipd.sharp.Simplex(12), A, A @ rng.dirichlet(np.ones(12)), unipd.couplings.LeastSquares())
    result = unipd.solve(loss, method, accuracy=accuracy, stop=unipd.MaxIterations(5))
    low, high = plot_convergence(result, tmp_path / "a.png").axes[0].get_ylim()
    assert 1e-21 <= low < high < np.inf
    plot_comparison({"one": result}, tmp_path / "b.png")
    write_report({"one": result}, tmp_path / "c.html")


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_spectrum_of_factors_is_that_of_the_matrix(dtype):
    random = np.random.default_rng(0)
    left, right = (
        random.standard_normal((7, 3)).astype(dtype) * (1 + 1j if dtype == np.complex128 else 1) for _ in "ab"
    )
    x = LowRank(left, right, np.array([1.0, -2.0, 0.5]))
    wanted = np.linalg.svd(x.dense(), compute_uv=False)[:3]
    np.testing.assert_allclose(spectrum_of(unipd.Result(unipd.Status.SOLVED, x=x)), wanted, rtol=1e-10)
    np.testing.assert_allclose(spectrum_of(unipd.Result(unipd.Status.SOLVED, x=x.dense()))[:3], wanted, rtol=1e-10)


def test_a_vector_has_no_spectrum():
    with pytest.raises(InvalidInput, match="matrix"):
        spectrum_of(unipd.Result(unipd.Status.SOLVED, x=np.ones(3)))
