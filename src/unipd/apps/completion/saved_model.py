"""Completion models in files and pickles: the model, and the ratings from which :meth:`partial_fit` goes on."""

from __future__ import annotations

import os
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.completion.fitted_model import FittedModel, FoldIn, Recommender
from unipd.apps.completion.problem import WarmStart
from unipd.apps.completion.ratings import Index, IndexedRatings, NamedFeatures, align_features
from unipd.errors import FileFormatError, UnipdError
from unipd.io.ratings import Ratings

if TYPE_CHECKING:
    from unipd.apps.completion.model import Fit
    from unipd.run import Result

_NOT_SAVED = ("callback", "verbose")
"""Parameters of an estimator that belong to a session."""


class LoadedModel(Recommender):
    """A model read from a file without its ratings: it predicts and recommends, but cannot be fitted further.

    Parameters
    ----------
    model
        The fitted model.
    result
        Result of the fit.

    See Also
    --------
    load_model, unipd.MatrixCompletion

    Examples
    --------
    >>> import unipd
    >>> estimate = unipd.MatrixCompletion(2.0).fit(([1, 1, 2], [5, 6, 5], [3.0, 4.0, 5.0]))
    >>> model = LoadedModel(estimate._model(), estimate.result_)
    >>> model
    LoadedModel(2 users, 2 items, rank 2)
    >>> bool(model.predict([(2, 6)])[0] == estimate.predict([(2, 6)])[0])
    True
    """

    def __init__(self, model: FittedModel, result: Result) -> None:
        self._publish(model, result)

    def __repr__(self) -> str:
        return f"LoadedModel({len(self.users_)} users, {len(self.items_)} items, rank {self.rank_})"


def model_content(
    model: FittedModel, fit: Fit, parameters: dict[str, Any], features: tuple[Any, Any], folded: Ratings | None
) -> dict[str, Any]:
    """Return a fitted estimator as arrays and numbers, for a file.

    On several processes each has the ratings of its own users alone: then the file has the model without ratings.
    """
    if fit.result.extras["ratings"] != fit.data.values.size:
        return model.arrays()
    sides = zip(features, (fit.data.users, fit.data.items), strict=True)
    return {
        **model.arrays(),
        "estimator": {
            "parameters": _as_plain(parameters),
            "fit": fit_content(fit),
            "features": [_feature_content(given, index) for given, index in sides],
            "folded": None if folded is None else dict(vars(folded)),
        },
    }


def fit_content(fit: Fit) -> dict[str, Any]:
    """Return what a fit has beyond its model and its result, in the smallest types that hold it."""
    data = fit.data
    return {
        "users": data.users.names,
        "items": data.items.names,
        "counts": np.bincount(data.rows, minlength=len(data.users)),
        "columns": data.columns.astype(np.min_scalar_type(len(data.items))),
        "values": _shorten(data.values),
        "radius": fit.radius,
        "path": [list(trial) for trial in fit.path],
        "multiplier": None if fit.start is None else fit.start.multiplier,
    }


def restore_fit(content: dict[str, Any], fitted: FittedModel, result: Result) -> Fit:
    """Return the fit of which :func:`fit_content` is the rest; raise ValueError where parts do not match."""
    from unipd.apps.completion.model import Fit

    users, items = Index(content["users"]), Index(content["items"])
    counts, columns = np.asarray(content["counts"]), np.asarray(content["columns"])
    values = np.asarray(content["values"], np.float64)
    if not _are_places(columns, len(items)) or values.shape != columns.shape or not np.isfinite(values).all():
        raise ValueError("the ratings do not match the items")
    if not _are_places(counts, values.size + 1) or counts.size != len(users) or counts.sum() != values.size:
        raise ValueError("the ratings do not match the users")
    rows = np.repeat(np.arange(len(users)), counts)
    data = IndexedRatings(users, items, rows, columns.astype(np.int64), values)
    multiplier = content["multiplier"]
    return Fit(
        fitted,
        result,
        data,
        float(content["radius"]),
        [(float(radius), float(error)) for radius, error in content["path"]],
        None if multiplier is None else WarmStart(result.x, float(multiplier)),
    )


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` of an estimator or ``unipd complete --out`` wrote; as :func:`unipd.load`.

    Parameters
    ----------
    path
        Path of the file.

    Returns
    -------
    MatrixCompletion or LoadedModel
        The model, fitted; a :class:`LoadedModel` of implicit feedback, and where the file has no ratings.

    See Also
    --------
    LoadedModel, unipd.load

    Examples
    --------
    >>> import tempfile, unipd
    >>> model = unipd.MatrixCompletion(2.0).fit(([1, 1, 2], [5, 6, 5], [3.0, 4.0, 5.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load_model(model.save(f"{folder}/model.npz"))
    >>> bool(loaded.predict([(2, 6)]) == model.predict([(2, 6)])), loaded.recommend(2)[0]
    (True, array([6]))
    """
    from unipd.io.results import load

    return restore_model(load(path), path)


def restore_model(saved: Result, path: str | os.PathLike[str]) -> Any:
    """Return the model in the extras of a result: the estimator, or what predicts where there are no ratings."""
    content: Any = saved.extras.get("completion")
    if not isinstance(content, dict):
        raise FileFormatError(str(path), "not the result of a completion model")
    saved = replace(saved, extras={name: value for name, value in saved.extras.items() if name != "completion"})
    try:
        rest = content.get("estimator")
        model = _restore_fitted({name: value for name, value in content.items() if name != "estimator"})
        loaded = LoadedModel(model, saved) if rest is None else _restore_estimator(rest, model, saved)
    except (UnipdError, AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(str(path), f"not a completion model ({error})") from error
    if not _match_rated_items(model):
        raise FileFormatError(str(path), "the rated items do not match the model")
    return loaded


def _restore_fitted(content: dict[str, Any]) -> FittedModel:
    limits = content["range"]
    converted: dict[str, Any] = {
        "users": Index(content["users"]),
        "items": Index(content["items"]),
        "range": None if limits is None else (float(limits[0]), float(limits[1])),
        **{name: np.asarray(content[name]) for name in ("rated_starts", "rated_columns")},
        "fold": FoldIn.from_arrays(content["fold"]),
    }
    return FittedModel(**{**content, **converted})


def _restore_estimator(content: dict[str, Any], model: FittedModel, saved: Result) -> Any:
    from unipd.apps.completion.estimator import MatrixCompletion
    from unipd.apps.completion.model import check_parameters

    estimator = MatrixCompletion(**content["parameters"])
    check_parameters(estimator)
    features, folded = content["features"], content["folded"]
    estimator.__setstate__(
        {
            "n_features_in_": 2,
            "_fitted": model,
            "result_": saved,
            "fit_": content["fit"],
            "_features": (_restore_features(features[0]), _restore_features(features[1])),
            "_folded": None if folded is None else Ratings(**folded),
        }
    )
    return estimator


def _as_plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that can be saved; a random generator becomes None."""
    plain = {name: value for name, value in parameters.items() if name not in _NOT_SAVED}
    if not isinstance(plain["random_state"], Integral):
        plain["random_state"] = None
    return plain


def _feature_content(features: Any, index: Index) -> dict[str, Any] | None:
    """Return the features of all names of the index (all that have some) as arrays."""
    if features is None:
        return None
    matrix = align_features("features", features, index, complete=False)
    if not sp.issparse(matrix):
        return {"names": index.names, "matrix": matrix}
    sparse = sp.csr_array(matrix)
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr}
    return {"names": index.names, "shape": [int(size) for size in matrix.shape], **parts}


def _restore_features(content: dict[str, Any] | None) -> NamedFeatures | None:
    if content is None:
        return None
    if "matrix" in content:
        return NamedFeatures(content["names"], np.asarray(content["matrix"]))
    matrix = sp.csr_array((content["data"], content["indices"], content["indptr"]), shape=tuple(content["shape"]))
    matrix.check_format()
    return NamedFeatures(content["names"], matrix)


def _shorten(values: Array) -> Array:
    """Return numbers in single precision if that changes none of them: ratings are mostly short."""
    short = values.astype(np.float32)
    return short if np.array_equal(short, values) else values


def _are_places(numbers: Array, count: int) -> bool:
    """Whether a vector has integers from 0 to below a count."""
    return numbers.ndim == 1 and numbers.dtype.kind in "iu" and bool(np.all((numbers >= 0) & (numbers < count)))


def _match_rated_items(model: FittedModel) -> bool:
    """Whether the rated items are those of as many users, and their columns those of items."""
    starts, columns = model.rated_starts, model.rated_columns
    if not (_are_places(starts, columns.size + 1) and _are_places(columns, len(model.items))):
        return False
    fits = starts.size == len(model.users) + 1 and starts[0] == 0 and starts[-1] == columns.size
    return bool(fits and np.all(np.diff(starts) >= 0))
