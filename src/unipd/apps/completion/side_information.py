"""Side information: features of users and items, and the factor L = [D^(-1/2), g F] of X = L_u Z L_v^T."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.apps.completion.ratings import Index, as_floats, as_names
from unipd.atoms import apply, apply_adjoint
from unipd.errors import InvalidInput
from unipd.maps import Sampling
from unipd.maps.base import MatrixOperator
from unipd.spectral import Engine

LEADING = 10
"""Leading eigenvectors of the features that the preconditioner treats exactly."""
_ROWS = "rows of numbers, all of one length"
Step = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class NamedFeatures:
    """Features read from a file: row k of the matrix, dense or sparse, belongs to the k-th name."""

    names: Array
    matrix: Any


def align_features(argument: str, features: Any, index: Index, *, complete: bool = True) -> Any:
    """Return the features as a matrix with one row per name of the index; rows of names without features are zero.

    Parameters
    ----------
    argument
        Name of the argument in error messages.
    features
        ``{name: numbers}``, a DataFrame indexed by name, or a matrix (dense or sparse) whose row k belongs to the
        name k.
    index
        The names.
    complete
        Whether a matrix must have a row for every name.

    Raises
    ------
    InvalidInput
        Unless the features are finite numbers in rows of one length, at most one row for every name; if a matrix lacks
        a row (``complete``), or names are strings and the features have none.

    See Also
    --------
    Index, unipd.MatrixCompletion

    Examples
    --------
    >>> align_features("user_features", {7: [1.0, 2.0]}, Index([7, 9]))
    array([[1., 2.],
           [0., 0.]])
    """
    names, matrix = _named_rows(argument, features)
    if not _has_names(features):
        if index.names.dtype.kind == "U":
            raise InvalidInput(argument, "a DataFrame or a dictionary when names are strings", type(features).__name__)
        if complete and len(index) and matrix.shape[0] <= index.names[-1]:
            expected = f"a row for every name from 0 to {index.names[-1]} (a dictionary may leave some out)"
            raise InvalidInput(argument, expected, f"{matrix.shape[0]} rows")
    known = Index(names)
    if len(known) < names.size:
        raise InvalidInput(argument, "one row for every name", f"{names.size} rows for {len(known)} names")
    order = np.argsort(names, kind="stable")
    position = known.positions(index.names)
    rows = order[np.maximum(position, 0)]
    present = (position >= 0).astype(np.float64)
    if sp.issparse(matrix):
        return sp.diags_array(present) @ matrix[rows]
    return present[:, np.newaxis] * matrix[rows].astype(np.float64)


def feature_names(argument: str, features: Any) -> Array | None:
    """Return the names that have features, rated or not; of a matrix those of its nonzero rows.

    >>> feature_names("item_features", np.array([[0.0, 0.0], [1.0, 0.0]]))
    array([1])
    """
    if features is None:
        return None
    names, matrix = _named_rows(argument, features)
    return names if _has_names(features) else names[np.asarray(abs(matrix).sum(axis=1)).ravel() > 0]


def _has_names(features: Any) -> bool:
    return isinstance(features, (Mapping, NamedFeatures)) or hasattr(features, "iloc")


def _named_rows(argument: str, features: Any) -> tuple[Array, Any]:
    """Return the names and the rows of features."""
    matrix: Any
    if isinstance(features, Mapping):
        names, matrix = as_names(argument, list(features)), as_floats(argument, list(features.values()), _ROWS)
    elif isinstance(features, NamedFeatures):
        names, matrix = as_names(argument, features.names), features.matrix
    elif hasattr(features, "iloc"):
        names, matrix = as_names(argument, features.index), as_floats(argument, features.to_numpy(), _ROWS)
    else:
        matrix = sp.csr_array(features) if sp.issparse(features) else np.asarray(features)
        names = np.arange(matrix.shape[0] if matrix.ndim == 2 else 0)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInput(argument, "a row of numbers for every name", f"shape {matrix.shape}")
    validate.real_array(argument, matrix.data if sp.issparse(matrix) else matrix)
    return names, matrix


class SideFactor(MatrixOperator):
    """The factor L = [diag(scales), F] of one side: ||Z||_* constrains X through L L^T = D^(-1) + F F^T.

    Any L with the same L L^T gives the same set of matrices X. This one is sparse when F is, so that a product costs
    as much as one with the ratings; a user's row of X is its own row plus a mixture of the rows of its features.

    Parameters
    ----------
    scales
        Diagonal of D^(-1/2).
    features
        F, an array or a SciPy sparse array, or None.

    Examples
    --------
    >>> side = SideFactor(np.array([1.0, 2.0]), sp.csr_array(np.array([[3.0], [0.0]])))
    >>> side.matmat(np.eye(3))
    array([[1., 0., 3.],
           [0., 2., 0.]])
    """

    def __init__(self, scales: FloatArray, features: Any = None) -> None:
        self.scales, self.features = scales, features
        self._products: Any = _as_sampled_matrix(features) if sp.issparse(features) else features
        width = 0 if features is None else features.shape[1]
        super().__init__((scales.size, scales.size + width), scales.dtype)

    @property
    def is_diagonal(self) -> bool:
        """Whether L has no features."""
        return self.features is None

    def matmat(self, x: Array) -> Array:
        """Return L X."""
        rows = self.shape[0]
        out = self.scales[:, np.newaxis] * x[:rows]
        if self.features is not None:
            out += apply(self._products, x[rows:])
        return out

    def rmatmat(self, x: Array) -> Array:
        """Return L^T X."""
        own = self.scales[:, np.newaxis] * x
        if self.features is None:
            return own
        return np.concatenate([own, apply_adjoint(self._products, x)], axis=0)

    def gram_diagonal(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of L^T diag(weights) L."""
        own = self.scales**2 * weights
        if self.features is None:
            return own
        return np.concatenate([own, (self.features**2).T @ weights])

    def leading(self, weights: FloatArray, count: int) -> tuple[FloatArray, Array] | None:
        """Return the leading eigenpairs of L^T diag(weights) L; None when it is diagonal."""
        count = min(count, *self.shape)
        if self.features is None or count == 0:
            return None
        roots = np.sqrt(weights)
        scaled = SideFactor(roots * self.scales, sp.diags_array(roots) @ self.features)
        triples = Engine().singular_triples(scaled, count, tolerance=1e-2)
        return triples.values**2, np.ascontiguousarray(triples.right)


class SideCurvature:
    """Curvature of (c/2) sum over ratings of (<u_i, v_j> - r)^2 in the factor P of one side, u = (L P)_i.

    With the other side fixed it is c L^T (sum over j rated by i of v_j v_j^T)_i L. The inner sums are close to
    n_i W, where n_i counts the ratings of i and W is the mean of v_j v_j^T over all ratings, which leaves the
    Kronecker product of C = c L^T diag(n) L and W. C is approximated by its diagonal and its leading eigenvectors:
    features shared by many users make these far larger than the diagonal.

    Parameters
    ----------
    side
        L.
    counts
        n, the number of ratings in each row.
    scale
        c.
    """

    def __init__(self, side: SideFactor, counts: FloatArray, scale: float = 1.0) -> None:
        self.side = side
        self._shares = np.sqrt(counts / counts.sum())[:, np.newaxis].astype(side.dtype, copy=False)
        self.gram_diagonal = scale * side.gram_diagonal(counts)
        self.leading = side.leading(scale * counts, LEADING)

    def mean(self, factor: Array) -> FloatArray:
        """Return the mean over the ratings of u_i u_i^T for the factor P, u = (L P)_i: the other side's W."""
        rows = self.side.matmat(factor) * self._shares
        return rows.T @ rows

    def inverse(self, mean: FloatArray, floor: float) -> Step:
        """Return B -> (C x W + floor)^(-1) B for the other side's W: positive definite and symmetric."""
        sizes, rotation = np.linalg.eigh(mean)
        sizes = np.maximum(sizes, 0.0)
        scales = (1.0 / (self.gram_diagonal[:, np.newaxis] * sizes + floor)).astype(mean.dtype, copy=False)
        if self.leading is None:
            return lambda block: ((block @ rotation) * scales) @ rotation.T
        values, vectors = self.leading
        heads = (1.0 / (values[:, np.newaxis] * sizes + floor)).astype(mean.dtype, copy=False)

        def solve(block: Array) -> Array:
            turned = block @ rotation
            head = vectors.T @ turned
            turned -= vectors @ head
            turned *= scales
            turned += vectors @ (heads * head - vectors.T @ turned)
            return turned @ rotation.T

        return solve


def _as_sampled_matrix(features: Any) -> Any:
    """Wrap a sparse matrix with the sampling kernels, which are multithreaded and faster than SciPy's products."""
    if features.nnz == 0:
        return features
    entries = features.tocoo()
    return Sampling(entries.row, entries.col, features.shape).adjoint(entries.data)
