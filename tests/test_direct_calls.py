"""Parts called directly with vectors that do not fit: errors that name the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unipd
import unipd.doctor
from unipd import atoms, couplings, maps, sharp
from unipd.errors import InvalidInput

MATRIX = np.ones((2, 3))
DENSE, COMPLEX = maps.DenseMatrix(MATRIX), maps.DenseMatrix(1j * MATRIX)
SPARSE = maps.SparseMatrix(sp.csc_array(MATRIX))
BOX = couplings.Box(np.zeros(2), np.ones(2))

MISFITS: dict[str, tuple[str, Callable[[], Any]]] = {
    "box": ("vector", lambda: BOX.project(np.ones(3))),
    "box, one entry": ("vector", lambda: BOX.project(np.ones(1))),
    "box, one bound a number": ("vector", lambda: couplings.Box(0.0, np.ones(2)).prox_conjugate(np.ones(3), 1.0)),
    "support of a box": ("dual", lambda: BOX.conjugate(np.ones(3))),
    "semidefinite cone": ("vector", lambda: couplings.PSDCone(2).project(np.ones(3))),
    "nuclear ball": ("vector", lambda: couplings.NuclearBall(1.0, (2, 2)).project(np.ones(3))),
    "spectral ball": ("vector", lambda: couplings.SpectralBall(1.0, (2, 2)).conjugate(np.ones(5))),
    "cone of a number": ("vector", lambda: couplings.SecondOrderCone().project(np.float64(3))),  # type: ignore[arg-type]
    "cone of nothing": ("dual", lambda: couplings.SecondOrderCone().conjugate(np.ones(0))),
    "image": ("atom", lambda: DENSE.image(np.ones(2))),
    "image of a sparse point": ("atom", lambda: DENSE.image(atoms.one_hot((9,), 8, 1.0))),
    "adjoint": ("dual", lambda: DENSE.adjoint(np.ones(3))),
    "adjoint of a matrix": ("dual", lambda: DENSE.adjoint(np.ones((4, 2)))),
    "complex adjoint": ("dual", lambda: COMPLEX.adjoint(np.ones(3))),
    "sparse image": ("atom", lambda: SPARSE.image(np.ones(2))),
    "sparse image of a sparse point": ("atom", lambda: SPARSE.image(atoms.one_hot((9,), 8, 1.0))),
    "sparse adjoint": ("dual", lambda: SPARSE.adjoint(np.ones(3))),
    "objective of a set": ("x", lambda: sharp.Simplex(5).objective(np.ones(4))),
    "objective of a number": ("x", lambda: sharp.Simplex(5).objective(3.0)),
    "compare nothing": ("problem", lambda: unipd.compare(None)),  # type: ignore[arg-type]
    "check no oracle": ("oracle", lambda: unipd.doctor.check_sharp(None)),  # type: ignore[arg-type]
    "check no map": ("A", lambda: unipd.doctor.check_map(None)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_named(name: str) -> None:
    argument, call = MISFITS[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.argument == argument


def test_what_fits_is_still_taken() -> None:
    assert BOX.project(np.array([2.0, -1.0])).tolist() == [1.0, 0.0]
    assert couplings.Box(0.0, 1.0).project(np.array([2.0, -1.0, 0.5])).tolist() == [1.0, 0.0, 0.5]
    assert couplings.PSDCone(2).project(np.ones(4)).shape == (4,)
    assert sharp.Simplex(3).objective([1.0, 0.0, 0.0]) == 0.0
    assert sharp.Simplex(3).objective(atoms.one_hot((3,), 1, 1.0)) == 0.0
