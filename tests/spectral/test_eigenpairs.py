"""Top eigenpairs against LAPACK: all dtypes, sizes, ranks, degenerate tops, warm starts, counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from spectral.matrices import DTYPES, BlockOperator, CountingOperator, eps_of, hermitian
from unipd.errors import InvalidInput, OracleError
from unipd.spectral import RESIDUAL, RIGOROUS, Engine

LANCZOS = Engine(solver="lanczos")


def spectrum_of(kind: str, size: int, generator: np.random.Generator) -> np.ndarray:
    spread = generator.standard_normal(size)
    shapes = {
        "generic": spread,
        "negative": -1.0 - np.abs(spread),
        "zero": np.zeros(size),
        "rank one": np.r_[1.0, np.zeros(size - 1)],
        "low rank": np.where(np.arange(size) < 3, spread, 0.0),
        "identity": np.full(size, -2.0),
        "double top": np.r_[2.0, 2.0, np.minimum(spread, 1.0)][:size],
        "shifted": 1e3 + spread,
    }
    return shapes[kind]


KINDS = ("generic", "negative", "zero", "rank one", "low rank", "identity", "double top", "shifted")


@settings(max_examples=80)
@given(
    kind=st.sampled_from(KINDS),
    size=st.integers(1, 45),
    dtype=st.sampled_from(DTYPES),
    count=st.integers(1, 4),
    block=st.integers(1, 5),
    seed=st.integers(0, 2**16),
)
def test_matches_lapack(kind: str, size: int, dtype: type, count: int, block: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    matrix = hermitian(spectrum_of(kind, size, generator), dtype, seed)
    count = min(count, size)
    truth = np.linalg.eigvalsh(matrix.astype(np.result_type(dtype, np.float64)))[::-1]
    found = Engine(solver="lanczos", block=block).eigenpairs(matrix, count, tolerance=1e-9)
    scale = max(float(np.abs(truth).max()), 1e-30)
    rounding = 100 * eps_of(dtype) * scale
    assert found.converged
    assert found.right.dtype == dtype
    np.testing.assert_allclose(found.values, truth[:count], rtol=0, atol=1e-9 * scale + rounding)
    residuals = np.linalg.norm(matrix @ found.right - found.right * found.values, axis=0)
    assert np.all(residuals <= found.residuals + rounding)
    gram = found.right.conj().T @ found.right
    np.testing.assert_allclose(gram, np.eye(count), atol=100 * eps_of(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_restarts_reach_the_top(dtype: type) -> None:
    matrix = hermitian(np.linspace(-1.0, 1.0, 300) ** 3, dtype)
    found = Engine(solver="lanczos", subspace=12).eigenpairs(matrix, 3, tolerance=1e-5)
    assert found.converged
    assert found.matvecs > 12
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[::-1][:3], atol=3e-6)


def test_gives_up_within_the_products_allowed() -> None:
    matrix = hermitian(np.linspace(-1.0, 1.0, 300) ** 3)
    found = Engine(solver="lanczos", max_products=15).eigenpairs(matrix, tolerance=1e-12)
    assert not found.converged
    assert found.matvecs <= 15
    assert found.value <= 1.0 + 1e-12
    assert np.linalg.norm(matrix @ found.right[:, 0] - found.value * found.right[:, 0]) <= found.residual + 1e-12


@pytest.mark.parametrize("operator", [CountingOperator, BlockOperator])
@pytest.mark.parametrize("block", [1, 3])
def test_counts_are_the_products_made(operator: type, block: int) -> None:
    counting = operator(hermitian(np.linspace(0.0, 1.0, 120)))
    found = Engine(solver="lanczos", block=block).eigenpairs(counting, 1, tolerance=1e-6)
    assert found.matvecs == counting.products > 0
    small = operator(hermitian(np.linspace(0.0, 1.0, 20)))
    assert Engine().eigenpairs(small).matvecs == small.products == 20


@pytest.mark.parametrize("block", [1, 2, 5])
def test_the_zeros_of_a_low_rank_are_above_what_is_negative(block: int) -> None:
    matrix = hermitian(np.r_[1.0, np.zeros(298), -1.0], seed=7)
    found = Engine(solver="lanczos", block=block).eigenpairs(matrix, 4)
    np.testing.assert_allclose(found.values, [1.0, 0.0, 0.0, 0.0], atol=1e-9)


def test_exact_degeneracy_is_found_by_a_block() -> None:
    spectrum = np.r_[np.full(4, 1.0), np.linspace(-1.0, 0.5, 80)]
    found = LANCZOS.eigenpairs(hermitian(spectrum), 5)
    np.testing.assert_allclose(found.values, np.sort(spectrum)[::-1][:5], atol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("seed", range(4))
def test_a_start_orthogonal_to_the_answer_does_not_trap(tolerance: float, seed: int) -> None:
    spectrum = np.r_[2.0, 1.0, np.linspace(-1.0, 0.9, 398)]
    second = np.eye(400)[:, 1]
    operator = CountingOperator(np.diag(spectrum))
    engine = Engine(solver="lanczos", seed=seed)
    found = engine.eigenpairs(operator, start=second, tolerance=0.1, value_tolerance=tolerance)
    assert found.value == pytest.approx(2.0, abs=2 * tolerance)
    trusting = Engine(solver="lanczos", seed=seed, missed_eigenvalue_guard=None, mix=1e-3)
    trapped = trusting.eigenpairs(operator, start=second, tolerance=0.1, value_tolerance=1e-2)
    assert trapped.value == pytest.approx(1.0, abs=1e-2)


def test_warm_start_saves_products_on_a_perturbed_operator() -> None:
    generator = np.random.default_rng(1)
    matrix = hermitian(np.r_[1.3, np.linspace(-1.0, 1.0, 399)])
    nearby = matrix + 1e-3 * hermitian(generator.standard_normal(400), seed=5)
    engine = Engine(solver="lanczos", missed_eigenvalue_guard=None, mix=1e-3)
    start = engine.eigenpairs(matrix).right
    cold = engine.eigenpairs(nearby, tolerance=1e-3)
    warm = engine.eigenpairs(nearby, start=start, tolerance=1e-3)
    assert warm.matvecs < 0.7 * cold.matvecs
    assert warm.value == pytest.approx(cold.value, abs=1e-5)


def test_value_tolerance_is_met_and_cheaper_than_a_residual_of_that_size() -> None:
    matrix = hermitian(np.r_[1.5, np.linspace(-1.0, 1.0, 499)])
    top = float(np.linalg.eigvalsh(matrix)[-1])
    for tolerance in (1e-2, 1e-4, 1e-6):
        by_value = LANCZOS.eigenpairs(matrix, tolerance=1.0, value_tolerance=tolerance)
        by_residual = LANCZOS.eigenpairs(matrix, tolerance=tolerance, relative=False)
        assert top - by_value.value <= tolerance
        assert by_residual.residual <= tolerance * (1 + 1e-6)
        assert by_value.matvecs <= by_residual.matvecs


def test_value_tolerance_may_depend_on_the_value() -> None:
    seen = []
    matrix = hermitian(np.linspace(0.0, 4.0, 300))
    LANCZOS.eigenpairs(matrix, tolerance=1.0, value_tolerance=lambda top: seen.append(top) or 1e-3)
    assert seen
    assert max(seen) <= 4.0 + 1e-9


def test_same_seed_same_bits_and_another_seed_another_path() -> None:
    matrix = hermitian(np.linspace(-1.0, 1.0, 200))
    first, again = (LANCZOS.eigenpairs(matrix, 2, tolerance=1e-4) for _ in range(2))
    assert np.array_equal(first.right, again.right)
    assert np.array_equal(first.values, again.values)
    other = Engine(solver="lanczos", seed=1).eigenpairs(matrix, 2, tolerance=1e-4)
    assert not np.array_equal(first.right, other.right)


def test_every_form_of_a_matrix_gives_the_same_answer() -> None:
    matrix = hermitian(np.linspace(-1.0, 2.0, 90), np.complex128)
    forms = (matrix, sp.csr_array(matrix), sp.csc_matrix(matrix), aslinearoperator(matrix), CountingOperator(matrix))
    for form in forms:
        assert LANCZOS.eigenpairs(form).value == pytest.approx(2.0, abs=1e-9)
        assert Engine().eigenpairs(form).value == pytest.approx(2.0, abs=1e-9)


def test_small_is_dense_and_rigorous_and_large_is_not() -> None:
    small = Engine().eigenpairs(hermitian(np.linspace(0.0, 1.0, 30)))
    assert (small.bound_kind, small.upper > 1.0 - 1e-12) == (RIGOROUS, True)
    large = Engine().eigenpairs(CountingOperator(hermitian(np.linspace(0.0, 1.0, 100))))
    assert large.bound_kind == RESIDUAL
    assert large.upper == pytest.approx(large.value + large.residual)


def test_real_operator_takes_the_real_part_of_a_complex_start() -> None:
    matrix = hermitian(np.linspace(0.0, 1.0, 100))
    found = LANCZOS.eigenpairs(matrix, start=np.ones(100) * (1 + 1j))
    assert found.right.dtype == np.float64


def test_integers_are_doubles() -> None:
    assert Engine().eigenpairs(np.array([[2, 0], [0, 3]])).value == 3.0


class Broken:
    shape = (100, 100)
    dtype = np.dtype(float)

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def matvec(self, x: np.ndarray) -> object:
        return self.answer


@pytest.mark.parametrize("answer", [np.full(100, np.nan), np.full(100, np.inf), np.ones(7), np.full(100, 1j)])
def test_broken_products_are_reported(answer: np.ndarray) -> None:
    for engine in (Engine(), Engine(solver="dense")):
        with pytest.raises(OracleError):
            engine.eigenpairs(Broken(answer))


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("operator", lambda: Engine().eigenpairs(np.ones((2, 3)))),
        ("operator", lambda: Engine().eigenpairs(np.ones(3))),
        ("operator", lambda: Engine().eigenpairs(np.ones((0, 0)))),
        ("operator", lambda: Engine().eigenpairs("matrix")),
        ("operator", lambda: Engine().eigenpairs(np.array([[np.nan]]))),
        ("operator", lambda: Engine().eigenpairs(np.array([["a"]]))),
        ("operator", lambda: LANCZOS.singular_triples(Broken(np.ones(100)))),
        ("count", lambda: Engine().eigenpairs(np.eye(2), 3)),
        ("count", lambda: Engine().eigenpairs(np.eye(2), 0)),
        ("start", lambda: LANCZOS.eigenpairs(np.eye(3), start=np.ones(4))),
        ("start", lambda: LANCZOS.eigenpairs(np.eye(3), start=np.full(3, np.nan))),
        ("tolerance", lambda: LANCZOS.eigenpairs(np.eye(3), tolerance=-1.0)),
        ("solver", lambda: Engine(solver="magic")),
        ("block", lambda: Engine(block=0)),
        ("mix", lambda: Engine(mix=0.0)),
    ],
)
def test_bad_input_is_named(argument: str, call) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.argument == argument
