"""Distances (tightly) and projections (to solver accuracy) against CVXPY, on every set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unipd.couplings import (
    AtLeast,
    AtMost,
    Box,
    Equality,
    HalfSpace,
    L1Ball,
    L2Ball,
    LInfBall,
    NuclearBall,
    Product,
    PSDCone,
    Scaled,
    SecondOrderCone,
    SpectralBall,
    Translated,
)

cp = pytest.importorskip("cvxpy")

SHIFT = np.array([0.5, -1.0, 0.25])
NORMAL = np.array([1.0, -2.0, 0.5])
LOWER, UPPER = np.array([-0.2, 0.1, -1.0]), np.array([0.3, 0.1, 2.0])


def real(expression: Any) -> Any:
    return cp.real(expression) if expression.is_complex() else expression


CASES: dict[str, tuple[Any, tuple[int, ...], Any]] = {
    "Equality": (Equality(), (3,), lambda r: [r == 0]),
    "AtLeast": (AtLeast(), (3,), lambda r: [r >= 0]),
    "AtMost": (AtMost(), (3,), lambda r: [r <= 0]),
    "Box": (Box(LOWER, UPPER), (3,), lambda r: [r >= LOWER, r <= UPPER]),
    "L1Ball": (L1Ball(1.5), (3,), lambda r: [cp.norm1(r) <= 1.5]),
    "L2Ball": (L2Ball(0.8), (3,), lambda r: [cp.norm(r) <= 0.8]),
    "LInfBall": (LInfBall(0.4), (3,), lambda r: [cp.norm_inf(r) <= 0.4]),
    "HalfSpace": (HalfSpace(NORMAL, -1.0), (3,), lambda r: [real(NORMAL @ r) <= -1.0]),
    "SecondOrderCone": (SecondOrderCone(), (3,), lambda r: [cp.norm(r[1:]) <= r[0]]),
    "NuclearBall": (NuclearBall(1.2, (2, 3)), (2, 3), lambda r: [cp.normNuc(r) <= 1.2]),
    "SpectralBall": (SpectralBall(0.6, (2, 3)), (2, 3), lambda r: [cp.sigma_max(r) <= 0.6]),
    "Product": (
        Product([Equality(), AtMost()], [1, 2]),
        (3,),
        lambda r: [r[0] == 0, r[1:] <= 0],
    ),
    "Translated": (Translated(L1Ball(1.0), SHIFT), (3,), lambda r: [cp.norm1(r - SHIFT) <= 1.0]),
    "Scaled": (Scaled(SecondOrderCone(), 3.0), (3,), lambda r: [cp.norm(r[1:]) <= r[0]]),
}
COMPLEX = ["Equality", "L1Ball", "L2Ball", "LInfBall", "HalfSpace", "NuclearBall", "SpectralBall", "Translated"]


def nearest(vector: np.ndarray, constraints: Any, variable: Any) -> np.ndarray:
    problem = cp.Problem(cp.Minimize(cp.norm(cp.vec(variable - vector, order="C"))), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return np.asarray(variable.value)


@pytest.mark.parametrize(("name", "is_complex"), [(name, False) for name in CASES] + [(name, True) for name in COMPLEX])
def test_projection_matches_a_solver(name: str, is_complex: bool) -> None:
    coupling, shape, constraints = CASES[name]
    rng = np.random.default_rng(7)
    vector = 2.0 * rng.standard_normal(shape)
    if is_complex:
        vector = vector + 2.0j * rng.standard_normal(shape)
    variable = cp.Variable(shape, complex=is_complex)
    expected = nearest(vector, constraints(variable), variable)
    np.testing.assert_allclose(coupling.project(vector), expected, atol=5e-4)
    assert coupling.distance(vector) == pytest.approx(float(np.linalg.norm(vector - expected)), abs=1e-6)


@pytest.mark.parametrize("is_complex", [False, True])
def test_semidefinite_projection_of_a_matrix_that_is_not_symmetric(is_complex: bool) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((3, 3)) + (1j * rng.standard_normal((3, 3)) if is_complex else 0.0)
    variable = cp.Variable((3, 3), hermitian=True) if is_complex else cp.Variable((3, 3), symmetric=True)
    expected = nearest(matrix, [variable >> 0], variable)
    np.testing.assert_allclose(PSDCone(3).project(matrix), expected, atol=5e-4)
    np.testing.assert_allclose(PSDCone(3).project(matrix.reshape(-1)), expected.reshape(-1), atol=5e-4)
