"""The doctor's reports on whole problems, scaling, memory and the installation."""

import numpy as np
import pytest

import unipd
from doctor.broken_parts import GENERATOR, REAL, MatrixMap, change_oracle, failed_checks
from unipd import atoms, couplings, doctor, sharp
from unipd.doctor import check, check_installation, check_memory, check_scaling, random_like, rearrange
from unipd.doctor import installation as installed
from unipd.errors import InvalidInput
from unipd.maps import SMALL_ORDER, row_norms_of
from unipd.protocols import SharpAnswer


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
    with pytest.raises(KeyError):
        report["nothing"]
    with pytest.raises(InvalidInput):
        check(3)


def test_reports_iterate_over_their_checks():
    problem = unipd.Problem(sharp.Simplex(6), REAL, np.ones(4), "=")
    report = check(problem)
    assert tuple(report) == report.checks
    assert len(report) == len(report.checks)
    assert [one.name for one in report if not one.ok] == [one.name for one in report.failures]


def test_broken_problem_is_reported_part_by_part():
    broken = MatrixMap(REAL, adjoint=lambda lam: 2 * REAL.T @ lam)
    problem = unipd.Problem(change_oracle(sharp.Simplex(6), support=lambda self, y: -100.0), broken, np.ones(4), "=")
    report = check(problem)
    assert not report.ok
    assert failed_checks(report.checks) == {"adjoint", "oracle values"}
    assert {one.name for one in report.failures} == failed_checks(report.checks)


def test_an_oracle_that_raises_does_not_hide_the_rest():
    def fail(y):
        raise RuntimeError("no solver")

    report = check(unipd.Problem(sharp.from_callable(fail, 6), REAL, np.ones(4), "="))
    assert failed_checks(report.checks) == {"oracle answers"}
    assert "no solver" in report["oracle answers"].detail
    assert report["adjoint"].ok


def test_blocks():
    maps = [REAL, np.eye(4)]
    problem = unipd.Problem([sharp.Simplex(6), sharp.L2NormSquared(4)], maps, np.ones(4), couplings.LeastSquares())
    assert failed_checks(check(problem).checks) == set()


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
    assert failed_checks(report.checks) == set()
    assert report["oracle degree"].outcome == "skip"
    report = check(unipd.Problem(Spectrahedron(best=False), measured, np.ones(5), "="))
    assert failed_checks(report.checks) == {"oracle maximises"}


def test_scaling():
    well = unipd.Problem(sharp.Simplex(6), REAL, np.ones(4), "=")
    assert check_scaling(well).outcome == "pass"
    norms = np.linalg.norm(REAL, axis=1)
    assert f"from {norms.min():.2g} to {norms.max():.2g}" in check_scaling(well).detail
    rows = REAL * np.array([[1.0], [1e4], [1.0], [1.0]])
    badly = check_scaling(unipd.Problem(sharp.Simplex(6), rows, np.ones(4), "="))
    assert badly.outcome == "note"
    assert "divide each row" in badly.detail
    assert (
        "rescale" in check_scaling(unipd.Problem(sharp.Simplex(6), rows, np.ones(4), couplings.LeastSquares())).detail
    )


def test_rows_of_zeros():
    rows = REAL * np.array([[1.0], [0.0], [1.0], [1.0]])
    ones = np.ones(4)
    assert check_scaling(unipd.Problem(sharp.Simplex(6), rows, ones, "=")).outcome == "fail"
    assert check_scaling(unipd.Problem(sharp.Simplex(6), rows, ones, "<=")).outcome == "pass"
    assert check_scaling(unipd.Problem(sharp.Simplex(6), rows, ones, couplings.LeastSquares())).outcome == "pass"
    assert check_scaling(unipd.Problem(sharp.Simplex(6), 0 * REAL, 0 * ones, "=")).outcome == "note"


def test_row_norms_of_large_operators_are_estimated():
    measured = unipd.maps.RankOneMeasurements(10.0 * np.eye(4, 500))
    assert measured.domain[1] > SMALL_ORDER
    estimates = [row_norms_of(measured, [1], np.random.default_rng(seed))[0] ** 2 for seed in range(400)]
    assert np.mean(estimates) == pytest.approx(100.0**2, rel=0.15)
    assert row_norms_of(unipd.maps.RankOneMeasurements(10.0 * np.eye(4)), [1], GENERATOR) == pytest.approx(100.0)


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
    def version(name):
        if name in installed.find_optional():
            raise installed.metadata.PackageNotFoundError(name)
        return "0.9"

    monkeypatch.setattr(installed.metadata, "version", version)
    report = check_installation()
    assert {"numpy", "scipy", "numba"} <= failed_checks(report.checks)
    assert report["matplotlib"].outcome == "skip"
    assert "unipd[plot]" in report["matplotlib"].detail
    assert "unipd[sdp]" in report["qics"].detail  # the extra `cvxpy` brings it as well, with more


def test_probes_keep_their_form():
    forms = [
        np.arange(4.0),
        atoms.one_hot((6,), 1, 2.0),
        atoms.LowRank(np.eye(3)[:, :1], np.eye(4)[:, :1], np.array([2.0])),
        atoms.Blocks((np.ones(2), atoms.one_hot((3,), 0, 1.0))),
    ]
    for form in forms:
        for other in (random_like(GENERATOR, form), *rearrange(GENERATOR, form)):
            assert type(other) is type(form)
            assert other.shape == form.shape
    left = np.eye(3)[:, :1]
    assert random_like(GENERATOR, atoms.LowRank(left, left, np.ones(1))).hermitian


def test_public_names():
    assert all(hasattr(doctor, name) for name in doctor.__all__)


def test_the_doctor_itself_can_be_asked() -> None:
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    reports = getattr(unipd, "doctor")(problem, seed=3), unipd.doctor.check(problem, seed=3)  # noqa: B009
    called, checked = ([check for check in report.checks if "memory" not in check.name] for report in reports)
    assert called == checked
    with pytest.raises(unipd.errors.InvalidInput, match="problem"):
        getattr(unipd, "doctor")(np.eye(3))  # noqa: B009


def test_a_report_is_a_sequence_of_checks() -> None:
    report = unipd.doctor(unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "="))
    checks = list(report)
    assert checks == list(report.checks)
    assert (report[0], report[-1], report[:2]) == (checks[0], checks[-1], tuple(checks[:2]))
    assert report[checks[0].name] is checks[0]
    with pytest.raises(IndexError):
        report[len(report)]
