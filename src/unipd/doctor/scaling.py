"""Advice on scaling: rows of A of very different size slow first-order methods down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.doctor.probes import random_array
from unipd.doctor.report import FAIL, NOTE, PASS, Check
from unipd.problem import Problem

ROWS = 32
SPREAD = 1e3
_PRODUCTS = 4


def check_scaling(problem: Problem, *, seed: int = 0, rows: int = ROWS) -> Check:
    """Compare the norms ||A^* e_i|| of rows of A (at most ``rows`` of them, drawn at random) with each other and b.

    Where A^* lam is an operator, its Frobenius norm is estimated from products with random vectors.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.diag([1.0, 1e-5]), [0.5, 0.5], "=")
    >>> check_scaling(problem).outcome
    'note'
    """
    generator = np.random.default_rng(seed)
    count = math.prod(problem.dual_shape)
    chosen = generator.choice(count, size=min(rows, count), replace=False)
    norms = np.array([row_norm(problem, int(row), generator) for row in chosen])
    for row, size in zip(chosen, norms, strict=True):
        if size == 0.0 and problem.loss is None and not _allows_zero_row(problem, int(row)):
            return Check("scaling", FAIL, f"row {row} of A is zero but its b = {problem.b.flat[row]:.3g}: infeasible")
    present = norms[norms > 0.0]
    if present.size == 0:
        return Check("scaling", NOTE, "every row of A that was looked at is zero")
    spread = float(present.max() / present.min())
    text = f"||row|| from {present.min():.2g} to {present.max():.2g} ({norms.size} rows), ||b|| = {problem.norm_b:.2g}"
    if spread > SPREAD:
        advice = "divide each row of A, and its b, by its norm" if problem.loss is None else "rescale the data"
        return Check("scaling", NOTE, f"{text}: {advice}")
    return Check("scaling", PASS, text)


def row_norm(problem: Problem, row: int, generator: np.random.Generator) -> float:
    """Return ||A^* e_i||, exactly for arrays and estimated for operators."""
    unit = np.zeros(problem.dual_shape, problem.dtype)
    unit.reshape(-1)[row] = 1.0
    return math.sqrt(_squared_norm(problem.map.adjoint(unit), generator))


def _squared_norm(direction: Any, generator: np.random.Generator) -> float:
    if isinstance(direction, tuple):
        return sum(_squared_norm(part, generator) for part in direction)
    if isinstance(direction, np.ndarray):
        return float(np.linalg.norm(direction.reshape(-1))) ** 2
    dtype = direction.dtype if getattr(direction, "dtype", None) is not None else np.float64
    block: Array = random_array(generator, (direction.shape[1], _PRODUCTS), dtype)
    spread = 2.0 if block.dtype.kind == "c" else 1.0
    return float(np.linalg.norm(atoms.apply(direction, block))) ** 2 / (_PRODUCTS * spread)


def _allows_zero_row(problem: Problem, row: int) -> bool:
    """Whether 0 - b_i alone keeps the inclusion possible: the residual that is -b_i there and free elsewhere."""
    residual = np.zeros(problem.dual_shape, problem.dtype)
    residual.reshape(-1)[row] = -problem.b.reshape(-1)[row]
    moved = residual - problem.coupling.prox(residual, 1.0)
    return abs(moved.reshape(-1)[row]) <= 1e-9 * max(1.0, problem.norm_b)
