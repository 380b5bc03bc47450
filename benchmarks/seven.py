"""The seven ordinary constrained problems on which high accuracy is measured, with their CVXPY models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import unipd
from unipd import couplings, sharp


@dataclass(frozen=True)
class Case:
    """A problem and its CVXPY twin; ``value`` turns the twin's optimal value into ours."""

    name: str
    problem: unipd.Problem
    model: Callable[[], Any]
    value: Callable[[float], float] = float


def seven_problems(scale: int = 1) -> list[Case]:
    """Return the problems: sparse recovery in three forms, two linear programs, a PSD inclusion and MaxCut."""
    return [*_sparse_recovery(scale), *_linear_programs(scale), _psd_inclusion(scale), _maxcut(scale)]


def _sparse_recovery(scale: int) -> list[Case]:
    import cvxpy as cp

    random = np.random.default_rng(1)
    n, p, k = 30 * scale, 100 * scale, 5 * scale
    A = random.standard_normal((n, p)) / np.sqrt(n)
    truth = np.zeros(p)
    truth[random.choice(p, k, replace=False)] = random.standard_normal(k)
    b = A @ truth
    radius = 2.0 * float(np.abs(truth).sum())
    noise = 0.1 * float(np.linalg.norm(b))

    def model(*, tolerance: float | None) -> Any:
        x = cp.Variable(p)
        inclusion = A @ x == b if tolerance is None else cp.norm(A @ x - b) <= tolerance
        return cp.Problem(cp.Minimize(cp.norm1(x)), [inclusion])

    squared = unipd.Problem(sharp.L1NormSquared(p), A, b, "=")
    on_ball = unipd.Problem(sharp.L1NormOnBall(p, radius), A, b, "=")
    noisy = unipd.Problem(sharp.L1NormSquared(p), A, b, couplings.L2Ball(noise))
    return [
        Case("l1 squared, Ax = b", squared, lambda: model(tolerance=None), lambda v: v * v),
        Case("l1 on a ball, Ax = b", on_ball, lambda: model(tolerance=None)),
        Case("l1 squared, |Ax - b| <= kappa", noisy, lambda: model(tolerance=noise), lambda v: v * v),
    ]


def _linear_programs(scale: int) -> list[Case]:
    import cvxpy as cp

    n, p = 20 * scale, 60 * scale
    random = np.random.default_rng(2)
    A, c = random.standard_normal((n, p)), random.standard_normal(p)
    b = A @ random.dirichlet(np.ones(p))
    random = np.random.default_rng(3)
    c_ball, A_ball = random.standard_normal(p), random.standard_normal((n, p))
    b_ball = random.uniform(0.0, 0.3, n)

    def simplex() -> Any:
        x = cp.Variable(p, nonneg=True)
        return cp.Problem(cp.Minimize(c @ x), [A @ x <= b, cp.sum(x) == 1])

    def ball() -> Any:
        x = cp.Variable(p)
        return cp.Problem(cp.Minimize(c_ball @ x), [A_ball @ x <= b_ball, cp.norm1(x) <= 1])

    return [
        Case("simplex, Ax <= b", unipd.Problem(sharp.Linear(c, sharp.Simplex(p)), A, b, "<="), simplex),
        Case("l1 ball, Ax <= b", unipd.Problem(sharp.Linear(c_ball, sharp.L1Ball(p)), A_ball, b_ball, "<="), ball),
    ]


def _psd_inclusion(scale: int) -> Case:
    import cvxpy as cp

    random = np.random.default_rng(4)
    size, p = 8 * scale, 20 * scale
    matrices = random.standard_normal((p, size, size))
    matrices = (matrices + matrices.transpose(0, 2, 1)) / 2
    c = random.standard_normal(p)
    shift = np.tensordot(random.dirichlet(np.ones(p)), matrices, 1) - 0.2 * np.eye(size)
    A = np.ascontiguousarray(matrices.reshape(p, -1).T)

    def model() -> Any:
        x = cp.Variable(p, nonneg=True)
        total = cp.reshape(A @ x, (size, size), order="C")
        return cp.Problem(cp.Minimize(c @ x), [cp.sum(x) == 1, total - shift >> 0])

    problem = unipd.Problem(sharp.Linear(c, sharp.Simplex(p)), A, shift.ravel(), couplings.PSDCone(size))
    return Case("simplex, sum x_i F_i >= F_0", problem, model)


def _maxcut(scale: int) -> Case:
    import cvxpy as cp

    random = np.random.default_rng(5)
    nodes = 30 * scale
    weights = np.triu(random.random((nodes, nodes)) < 0.3, 1).astype(float)
    weights += weights.T
    cost = -(np.diag(weights.sum(1)) - weights) / 4
    entries = unipd.maps.sdp.Entries(np.arange(nodes), np.arange(nodes), np.arange(nodes), np.ones(nodes))
    diagonal = unipd.maps.sdp.SdpMap((nodes, nodes), entries, nodes)

    def model() -> Any:
        x = cp.Variable((nodes, nodes), PSD=True)
        return cp.Problem(cp.Minimize(cp.trace(cost @ x)), [cp.diag(x) == 1])

    oracle = sharp.Linear(cost, sharp.Spectrahedron(nodes, float(nodes)))
    return Case("MaxCut", unipd.Problem(oracle, diagonal, np.ones(nodes), "="), model)
