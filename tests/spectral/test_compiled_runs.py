"""Whole runs in one compiled call: the answers and products of the run in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import eps_of, sampled_operator
from unipd.errors import InvalidInput
from unipd.maps import Sampling
from unipd.spectral import Engine

LANCZOS = Engine(solver="lanczos")


def in_and_out(matrix, made_by: Engine = LANCZOS, **options):
    """Return the answer without the one compiled call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "_compiled_triple", lambda *_: None)
        return made_by.singular_triples(matrix, **options)


@settings(max_examples=60)
@given(
    shape=st.sampled_from([(90, 130), (130, 90), (3, 200), (45, 45)]),
    dtype=st.sampled_from([np.float32, np.float64]),
    by_columns=st.booleans(),
    opposite=st.booleans(),
    warm=st.booleans(),
    tolerance=st.sampled_from([1e-1, 1e-3]),
    allowed=st.sampled_from([None, 1e-2, 1e-4]),
    subspace=st.sampled_from([None, 6]),
    seed=st.integers(0, 2**16),
)
def test_same_products_and_triple(shape, dtype, by_columns, opposite, warm, tolerance, allowed, subspace, seed) -> None:
    matrix = sampled_operator(*shape, 2000, dtype, seed, by_columns)
    generator = np.random.default_rng(seed + 1)
    start = tuple(generator.standard_normal((size, 1)).astype(dtype) for size in shape) if warm else None
    options = {"start": start, "tolerance": tolerance, "value_tolerance": allowed}
    made_by = Engine(solver="lanczos", subspace=subspace)
    direction = matrix.negative() if opposite else matrix
    compiled, plain = made_by.singular_triples(direction, **options), in_and_out(direction, made_by, **options)
    assert compiled.converged
    assert abs(compiled.matvecs - plain.matvecs) <= 2
    slack = max(100 * eps_of(dtype), 0.0 if compiled.matvecs == plain.matvecs else 2 * tolerance)
    assert compiled.value == pytest.approx(plain.value, rel=slack)
    assert compiled.left.dtype == compiled.right.dtype == dtype
    sign = -1.0 if opposite else 1.0
    dense = sign * matrix.toarray().astype(np.float64)
    assert float((compiled.left.T @ dense @ compiled.right)[0, 0]) == pytest.approx(
        compiled.value, rel=200 * eps_of(dtype)
    )
    rounding = 100 * eps_of(dtype) * compiled.value
    assert np.linalg.norm(dense @ compiled.right - compiled.value * compiled.left) <= compiled.residual + rounding
    assert np.linalg.norm(dense.T @ compiled.left - compiled.value * compiled.right) <= compiled.residual + rounding


@pytest.mark.parametrize("rule", [lambda top: 1e-5 * top, lambda top: 1e-4 / top, lambda _: 1e-5])
def test_an_error_that_depends_on_the_value_is_kept_to(rule) -> None:
    """No more is allowed than at the value found, and no more products than a few are spent on finding it out."""
    matrix = sampled_operator(150, 230, 5000)
    truth = float(np.linalg.norm(matrix.toarray(), 2))
    found, plain = (solve(matrix, tolerance=0.1, value_tolerance=rule) for solve in (triples, in_and_out))
    assert found.converged
    assert truth - found.value <= rule(truth)
    assert abs(found.matvecs - plain.matvecs) <= 2


def triples(matrix, **options):
    return LANCZOS.singular_triples(matrix, **options)


def test_runs_that_need_restarts_waste_no_product() -> None:
    """Where there is no room for the steps, the run continues from those done."""
    matrix = sampled_operator(200, 150, 6000)
    made_by = Engine(solver="lanczos", subspace=12)
    for direction in (matrix, matrix.negative()):
        found = made_by.singular_triples(direction, tolerance=1e-9)
        plain = in_and_out(direction, made_by, tolerance=1e-9)
        assert found.converged
        assert 30 < found.matvecs == plain.matvecs
        assert found.value == pytest.approx(float(np.linalg.norm(matrix.toarray(), 2)), rel=1e-12)
        np.testing.assert_allclose(np.abs(found.left), np.abs(plain.left), atol=1e-9)


def test_starts_of_every_kind() -> None:
    """Vectors, blocks, other dtypes and zeros serve as before; what is not finite or does not fit is refused."""
    matrix = sampled_operator(120, 90, 3000)
    exact = in_and_out(matrix, tolerance=1e-10)
    block = np.random.default_rng(0).standard_normal((90, 3))
    for right in (exact.right, exact.right[:, 0], block, block.astype(np.float32), block * 1j, np.zeros((90, 1))):
        found = triples(matrix, start=(exact.left, right), tolerance=1e-8)
        assert found.value == pytest.approx(exact.value, rel=1e-12)
        assert found.matvecs == in_and_out(matrix, start=(exact.left, right), tolerance=1e-8).matvecs
    exact.right.flags.writeable = False
    assert triples(matrix, start=(exact.left, exact.right)).value == pytest.approx(exact.value, rel=1e-12)
    for wrong in (np.full((90, 1), np.nan), np.full((90, 1), np.inf), np.ones((91, 1)), np.ones((90, 1, 1))):
        with pytest.raises(InvalidInput):
            triples(matrix, start=(exact.left, wrong))


def test_a_start_and_its_opposite_come_to_the_same() -> None:
    matrix = sampled_operator(120, 90, 3000)
    ends = tuple(np.random.default_rng(5).standard_normal((size, 1)) for size in (120, 90))
    one, other = (triples(matrix, start=(sign * ends[0], sign * ends[1]), tolerance=0.1) for sign in (1.0, -1.0))
    assert one.value == other.value
    np.testing.assert_array_equal(one.right, -other.right)
    np.testing.assert_array_equal(one.left, -other.left)


@pytest.mark.parametrize("scale", [1e-81, 1e-80, 1e-79, 1e81])
def test_values_whose_fourth_powers_leave_the_range(scale: float) -> None:
    rng = np.random.default_rng(6)
    rows, cols = np.nonzero(rng.random((45, 60)) < 0.5)
    pattern = Sampling(rows, cols, (45, 60))
    matrix = pattern.adjoint(scale * rng.standard_normal(rows.size))
    found = LANCZOS.singular_triples(matrix, tolerance=0.0)
    assert np.isfinite(found.left).all()
    assert np.isfinite(found.right).all()
    assert found.value == pytest.approx(float(np.linalg.norm(matrix.toarray() / scale, 2)) * scale, rel=1e-9)
