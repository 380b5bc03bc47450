"""The doctor finds nothing wrong with what is right, and names what was broken on purpose."""

from dataclasses import replace

import numpy as np
import pytest

import unipd
from couplings.registry import CASES as COUPLINGS
from maps.registry import REGISTRY as MAPS
from sharp.registry import CASES as ORACLES
from support.oracles import Inexact, Wrapped
from unipd import atoms, couplings, doctor, sharp
from unipd.doctor import Report, check, check_coupling, check_installation, check_map, check_memory, check_sharp
from unipd.doctor import installation as installed
from unipd.doctor.probes import random_like, rearranged
from unipd.doctor.scaling import check_scaling, row_norm
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.protocols import SharpAnswer

GENERATOR = np.random.default_rng(5)
REAL = GENERATOR.standard_normal((4, 6))
COMPLEX = REAL + 1j * GENERATOR.standard_normal((4, 6))


def failed(checks):
    return {one.name for one in checks if not one.ok}


@pytest.mark.parametrize("case", COUPLINGS, ids=lambda case: case.name)
def test_every_coupling_is_healthy(case):
    for dtype in case.dtypes:
        assert failed(check_coupling(case.coupling, case.shape, dtype)) == set()


@pytest.mark.parametrize("name", MAPS)
def test_every_map_is_healthy(name):
    for dtype in (np.float64, np.complex64):
        case = MAPS[name](np.random.default_rng(1), dtype)
        assert failed(check_map(case.map)) == set()


@pytest.mark.parametrize("case", ORACLES, ids=lambda case: case.name)
def test_every_oracle_is_healthy(case):
    for dtype in case.dtypes:
        assert failed(check_sharp(case.oracle, dtype=dtype)) == set()


def test_an_honest_inexact_oracle_is_healthy():
    class Repeatable(Inexact):
        def __call__(self, direction, *, tolerance=0.0, start=None):
            self.random = np.random.default_rng(0)
            return super().__call__(direction, tolerance=tolerance)

    assert failed(check_sharp(Repeatable(sharp.L1NormSquared(4), obedient=True))) == set()


class MatrixMap(Map):
    """A x by a matrix, with an adjoint of any kind."""

    def __init__(self, matrix, image=None, adjoint=None):
        super().__init__((matrix.shape[1],), (matrix.shape[0],), matrix.dtype)
        self.matrix = matrix
        self.other_image = image
        self.other_adjoint = adjoint

    def image(self, atom):
        return self.other_image(atom) if self.other_image else self.matrix @ atoms.dense(atom)

    def adjoint(self, dual):
        return self.other_adjoint(dual) if self.other_adjoint else self.matrix.conj().T @ dual


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
    assert failed(findings.values()) == {where}
    assert words in findings[where].detail


def test_a_map_must_treat_structured_points_as_the_same_arrays():
    points = [atoms.one_hot((6,), 2, 1.5)]
    wrong = MatrixMap(REAL, image=lambda x: 2 * REAL @ x if isinstance(x, np.ndarray) else REAL @ x.dense())
    (finding,) = check_map(wrong, points)
    assert "as an array" in finding.detail
    assert failed(check_map(MatrixMap(REAL), points)) == set()


def test_a_map_that_is_zero_is_noted():
    assert check_map(MatrixMap(np.zeros((2, 3))))[0].outcome == "note"


def changed(oracle, **parts):
    """An oracle with some of its answers' parts or its methods replaced."""

    class Changed(Wrapped):
        pass

    for name, value in parts.items():
        if name != "answer":
            setattr(Changed, name, value)
    return Changed(oracle, lambda call, answer, y: parts.get("answer", lambda c, a, y: a)(call, answer, y))


def shifted_answer(atom, answer, y, oracle):
    cost = oracle.objective(atom)
    return SharpAnswer(atom, atoms.inner(y, atom) - cost, cost)


SQUARE, SIMPLEX = sharp.L2NormSquared(5), sharp.Simplex(5)
BROKEN_ORACLES = {
    "smallest instead of largest": (
        changed(SIMPLEX, answer=lambda c, a, y: shifted_answer(np.eye(5)[np.argmin(y)], a, y, SIMPLEX)),
        "oracle maximises",
    ),
    "always the same vertex": (
        changed(SIMPLEX, answer=lambda c, a, y: shifted_answer(np.eye(5)[0], a, y, SIMPLEX)),
        "oracle maximises",
    ),
    "not far enough": (
        changed(SQUARE, answer=lambda c, a, y: shifted_answer(0.9 * a.atom, a, y, SQUARE)),
        "oracle maximises",
    ),
    "outside": (
        changed(SIMPLEX, answer=lambda c, a, y: shifted_answer(1.1 * a.atom.dense(), a, y, SIMPLEX)),
        "oracle in X",
    ),
    "wrong shape": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, atom=np.ones(4))), "oracle answers"),
    "no atom": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, atom=None)), "oracle answers"),
    "bare array": (changed(SIMPLEX, answer=lambda c, a, y: a.atom), "oracle answers"),
    "NaN": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, atom=np.full(5, np.nan))), "oracle answers"),
    "infinite value": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, value=np.inf)), "oracle answers"),
    "negative error": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, error=-1.0)), "oracle answers"),
    "error of an exact oracle": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, error=1.0)), "oracle answers"),
    "wrong value": (changed(SIMPLEX, answer=lambda c, a, y: replace(a, value=a.value + 1e-3)), "oracle values"),
    "wrong objective": (changed(SQUARE, objective=lambda self, x: 2.0 * SQUARE.objective(x)), "oracle values"),
    "wrong value alone": (
        changed(SIMPLEX, value=lambda self, y, tolerance=0.0, start=None: SharpAnswer(None, 100.0, 0.0)),
        "oracle values",
    ),
    "small support": (changed(SIMPLEX, support=lambda self, y: -100.0), "oracle values"),
    "two answers": (
        changed(SIMPLEX, answer=lambda c, a, y: replace(a, atom=a.atom.dense() * (1 + 1e-15 * c))),
        "oracle is pure",
    ),
    "wrong degree": (changed(SQUARE, degree=1.0), "oracle degree"),
}


@pytest.mark.parametrize("name", BROKEN_ORACLES)
def test_broken_oracles(name):
    oracle, where = BROKEN_ORACLES[name]
    assert where in failed(check_sharp(oracle))


def test_an_oracle_that_changes_its_direction():
    class Greedy(sharp.Simplex):
        def maximiser(self, direction):
            direction -= direction.min()
            return super().maximiser(direction)

    (finding,) = check_sharp(Greedy(4))
    assert "changes the direction" in finding.detail


def test_an_oracle_that_fails_at_zero_is_told_so():
    circle = sharp.from_callable(lambda y: y / np.linalg.norm(y) if y.any() else 1 / 0, 2)
    (finding,) = check_sharp(circle)
    assert "y = 0" in finding.detail
    assert "ZeroDivisionError" in finding.detail


def test_an_oracle_without_contains_of_its_own():
    """The set is not symmetric: rearranged answers must not count as points of it."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0]])
    hull = sharp.from_callable(lambda y: corners[np.argmax(corners @ y)], 2)
    findings = {one.name: one for one in check_sharp(hull)}
    assert failed(findings.values()) == set()
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


def coupled(base, **parts):
    return type("Broken", (type(base),), parts)(*([base.radius] if hasattr(base, "radius") else []))


BALL, SQUARES = couplings.L2Ball(0.5), couplings.LeastSquares()
BROKEN_COUPLINGS = {
    "prox without its step": (coupled(SQUARES, prox=lambda self, v, t: v / 2.0), "Moreau"),
    "prox of the conjugate": (coupled(SQUARES, prox_conjugate=lambda self, v, t: v / (1.0 + 2.0 * t)), "Moreau"),
    "conjugate": (coupled(SQUARES, conjugate=lambda self, lam: float(lam @ lam)), "conjugate"),
    "conjugate too small": (coupled(BALL, conjugate=lambda self, lam: 0.4 * np.linalg.norm(lam)), "conjugate"),
    "conjugate infinite": (coupled(BALL, conjugate=lambda self, lam: np.inf), "conjugate"),
    "value": (coupled(SQUARES, value=lambda self, r: float(r @ r)), "conjugate"),
    "gradient": (coupled(SQUARES, gradient=lambda self, r: 2.0 * r), "loss"),
    "curvature": (coupled(SQUARES, curvature=lambda self: 0.5), "loss"),
    "slack": (coupled(SQUARES, slack=lambda self, lam: (lam, 2.0 * self.conjugate(lam))), "loss"),
    "not the nearest": (
        coupled(BALL, project=lambda self, v: v if np.linalg.norm(v) <= 0.5 else np.clip(v, -0.2, 0.2)),
        "projection",
    ),
    "not idempotent": (coupled(BALL, project=lambda self, v: 0.5 * v), "projection"),
    "distance": (coupled(BALL, distance=lambda self, r: 0.0), "projection"),
    "depends on the step": (coupled(BALL, prox=lambda self, v, t: BALL.project(v) / t), "projection"),
    "degree": (coupled(SQUARES, conjugate_degree=1.0), "conjugate degree"),
    "doubles": (coupled(BALL, project=lambda self, v: BALL.project(v).astype(np.float64)), "coupling shapes"),
    "shape": (coupled(BALL, project=lambda self, v: v[:2]), "coupling shapes"),
    "NaN": (coupled(BALL, project=lambda self, v: v * np.nan), "coupling shapes"),
}


@pytest.mark.parametrize("name", BROKEN_COUPLINGS)
def test_broken_couplings(name):
    coupling, where = BROKEN_COUPLINGS[name]
    assert where in failed(check_coupling(coupling, (4,), np.float32 if name == "doubles" else np.float64))


def test_a_coupling_that_changes_its_vector():
    class Careless(couplings.AtMost):
        def project(self, vector):
            np.minimum(vector, 0.0, out=vector)
            return vector

    assert "coupling shapes" in failed(check_coupling(Careless(), (3,)))


def test_problem_report_is_whole_and_repeats_itself():
    problem = unipd.Problem(sharp.Simplex(6), REAL, REAL @ np.full(6, 1 / 6), "<=")
    report = check(problem, seed=3)
    assert report.ok
    assert {one.name for one in report.checks} >= {
        "image", "adjoint", "oracle answers", "oracle maximises", "Moreau", "projection", "scaling", "memory, dense"
    }  # fmt: skip
    parts = [one for one in report.checks if not one.name.startswith("memory")]
    assert parts == [one for one in check(problem, seed=3).checks if not one.name.startswith("memory")]
    assert report["adjoint"].outcome == "pass"
    assert report.to_dict()["ok"] is True
    assert "adjoint" in str(report)
    assert "<table>" in report._repr_html_()
    assert (report + Report(())).checks == report.checks
    with pytest.raises(KeyError):
        report["nothing"]
    with pytest.raises(InvalidInput):
        check(3)


def test_broken_problem_is_reported_part_by_part():
    broken = MatrixMap(REAL, adjoint=lambda lam: 2 * REAL.T @ lam)
    problem = unipd.Problem(changed(sharp.Simplex(6), support=lambda self, y: -100.0), broken, np.ones(4), "=")
    report = check(problem)
    assert not report.ok
    assert failed(report.checks) == {"adjoint", "oracle values"}
    assert {one.name for one in report.failures} == failed(report.checks)


def test_an_oracle_that_raises_does_not_hide_the_rest():
    def fail(y):
        raise RuntimeError("no solver")

    report = check(unipd.Problem(sharp.from_callable(fail, 6), REAL, np.ones(4), "="))
    assert failed(report.checks) == {"oracle answers"}
    assert "no solver" in report["oracle answers"].detail
    assert report["adjoint"].ok


def test_blocks():
    maps = [REAL, np.eye(4)]
    problem = unipd.Problem([sharp.Simplex(6), sharp.L2NormSquared(4)], maps, np.ones(4), couplings.LeastSquares())
    assert failed(check(problem).checks) == set()


class Spectrahedron:
    """{X psd, tr X = 1} through a whole eigendecomposition; directions are operators."""

    shape = (4, 4)
    exact, linear, degree = True, True, 1.0

    def __call__(self, direction, *, tolerance=0.0, start=None):
        values, vectors = np.linalg.eigh(direction.matmat(np.eye(4)))
        top = vectors[:, -1:] if self.best else vectors[:, :1]
        return SharpAnswer(atoms.LowRank(top, top, np.ones(1)), float(values[-1 if self.best else 0]), 0.0)

    def __init__(self, best=True):
        self.best = best

    def value(self, direction, *, tolerance=0.0, start=None):
        return self(direction)

    def objective(self, x):
        return 0.0

    def support(self, direction):
        return self(direction).value

    def contains(self, x, tolerance=1e-9):
        matrix = atoms.dense(x)
        return bool(np.linalg.eigvalsh(matrix)[0] > -tolerance and abs(np.trace(matrix) - 1.0) < tolerance)

    def maximum(self):
        return 0.0


def test_spectral_sets():
    """The other answers give a wrong oracle away, and where they do not, random matrices of trace one do."""
    measured = unipd.maps.RankOneMeasurements(GENERATOR.standard_normal((5, 4)))
    report = check(unipd.Problem(Spectrahedron(), measured, np.ones(5), "="))
    assert failed(report.checks) == set()
    assert report["oracle degree"].outcome == "skip"
    report = check(unipd.Problem(Spectrahedron(best=False), measured, np.ones(5), "="))
    assert failed(report.checks) == {"oracle maximises"}


def test_scaling():
    well = unipd.Problem(sharp.Simplex(6), REAL, np.ones(4), "=")
    assert check_scaling(well).outcome == "pass"
    assert row_norm(well, 2, GENERATOR) == pytest.approx(np.linalg.norm(REAL[2]))
    rows = REAL * np.array([[1.0], [1e4], [1.0], [1.0]])
    badly = check_scaling(unipd.Problem(sharp.Simplex(6), rows, np.ones(4), "="))
    assert badly.outcome == "note"
    assert "divide each row" in badly.detail
    assert "rescale" in check_scaling(unipd.Problem(sharp.Simplex(6), rows, np.ones(4), SQUARES)).detail


def test_rows_of_zeros():
    rows = REAL * np.array([[1.0], [0.0], [1.0], [1.0]])
    ones = np.ones(4)
    assert check_scaling(unipd.Problem(sharp.Simplex(6), rows, ones, "=")).outcome == "fail"
    assert check_scaling(unipd.Problem(sharp.Simplex(6), rows, ones, "<=")).outcome == "pass"
    assert check_scaling(unipd.Problem(sharp.Simplex(6), rows, ones, SQUARES)).outcome == "pass"
    assert check_scaling(unipd.Problem(sharp.Simplex(6), 0 * REAL, 0 * ones, "=")).outcome == "note"


def test_row_norms_of_operators_are_estimated():
    vectors = np.diag([1.0, 10.0, 1.0, 1.0])
    problem = unipd.Problem(Spectrahedron(), unipd.maps.RankOneMeasurements(vectors), np.ones(4), "=")
    estimates = [row_norm(problem, 1, np.random.default_rng(seed)) ** 2 for seed in range(400)]
    assert np.mean(estimates) == pytest.approx(100.0**2, rel=0.15)


def test_memory():
    problem = unipd.Problem(sharp.Simplex(6), REAL, np.ones(4), "=")
    outcomes = {one.name: one for one in check_memory(problem, available=2000)}
    assert outcomes["memory, image"].outcome == "pass"
    assert outcomes["memory, atoms"].outcome == "note"
    assert 'tracker="atoms"' in outcomes["memory, atoms"].detail


def test_installation():
    report = check_installation()
    assert report.ok, str(report)
    assert {one.name for one in report.checks} >= {"python", "numpy", "numba", "matplotlib", "BLAS", "solve"}


def test_installation_that_is_too_old_or_incomplete(monkeypatch):
    monkeypatch.setattr(installed.metadata, "version", lambda name: "0.9")
    monkeypatch.setattr(installed.util, "find_spec", lambda name: None)
    report = check_installation()
    assert {"numpy", "scipy", "numba"} <= failed(report.checks)
    assert report["matplotlib"].outcome == "skip"
    assert "extra plot" in report["matplotlib"].detail


def test_probes_keep_their_form():
    forms = [
        np.arange(4.0),
        atoms.one_hot((6,), 1, 2.0),
        atoms.LowRank(np.eye(3)[:, :1], np.eye(4)[:, :1], np.array([2.0])),
        atoms.Blocks((np.ones(2), atoms.one_hot((3,), 0, 1.0))),
    ]
    for form in forms:
        for other in (random_like(GENERATOR, form), *rearranged(GENERATOR, form)):
            assert type(other) is type(form)
            assert other.shape == form.shape
    left = np.eye(3)[:, :1]
    assert random_like(GENERATOR, atoms.LowRank(left, left, np.ones(1))).hermitian


def test_public_names():
    assert all(hasattr(doctor, name) for name in doctor.__all__)


def test_the_doctor_itself_can_be_asked() -> None:
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    assert getattr(unipd, "doctor")(problem, seed=3) == unipd.doctor.check(problem, seed=3)  # noqa: B009
    with pytest.raises(unipd.errors.InvalidInput, match="problem"):
        getattr(unipd, "doctor")(np.eye(3))  # noqa: B009
