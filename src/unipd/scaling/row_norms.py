"""The Euclidean norms of the rows of a linear map, where they are cheap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from unipd._typing import FloatArray
from unipd.atoms import apply
from unipd.maps import BlockMap, DenseMatrix, RankOneMeasurements, SparseMatrix, Stacked
from unipd.protocols import LinearMap

FEW_ROWS = 64
"""Rows up to which a map without a matrix is asked row by row."""
SMALL_SQUARE = 400
"""Order up to which the adjoint of a unit vector that is an operator is read by products with all unit vectors."""
_PROBES = 8


def row_norms(linear_map: LinearMap) -> FloatArray | None:
    """Return ||A^* e_i|| for every row i, flat, or None where that would be costly.

    Matrices (also in blocks or stacked) and rank-one measurements give them exactly. Other maps are asked for the
    adjoint of every unit vector when there are few rows; where that is a large operator its Frobenius norm is
    estimated from products with random vectors, which is good enough to choose units.

    >>> row_norms(DenseMatrix(np.array([[3.0, 4.0], [0.0, 2.0]])))
    array([5., 2.])
    """
    if isinstance(linear_map, DenseMatrix):
        return np.sqrt(np.einsum("ij,ij->i", linear_map.matrix, linear_map.matrix.conj()).real.astype(np.float64))
    if isinstance(linear_map, SparseMatrix):
        return _sparse_norms(linear_map.matrix)
    if isinstance(linear_map, RankOneMeasurements):
        return np.asarray(linear_map.lengths, np.float64)
    if isinstance(linear_map, BlockMap):
        return _root_of_sum([row_norms(part) for part in linear_map.maps])
    if isinstance(linear_map, Stacked):
        parts = [row_norms(part) for part in linear_map.maps]
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None
    return _by_units(linear_map) if math.prod(linear_map.codomain) <= FEW_ROWS else None


def _sparse_norms(matrix: Any) -> FloatArray:
    squares = np.zeros(matrix.shape[0])
    np.add.at(squares, matrix.indices, np.abs(matrix.data.astype(np.result_type(matrix.dtype, np.float64))) ** 2)
    return np.sqrt(squares)


def _root_of_sum(parts: list[FloatArray | None]) -> FloatArray | None:
    known = [part for part in parts if part is not None]
    return np.sqrt(sum((part**2 for part in known), np.zeros(()))) if len(known) == len(parts) else None


def _by_units(linear_map: LinearMap) -> FloatArray:
    generator = np.random.default_rng(0)
    norms = np.empty(math.prod(linear_map.codomain))
    for row in range(norms.size):
        unit = np.zeros(linear_map.codomain, linear_map.dtype)
        unit.reshape(-1)[row] = 1.0
        norms[row] = math.sqrt(squared_norm(linear_map.adjoint(unit), generator))
    return norms


def squared_norm(direction: Any, generator: np.random.Generator) -> float:
    """Return the squared Euclidean (Frobenius) norm of an adjoint: array, tuple of blocks or operator."""
    if isinstance(direction, tuple):
        return sum(squared_norm(part, generator) for part in direction)
    if isinstance(direction, np.ndarray):
        return float(np.linalg.norm(direction.reshape(-1))) ** 2
    if scipy.sparse.issparse(direction):
        return float(np.linalg.norm(direction.tocsr().data)) ** 2
    columns = int(direction.shape[1])
    if columns <= SMALL_SQUARE:
        return float(np.linalg.norm(apply(direction, np.eye(columns)))) ** 2
    block = generator.standard_normal((columns, _PROBES))
    return float(np.linalg.norm(apply(direction, block))) ** 2 / _PROBES
