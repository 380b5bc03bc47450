"""Small runs of every method, and their comparison bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unipd
from unipd import Problem, sharp
from unipd.couplings import Equality, L2Ball, LeastSquares
from unipd.maps import DenseMatrix
from unipd.methods import Factored
from unipd.run import COLUMNS
from unipd.run.checkpoint import Packer


def vector_problem(dtype: Any = np.float64) -> Problem:
    """Least squares over the simplex."""
    rng = np.random.default_rng(3)
    return Problem(
        sharp.Simplex(12), rng.standard_normal((8, 12)).astype(dtype), rng.standard_normal(8), LeastSquares()
    )


def constrained_problem(dtype: Any = np.float64) -> Problem:
    """A linear program over the simplex."""
    rng = np.random.default_rng(4)
    A, inside = rng.standard_normal((4, 9)).astype(dtype), rng.dirichlet(np.ones(9))
    return Problem(sharp.Linear(rng.standard_normal(9), sharp.Simplex(9)), A, A @ inside, "=")


def block_problem() -> Problem:
    """Two blocks: a ball and a simplex."""
    rng = np.random.default_rng(5)
    maps = [rng.standard_normal((6, 4)), rng.standard_normal((6, 5))]
    return Problem([sharp.L2Ball(4), sharp.Simplex(5)], maps, rng.standard_normal(6), LeastSquares())


def spectral_problem(dtype: Any = np.float64, coupling: Any = None) -> Problem:
    """A density matrix from noisy linear measurements."""
    rng = np.random.default_rng(6)
    size, count = 5, 14
    A = rng.standard_normal((count, size * size))
    if np.dtype(dtype).kind == "c":
        A = A + 1j * rng.standard_normal(A.shape)
    A = A.astype(dtype)
    half = rng.standard_normal((size, 2))
    target = (half @ half.T / np.sum(half**2)).astype(dtype)
    b = A @ target.reshape(-1)
    b = b + 0.02 * rng.standard_normal(count)
    symmetric = 0.5 * (A.reshape(count, size, size) + A.reshape(count, size, size).conj().transpose(0, 2, 1))
    rows = symmetric.reshape(count, -1)
    made = DenseMatrix(rows, domain=(size, size))
    return Problem(
        sharp.Spectrahedron(size),
        made,
        (rows @ target.reshape(-1) + (b - A @ target.reshape(-1)).real),
        coupling or LeastSquares(),
    )


def nuclear_problem() -> Problem:
    """A matrix in a nuclear ball."""
    rng = np.random.default_rng(7)
    A = DenseMatrix(rng.standard_normal((15, 20)), domain=(4, 5))
    return Problem(sharp.NuclearBall((4, 5), 2.0), A, rng.standard_normal(15), LeastSquares())


def cut_problem() -> Problem:
    """The relaxation of a small MaxCut, diagonal constraints as equalities."""
    rng = np.random.default_rng(8)
    size = 6
    weights = np.triu(rng.random((size, size)), 1)
    laplacian = np.diag((weights + weights.T).sum(axis=0)) - weights - weights.T
    rows = np.stack([np.outer(e, e).reshape(-1) for e in np.eye(size)])
    oracle = sharp.Linear(-0.25 * laplacian, sharp.Spectrahedron(size, trace=float(size)))
    return Problem(oracle, DenseMatrix(rows, domain=(size, size)), np.ones(size), Equality())


def product_problem() -> Problem:
    """A nuclear ball and a quadratic block."""
    rng = np.random.default_rng(9)
    maps = [DenseMatrix(rng.standard_normal((12, 12)), domain=(3, 4)), rng.standard_normal((12, 3))]
    parts = [sharp.NuclearBall((3, 4), 1.0), sharp.L2NormSquared(3, 0.5)]
    return Problem(parts, maps, rng.standard_normal(12), LeastSquares())


def badly_scaled() -> Problem:
    """A linear program whose rows have very different norms."""
    plain = constrained_problem()
    units = 10.0 ** np.arange(4)[::-1]
    return Problem(plain.sharp, units[:, None] * np.asarray(plain.map.matrix), units * plain.b, "=")


def badly_scaled_cut() -> Problem:
    """The relaxation of MaxCut with rows in different units."""
    plain = cut_problem()
    units = 10.0 ** np.arange(6)
    rows = units[:, None] * np.asarray(plain.map.matrix)
    return Problem(plain.sharp, DenseMatrix(rows, domain=(6, 6)), units, Equality())


Case = tuple[Callable[[], Problem], Any, Any]
FIRST_ORDER = ("unipdgrad", "accunipdgrad", "frank-wolfe")


def cases() -> dict[str, Case]:
    """Return problem, method and tracker of every run, by name."""
    found: dict[str, Case] = {}
    for method in FIRST_ORDER:
        for tracker in ("dense", "atoms", "image"):
            found[f"{method}, {tracker}"] = (vector_problem, method, tracker)
            found[f"{method}, {tracker}, blocks"] = (block_problem, method, tracker)
            found[f"{method}, {tracker}, matrix"] = (spectral_problem, method, tracker)
        for tracker in ("lowrank", "sketch"):
            found[f"{method}, {tracker}, matrix"] = (spectral_problem, method, tracker)
            found[f"{method}, {tracker}, rectangular"] = (nuclear_problem, method, tracker)
        found[f"{method}, float32"] = (lambda: vector_problem(np.float32), method, "dense")
        found[f"{method}, complex"] = (lambda: spectral_problem(np.complex128), method, "sketch")
        found[f"{method}, complex64"] = (lambda: spectral_problem(np.complex64), method, "lowrank")
    for method in ("unipdgrad", "accunipdgrad"):
        for weights in ("theory", "greedy"):
            made = {"unipdgrad": unipd.UniPDGrad, "accunipdgrad": unipd.AccUniPDGrad}[method](weights=weights)
            found[f"{method}, {weights}"] = (constrained_problem, made, "dense")
    found["frank-wolfe, open loop"] = (vector_problem, unipd.FrankWolfe(step_size="open-loop"), "atoms")
    for method in ("away-step", "pairwise", "blended-pairwise"):
        found[method] = (vector_problem, method, "auto")
        found[f"{method}, float32"] = (lambda: vector_problem(np.float32), method, "auto")
    for tracker in ("dense", "atoms", "image"):
        found[f"cgal, {tracker}"] = (constrained_problem, "cgal", tracker)
    found["cgal, sketch"] = (cut_problem, "cgal", "sketch")
    found["corrective"] = (vector_problem, "corrective", "auto")
    found["corrective, constrained"] = (constrained_problem, "corrective", "auto")
    found["corrective, matrix"] = (spectral_problem, "corrective", "auto")
    found["rescaling of corrective"] = (badly_scaled, unipd.Rescaling(unipd.Corrective()), "auto")
    found["rescaling of accunipdgrad"] = (badly_scaled, unipd.Rescaling(unipd.AccUniPDGrad()), "atoms")
    found["rescaling of factored"] = (badly_scaled_cut, unipd.Rescaling(Factored(inner_steps=2)), "auto")
    for method in (unipd.UniPDGrad(), unipd.AccUniPDGrad()):
        found[f"restarts of {method.name}"] = (vector_problem, unipd.Restarts(method), "atoms")
    found["accunipdgrad, falling M"] = (vector_problem, unipd.AccUniPDGrad(monotone=False), "dense")
    for tracker in ("lowrank", "sketch"):
        found[f"unipdgrad, {tracker}, product"] = (product_problem, "unipdgrad", tracker)
    found["blended-pairwise, lazy"] = (vector_problem, unipd.BlendedPairwise(lazy=True), "auto")
    found["rescaling for nothing"] = (vector_problem, unipd.Rescaling(unipd.PairwiseFrankWolfe()), "auto")
    found["corrective, blocks"] = (block_problem, "corrective", "auto")
    for name, problem in {
        "matrix": spectral_problem,
        "complex": lambda: spectral_problem(np.complex128),
        "float32": lambda: spectral_problem(np.float32),
        "rectangular": nuclear_problem,
        "product": product_problem,
        "constrained": cut_problem,
        "ball": lambda: spectral_problem(coupling=L2Ball(0.05)),
    }.items():
        found[f"factored, {name}"] = (problem, Factored(inner_steps=2, rank=2), "auto")
    return found


def bits(problem: Problem, state: Any) -> tuple[Any, list[tuple[str, tuple[int, ...], Any, bytes]]]:
    """Return a state as something that is equal only for states with the same bits (and layout of arrays)."""
    packer = Packer(state.shared_objects(problem))
    packed = packer.pack(state)
    return packed, [(a.dtype.str, a.shape, _strides(a), a.tobytes()) for a in packer.arrays.values()]


def _strides(array: Any) -> Any:
    return None if array.size < 2 else [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]


def same_run(one: Any, two: Any) -> None:
    """Assert that two results are of the same run: state, point, history (but for times), counts."""
    assert (one.status, one.iterations, one.counts) == (two.status, two.iterations, two.counts)
    assert (one.objective, one.dual_bound, one.gap) == (two.objective, two.dual_bound, two.gap)
    assert bits(one.problem, one.state) == bits(two.problem, two.state)
    timeless = [name for name in COLUMNS if name not in ("seconds", "cpu_seconds")]
    for name in timeless:
        np.testing.assert_array_equal(one.history[name], two.history[name])
    assert one.image.tobytes() == two.image.tobytes()
