"""The engine's way to one top singular triple of an operator that does Golub-Kahan steps by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array
from unipd.spectral.brief import Brief
from unipd.spectral.dense import always_dense
from unipd.spectral.golub_kahan import taken_over
from unipd.spectral.products import Products
from unipd.spectral.results import RESIDUAL, SingularTriples
from unipd.spectral.start import random_columns
from unipd.spectral.stopping import Stop
from unipd.spectral.transposed import Transposed

if TYPE_CHECKING:
    from unipd.spectral.engine import Engine

_DOUBLE = np.dtype(np.float64)


def does_steps(engine: Engine, operator: Any) -> bool:
    """Whether the engine leaves single-vector steps to the operator."""
    if not getattr(operator, "sweeps", False) or engine.block not in (None, 1):
        return False
    small = engine.solver == "auto" and always_dense(operator.shape, engine.operator_limit)
    return engine.solver in ("auto", "lanczos") and not small


def brief_triple(engine: Engine, operator: Any, start: Any, stop: Stop, varies: bool) -> SingularTriples | None:
    """Return the top singular triple, or None for a start that :func:`~unipd.spectral.start.starting_block` must judge.

    ``varies`` tells that the error allowed depends on the top value.
    """
    wide = operator.shape[0] < operator.shape[1]
    rows, dtype = min(operator.shape), operator.dtype
    random = random_columns(rows, 1, _DOUBLE, engine.seed)[:, 0]
    first = random.astype(dtype) if start is None else _vector(start[0 if wide else 1], rows, dtype)
    if first is None:
        return None
    limits, precision = engine.limits(1, 1), 8.0 * float(np.finfo(dtype).eps)
    run = Brief(operator, wide, limits.subspace)
    found = run.triple(
        (first, random),
        0.0 if start is None else engine.mix,
        limits.products,
        stop.goals(None if varies else 0.0, precision),
        stop.value if varies else None,
    )
    if run.unfit:
        return None
    if found is not None:
        value, residual, made, converged = found[0], found[1] + precision * found[0], run.made, True
        others, vectors = found[2][:, np.newaxis], found[3][:, np.newaxis]
        values, residuals = np.array([value]), np.array([residual])
    else:
        products = Products(operator)
        products.count = run.made
        ritz = taken_over(run, Transposed(products) if wide else products, stop, limits, engine.seed + 1)
        values, vectors, others, residuals = ritz.values, ritz.vectors, ritz.left, ritz.residuals
        made, converged = products.count, ritz.converged
        value, residual = float(values[0]), float(residuals[0])
    left, right = (vectors, others) if wide else (others, vectors)
    return SingularTriples(values, left, right, residuals, made, value + residual, RESIDUAL, converged, "lanczos")


def _vector(start: Any, rows: int, dtype: np.dtype[Any]) -> Array | None:
    """Return a copy of the first of the starting vectors, or None where they are not columns of real numbers."""
    fits = isinstance(start, np.ndarray) and start.ndim == 2 and start.shape[0] == rows and start.shape[1] > 0
    return np.array(start[:, 0], dtype) if fits and start.dtype.kind == "f" else None
