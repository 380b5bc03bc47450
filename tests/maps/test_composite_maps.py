"""Rank-one measurements, inner products, compositions and two-sided maps, beyond the tests of the registry."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from unipd.atoms import LowRank, apply_adjoint
from unipd.errors import InvalidInput
from unipd.maps import (
    BlockMap,
    Composed,
    DenseMatrix,
    Entries,
    Identity,
    InnerProducts,
    OperatorSum,
    RankOneMeasurements,
    SampledMatrix,
    Sampling,
    SdpMap,
    Stacked,
    TwoSidedMap,
    frobenius_bound,
)
from unipd.protocols import is_user_supplied


@pytest.mark.parametrize(
    ("dtype", "real"), [("float32", "float32"), ("complex64", "float32"), ("complex128", "float64")]
)
def test_images_of_complex_measurements_are_real(dtype, real):
    left = np.ones((3, 2), dtype)
    assert RankOneMeasurements(left).dtype == real
    assert RankOneMeasurements(left).adjoint(np.ones(3, real)).matvec(np.ones(2, dtype)).dtype == dtype
    assert InnerProducts(np.ones((2, 3, 3), dtype)).image(np.ones((3, 3), dtype)).dtype == real


def test_hermitian_measurements_of_hermitian_factors_are_nonnegative():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((6, 4)) + 1j * rng.standard_normal((6, 4))
    factor = rng.standard_normal((4, 2)) + 1j * rng.standard_normal((4, 2))
    image = RankOneMeasurements(vectors).image(LowRank(factor, factor, np.ones(2)))
    np.testing.assert_allclose(image, np.sum(np.abs(vectors.conj() @ factor) ** 2, axis=1))


def test_sparse_inner_products_stay_sparse():
    parts = [sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(3, 4)), sp.csr_array(np.eye(3, 4))]
    products = InnerProducts(parts)
    adjoint = products.adjoint(np.array([1.0, 10.0]))
    assert isinstance(adjoint, SampledMatrix)
    assert adjoint.values.size == 4
    np.testing.assert_array_equal(adjoint.toarray(), 3 * np.eye(3, 4, 1) * [[1], [0], [0]] + 10 * np.eye(3, 4))
    assert products.nbytes > 0
    assert InnerProducts(np.ones((2, 3, 4))).nbytes == 192


@pytest.mark.parametrize(
    "matrices",
    [
        [],
        np.ones((2, 2)),
        np.ones((0, 2, 2)),
        np.full((1, 2, 2), np.nan),
        [sp.eye_array(2), sp.eye_array(3)],
        [sp.csr_array((2, 2))],
        [sp.csr_array(np.array([[np.inf]]))],
        [sp.eye_array(2), "x"],
    ],
    ids=range(8),
)
def test_bad_inner_products(matrices):
    with pytest.raises(InvalidInput, match=r"^matrices"):
        InnerProducts(matrices)


def test_bad_rank_one_measurements():
    for left, right in [(np.ones(3), None), (np.ones((0, 3)), None), (np.ones((2, 3)), np.ones((3, 3)))]:
        with pytest.raises(InvalidInput):
            RankOneMeasurements(left, right)
    with pytest.raises(InvalidInput, match="nan at index"):
        RankOneMeasurements([[np.nan]])
    measurements = RankOneMeasurements(np.ones((2, 3)))
    with pytest.raises(InvalidInput, match=r"^atom"):
        measurements.image(np.ones((2, 2)))
    with pytest.raises(InvalidInput, match=r"^dual"):
        measurements.adjoint(np.ones(3))


def test_composed_with_a_complex_outer_map_of_real_images():
    rng = np.random.default_rng(1)
    outer = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))
    inner = rng.standard_normal((4, 5))
    both = Composed(DenseMatrix(outer), DenseMatrix(inner))
    x, dual = rng.standard_normal(5), rng.standard_normal(3) + 1j * rng.standard_normal(3)
    assert both.dtype == np.complex128
    assert both.adjoint(dual).dtype == np.float64
    assert np.vdot(both.image(x), dual).real == pytest.approx(float(x @ both.adjoint(dual)))


def test_composed_with_a_real_outer_map_of_complex_images():
    rng = np.random.default_rng(2)
    outer = rng.standard_normal((3, 4))
    inner = rng.standard_normal((4, 5)) + 1j * rng.standard_normal((4, 5))
    both = Composed(DenseMatrix(outer), DenseMatrix(inner))
    x, dual = np.exp(1j * np.arange(5)), np.exp(2j * np.arange(3))
    assert both.dtype == np.complex128
    assert np.vdot(both.image(x), dual).real == pytest.approx(np.vdot(x, both.adjoint(dual)).real)


def test_composed_after_sampling_of_an_array_space():
    inner = DenseMatrix(np.arange(12.0).reshape(6, 2))
    reshaped = Composed(Identity((6,)), inner)
    assert reshaped.nbytes == inner.nbytes
    with pytest.raises(InvalidInput, match=r"^outer"):
        Composed(Sampling([0], [0], (2, 3)), inner)
    matrix_valued = Identity((2, 3))
    sampled = Composed(Sampling([0, 1], [2, 0], (2, 3)), matrix_valued)
    np.testing.assert_array_equal(sampled.adjoint(np.array([1.0, 2.0])), [[0, 0, 1], [2, 0, 0]])


def test_stacked_blocks_and_mixed_fields():
    blocks = BlockMap([DenseMatrix(np.eye(2)), DenseMatrix(np.ones((2, 1)))])
    twice = Stacked([blocks, blocks])
    first, second = twice.adjoint(np.arange(4.0))
    np.testing.assert_array_equal(first, [2.0, 4.0])
    np.testing.assert_array_equal(second, [6.0])
    mixed = Stacked([DenseMatrix(np.eye(2)), DenseMatrix(1j * np.eye(2))])
    dual = np.array([1 + 1j, 2.0, 3j, 4.0])
    x = np.array([1.0, 2.0])
    assert np.vdot(mixed.image(x), dual).real == pytest.approx(np.vdot(x, mixed.adjoint(dual)).real)
    assert Stacked([mixed]).adjoint(dual).shape == (2,)


def test_bad_stacks():
    with pytest.raises(InvalidInput, match=r"^maps"):
        Stacked([])
    with pytest.raises(InvalidInput, match=r"^maps\[1\]"):
        Stacked([Identity((2,)), Identity((3,))])
    with pytest.raises(InvalidInput, match=r"^dual"):
        Stacked([Identity((2,))]).adjoint(np.ones(3))


def test_two_sided_maps_keep_hermitian_factors():
    seen = []

    class Recorder(RankOneMeasurements):
        def image(self, atom):
            seen.append(atom.hermitian)
            return super().image(atom)

    side = np.arange(6.0).reshape(3, 2)
    atom = LowRank(*([np.ones((2, 1))] * 2), np.ones(1))
    same = TwoSidedMap(Recorder(np.eye(3)), side, side)
    np.testing.assert_allclose(same.image(atom), np.diag(side @ atom.dense() @ side.T))
    TwoSidedMap(Recorder(np.eye(3)), side, side.copy()).image(atom)
    assert seen == [True, False]


def test_bad_two_sided_maps():
    sampling = Sampling([0], [0], (2, 3))
    for side in [np.ones((3, 2)), np.ones(3), np.ones((2, 2, 2)), sp.eye_array(4), np.ones((2, 0))]:
        with pytest.raises(InvalidInput, match=r"^left"):
            TwoSidedMap(sampling, side)
    with pytest.raises(InvalidInput, match=r"^right: .*nan"):
        TwoSidedMap(sampling, None, [np.nan, 1.0, 1.0])
    with pytest.raises(InvalidInput, match=r"^right"):
        TwoSidedMap(sampling, None, sp.diags_array([np.inf, 1.0, 1.0]))
    with pytest.raises(InvalidInput, match=r"^map"):
        TwoSidedMap(Identity((3,)))
    with pytest.raises(InvalidInput, match=r"^atom"):
        TwoSidedMap(sampling).image(np.ones((3, 2)))


def test_factors_of_the_users_own_make_a_map_user_supplied():
    sampling = Sampling([0], [0], (2, 3))
    for side, own in [(np.eye(2), False), (OperatorSum([np.eye(2)]), False), (aslinearoperator(np.eye(2)), True)]:
        assert is_user_supplied(TwoSidedMap(sampling, side)) == own


def test_operator_sum_and_adjoint_products():
    parts = [np.array([[1.0, 2j]]), sp.csr_array([[0.0, 3.0]])]
    total = OperatorSum(parts)
    dense = parts[0] + parts[1].toarray()
    np.testing.assert_allclose(total.toarray(), dense)
    np.testing.assert_allclose(total.rmatvec(np.ones(1)), dense.conj().T @ np.ones(1))
    assert total.frobenius() == np.inf
    assert frobenius_bound(parts[0]) == pytest.approx(np.sqrt(5))

    class OnlyVectors:
        shape, dtype = (1, 2), np.dtype(float)

        def rmatvec(self, x):
            return np.array([1.0, 2.0]) * x

    np.testing.assert_array_equal(apply_adjoint(OnlyVectors(), np.array([[3.0]])), [[3.0], [6.0]])


def test_sums_of_hermitian_operators_are_hermitian_and_those_with_arrays_are_not_taken_for_it():
    symmetric = SdpMap((2, 2), Entries.from_matrices([np.eye(2)]), 1).adjoint(np.ones(1))
    assert OperatorSum([symmetric, symmetric]).hermitian
    assert not OperatorSum([symmetric, np.eye(2)]).hermitian
    assert not OperatorSum([symmetric, Sampling([0], [1], (2, 2)).adjoint(np.ones(1))]).hermitian
