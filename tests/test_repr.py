"""repr shows the arguments of the constructor on one line."""

from __future__ import annotations

import numpy as np
import pytest

import unipd
from unipd import couplings, maps, sharp


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (sharp.L1Ball(3, 2.0), "L1Ball(shape=(3,), radius=2)"),
        (sharp.Spectrahedron(4), "Spectrahedron(shape=(4, 4), trace=1)"),
        (sharp.Counted(sharp.Simplex(3)), "Counted(Simplex(size=3, scale=1))"),
        (sharp.from_callable(lambda y: y, 3, objective=np.sum), "CallableSharp(shape=(3,))"),
        (couplings.Box(0.0, 1.0), "Box(lower=0, upper=1)"),
        (couplings.LeastSquares(), "LeastSquares(scale=1)"),
        (maps.DenseMatrix(np.eye(2)), "DenseMatrix(matrix=<2 x 2 float64>, domain=(2,))"),
        (maps.Identity((2, 3)), "Identity(shape=(2, 3), dtype=dtype('float64'))"),
    ],
)
def test_objects_print_their_arguments(thing: object, text: str) -> None:
    assert repr(thing) == text


def test_products_of_many_sets_print_in_a_line() -> None:
    product = sharp.Product([sharp.Simplex(3)] * 50)
    assert len(repr(product)) < 200
    problem = unipd.Problem(product, [np.eye(3)] * 50, np.ones(3), "=")
    assert "Product" in repr(problem)
