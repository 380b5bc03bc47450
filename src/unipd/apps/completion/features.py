"""Features of users and items, brought into the order of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.completion.indexing import Index, as_names
from unipd.errors import InvalidInput


def aligned(argument: str, features: Any, index: Index, *, complete: bool = True) -> Any:
    """Return a matrix with the features of every name of the index, one a row; names without any have zeros.

    Parameters
    ----------
    argument
        Name for complaints.
    features
        ``{name: numbers}``, a DataFrame whose index has the names, or a matrix (sparse or not) whose row k belongs to
        the name k.
    index
        The names.
    complete
        Whether a matrix must have a row for every name.

    Examples
    --------
    >>> aligned("user_features", {7: [1.0, 2.0]}, Index([7, 9]))
    array([[1., 2.],
           [0., 0.]])
    """
    if isinstance(features, Mapping):
        names, matrix = as_names(argument, list(features)), _numbers(argument, list(features.values()))
    elif hasattr(features, "index") and hasattr(features, "to_numpy"):
        names, matrix = as_names(argument, features.index), _numbers(argument, features.to_numpy())
    else:
        matrix = features.tocsr() if sp.issparse(features) else np.asarray(features)
        names = np.arange(matrix.shape[0] if matrix.ndim == 2 else 0)
        if index.names.dtype.kind == "U":
            raise InvalidInput(argument, "a DataFrame or a dictionary where names are texts", type(features).__name__)
        if complete and matrix.ndim == 2 and matrix.shape[0] <= index.names[-1]:
            expected = f"a row for every name from 0 to {index.names[-1]} (a dictionary may leave some out)"
            raise InvalidInput(argument, expected, f"{matrix.shape[0]} rows")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInput(argument, "a row of numbers for every name", f"shape {matrix.shape}")
    validate.real_array(argument, matrix.data if sp.issparse(matrix) else matrix)
    known = Index(names)
    if len(known) < names.size:
        raise InvalidInput(argument, "one row for every name", f"{names.size} rows for {len(known)} names")
    order = np.argsort(names, kind="stable")
    found = known.places(index.names)
    rows = order[np.maximum(found, 0)]
    present = (found >= 0).astype(np.float64)
    if sp.issparse(matrix):
        return sp.diags_array(present) @ matrix[rows]
    return present[:, np.newaxis] * matrix[rows].astype(np.float64)


def _numbers(argument: str, rows: Any) -> FloatArray:
    try:
        return np.array(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(argument, "rows of numbers, all of one length", str(error)) from error
