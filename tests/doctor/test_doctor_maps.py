"""The doctor accepts the library's maps and names what is wrong with broken ones."""

import numpy as np
import pytest

from doctor.broken_parts import COMPLEX, REAL, MatrixMap, failed_checks
from maps.registry import REGISTRY as MAPS
from unipd import atoms
from unipd.doctor import check_map


@pytest.mark.parametrize("name", MAPS)
def test_every_map_is_healthy(name):
    for dtype in (np.float64, np.complex64):
        case = MAPS[name](np.random.default_rng(1), dtype)
        assert failed_checks(check_map(case.map)) == set()


BROKEN_MAPS = {
    "factor": (MatrixMap(REAL, adjoint=lambda lam: 2 * REAL.T @ lam), "adjoint", "factor"),
    "no conjugate": (MatrixMap(COMPLEX, adjoint=lambda lam: COMPLEX.T @ lam), "adjoint", "conjugate"),
    "shape of the adjoint": (MatrixMap(REAL, adjoint=lambda lam: lam), "adjoint", "shape (4,)"),
    "NaN in the adjoint": (MatrixMap(REAL, adjoint=lambda lam: np.full(6, np.nan)), "adjoint", "NaN"),
    "error in the adjoint": (MatrixMap(REAL, adjoint=lambda lam: REAL @ lam), "adjoint", "ValueError"),
    "shape of the image": (MatrixMap(REAL, image=lambda x: REAL.T), "image", "shape (6, 4)"),
    "NaN in the image": (MatrixMap(REAL, image=lambda x: np.full(4, np.inf)), "image", "NaN"),
    "complex image": (MatrixMap(REAL, image=lambda x: COMPLEX @ x), "image", "complex"),
    "not linear": (MatrixMap(REAL, image=lambda x: REAL @ x + 1.0), "image", "not linear"),
    "only positively homogeneous": (MatrixMap(REAL, image=lambda x: REAL @ np.abs(x)), "image", "not linear"),
}


@pytest.mark.parametrize("name", BROKEN_MAPS)
def test_broken_maps(name):
    broken, where, words = BROKEN_MAPS[name]
    findings = {one.name: one for one in check_map(broken)}
    assert failed_checks(findings.values()) == {where}
    assert words in findings[where].detail


def test_a_map_must_treat_structured_points_as_the_same_arrays():
    points = [atoms.one_hot((6,), 2, 1.5)]
    wrong = MatrixMap(REAL, image=lambda x: 2 * REAL @ x if isinstance(x, np.ndarray) else REAL @ x.dense())
    (finding,) = check_map(wrong, points)
    assert "as an array" in finding.detail
    assert failed_checks(check_map(MatrixMap(REAL), points)) == set()


def test_a_map_that_is_zero_is_noted():
    assert check_map(MatrixMap(np.zeros((2, 3))))[0].outcome == "note"
