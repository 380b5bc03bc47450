"""Draw the pictures of the front page and of the tutorials: ``python docs/pictures/draw.py [name ...]``.

Each function draws one picture from a computation that takes a few seconds; seeds are fixed. Every picture is written
for light and for dark pages.
"""

from __future__ import annotations

import shutil
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import unipd
from unipd import sharp, theory
from unipd.apps.graphs.theta import theta
from unipd.apps.learning.svm import SupportVectorClassifier
from unipd.apps.tomography import Noise, PauliTomography, simulate
from unipd.io import Graph
from unipd.report import THEMES, pictures
from unipd.report.pictures import Theme
from unipd.report.tomography import draw_city

HERE = Path(__file__).resolve().parent
DPI = 130


def new_figure(width: float, height: float, panels: int = 1) -> tuple[Figure, Any]:
    """Return a figure with panels side by side in the library's style."""
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(1, panels, squeeze=False)[0]


def state(theme: Theme) -> Figure:
    """Draw a GHZ state of four qubits, reconstructed from 500 shots a Pauli basis with readout errors."""
    experiment = simulate("ghz", 4, noise=Noise(shots=500, depolarizing=0.05), seed=3)
    estimate = PauliTomography().fit_data(experiment.data)
    figure = Figure(figsize=(4.0, 3.2))
    axes = figure.add_subplot(projection="3d")
    draw_city(axes, estimate.state_, theme)
    return figure


def power_problem(power: float, rows: int = 5, size: int = 40) -> tuple[unipd.Problem, Any, float, float]:
    """Return min ||x||^q / q subject to A x = b with its dual solution, nu and M_nu: the dual solution comes first."""
    rng = np.random.default_rng(2)
    oracle, A = sharp.EuclideanPower(size, power), rng.standard_normal((rows, size)) / np.sqrt(size)
    dual = rng.standard_normal(rows)
    nu, holder = theory.uniform_convexity_constant(power, 2.0 ** (2.0 - power), float(np.linalg.norm(A, 2)))
    return unipd.Problem(oracle, A, A @ oracle(-A.T @ dual).atom, "="), dual, nu, holder


def run(problem: unipd.Problem, method: Any, iterations: int) -> dict[str, Any]:
    """Return objective, bound and distance from the constraints after each iteration."""
    states = list(islice(unipd.iterate(problem, method), iterations))
    return {
        "objective": np.array([state.certificate.objective for state in states]),
        "bound": np.maximum.accumulate([state.certificate.dual_bound for state in states]),
        "violation": np.array([np.linalg.norm(state.image - problem.b) for state in states]),
    }


def convergence(theme: Theme) -> Figure:
    """Draw certified bounds and infeasibility of the universal methods, with Theorems 4.1 and 4.2."""
    problem, dual, nu, holder = power_problem(3.0)
    optimum = problem.sharp.objective(problem.sharp(-problem.map.matrix.T @ dual).atom)
    eps, iterations = 2e-4, 2000
    m_bar, distance = theory.smoothness_bound(nu, holder, eps), float(np.linalg.norm(dual))
    k = np.arange(1, iterations + 1)
    figure = Figure(figsize=(4.0, 3.2))
    left, right = figure.subplots(2, 1, sharex=True)
    for place, method in enumerate((unipd.UniPDGrad, unipd.AccUniPDGrad)):
        found, colour = run(problem, method(eps=eps), iterations), theme.cycle[place]
        name = method.__name__
        left.semilogx(k, found["objective"], color=colour, linewidth=1.3, label=f"{name}: objective")
        left.semilogx(k, found["bound"], color=colour, linewidth=1.0, linestyle=":", label="certified lower bound")
        is_plain = method is unipd.UniPDGrad
        bound = [
            theory.unipdgrad_feasibility_bound(int(i), m_bar, eps, distance)
            if is_plain
            else theory.accunipdgrad_feasibility_bound(int(i), nu, m_bar, eps, distance)
            for i in k - 1
        ]
        right.loglog(k, found["violation"], color=colour, linewidth=1.3, label=name)
        label = f"Theorem 4.{1 if is_plain else 2}"
        right.loglog(k, bound, color=colour, linewidth=1.0, linestyle="--", label=label)
    left.axhline(optimum, color=theme.faint, linewidth=0.9, linestyle="--", label="optimal value")
    left.set(ylim=(-0.1 * optimum, 1.2 * optimum))
    right.set(xlabel="iteration", ylabel=r"$\Vert A\bar x_k - b\Vert$")
    left.legend(loc="lower right")
    right.legend(loc="lower left")
    return figure


CUT_SECONDS = {1000: 0.4, 4096: 0.4, 16_384: 1.4, 65_536: 5.5, 200_000: 26.5, 1_048_576: 344.1}
"""CPU seconds of certified MaxCut bounds by nodes: the table of random graphs on the page of benchmarks."""


def growth(theme: Theme) -> Figure:
    """Draw the CPU time of certified MaxCut relaxations against the number of nodes."""
    sizes, seconds = list(CUT_SECONDS), list(CUT_SECONDS.values())
    figure, (axes,) = new_figure(4.0, 3.2)
    axes.loglog(
        sizes, seconds, color=theme.cycle[0], marker="o", markersize=4.0, linewidth=1.3, label="certified to 0.1 %"
    )
    line = seconds[1] * np.array(sizes[1:]) / sizes[1]
    axes.loglog(sizes[1:], line, color=theme.faint, linestyle="--", linewidth=0.9, label="linear growth")
    axes.set(xlabel="nodes of the graph (n x n matrices)", ylabel="CPU seconds")
    axes.legend(loc="upper left")
    return figure


def oracles(theme: Theme) -> Figure:
    """Draw a direction and the maximiser that the linear minimization oracle of four sets returns."""
    direction = np.array([1.0, 0.55])
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    rng = np.random.default_rng(4)
    points = rng.standard_normal((12, 2)) * 0.55
    circle = np.stack([np.cos(angles), np.sin(angles)])
    sets = {
        "l1 ball": (sharp.L1Ball(2), np.array([[1, 0, -1, 0, 1], [0, 1, 0, -1, 0]])),
        "l2 ball": (sharp.L2Ball(2), circle),
        "box": (sharp.Box([-0.8, -0.8], [0.8, 0.8]), 0.8 * np.array([[1, 1, -1, -1, 1], [1, -1, -1, 1, 1]])),
        "convex hull": (sharp.ConvexHull(points), points[_hull(points)].T),
    }
    figure, panels = new_figure(7.0, 1.85, 4)
    for axes, (name, (oracle, border)) in zip(panels, sets.items(), strict=True):
        best = np.asarray(unipd.atoms.dense(oracle(direction).atom))
        axes.fill(*border, color=theme.cycle[0], alpha=0.15)
        axes.plot(*border, color=theme.cycle[0], linewidth=1.0)
        normal = np.array([-direction[1], direction[0]])
        axes.plot(*np.stack([best - 2 * normal, best + 2 * normal]).T, color=theme.faint, linewidth=0.8, linestyle="--")
        unit = 0.6 * direction / np.linalg.norm(direction)
        axes.annotate("", unit, (0, 0), arrowprops={"arrowstyle": "->", "color": theme.ink})
        axes.text(*(1.15 * unit), "y", fontsize=8)
        axes.plot(*best, "o", color=theme.cycle[1], markersize=6)
        axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", xticks=[], yticks=[])
        axes.set_title(name, fontsize=8)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure


def _hull(points: Any) -> Any:
    from scipy.spatial import ConvexHull

    corners = ConvexHull(points).vertices
    return np.append(corners, corners[0])


def duality(theme: Theme) -> Figure:
    """Draw the dual function of a problem with one constraint, and the bound that every multiplier proves."""
    cost, row, limit = np.array([1.0, 0.2, -0.6]), np.array([-1.0, 0.3, 1.0]), 0.0
    multipliers = np.linspace(0.0, 2.0, 400)
    bounds = np.array([np.min(cost + lam * row) - lam * limit for lam in multipliers])
    figure, (axes,) = new_figure(4.6, 2.7)
    axes.plot(multipliers, bounds, color=theme.cycle[0], label=r"$-(g + h)(\lambda)$, one oracle call a point")
    axes.axhline(bounds.max(), color=theme.cycle[1], linestyle="--", linewidth=1.0, label=r"optimal value $f^\star$")
    axes.fill_between(multipliers, bounds, bounds.max(), color=theme.cycle[0], alpha=0.12, linewidth=0)
    axes.text(0.08, -0.12, "duality gap", fontsize=7.5)
    axes.set(xlabel=r"multiplier $\lambda$", ylim=(-1.1, 0.45))
    axes.legend(loc="upper right")
    return figure


def methods(theme: Theme) -> Figure:
    """Draw the certified gap of four methods on one least-squares problem against oracle calls."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, 400))
    b = A @ rng.dirichlet(np.full(400, 0.05)) + 0.1 * rng.standard_normal(100)
    problem = unipd.Problem(sharp.Simplex(400), A, b, unipd.couplings.LeastSquares())
    figure, (axes,) = new_figure(4.6, 2.9)
    for place, name in enumerate(("frank-wolfe", "accunipdgrad", "pairwise", "corrective")):
        history = unipd.solve(problem, name, accuracy=1e-9, stop=unipd.MaxOracleCalls(600)).history
        gaps = np.minimum.accumulate(np.maximum(np.abs(history["gap"]), 1e-12))
        look = {"marker": "o", "markersize": 3.0, "markevery": [-1]}
        axes.loglog(history["oracle_calls"], gaps, color=theme.cycle[place], linewidth=1.3, label=name, **look)
    axes.set(xlabel="oracle calls", ylabel="certified relative gap")
    axes.legend(loc="lower left")
    return figure


def accuracy(theme: Theme) -> Figure:
    """Draw how restarts and atoms change the convergence of the accelerated method."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 100))
    problem = unipd.Problem(sharp.L2NormSquared(100), A, A @ rng.standard_normal(100), "<=")
    figure, (axes,) = new_figure(4.6, 2.9)
    runs: dict[str, dict[str, Any]] = {
        "accunipdgrad": {},
        "with restarts": {"restart": True},
        "with continuation": {"continuation": True},
    }
    for place, (label, options) in enumerate(runs.items()):
        result = unipd.solve(problem, "accunipdgrad", accuracy=1e-8, stop=unipd.MaxIterations(3000), **options)
        _draw_error(axes, result, theme.cycle[place], label)
    _draw_error(axes, unipd.solve(problem, "corrective", accuracy=1e-9), theme.cycle[3], "corrective")
    axes.set(xlabel="iteration", ylabel="larger of gap and infeasibility", xscale="log", yscale="log")
    axes.legend(loc="lower left")
    return figure


def _draw_error(axes: Any, result: unipd.Result, colour: str, label: str) -> None:
    history = result.history
    error = np.minimum.accumulate(np.maximum(np.abs(history["gap"]), history["infeasibility"]))
    look = {"marker": "o", "markersize": 3.0, "markevery": [-1]}
    axes.plot(history["iteration"], np.maximum(error, 1e-13), color=colour, linewidth=1.3, label=label, **look)


def memory(theme: Theme) -> Figure:
    """Draw the forecast memory of matrix completion with four trackers against the number of columns."""
    figure, (axes,) = new_figure(4.6, 2.9)
    sizes = np.geomspace(300, 300_000, 7).astype(int)
    for place, tracker in enumerate(("dense", "atoms", "lowrank", "image")):
        needed = [_forecast(int(size), tracker) for size in sizes]
        axes.loglog(sizes, needed, color=theme.cycle[place], linewidth=1.3, marker="o", markersize=2.5, label=tracker)
    axes.set(xlabel="rows and columns of the matrix (20 entries known a row)", ylabel="bytes")
    axes.legend(loc="upper left")
    return figure


def _forecast(size: int, tracker: str) -> float:
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, size, (2, 20 * size))
    ball = sharp.NuclearBall((size, size), 1.0)
    sampled = unipd.maps.Sampling(rows, columns, (size, size))
    problem = unipd.Problem(ball, sampled, np.zeros(rows.size), unipd.couplings.LeastSquares())
    return float(unipd.memory.forecast(problem, tracker).total)


def radius(theme: Theme) -> Figure:
    """Draw the validation error of a completion model along its path of radii, and its singular values."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((200, 3)), rng.standard_normal((100, 3))
    users, items = np.divmod(rng.choice(20_000, 4000, replace=False), 100)
    values = (left[users] * right[items]).sum(axis=1) + 0.5 * rng.standard_normal(4000)
    model = unipd.MatrixCompletion().fit((users, items, values))
    figure, (one, two) = new_figure(7.0, 2.7, 2)
    path = np.array(sorted(model.path_))
    one.plot(path[:, 0], path[:, 1], color=theme.cycle[0], marker="o", markersize=4.0)
    one.axvline(model.radius_, color=theme.faint, linestyle="--", linewidth=0.9, label="chosen")
    one.set(xlabel="radius of the nuclear ball", ylabel="validation RMSE")
    one.legend(loc="upper center")
    spectrum = model.arrays()["singular_values"]
    two.semilogy(np.arange(1, spectrum.size + 1), spectrum, "o", color=theme.cycle[0], markersize=3.0)
    two.set(xlabel="index", ylabel="singular value of the model", xlim=(0.0, 40.0))
    return figure


def complementarity(theme: Theme) -> Figure:
    """Draw the eigenvalues of X and Z of a theta program: their product vanishes at a solution."""
    rng = np.random.default_rng(1)
    ends = np.array([(i, j) for i in range(30) for j in range(i) if rng.random() < 0.3]).T
    result = theta(Graph.of(30, *ends, np.ones(ends.shape[1])), accuracy=1e-8)
    primal = np.zeros(30)
    weights = np.linalg.svd(result.x.left * np.sqrt(result.x.weights), compute_uv=False)[:30] ** 2
    primal[: weights.size] = weights
    dual = np.sort(result.extras["slack_eigenvalues"])
    figure, (axes,) = new_figure(4.6, 2.7)
    index = np.arange(1, 31)
    axes.semilogy(index, np.maximum(primal, 1e-12), "o", color=theme.cycle[0], markersize=4.0, label="eigenvalues of X")
    axes.semilogy(index, np.maximum(dual, 1e-12), "s", color=theme.cycle[1], markersize=4.0, label="eigenvalues of Z")
    axes.set(xlabel="index", ylim=(1e-13, 100.0))
    axes.legend(loc="center right")
    return figure


def margins(theme: Theme) -> Figure:
    """Draw the boundary of a nu-SVM and its support vectors."""
    rng = np.random.default_rng(3)
    points = rng.standard_normal((80, 2)) + np.repeat([[-1.6, 0.0], [1.6, 0.4]], 40, axis=0)
    labels = np.repeat([-1, 1], 40)
    model = SupportVectorClassifier(nu=0.3).fit(points, labels)
    figure, (axes,) = new_figure(4.2, 3.0)
    x, y = np.meshgrid(np.linspace(-5, 5, 200), np.linspace(-3.5, 3.5, 150))
    score = model.decision_function(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
    axes.contour(x, y, score, [0.0], colors=[theme.ink], linewidths=1.2)
    for place, label in enumerate((-1, 1)):
        axes.plot(*points[labels == label].T, "o", color=theme.cycle[place], markersize=4.0)
    axes.plot(*points[model.support_].T, "o", markersize=8.0, markerfacecolor="none", markeredgecolor=theme.faint)
    axes.set(xlim=(-5, 5), ylim=(-3.5, 3.5), xticks=[], yticks=[])
    axes.grid(visible=False)
    return figure


PICTURES = (
    *(state, convergence, growth),
    *(oracles, duality, methods, accuracy, memory),
    *(radius, complementarity, margins),
)


def photograph_report(theme: str) -> None:
    """Write a picture of a report page, by Chromium through Playwright."""
    from playwright.sync_api import sync_playwright

    experiment = simulate("ghz", 3, noise=Noise(shots=300, depolarizing=0.1), seed=1)
    result = PauliTomography(method="accunipdgrad", accuracy=1e-4).fit_data(experiment.data).result_
    with TemporaryDirectory() as folder, sync_playwright() as steering:
        page_file = unipd.report.write_report({"AccUniPDGrad": result}, Path(folder) / "page.html", title="A GHZ state")
        place = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
        browser = steering.chromium.launch(executable_path=place, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1420}, color_scheme=theme)
        page.goto(page_file.as_uri())
        page.wait_for_timeout(3000)
        page.evaluate("document.getElementById('convergence').scrollIntoView()")
        page.wait_for_timeout(500)
        page.screenshot(path=HERE / f"report-{theme}.png")
        browser.close()


def main(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    for draw in PICTURES:
        if not names or draw.__name__ in names:
            for name in THEMES:
                with pictures.style_sheet(name) as theme:
                    draw(theme).savefig(HERE / f"{draw.__name__}-{name}.png", dpi=DPI, metadata={"Software": None})
    if not names or "report" in names:
        for name in THEMES:
            photograph_report(name)


if __name__ == "__main__":
    main(sys.argv[1:])
