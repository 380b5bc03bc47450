"""Maps built from users' data: matrices, SciPy and PyLops operators, lists of blocks."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from unipd import atoms
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.maps import BlockMap, DenseMatrix, Identity, OperatorMap, SparseMatrix, as_map


@pytest.fixture(scope="module")
def pylops():
    return pytest.importorskip("pylops")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_pylops_operator(pylops, dtype):
    operator = pylops.FirstDerivative((4, 5), axis=0, dtype=dtype)
    gradient = as_map(operator, (4, 5))
    assert isinstance(gradient, OperatorMap)
    rng = np.random.default_rng(0)
    x, dual = rng.standard_normal((4, 5)).astype(dtype), rng.standard_normal(20).astype(dtype)
    image, direction = gradient.image(x), gradient.adjoint(dual)
    assert (image.dtype, direction.dtype, direction.shape) == (dtype, dtype, (4, 5))
    np.testing.assert_allclose(image, operator.todense() @ x.reshape(-1), rtol=1e-5, atol=1e-6)
    assert np.vdot(image, dual) == pytest.approx(np.vdot(x, direction), rel=1e-4)
    spike = atoms.one_hot((4, 5), 7, 2.0, dtype)
    np.testing.assert_allclose(gradient.image(spike), 2.0 * operator.todense()[:, 7], rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_complex_pylops_operator(pylops):
    fourier = as_map(pylops.signalprocessing.FFT(8, dtype="complex128"))
    rng = np.random.default_rng(1)
    x, dual = (rng.standard_normal(8) + 1j * rng.standard_normal(8) for _ in range(2))
    assert fourier.dtype == np.complex128
    assert np.vdot(fourier.image(x), dual).real == pytest.approx(np.vdot(x, fourier.adjoint(dual)).real)


def test_operators_need_not_know_their_dtype():
    class Duck:
        shape = (1, 2)

        def matvec(self, x):
            return np.array([[x.sum()]])

        def rmatvec(self, y):
            return np.repeat(y, 2)

    duck = as_map(Duck())
    assert duck.dtype == np.float64
    assert duck.image(np.ones(2)).shape == (1,)
    assert as_map(LinearOperator((2, 2), matvec=lambda x: x, rmatvec=lambda x: x)).dtype == np.float64


def test_as_map_recognises_what_it_is_given():
    assert isinstance(as_map([[1.0, 2.0]]), DenseMatrix)
    assert isinstance(as_map(sp.eye(2)), SparseMatrix)
    both = as_map([np.eye(2), sp.eye_array(2)], ((2,), (2,)))
    assert isinstance(both, BlockMap)
    assert both.domain == ((2,), (2,))
    same = Identity(3)
    assert as_map(same) is same


@pytest.mark.parametrize(
    ("value", "domain"),
    [
        (np.eye(2), (3,)),
        (sp.eye_array(2), (3,)),
        (LinearOperator((2, 2), matvec=lambda x: x, rmatvec=lambda x: x), (3,)),
        (np.eye(4), ((2,), (2,))),
        ([np.eye(2)], ((2,), (2,))),
        ([np.eye(2), np.ones((3, 2))], None),
        ([], None),
        (np.ones((0, 2)), None),
        (sp.csr_array((0, 2)), None),
        (sp.coo_array([1.0, 2.0]), None),
        ([np.ones(2), np.ones(3)], None),
        ([[np.nan]], None),
        (sp.csr_array([[np.inf]]), None),
        (np.ones(3), None),
        ("matrix", None),
        (None, None),
    ],
    ids=range(16),
)
def test_bad_maps(value, domain):
    with pytest.raises(InvalidInput, match=r"^A"):
        as_map(value, domain)


@pytest.mark.parametrize("kind", [DenseMatrix, SparseMatrix])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_matrices_keep_their_precision(kind, dtype):
    matrix = kind(np.arange(6).reshape(2, 3).astype(dtype))
    assert matrix.image(np.ones(3, dtype)).dtype == dtype
    assert matrix.image(atoms.one_hot((3,), 1, 1.0, dtype)).dtype == dtype
    assert matrix.adjoint(np.ones(2, dtype)).dtype == dtype
    assert kind(np.eye(2, dtype=int)).dtype == np.float64
    assert matrix.nbytes > 0


def test_repeated_entries_of_a_sparse_matrix_add_up():
    arrays = (np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2]))
    repeated = SparseMatrix(sp.csc_array(arrays, shape=(2, 1)))
    np.testing.assert_array_equal(repeated.image(atoms.one_hot((1,), 0, 1.0)), [3.0, 0.0])
    np.testing.assert_array_equal(repeated.image(np.ones(1)), [3.0, 0.0])


def test_blocks_with_real_images_meet_the_real_part():
    mixed = BlockMap([DenseMatrix(np.eye(2)), DenseMatrix(1j * np.eye(2))])
    first, second = mixed.adjoint(np.array([1 + 2j, 3.0]))
    np.testing.assert_array_equal(first, [1.0, 3.0])
    assert first.dtype == np.float64
    np.testing.assert_array_equal(second, [2 - 1j, -3j])
    assert mixed.nbytes == 96
    with pytest.raises(InvalidInput, match="2 blocks"):
        mixed.image((np.ones(2),))


def test_identity_shapes():
    assert Identity(3).domain == (3,)
    np.testing.assert_array_equal(Identity((2, 2)).image(atoms.one_hot((2, 2), 3, 1.0)), [[0, 0], [0, 1]])
    for shape in [(0,), (2, -1), ((2,), (2,))]:
        with pytest.raises(InvalidInput, match=r"^shape"):
            Identity(shape)


def test_an_operator_without_its_adjoint_is_refused() -> None:
    one_way = LinearOperator((3, 3), matvec=lambda v: v, dtype=float)
    with pytest.raises(InvalidInput, match="rmatvec"):
        as_map(one_way, (3,))


@pytest.mark.parametrize(
    ("rmatvec", "shown"),
    [
        (lambda y: y, "ValueError: cannot reshape"),
        (lambda y: {}[0], "KeyError"),
        (lambda y: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda y: np.ones((2, 3)) @ np.ones(5), "ValueError: matmul"),
        (lambda y: None, "rmatvec"),
        (lambda y: np.full(5, np.nan), "NaN or inf at the zero vector"),
    ],
)
def test_what_an_adjoint_does_wrong_is_shown(rmatvec, shown) -> None:
    operator = LinearOperator((3, 5), matvec=lambda x: x[:3], rmatvec=rmatvec, dtype=float)
    with pytest.raises(InvalidInput, match=rf"^A: expected an operator.*{shown}"):
        as_map(operator, (5,))


def test_an_adjoint_of_the_wrong_size_is_refused() -> None:
    class Duck:
        shape = (3, 5)

        def matvec(self, x):
            return x[:3]

        def rmatvec(self, y):
            return y

    with pytest.raises(InvalidInput, match=r"whose rmatvec returns 5 numbers, got shape \(3,\)"):
        as_map(Duck())
    with pytest.raises(InvalidInput, match="cannot reshape") as caught:
        as_map(LinearOperator((3, 5), matvec=lambda x: x[:3], rmatvec=lambda y: y, dtype=float))
    assert isinstance(caught.value.__cause__, ValueError)


def test_columns_that_do_not_fit_in_memory_are_reported(monkeypatch) -> None:
    def full(matrix):
        raise MemoryError("Unable to allocate 745. GiB")

    wide = sp.csr_array((np.ones(1), np.array([5]), np.array([0, 1])), shape=(1, 10**11))
    monkeypatch.setattr(sp, "csc_array", full)
    with pytest.raises(MemoryForecastError, match=r"100000000000 columns .* 745. GiB; leave out empty columns"):
        as_map(wide)
