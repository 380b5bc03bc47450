"""Phase retrieval: the FFT map against dense matrices, and signals recovered."""

import numpy as np
import pytest

from unipd.apps.phase_retrieval import retrieve
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.maps import CodedDiffraction, RankOneMeasurements


def signal(size, seed=0):
    generator = np.random.default_rng(seed)
    return generator.standard_normal(size) + 1j * generator.standard_normal(size)


def lift(x):
    return LowRank(x[:, None], x[:, None], np.ones(1))


def test_map_is_that_of_the_dense_fourier_matrix():
    generator = np.random.default_rng(1)
    codes = generator.standard_normal((3, 5)) + 1j * generator.standard_normal((3, 5))
    patterns = CodedDiffraction(codes)
    fourier = np.fft.fft(np.eye(5), norm="ortho")
    rows = np.concatenate([fourier @ np.diag(code) for code in codes])
    root = generator.standard_normal((5, 5)) + 1j * generator.standard_normal((5, 5))
    x = root @ root.conj().T
    expected = np.einsum("ki,ij,kj->k", rows, x, rows.conj()).real
    np.testing.assert_allclose(patterns.image(x), expected, rtol=1e-10)
    np.testing.assert_allclose(patterns.image(LowRank(root, root, np.ones(5))), expected, rtol=1e-10)
    dual = generator.standard_normal(15)
    dense = rows.conj().T @ np.diag(dual) @ rows
    operator = patterns.adjoint(dual)
    np.testing.assert_allclose(operator.matmat(np.eye(5)), dense, atol=1e-12)
    np.testing.assert_allclose(operator.matvec(x[:, 0]), dense @ x[:, 0], atol=1e-12)


def test_coded_diffraction_recovers_the_signal():
    x = signal(32)
    patterns = CodedDiffraction.random(32, 8, seed=2)
    found = retrieve(patterns, patterns.image(lift(x)), accuracy=1e-12)
    assert found.relative_residual <= 1e-5
    assert abs(np.vdot(found.signal, x)) >= (1 - 1e-5) * np.linalg.norm(x) ** 2


def test_gaussian_measurements_with_a_bound_of_the_energy():
    x = signal(8, 3)
    generator = np.random.default_rng(4)
    rows = generator.standard_normal((64, 8)) + 1j * generator.standard_normal((64, 8))
    y = RankOneMeasurements(rows).image(lift(x))
    found = retrieve(RankOneMeasurements(rows), y, energy=2.0 * np.linalg.norm(x) ** 2, accuracy=1e-11)
    assert abs(np.vdot(found.signal, x)) >= (1 - 1e-3) * np.linalg.norm(x) ** 2


def test_bad_data():
    patterns = CodedDiffraction.random(4, 2)
    for bad in (np.zeros(8), -np.ones(8), np.ones(3), np.full(8, np.nan)):
        with pytest.raises(InvalidInput):
            retrieve(patterns, bad)
    with pytest.raises(InvalidInput):
        retrieve(RankOneMeasurements(np.ones((3, 2))), np.ones(3))
