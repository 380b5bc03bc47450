"""Rigorous bounds of long matrices: from the Gram matrix of the shorter side, never from an array of their shape."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from spectral.matrices import CountingOperator
from unipd import Problem, maps, memory
from unipd.errors import OracleError
from unipd.sharp import GroupNuclearBall, Linear, NuclearBall, WeightedNuclearBall
from unipd.spectral import PROBABILISTIC, RIGOROUS, Certification, gram_norm_upper

SHAPE = (500, 200_000)
SAMPLES = 20_000


def sampling(shape=SHAPE, samples=SAMPLES):
    rng = np.random.default_rng(0)
    return maps.Sampling(*(rng.integers(0, side, samples) for side in shape), shape)


def sampled_operator(shape=SHAPE, samples=SAMPLES):
    return sampling(shape, samples).adjoint(np.random.default_rng(1).standard_normal(samples))


def peak_of(call):
    tracemalloc.start()
    try:
        found = call()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("transposed", [False, True])
def test_no_array_of_the_shape_is_formed(transposed: bool) -> None:
    matrix = sampled_operator().tocsr()
    upper, peak = peak_of(lambda: gram_norm_upper(matrix.T if transposed else matrix))
    assert peak < 16e6
    truth = float(svds(matrix, 1, tol=1e-13, return_singular_vectors=False)[0])
    assert truth * (1.0 - 1e-14) <= upper <= truth * (1.0 + 1e-9)


def test_an_array_is_not_copied() -> None:
    matrix = np.random.default_rng(0).standard_normal((20, 400_000)).astype(np.float32)
    upper, peak = peak_of(lambda: gram_norm_upper(matrix))
    assert peak < 0.5 * matrix.nbytes
    truth = float(np.linalg.norm(matrix.astype(np.float64), 2))
    assert truth * (1.0 - 1e-14) <= upper <= truth * (1.0 + 1e-8)


@pytest.mark.parametrize(
    "ball",
    [
        NuclearBall(SHAPE),
        WeightedNuclearBall(np.ones(SHAPE[0]), np.ones(SHAPE[1])),
        GroupNuclearBall(SHAPE, [np.arange(SHAPE[1] - 5), np.arange(SHAPE[1] - 5, SHAPE[1])]),
    ],
    ids=["nuclear", "weighted", "groups"],
)
def test_the_final_certificate_of_a_sampled_matrix_is_rigorous_and_small(ball) -> None:
    direction = sampled_operator()
    answer, peak = peak_of(lambda: ball.call_certified(direction))
    assert answer.bound_kind == RIGOROUS
    assert answer.error <= 1e-8 * answer.value
    assert peak < 0.3 * 8 * SHAPE[0] * SHAPE[1]  # most of it is room of the run itself, which is not touched


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("density", [0.002, 0.2])
def test_sparse_products_and_dense_blocks_agree(dtype, density) -> None:
    """The few entries are multiplied as they are, the many in blocks of columns, of which there are two."""
    rng = np.random.default_rng(3)
    shape = (30, 20_000)
    numbers = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    numbers = numbers if np.dtype(dtype).kind == "c" else numbers.real
    entries = (numbers * (rng.random(shape) < density)).astype(dtype)
    truth = float(np.linalg.norm(entries.astype(np.complex128), 2))
    rounding = 2.0 * (shape[1] + 4) * np.finfo(float).eps * (float(np.linalg.norm(entries)) / truth) ** 2
    for matrix in (sp.csr_array(entries), sp.coo_matrix(entries), sp.csc_array(entries).T, entries):
        assert truth * (1.0 - 1e-14) <= gram_norm_upper(matrix) <= truth * (1.0 + 1e-12 + 1.001 * rounding)


def test_entries_given_twice_are_added_first() -> None:
    twice = sp.csr_array((np.array([1e9, 3.0, -1e9]), np.array([0, 0, 0]), np.array([0, 3, 3])), shape=(2, 4))
    assert 3.0 <= gram_norm_upper(twice) < 3.0 + 1e-9
    assert twice.nnz == 3


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_tiny_and_huge_entries(scale, form) -> None:
    matrix = np.random.default_rng(5).standard_normal((6, 9))
    truth = float(np.linalg.norm((matrix * scale) * (1.0 / scale if scale > 1e-310 else 1.0), 2))
    upper = gram_norm_upper(form(matrix * scale))
    assert upper >= truth * (scale if scale > 1e-310 else 1.0) * (1.0 - 1e-14)
    assert upper <= float(np.linalg.norm(matrix, 2)) * scale * (1.0 + (1e-9 if scale > 1e-310 else 1e-2))


def test_a_norm_beyond_the_doubles_is_refused() -> None:
    with pytest.raises(OracleError, match="range"):
        gram_norm_upper(np.full((3, 9), 1.5e308))


class Wide(CountingOperator):
    """One row repeated, so that the operator has no entries at hand and takes no memory."""

    def __init__(self, shape) -> None:
        self.shape, self.dtype, self.products = shape, np.dtype(np.float64), 0

    def matvec(self, x):
        self.products += 1
        return np.full(self.shape[0], x.sum())

    def rmatvec(self, x):
        self.products += 1
        return np.full(self.shape[1], x.sum())


def test_operators_without_entries_are_made_dense_only_when_small() -> None:
    for shape, kind in (((80, 1000), RIGOROUS), ((80, 2000), PROBABILISTIC)):
        ball = NuclearBall(shape, certification=Certification(dense_limit=100))
        ball.call_certified(Wide(shape))  # modules that the first call imports are not counted
        answer, peak = peak_of(lambda ball=ball, shape=shape: ball.call_certified(Wide(shape)))
        assert answer.bound_kind == kind
        assert answer.value + answer.error >= np.sqrt(shape[0] * shape[1]) * (1.0 - 1e-14)
        assert answer.error <= 1e-6 * answer.value
        assert kind == RIGOROUS or peak < 8 * shape[0] * shape[1]
    asked = NuclearBall((80, 2000), certify=RIGOROUS, certification=Certification(dense_limit=100))
    assert asked.call_certified(Wide((80, 2000))).bound_kind == RIGOROUS


def test_the_forecast_knows_of_the_certificate() -> None:
    def certificate(problem):
        return memory.forecast(problem, "image").certificate

    problem = Problem(NuclearBall(SHAPE), sampling(), np.ones(SAMPLES), "=")
    matrix = sampled_operator().tocsr()
    _, peak = peak_of(lambda: gram_norm_upper(matrix))
    assert peak <= certificate(problem) < 20e6
    assert memory.forecast(problem, "image").total >= certificate(problem)
    small = (80, 1000)
    known = Problem(NuclearBall(small), sampling(small, 50), np.ones(50), "=")
    cost = Problem(Linear(np.ones(small), NuclearBall(small)), sampling(small, 50), np.ones(50), "=")
    assert certificate(cost) >= certificate(known) + 8 * small[0] * small[1]
    assert certificate(Problem(NuclearBall((1501, 2000)), sampling((1501, 2000), 9), np.ones(9), "=")) == 0
