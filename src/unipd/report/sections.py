"""The sections that applications add to the report page: what one consists of, and those of completion and of SDPs.

A builder is a function of the :class:`~unipd.Result` that returns a :class:`Section`, or None where the result is not
its own; :func:`unipd.report.page.report_sections` asks every builder of its ``BUILDERS``, in order. A builder reads the
result only, above all ``result.extras``, so that the page of a saved file shows the same as that of a fresh result:
whatever a section draws, the application puts there (arrays, numbers, strings, and dictionaries and lists of them;
arrays and what contains arrays stay out of tables and JSON). The section of tomography stands with its pictures
(:mod:`unipd.report.tomography`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from unipd._typing import FloatArray
from unipd.apps.completion.saved_model import restore_model
from unipd.atoms import LowRank
from unipd.errors import UnipdError
from unipd.report.pictures import spectrum_of
from unipd.run import Result

COLOURS = ("@run0", "@run1", "@run2", "@run3", "@run4", "@run5", "@run6")
"""Colours that the page replaces by those of its light or dark theme; so are "@ink", "@faint" and "@line"."""
_DIGITS = 7
FEW = 8
"""Values of a spectrum up to which every index is labelled; bars are then no wider than for half as many."""
_ROUNDING = 1e-15
"""Eigenvalues below this share of the largest are rounding."""


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; numbers are formatted by whoever makes the table.

    Parameters
    ----------
    header
        Heads of the columns.
    rows
        Cells, row by row.
    caption
        A line above the table.

    See Also
    --------
    Section, Figure

    Examples
    --------
    >>> Table(("node", "side"), [("0", "+1"), ("1", "-1")]).header
    ('node', 'side')
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A Plotly figure: traces and layout as dictionaries of numbers, strings, lists and arrays.

    Text that comes from data (names of users, items, files) goes through ``html.escape(text, quote=False)``, since
    Plotly reads labels as HTML. Colours are those of :data:`COLOURS`; width, fonts and axis colours are the page's.

    Parameters
    ----------
    title
        Heading of the figure.
    traces
        Plotly's traces.
    layout
        Plotly's layout, where it differs from the page's.
    note
        What is drawn, in a line under the title.
    wide
        Whether the figure takes the whole width of the page.

    See Also
    --------
    Section, Table

    Examples
    --------
    >>> Figure("Spectrum", [{"type": "bar", "y": [3.0, 1.0]}]).wide
    False
    """

    title: str
    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page about one result.

    Parameters
    ----------
    title
        Heading of the section.
    sentences
        Text above tables and figures.
    tables
        Tables, in order.
    figures
        Figures, in order.

    See Also
    --------
    Table, Figure, report_sections

    Examples
    --------
    >>> Section("Cut", ("The cut has weight 12.",)).title
    'Cut'
    """

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


def to_plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, numbers with seven digits, None for what is not finite.

    >>> to_plain({"y": np.array([1.0, np.inf]), "name": "a"})
    {'y': [1.0, None], 'name': 'a'}
    """
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(part) for part in cast("Sequence[Any]", value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value


def spectrum_figure(title: str, spectra: Mapping[str, Any], *, label: str, note: str = "", log: bool = True) -> Figure:
    """Return the figure of eigenvalues or singular values in decreasing order, several sets of them by name."""
    traces: list[dict[str, Any]] = []
    for place, (name, values) in enumerate(spectra.items()):
        ordered = np.sort(np.asarray(values, dtype=np.float64))[::-1]
        floor = _ROUNDING * float(np.abs(ordered).max(initial=0.0))
        shown = np.where(ordered > floor, ordered, np.nan) if log else ordered
        look: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "size": 6 if ordered.size <= 100 else 3}
        traces.append({
            "name": name,
            "x": np.arange(1, ordered.size + 1),
            "y": shown,
            "type": "scatter" if log else "bar",
            "mode": "markers",
            "marker": look,
        })  # fmt: skip
    most = max((len(trace["x"]) for trace in traces), default=0)
    few = {"dtick": 1, "range": [0.4, max(most, FEW // 2) + 0.6]} if most <= FEW else {}
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": "index"}, "tick0": 1, **few},
        "yaxis": {"title": {"text": label}, "type": "log" if log else "linear", "exponentformat": "power"},
        "showlegend": len(spectra) > 1,
    }
    return Figure(title, traces, layout, note)


ERRORS = (("rmse_train", "training"), ("rmse_test", "test"))
"""Root mean squared errors among the extras, and the ratings they belong to."""
MOST_RATINGS = 100_000
"""Ratings at most of which predictions are computed for the page."""
GROUPS = 10
"""Groups of ratings of similar prediction."""
TOP = 10
"""Items in the table of the best rated ones."""
MOST_USERS, ITEMS_EACH = 5, 3
"""Users with recommendations on the page, those with the most ratings, and the items of each."""


def completion_section(result: Result) -> Section | None:
    """Return the section of a completion model; None for other results.

    The model, with its ratings and the radii tried, is in ``extras["completion"]`` of a saved result.
    """
    extras = result.extras
    if not {"users", "items", "rmse_train"} <= set(extras):
        return None
    errors = {name: float(extras[key]) for key, name in ERRORS if extras.get(key) is not None}
    content: Any = extras.get("completion", {})
    figures: list[Figure] = []
    path = np.asarray(content.get("estimator", {}).get("fit", {}).get("path", ()), dtype=np.float64)
    if len(path):
        errors["validation, least on the path of radii"] = float(path[:, 1].min())
        figures.append(_path_figure(path, float(extras["radius"])))
    if "singular_values" in content:
        figures.append(
            spectrum_figure("Singular values", {"model": content["singular_values"]}, label="singular value")
        )
    tables = [Table(("ratings", "RMSE"), [(name, f"{error:.5g}") for name, error in errors.items()])]
    model, faults = _restore(result)
    if {"item_bias", "items", "mean"} <= set(content):
        tables.append(_top_items(content))
    if model is not None:
        pairs = _predict_ratings(model)
        figures += [_calibration_figure(*pairs), _residual_figure(*pairs)]
        tables.append(_recommendations(model, content["rated_starts"]))
    size = f"{extras['users']:,} users, {extras['items']:,} items, {extras.get('ratings', 0):,} ratings."
    return Section("Model", [size, *_describe(extras, model), *faults], tables, figures)


def implicit_section(result: Result) -> Section | None:
    """Return the section of a model of implicit feedback; None for other results."""
    extras, content = result.extras, result.extras.get("completion")
    if content is None or not {"users", "items", "pairs", "penalty"} <= set(extras):
        return None
    size = f"{extras['users']:,} users, {extras['items']:,} items, {extras['pairs']:,} seen pairs."
    try:
        model = restore_model(result, "the result")
    except UnipdError as error:
        return Section("Model", [size, f"Singular values and recommendations are missing: {error}."], [], [])
    matrix = f"The matrix has rank {model.rank_}; the penalty of its nuclear norm is {extras['penalty']:.5g}."
    spectrum = spectrum_figure("Singular values", {"model": model.singular_values_}, label="singular value")
    table = _recommendations(model, content["rated_starts"], "seen items", "score")
    return Section("Model", [size, matrix], [table], [spectrum])


def _describe(extras: Any, model: Any) -> list[str]:
    """Return what the matrix is: its rank, its radius, and whether side information was used."""
    if "radius" not in extras or "rank" not in extras:
        return []
    matrix = f"The matrix has rank {extras['rank']} and lies in a nuclear ball of radius {extras['radius']:.5g}."
    if model is None:
        return [matrix]
    return [matrix, f"Side information was {'used' if model.side_information else 'not used'}."]


def _restore(result: Result) -> tuple[Any, list[str]]:
    """Return the estimator in a result, None where its ratings are not stored, and what is wrong with it."""
    if "estimator" not in result.extras.get("completion", {}):
        return None, []
    try:
        return restore_model(result, "the result"), []
    except UnipdError as error:
        return None, [f"Calibration, residuals and recommendations are missing: {error}."]


def _recommendations(model: Any, rated_starts: Any, known: str = "ratings", scored: str = "predicted") -> Table:
    """Return the best items that the users with the most ratings have not rated."""
    busiest = model.users_[np.argsort(-np.diff(rated_starts), kind="stable")[:MOST_USERS]]
    items, scores = model.recommend(busiest, ITEMS_EACH)
    best = [
        ", ".join(f"{item} ({score:.3g})" for item, score in zip(*row, strict=True) if np.isfinite(score))
        for row in zip(items.tolist(), scores.tolist(), strict=True)
    ]
    rows = [(str(user), text) for user, text in zip(busiest.tolist(), best, strict=True)]
    return Table(("user", f"recommended items ({scored})"), rows, f"For the users with the most {known}")


def _path_figure(path: FloatArray, chosen: float) -> Figure:
    """Return the validation error against the radius."""
    ordered = path[np.argsort(path[:, 0])]
    trace = {"x": ordered[:, 0], "y": ordered[:, 1], "mode": "lines+markers", "line": {"color": COLOURS[0]}}
    mark = {"type": "line", "x0": chosen, "x1": chosen, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "xaxis": {"title": {"text": "radius of the nuclear ball"}, "type": "log"},
        "yaxis": {"title": {"text": "validation RMSE"}},
        "shapes": [{**mark, "line": {"color": "@faint", "dash": "dot"}}],
    }
    return Figure("Choice of the radius", [trace], layout, "the dotted line is the radius chosen")


def _predict_ratings(model: Any) -> tuple[FloatArray, FloatArray]:
    """Return (predictions, ratings) of the training data, or of an even sample."""
    ratings = model.fit_.data.ratings()
    count = len(ratings.values)
    some = np.linspace(0, count - 1, min(count, MOST_RATINGS)).astype(int)
    pairs = np.stack([ratings.users[some], ratings.items[some]], axis=1)
    return np.asarray(model.predict(pairs), np.float64), np.asarray(ratings.values[some], np.float64)


def _calibration_figure(predicted: FloatArray, actual: FloatArray) -> Figure:
    """Return the mean rating of groups of equal size against their mean prediction."""
    groups = [group for group in np.array_split(np.argsort(predicted, kind="stable"), GROUPS) if group.size]
    x, y = (np.array([values[group].mean() for group in groups]) for values in (predicted, actual))
    ends = [float(min(x.min(), y.min())), float(max(x.max(), y.max()))]
    traces = [
        {"x": ends, "y": ends, "mode": "lines", "line": {"color": "@faint", "dash": "dot"}, "hoverinfo": "skip"},
        {"x": x, "y": y, "mode": "markers+lines", "line": {"color": COLOURS[0]}, "marker": {"size": 8}},
    ]
    layout = {
        "xaxis": {"title": {"text": "mean prediction"}},
        "yaxis": {"title": {"text": "mean rating"}},
        "showlegend": False,
    }
    return Figure(
        "Calibration", traces, layout, "ten groups of training ratings by prediction; on the dotted line they agree"
    )


def _residual_figure(predicted: FloatArray, actual: FloatArray) -> Figure:
    """Return the distribution of rating minus prediction."""
    heights, edges = np.histogram(actual - predicted, bins=40)
    bars = {"type": "bar", "x": 0.5 * (edges[1:] + edges[:-1]), "y": heights, "marker": {"color": COLOURS[0]}}
    layout = {
        "xaxis": {"title": {"text": "rating minus prediction"}},
        "yaxis": {"title": {"text": "ratings"}},
        "bargap": 0,
    }
    return Figure("Residuals", [bars], layout, "of the training ratings")


def _top_items(content: Any) -> Table:
    """Return the items that the model rates best for a user without ratings."""
    scores = float(content["mean"]) + np.asarray(content["item_bias"], np.float64)
    best = np.argsort(-scores, kind="stable")[:TOP]
    rows = [(str(np.asarray(content["items"])[place]), f"{scores[place]:.3f}") for place in best]
    return Table(("item", "predicted"), rows, "Best items for a user without ratings")


MEASURES = (
    "||A(X) - b|| / (1 + max |b|)",
    "how far X is from being psd",
    "||C - A*(y) - Z|| / (1 + max |C|)",
    "how far Z is from being psd",
    "gap over 1 + |primal| + |dual|",
    "<X, Z> over 1 + |primal| + |dual|",
)
"""The six error measures of the DIMACS challenge."""


def semidefinite_section(result: Result) -> Section | None:
    """Return the section of a semidefinite program; None for other results."""
    extras = result.extras
    if "dimacs_errors" not in extras:
        return None
    rows = [
        (f"{k}", meaning, f"{error:.2e}")
        for k, (meaning, error) in enumerate(zip(MEASURES, extras["dimacs_errors"], strict=True), 1)
    ]
    sentences: list[str] = []
    if extras.get("trace_bound_reason"):
        size = extras.get("trace_bound")
        known = "of any trace" if size is None else f"of trace at most {size:.6g}"
        sentences.append(f"The bound holds for every feasible X {known}: {extras['trace_bound_reason']}.")
    has_matrix = isinstance(result.x, (np.ndarray, LowRank)) and len(result.x.shape) == 2
    spectra = {"X": spectrum_of(result) if has_matrix else (), "Z": extras.get("slack_eigenvalues", ())}
    spectra = {name: values for name, values in spectra.items() if len(values)}
    note = "at an optimum X Z = 0: the rank of X and that of Z add up to at most the order" if len(spectra) > 1 else ""
    figures = [spectrum_figure("Eigenvalues", spectra, label="eigenvalue", note=note)] if spectra else []
    table = Table(("", "DIMACS error measure", "value"), rows)
    return Section("Semidefinite program", sentences, [table], figures)


def cut_section(result: Result) -> Section | None:
    """Return the section of a cut; None for other results."""
    extras = result.extras
    if not {"cut_value", "sdp_bound", "sides"} <= set(extras):
        return None
    value, bound, sides = float(extras["cut_value"]), float(extras["sdp_bound"]), np.asarray(extras["sides"])
    is_maximum = "ratio" in extras
    larger = int(np.count_nonzero(sides > 0))
    rows = [
        ("nodes, edges", f"{extras.get('nodes', sides.size):,}, {extras.get('edges', 0):,}"),
        ("sides", f"{larger:,} and {sides.size - larger:,} nodes"),
        ("cut found", f"{value:.10g}"),
        ("bound", f"{bound:.10g}"),
    ]
    sentences = [f"No {'cut is larger' if is_maximum else 'bisection is smaller'} than the bound."]
    if is_maximum:
        sentences.append(f"The cut found has at least {100.0 * float(extras['ratio']):.2f} % of the maximum weight.")
    look = {"color": [COLOURS[0], "@faint"]}
    bars = {"type": "bar", "orientation": "h", "y": ["cut found", "bound"], "x": [value, bound], "marker": look}
    layout = {"xaxis": {"title": {"text": "weight"}, "rangemode": "tozero"}, "height": 220}
    return Section("Cut", sentences, [Table(("", ""), rows)], [Figure("Cut and bound", [bars], layout)])
