"""Matrix completion: errors, the path of radii, singular values, calibration, residuals and the top items."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd.apps.completion.saved_model import restore_model
from unipd.errors import UnipdError
from unipd.report.sections.base import COLOURS, Figure, Section, Table, spectrum_figure
from unipd.run import Result

ERRORS = (("rmse_train", "training"), ("rmse_test", "test"))
"""Root mean squared errors among the extras, and the ratings they belong to."""
MOST_RATINGS = 100_000
"""Ratings at most of which predictions are computed for the page."""
GROUPS = 10
"""Groups of ratings of similar prediction."""
TOP = 10
"""Items in the table of the best rated ones."""
MOST_USERS, FEW = 5, 3
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
        errors["validation, at the radius chosen"] = float(path[:, 1].min())
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
        tables.append(_recommendations(model))
    size = f"{extras['users']:,} users, {extras['items']:,} items, {extras.get('ratings', 0):,} ratings."
    return Section("Model", [size, *_describe(extras, model), *faults], tables, figures)


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


def _recommendations(model: Any) -> Table:
    """Return the best items that the users with the most ratings have not rated."""
    counts = np.bincount(model.fit_.data.rows, minlength=len(model.users_))
    busiest = model.users_[np.argsort(-counts, kind="stable")[:MOST_USERS]]
    items, scores = model.recommend(busiest, FEW)
    best = [
        ", ".join(f"{item} ({score:.3g})" for item, score in zip(*row, strict=True) if np.isfinite(score))
        for row in zip(items.tolist(), scores.tolist(), strict=True)
    ]
    rows = [(str(user), text) for user, text in zip(busiest.tolist(), best, strict=True)]
    return Table(("user", "recommended items (predicted)"), rows, "For the users with the most ratings")


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
