"""Every map against its definition, on every kind of atom, and the adjoint identity Re <A x, lam> = Re <x, A^* lam>."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd import atoms

from .registry import REGISTRY, normal

DTYPES = ["float64", "float32", "complex128"]
seeds = st.integers(0, 2**32 - 1)
names = pytest.mark.parametrize("name", REGISTRY)
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def atoms_of(rng, shape, dtype):
    """Return one atom of each kind that fits a shape (tuples of shapes: blocks)."""
    if isinstance(shape[0], tuple):
        parts = [normal(rng, part, dtype) for part in shape]
        index = int(rng.integers(shape[0][0]))
        sparse = atoms.one_hot(shape[0], index, normal(rng, (), dtype), dtype)
        return [atoms.Blocks(tuple(parts)), atoms.Blocks((sparse, parts[1]))]
    count = int(rng.integers(1, 12))
    indices = rng.integers(0, int(np.prod(shape)), count)
    found = [normal(rng, shape, dtype), atoms.SparsePoint(shape, indices, normal(rng, count, dtype))]
    for rank in (1, 3):
        left, weights = normal(rng, (shape[0], rank), dtype), rng.random(rank).astype(np.float32)
        found.append(atoms.LowRank(left, normal(rng, (shape[1], rank), dtype), weights))
        if shape[0] == shape[1]:
            found.append(atoms.LowRank(left, left, weights))
    return found


def as_array(direction):
    return direction if isinstance(direction, np.ndarray) else direction.toarray()


@names
@dtypes
@given(seeds)
@settings(max_examples=8)
def test_images_match_the_definition(name, dtype, seed):
    rng = np.random.default_rng(seed)
    case = REGISTRY[name](rng, dtype)
    for atom in atoms_of(rng, case.map.domain, dtype):
        image = case.map.image(atom)
        assert image.shape == case.map.codomain
        assert image.dtype == case.map.dtype
        expected = case.naive(atom.dense() if hasattr(atom, "dense") else atom)
        tolerance = 1e-4 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(image, expected, tolerance, 10 * tolerance)


@names
@dtypes
@given(seeds)
@settings(max_examples=8)
def test_adjoint_identity(name, dtype, seed):
    rng = np.random.default_rng(seed)
    case = REGISTRY[name](rng, dtype)
    dual = normal(rng, case.map.codomain, case.map.dtype)
    direction = case.map.adjoint(dual)
    for atom in atoms_of(rng, case.map.domain, dtype):
        left = np.vdot(case.map.image(atom), dual).real
        if isinstance(direction, tuple):
            right = atom.inner(direction)
        else:
            right = np.vdot(atoms.dense(atom), as_array(direction)).real
            if isinstance(atom, atoms.LowRank):
                assert atom.inner(direction) == pytest.approx(right, rel=1e-4, abs=1e-3 if dtype == "float32" else 1e-9)
        assert left == pytest.approx(right, rel=1e-4, abs=1e-3 if dtype == "float32" else 1e-9)


@names
@dtypes
@given(seeds)
@settings(max_examples=8)
def test_adjoint_products_agree_with_the_matrix(name, dtype, seed):
    rng = np.random.default_rng(seed)
    case = REGISTRY[name](rng, dtype)
    direction = case.map.adjoint(normal(rng, case.map.codomain, case.map.dtype))
    if isinstance(direction, (tuple, np.ndarray)):
        return
    matrix = direction.toarray()
    assert matrix.shape == direction.shape == case.map.domain
    assert matrix.dtype == direction.dtype
    wide, tall = normal(rng, (matrix.shape[1], 3), dtype), normal(rng, (matrix.shape[0], 2), dtype)
    products = [
        (direction.matmat(wide), matrix @ wide),
        (direction.matvec(wide[:, 0]), matrix @ wide[:, 0]),
        (direction.rmatmat(tall), matrix.conj().T @ tall),
        (direction.rmatvec(tall[:, 1]), matrix.conj().T @ tall[:, 1]),
    ]
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    for product, expected in products:
        assert product.dtype == direction.dtype
        np.testing.assert_allclose(product, expected, tolerance, 100 * tolerance)
    assert direction.frobenius() >= (1 - tolerance) * np.linalg.norm(matrix)


@names
@given(seeds)
@settings(max_examples=5)
def test_two_adjoints_do_not_disturb_each_other(name, seed):
    rng = np.random.default_rng(seed)
    case = REGISTRY[name](rng, "float64")
    duals = [normal(rng, case.map.codomain, case.map.dtype) for _ in range(2)]
    copies = [dual.copy() for dual in duals]
    both = [case.map.adjoint(dual) for dual in duals]
    alone = case.map.adjoint(copies[0])
    for first, again in zip(*([d] if not isinstance(d, tuple) else d for d in (both[0], alone)), strict=True):
        np.testing.assert_array_equal(as_array(first), as_array(again))
    np.testing.assert_array_equal(duals, copies)
