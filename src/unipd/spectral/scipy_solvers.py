"""SciPy's ARPACK, LOBPCG and PROPACK behind the same answers, as alternatives and as twins in tests.

What they say of convergence is not trusted: residual norms are computed from products.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.spectral.basis import length_of
from unipd.spectral.goal import Goal
from unipd.spectral.products import Multiplier, Products
from unipd.spectral.results import RESIDUAL, EigenPairs, SingularTriples
from unipd.spectral.start import starting_block
from unipd.spectral.transposed import Gram

if TYPE_CHECKING:
    from unipd.spectral.engine import Engine


def scipy_eigenpairs(engine: Engine, products: Products, count: int, start: Any, goal: Goal) -> EigenPairs | None:
    """Return SciPy's top eigenpairs, or None where it cannot answer (zero or tiny operators) or misses the tolerance.

    The tolerance is SciPy's own: relative to the eigenvalue for ARPACK, to the size of a random product for LOBPCG.
    """
    rows = products.shape[0]
    first = starting_block(start, rows, count, products.dtype, engine.seed, engine.mix)
    size = length_of(products.forward(first[:, :1])[:, 0])
    if 5 * count >= rows or size == 0.0:
        return None
    tolerance = goal.share_of(size)
    try:
        vectors = (_arpack if engine.solver == "arpack" else _lobpcg)(products, count, first, tolerance, engine)
    except _FAILURES:
        return None
    vectors, _ = np.linalg.qr(vectors.astype(products.dtype))
    images = products.forward(vectors)
    values, rotation = np.linalg.eigh(_doubled(vectors).conj().T @ _doubled(images))
    rotation = rotation[:, ::-1].astype(products.dtype)
    vectors, images, values = vectors @ rotation, images @ rotation, values[::-1].copy()
    residuals = _lengths(images - vectors * values.astype(np.finfo(products.dtype).dtype))
    if not _good(residuals, max(size, float(np.abs(values).max())), goal, products):
        return None
    upper = float(values[0] + residuals[0])
    return EigenPairs(values, vectors, residuals, products.count, upper, RESIDUAL, True, engine.solver)


def scipy_singular_triples(
    engine: Engine, products: Products, count: int, start: Any, goal: Goal
) -> SingularTriples | None:
    """Return SciPy's top singular triples, or None as above; LOBPCG runs on the Gram matrix."""
    rows, columns = products.shape
    if 5 * count >= min(rows, columns):
        return None
    side = 0 if engine.solver == "propack" or rows < columns else 1
    given = None if start is None else start[side]
    first = starting_block(given, products.shape[side], count, products.dtype, engine.seed, engine.mix)
    size = length_of((products.adjoint if side == 0 else products.forward)(first[:, :1])[:, 0])
    if size == 0.0:
        return None
    tolerance = goal.share_of(size)
    try:
        if engine.solver == "lobpcg":
            vectors = _lobpcg(Gram(products), count, first, tolerance, engine)
        else:
            vectors = _svds(products, count, first[:, 0], tolerance, engine, side)
    except _FAILURES:
        return None
    vectors = vectors.astype(products.dtype)
    found = _rayleigh_ritz(products, vectors if side == 0 else products.forward(vectors), engine.solver)
    return found if _good(found.residuals, max(size, found.value), goal, products) else None


def _good(residuals: FloatArray, size: float, goal: Goal, products: Products) -> bool:
    """Whether all residual norms are within what was asked for, or within rounding."""
    allowed = max(goal.share_of(size), _ROUNDING * float(np.finfo(products.dtype).eps)) * size
    return bool(np.all(residuals <= allowed))


_ROUNDING = 64.0
"""Units of rounding that residual norms from products of their own have."""
_FAILURES = (ArithmeticError, RuntimeError, ValueError, np.linalg.LinAlgError)


def _rayleigh_ritz(products: Products, left: Array, solver: str) -> SingularTriples:
    """Return the best triples with left vectors in a given span: M^* U = V S W^*."""
    left, _ = np.linalg.qr(left)
    right, values, rotation = np.linalg.svd(products.adjoint(left), full_matrices=False)
    left = left @ rotation.conj().T
    residuals = _lengths(products.forward(right) - left * values)
    doubles = values.astype(np.float64)
    upper = float(doubles[0] + residuals[0])
    return SingularTriples(doubles, left, right, residuals, products.count, upper, RESIDUAL, True, solver)


def _arpack(products: Products, count: int, first: Array, tolerance: float, engine: Engine) -> Array:
    steps = max(1, engine.max_products // max(2 * count + 1, 20))
    return _scipy().eigsh(_as_linear(products), count, which="LA", v0=first[:, 0], tol=tolerance, maxiter=steps)[1]


def _svds(products: Products, count: int, first: Array, tolerance: float, engine: Engine, side: int) -> Array:
    steps = min(*products.shape, 20 * count + 200) if engine.solver == "propack" else engine.max_products
    left, _, right = _scipy().svds(
        _as_linear(products), count, tol=tolerance, v0=first, maxiter=steps, solver=engine.solver
    )
    return left if side == 0 else right.conj().T


def _lobpcg(products: Multiplier, count: int, first: Array, tolerance: float, engine: Engine) -> Array:
    goal = tolerance * float(np.linalg.norm(products.forward(first[:, :1])))
    steps = max(1, min(engine.max_products // count, 200))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _scipy().lobpcg(_as_linear(products), first, tol=goal, maxiter=steps, largest=True)[1]


def _as_linear(products: Multiplier) -> Any:
    return _scipy().LinearOperator(
        shape=products.shape,
        dtype=products.dtype,
        matvec=lambda x: products.forward(_column(x))[:, 0],
        rmatvec=lambda x: products.adjoint(_column(x))[:, 0],
        matmat=products.forward,
        rmatmat=products.adjoint,
    )


def _scipy() -> Any:
    import scipy.sparse.linalg

    return scipy.sparse.linalg


def _column(vector: Array) -> Array:
    return np.asarray(vector).reshape(-1, 1)


def _doubled(array: Array) -> Array:
    return array.astype(np.result_type(array.dtype, np.float64))


def _lengths(columns: Array) -> Array:
    return np.linalg.norm(columns, axis=0).astype(np.float64)
