"""Partial reorthogonalisation: predicted loss of orthogonality, storage, and accuracy of the answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import StepByStep, bands_of, eps_of, sampled_operator
from unipd.maps import Sampling, golub_kahan_partial_steps
from unipd.spectral import (
    RESIDUAL,
    Bidiagonal,
    CompiledBidiagonalization,
    Engine,
    Stop,
    Triples,
    engine,
    orthonormalize_rows,
    update_left_omega,
    update_right_omega,
)

LANCZOS = Engine(solver="lanczos")
NEVER = Stop().goals(0.0)
"""Goals that no run reaches."""


def steep(rows: int, columns: int, decay: float, dtype=np.float64, seed: int = 0):
    """Return a full matrix, as sampled values, whose singular values fall by a factor each: they converge soon."""
    generator = np.random.default_rng(seed)
    left, right = (np.linalg.qr(generator.standard_normal((size, columns)))[0] for size in (rows, columns))
    dense = (left * np.maximum(decay ** np.arange(columns), 1e-3 * generator.random(columns))) @ right.T
    pattern = Sampling(*np.divmod(np.arange(rows * columns), columns), (rows, columns), dtype)
    return pattern.adjoint(dense.astype(dtype).reshape(-1))


def golub_kahan_run(matrix, steps: int, sign: float = 1.0, halts: tuple[int, ...] = ()):
    """Return bases and small matrix of a run of this many steps, interrupted and continued now and then."""
    rows, columns = matrix.shape
    bases = np.zeros((steps, rows), matrix.dtype), np.zeros((steps + 1, columns), matrix.dtype)
    small = np.zeros((4, steps + 1))
    bases[1][0] = 1.0 / np.sqrt(columns)
    first, pattern = 0, matrix.pattern
    for last in (*halts, steps):
        counts = golub_kahan_partial_steps(
            pattern.structure, matrix.values, pattern.transposed, sign, bases, small, first, last, NEVER.copy()
        )
        assert counts[:2] == (last - first, 2 * (last - first))
        first = last
    return bases, np.diag(small[0]) + np.diag(small[1, :steps], 1)


def departure(basis) -> float:
    return float(np.abs(basis @ basis.T - np.eye(len(basis))).max())


@settings(max_examples=40)
@given(size=st.integers(1, 9), seed=st.integers(0, 999))
def test_levels_are_what_the_steps_say_of_vectors_that_are_not_orthogonal(size, seed) -> None:
    """Vectors made by the recurrence without any rounding to speak of, from bases that are far from orthogonal."""
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((12, 10))
    small = np.diag(generator.uniform(0.5, 1.0, size + 1)) + np.diag(generator.uniform(0.5, 1.0, size), 1)
    right, left = [generator.standard_normal(10)], []
    kept = np.ones((4, size + 2))
    kept[:2, :size], levels = bands_of(small, size), kept[2:]
    right[0] /= np.linalg.norm(right[0])
    for k in range(size):  # any coefficients make vectors that satisfy the steps
        before = small[k - 1, k] * left[k - 1] if k > 0 else 0.0
        left.append((matrix @ right[k] - before) / small[k, k])
        right.append((matrix.T @ left[k] - small[k, k] * right[k]) / small[k, k + 1])
    for k in range(size):
        levels[0, : k + 1] = [right[k] @ right[j] for j in range(k + 1)]
        levels[1, :k] = [left[k - 1] @ left[j] for j in range(k)]
        worst = update_left_omega(kept, k, 0.0)
        truth = [left[k] @ left[j] for j in range(k)]
        np.testing.assert_allclose(levels[1, :k], truth, rtol=1e-8, atol=1e-8 * np.abs(truth).max(initial=1.0))
        assert worst == np.abs(levels[1, :k]).max(initial=0.0)
        assert levels[1, k] == 1.0
        levels[1, k] = left[k] @ left[k]
        worst = update_right_omega(kept, k, 0.0)
        truth = [right[k + 1] @ right[j] for j in range(k + 1)]
        np.testing.assert_allclose(levels[0, : k + 1], truth, rtol=1e-8, atol=1e-8 * np.abs(truth).max())
        assert worst == np.abs(levels[0, : k + 1]).max()
        assert levels[0, k + 1] == 1.0


def test_rounding_counts_against_the_vectors() -> None:
    small = np.array([[2.0, 2.0, 2.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1e-3, -1e-3, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    update_left_omega(small, 2, 0.5)
    np.testing.assert_allclose(small[3, :2], [(2e-3 - 1e-3 + 0.5) / 2, (-2e-3 - 0.5) / 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("halts", [(), (7, 20)])
@pytest.mark.parametrize("decay", [0.5, 0.9])
def test_bases_stay_semiorthogonal_and_the_small_matrix_is_that_of_orthonormal_ones(dtype, sign, halts, decay) -> None:
    """Ritz values converge one after the other, so that orthogonality would be lost altogether."""
    matrix = steep(90, 60, decay, dtype)
    dense, steps = sign * matrix.toarray().astype(np.float64), 40
    (left, right), projected = golub_kahan_run(matrix, steps, sign, halts)
    assert max(departure(left), departure(right)) <= 10 * np.sqrt(eps_of(dtype))
    accuracy, values = 100 * eps_of(dtype), np.linalg.svd(dense, compute_uv=False)
    small = projected[:steps, :steps]
    assert (np.diag(small) > 0.0).all()
    found = np.linalg.svd(small, compute_uv=False)
    np.testing.assert_allclose(found[:3], values[:3], atol=accuracy)
    assert np.all(found <= values[:steps] + accuracy)
    outer, _, inner = np.linalg.svd(small)
    u, v = outer[:, 0] @ left, inner[0] @ right[:steps]
    assert np.linalg.norm(dense @ v - found[0] * u) <= accuracy
    assert np.linalg.norm(dense.T @ u - found[0] * v) <= accuracy + abs(projected[steps - 1, steps] * outer[-1, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bases_made_orthonormal_hold_the_relations(dtype: type) -> None:
    """What a restart takes over: M V = U B and M^* U = V B^* + beta q e^*, all of them orthonormal."""
    matrix = steep(90, 60, 0.6, dtype)
    steps = 30
    (left, right), projected = golub_kahan_run(matrix, steps)
    before = departure(left)
    orthonormalize_rows(left, steps)
    orthonormalize_rows(right, steps + 1)
    accuracy, dense = 100 * eps_of(dtype), matrix.toarray().astype(np.float64)
    assert max(departure(left), departure(right)) <= 30 * eps_of(dtype)
    assert dtype is np.float32 or before > 30 * eps_of(dtype)  # there was something to do
    small = projected[:steps, :]
    np.testing.assert_allclose(dense @ right[:steps].T, left.T @ small[:, :steps], atol=accuracy)
    np.testing.assert_allclose(dense.T @ left.T, right.T @ small.T, atol=accuracy)


@settings(max_examples=30)
@given(
    shape=st.sampled_from([(300, 220), (220, 300), (200, 200)]),
    dtype=st.sampled_from([np.float32, np.float64]),
    opposite=st.booleans(),
    depends=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_runs_to_the_last_digit(shape, dtype, opposite, depends, seed) -> None:
    """One run without a restart, which takes no more products than one with; the answer is that of LAPACK."""
    matrix = sampled_operator(*shape, 9000, dtype, seed)
    direction = matrix.negative() if opposite else matrix
    accuracy = 1e-12 if dtype is np.float64 else 1e-6
    options = {"value_tolerance": (lambda top: accuracy * top) if depends else 0.0, "tolerance": 1e-1}
    found = LANCZOS.singular_triples(direction, **options)
    assert found.converged
    assert found.matvecs > 26
    assert found.matvecs <= LANCZOS.singular_triples(StepByStep(matrix), **options).matvecs + 12
    dense = (-1.0 if opposite else 1.0) * matrix.toarray().astype(np.float64)
    assert found.value == pytest.approx(float(np.linalg.norm(dense, 2)), rel=20 * accuracy)
    rounding = 100 * eps_of(dtype) * found.value
    assert np.linalg.norm(dense @ found.right - found.value * found.left) <= found.residual + rounding
    assert np.linalg.norm(dense.T @ found.left - found.value * found.right) <= found.residual + rounding


def test_long_vectors_take_no_more_room_than_before() -> None:
    """Many rows with few entries each: the steps before a restart are those that a small share of memory holds."""
    rows = np.arange(0, 200_000, 2)
    matrix = Sampling(rows, rows % 100_000, (200_000, 100_000)).adjoint(np.cos(rows.astype(float)))
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledBidiagonalization, "triple", lambda self, *_: made.append(self.bases))
        patch.setattr(engine, "continue_run", lambda *_: Triples(*np.zeros((4, 1)), 0, RESIDUAL, False))
        LANCZOS.singular_triples(matrix, tolerance=0.9)
    assert [len(basis) for basis in made[0]] == [81, 81]


@pytest.mark.parametrize("opposite", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_runs_end_in_short_restarts(dtype, opposite) -> None:
    """A run that has used up its steps continues with few orthonormal vectors, and converges to the top."""
    matrix = sampled_operator(400, 300, 9000, dtype, 3)
    direction = matrix.negative() if opposite else matrix
    made_by = Engine(solver="lanczos", seed=91)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_MOST_STEPS", 16)
        patch.setattr(engine, "_SUBSPACE", 8)
        sizes = []
        patch.setattr(Bidiagonal, "restart", noting(sizes))
        found = made_by.singular_triples(direction, tolerance=10 * eps_of(dtype))
    assert found.converged
    assert sizes[0] == 16
    assert max(sizes[1:]) <= 9
    dense = (-1.0 if opposite else 1.0) * matrix.toarray().astype(np.float64)
    assert found.value == pytest.approx(float(np.linalg.norm(dense, 2)), rel=100 * eps_of(dtype))
    rounding = 100 * eps_of(dtype) * found.value
    assert np.linalg.norm(dense @ found.right - found.value * found.left) <= found.residual + rounding
    assert np.linalg.norm(dense.T @ found.left - found.value * found.right) <= found.residual + rounding


def noting(sizes: list[int]):
    original = Bidiagonal.restart

    def restart(run, *factors) -> None:
        sizes.append(run.known)
        original(run, *factors)

    return restart


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("seed", range(4))
def test_residuals_are_no_larger_than_claimed(dtype, tolerance: float, seed: int) -> None:
    """Close top values make a run lose its orthogonality before it is done; what is taken from vectors is not in B."""
    generator = np.random.default_rng(seed)
    values = np.concatenate([[1.0, 1.0 - 1e-3, 1.0 - 2e-3], np.linspace(0.9, 0.01, 57)])
    left, right = (np.linalg.qr(generator.standard_normal((size, 60)))[0] for size in (90, 60))
    matrix = Sampling(*np.divmod(np.arange(5400), 60), (90, 60), dtype).adjoint(
        ((left * values) @ right.T).astype(dtype).reshape(-1)
    )
    found = Engine(solver="lanczos").singular_triples(matrix, tolerance=tolerance)
    dense, u, v = (array.astype(np.float64) for array in (matrix.toarray(), found.left, found.right))
    for rest in (dense @ v - found.value * u, dense.T @ u - found.value * v):
        assert np.linalg.norm(rest) <= found.residual
