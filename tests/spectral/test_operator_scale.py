"""Operators in any units: the same answers, scaled; beyond 1e120 an error, and valid bounds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from spectral.matrices import BlockOperator, CountingOperator, certified_norm, hermitian, rectangular
from unipd.errors import OracleError
from unipd.maps import Sampling
from unipd.sharp import Fantope, NuclearBall, Spectrahedron
from unipd.spectral import PROBABILISTIC, RIGOROUS, Engine, certified_upper, norm_bound, rigorous_upper

SIZES = [1e-110, 1e-60, 1e-12, 1e12, 1e60, 1e110]
SHAPE = (300, 280)
LANCZOS = Engine(solver="lanczos")


def gaussian(shape=SHAPE, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def sampled_operator(size):
    rng = np.random.default_rng(1)
    places = [rng.integers(0, side, 20_000) for side in SHAPE]
    return Sampling(*places, SHAPE).adjoint(size * rng.standard_normal(20_000))


FORMS = {
    "array": lambda size: gaussian() * size,
    "complex": lambda size: (gaussian() + 1j * gaussian(seed=2)) * size,
    "sparse": lambda size: sp.csr_array(gaussian() * (gaussian(seed=3) > 1.0) * size),
    "operator": lambda size: CountingOperator(gaussian() * size),
    "blocks": lambda size: BlockOperator(gaussian() * size),
    "sampled": sampled_operator,
}


def norm_of(form):
    matrix = FORMS[form](1.0)
    matrix = matrix.matrix if isinstance(matrix, CountingOperator) else matrix
    return float(np.linalg.norm(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), 2))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [PROBABILISTIC, RIGOROUS])
def test_the_bound_of_a_nuclear_ball_holds_at_any_size(form: str, size: float, kind: str) -> None:
    answer = NuclearBall(SHAPE, certify=kind)(FORMS[form](size))
    truth = norm_of(form)
    assert (answer.value + answer.error) / size >= truth * (1.0 - 1e-14)
    assert answer.value / size == pytest.approx(truth, rel=1e-9)
    assert answer.error / size <= 1e-6 * truth
    assert answer.bound_kind == kind


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [PROBABILISTIC, RIGOROUS])
@pytest.mark.parametrize("make", [lambda **o: Spectrahedron(300, **o), lambda **o: Fantope(300, 3, **o)])
def test_the_bound_of_hermitian_oracles_holds_at_any_size(size: float, kind: str, make) -> None:
    matrix = gaussian((300, 300))
    matrix = matrix + matrix.T
    answer = make(certify=kind, engine=LANCZOS)(matrix * size)
    truth = float(np.linalg.eigvalsh(matrix)[-round(answer.atom.weights.sum()) :].sum())
    assert (answer.value + answer.error) / size >= truth * (1.0 - 1e-13)
    assert (answer.value + answer.error) / size == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("solver", ["lanczos", "dense"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", ["array", "operator", "sampled"])
def test_singular_triples_of_any_size(solver: str, size: float, form: str) -> None:
    engine, one, other = Engine(solver=solver), FORMS[form](1.0), FORMS[form](size)
    for count in (1, 3):
        usual, found = engine.singular_triples(one, count), engine.singular_triples(other, count)
        np.testing.assert_allclose(found.values / size, usual.values, rtol=1e-9)
        assert np.all(found.residuals / size <= 1e-6 * usual.value)
        assert found.upper / size >= norm_of(form) * (1.0 - 1e-12)
        assert found.converged


@pytest.mark.parametrize("solver", ["lanczos", "dense"])
@pytest.mark.parametrize("size", SIZES)
def test_eigenpairs_of_any_size(solver: str, size: float) -> None:
    matrix = hermitian(np.r_[3.0, 2.9, np.linspace(-2.0, 2.0, 98)])
    operator = CountingOperator(matrix * size)
    found = Engine(solver=solver).eigenpairs(operator, 2)
    np.testing.assert_allclose(found.values / size, [3.0, 2.9], rtol=1e-9)
    assert found.matvecs == operator.products


@pytest.mark.parametrize("size", SIZES)
def test_absolute_tolerances_and_those_of_values_are_in_the_size_of_the_operator(size: float) -> None:
    operator = gaussian() * size
    loose = LANCZOS.singular_triples(operator, relative=False, tolerance=size)
    tight = LANCZOS.singular_triples(operator, relative=False, tolerance=1e-9 * size)
    assert loose.residual <= size
    assert tight.residual <= 2e-9 * size
    assert loose.matvecs < tight.matvecs
    by_number = LANCZOS.singular_triples(operator, tolerance=0.1, value_tolerance=1e-3 * size)
    by_function = LANCZOS.singular_triples(operator, tolerance=0.1, value_tolerance=lambda top: 3e-5 * top)
    exact = np.linalg.norm(gaussian(), 2)
    for found in (by_number, by_function):
        assert found.matvecs < tight.matvecs
        assert found.value / size == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("size", [1e-35, 1e-20, 1e20, 1e35])
def test_single_precision(dtype: type, size: float) -> None:
    matrix = rectangular(*SHAPE, np.r_[1.0, np.linspace(0.0, 0.9, 279)], dtype) * np.float32(size)
    answer = NuclearBall(SHAPE, certify=PROBABILISTIC)(matrix)
    assert answer.value / size == pytest.approx(1.0, rel=1e-4)
    assert (answer.value + answer.error) / size >= 1.0 - 1e-5


@pytest.mark.parametrize("size", [*SIZES, 1e-300, 1e-160])
def test_probabilistic_bounds_by_themselves(size: float) -> None:
    matrix = hermitian(np.linspace(-1.0, 1.0, 60))
    assert 1.0 - 1e-12 <= certified_upper(matrix * size).upper / size < 1.1
    assert 1.0 - 1e-12 <= certified_norm(matrix * size).upper / size < 1.1


@pytest.mark.parametrize("size", [*SIZES, 1e-300, 1e-160, 1e155, 1e300])
def test_rigorous_bounds_by_themselves(size: float) -> None:
    matrix = hermitian(np.linspace(-1.0, 1.0, 60))
    assert 1.0 - 1e-12 <= rigorous_upper(matrix * size, size) / size < 1.0 + 1e-6
    assert 1.0 - 1e-12 <= rigorous_upper(sp.csc_array(matrix * size), size) / size < 1.0 + 1e-6
    for form in (np.asarray, sp.csr_array):
        bound = norm_bound(form(matrix * size))
        assert bound is not None
        assert bound / size == pytest.approx(norm_bound(form(matrix)))


@pytest.mark.parametrize("kind", [PROBABILISTIC, RIGOROUS])
def test_a_norm_out_of_range_is_an_error_of_ours(kind: str) -> None:
    huge = np.full(SHAPE, 1e307)
    with pytest.raises(OracleError, match="range"):
        NuclearBall(SHAPE, certify=kind)(huge)


@pytest.mark.parametrize("size", [1e155, 1e300])
@pytest.mark.parametrize("form", FORMS)
def test_operators_beyond_the_range_are_an_error_that_names_the_remedy(form: str, size: float) -> None:
    for count in (1, 3):
        with pytest.raises(OracleError, match="out of range"):
            LANCZOS.singular_triples(FORMS[form](size), count)


@pytest.mark.parametrize("size", [1e-300, 1e-160])
@pytest.mark.parametrize("form", FORMS)
def test_directions_that_vanish_have_bounds_that_hold(form: str, size: float) -> None:
    """A dual variable that tends to zero is no error."""
    for kind in (PROBABILISTIC, RIGOROUS):
        answer = NuclearBall(SHAPE, certify=kind, engine=Engine(solver="lanczos", max_products=400))(FORMS[form](size))
        assert (answer.value + answer.error) / size >= norm_of(form) * (1.0 - 1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_products_do_not_depend_on_the_units(size: float) -> None:
    one, other = (CountingOperator(gaussian() * scale) for scale in (1.0, size))
    usual, far = LANCZOS.singular_triples(one), LANCZOS.singular_triples(other)
    assert usual.matvecs == one.products
    assert far.matvecs == other.products
    assert abs(far.matvecs - usual.matvecs) <= 2
