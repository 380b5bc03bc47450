"""The doctor accepts the library's oracles and names what is wrong with broken ones."""

from dataclasses import replace

import numpy as np
import pytest

from doctor.broken_parts import change_oracle, failed_checks
from sharp.registry import CASES as ORACLES
from support.oracles import Inexact
from unipd import atoms, sharp
from unipd.doctor import check_sharp
from unipd.protocols import SharpAnswer


@pytest.mark.parametrize("case", ORACLES, ids=lambda case: case.name)
def test_every_oracle_is_healthy(case):
    for dtype in case.dtypes:
        assert failed_checks(check_sharp(case.oracle, dtype=dtype)) == set()


MATRICES = {
    "Spectrahedron": sharp.Spectrahedron(4, 3.0),
    "TraceBall": sharp.TraceBall(4),
    "Fantope": sharp.Fantope(5, 2),
    "NuclearBall": sharp.NuclearBall((4, 3), 1e3),
    "NuclearBall, iterative": sharp.NuclearBall((90, 120)),
    "WeightedNuclearBall": sharp.WeightedNuclearBall(np.arange(1.0, 5.0), np.ones(3)),
    "GroupNuclearBall": sharp.GroupNuclearBall((4, 3), [[0, 1], [2]]),
    "NuclearNormSquared": sharp.NuclearNormSquared((4, 3), 0.5),
    "SchattenSquared": sharp.SchattenSquared((4, 3), 1.5),
    "SpectralBall": sharp.SpectralBall((4, 3)),
    "with a vector": sharp.Product([sharp.Simplex(3), sharp.Spectrahedron(3)]),
    "with a cost": sharp.Linear(np.diag([1.0, 2.0, 3.0]), sharp.Spectrahedron(3)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("name", MATRICES)
def test_sets_of_matrices_are_healthy_though_their_rounding_is_an_error(name, dtype):
    real = name == "with a vector"
    kind = np.finfo(dtype).dtype if real else dtype
    assert failed_checks(check_sharp(MATRICES[name], dtype=kind)) == set()


def test_an_honest_inexact_oracle_is_healthy():
    class Repeatable(Inexact):
        def __call__(self, direction, *, tolerance=0.0, start=None):
            self.random = np.random.default_rng(0)
            return super().__call__(direction, tolerance=tolerance)

    assert failed_checks(check_sharp(Repeatable(sharp.L1NormSquared(4), obedient=True))) == set()


def shifted_answer(atom, answer, y, oracle):
    cost = oracle.objective(atom)
    return SharpAnswer(atom, atoms.inner_product(y, atom) - cost, cost)


SQUARE, SIMPLEX = sharp.L2NormSquared(5), sharp.Simplex(5)
BROKEN_ORACLES = {
    "smallest instead of largest": (
        change_oracle(SIMPLEX, answer=lambda c, a, y: shifted_answer(np.eye(5)[np.argmin(y)], a, y, SIMPLEX)),
        "oracle maximises",
    ),
    "always the same vertex": (
        change_oracle(SIMPLEX, answer=lambda c, a, y: shifted_answer(np.eye(5)[0], a, y, SIMPLEX)),
        "oracle maximises",
    ),
    "not far enough": (
        change_oracle(SQUARE, answer=lambda c, a, y: shifted_answer(0.9 * a.atom, a, y, SQUARE)),
        "oracle maximises",
    ),
    "outside": (
        change_oracle(SIMPLEX, answer=lambda c, a, y: shifted_answer(1.1 * a.atom.dense(), a, y, SIMPLEX)),
        "oracle in X",
    ),
    "wrong shape": (change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, atom=np.ones(4))), "oracle answers"),
    "no atom": (change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, atom=None)), "oracle answers"),
    "bare array": (change_oracle(SIMPLEX, answer=lambda c, a, y: a.atom), "oracle answers"),
    "NaN": (change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, atom=np.full(5, np.nan))), "oracle answers"),
    "infinite value": (change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, value=np.inf)), "oracle answers"),
    "negative error": (change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, error=-1.0)), "oracle answers"),
    "error of an exact oracle": (
        change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, error=1.0)),
        "oracle answers",
    ),
    "wrong value": (change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, value=a.value + 1e-3)), "oracle values"),
    "wrong objective": (change_oracle(SQUARE, objective=lambda self, x: 2.0 * SQUARE.objective(x)), "oracle values"),
    "wrong value alone": (
        change_oracle(SIMPLEX, value=lambda self, y, tolerance=0.0, start=None: SharpAnswer(None, 100.0, 0.0)),
        "oracle values",
    ),
    "small support": (change_oracle(SIMPLEX, support=lambda self, y: -100.0), "oracle values"),
    "small maximum": (change_oracle(SIMPLEX, maximum=lambda self: -1.0), "oracle values"),
    "two answers": (
        change_oracle(SIMPLEX, answer=lambda c, a, y: replace(a, atom=a.atom.dense() * (1 + 1e-15 * c))),
        "oracle is pure",
    ),
    "wrong degree": (change_oracle(SQUARE, degree=1.0), "oracle degree"),
}


@pytest.mark.parametrize("name", BROKEN_ORACLES)
def test_broken_oracles(name):
    oracle, where = BROKEN_ORACLES[name]
    assert where in failed_checks(check_sharp(oracle))


def test_an_oracle_that_changes_its_direction():
    class Greedy(sharp.Simplex):
        def maximiser(self, direction):
            direction -= direction.min()
            return super().maximiser(direction)

    (finding,) = check_sharp(Greedy(4))
    assert "modifies its direction" in finding.detail


def test_an_oracle_that_fails_at_zero_is_reported():
    circle = sharp.from_callable(lambda y: y / np.linalg.norm(y) if y.any() else 1 / 0, 2)
    (finding,) = check_sharp(circle)
    assert "y = 0" in finding.detail
    assert "ZeroDivisionError" in finding.detail


def test_an_oracle_without_contains_of_its_own():
    """The set is not symmetric: rearranged answers must not count as points of it."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0]])
    hull = sharp.from_callable(lambda y: corners[np.argmax(corners @ y)], 2)
    findings = {one.name: one for one in check_sharp(hull)}
    assert failed_checks(findings.values()) == set()
    assert findings["oracle in X"].outcome == "skip"


def test_one_point_is_noted():
    point = sharp.from_callable(lambda y: np.ones(2), 2, contains=lambda x: bool(np.allclose(atoms.dense(x), 1.0)))
    findings = {one.name: one for one in check_sharp(point)}
    assert findings["oracle maximises"].outcome == "note"


def test_a_missing_part_of_the_protocol_is_named():
    class Bare:
        shape = (3,)
        exact = True

        def __call__(self, direction, *, tolerance=0.0, start=None):
            return sharp.Simplex(3)(direction)

    details = " ".join(one.detail for one in check_sharp(Bare()))
    assert "'objective'" in details
    assert "'degree'" in details
