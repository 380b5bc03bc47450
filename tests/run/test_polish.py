"""Polishing: a better point over the stored atoms, never a worse one, and a valid bound."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd import MaxIterations, Status, couplings, sharp
from unipd.run import merge_light_atoms
from unipd.trackers import AtomList


def _error(result: unipd.Result) -> float:
    return max(abs(result.gap), result.infeasibility)


def _program(seed: int, coupling: couplings.ConvexSet | str = "<=") -> unipd.Problem:
    random = np.random.default_rng(seed)
    A = random.standard_normal((6, 20))
    b = A @ random.dirichlet(np.ones(20))
    return unipd.Problem(sharp.Linear(random.standard_normal(20), sharp.Simplex(20)), A, b, coupling)


def _recovery(seed: int) -> unipd.Problem:
    A = np.random.default_rng(seed).standard_normal((8, 24))
    return unipd.Problem(sharp.L1NormSquared(24), A, A[:, 0] - 2 * A[:, 5], "=")


def _regression(seed: int) -> unipd.Problem:
    random = np.random.default_rng(seed)
    A = random.standard_normal((10, 30))
    return unipd.Problem(sharp.L1Ball(30), A, random.standard_normal(10), couplings.LeastSquares())


def _tomography(seed: int) -> unipd.Problem:
    random = np.random.default_rng(seed)
    measurements = unipd.maps.RankOneMeasurements(random.standard_normal((30, 5)))
    vector = random.standard_normal((5, 1))
    state = unipd.atoms.LowRank(vector, vector, np.ones(1) / float(np.sum(vector**2)))
    noise = 0.01 * random.standard_normal(30)
    return unipd.Problem(
        sharp.Spectrahedron(5), measurements, measurements.image(state) + noise, couplings.LeastSquares()
    )


def _maxcut(seed: int) -> unipd.Problem:
    random = np.random.default_rng(seed)
    cost = random.standard_normal((6, 6))
    oracle = sharp.Linear(cost + cost.T, sharp.Spectrahedron(6, 6.0))
    return unipd.Problem(oracle, unipd.maps.RankOneMeasurements(np.eye(6)), np.ones(6), "=")


PROBLEMS = {
    "program": _program,
    "noise ball": lambda seed: _program(seed, couplings.L2Ball(0.1)),
    "recovery": _recovery,
    "regression": _regression,
    "tomography": _tomography,
    "maxcut": _maxcut,
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
@settings(max_examples=3)
@given(seed=st.integers(0, 1000), tracker=st.sampled_from(["atoms", "auto"]))
def test_polishing_never_hurts_and_claims_nothing_false(name: str, method: str, seed: int, tracker: str) -> None:
    problem = PROBLEMS[name](seed)
    truth = unipd.solve(problem, accuracy=1e-8)
    rough = unipd.solve(problem, method, accuracy=1e-6, stop=MaxIterations(40), tracker=tracker)
    fine = unipd.polish(problem, rough)
    assert _error(fine) <= _error(rough) * (1 + 1e-9) + 1e-12
    assert fine.dual_bound >= rough.dual_bound
    assert fine.dual_bound <= truth.objective + 1e-6 * problem.scale(truth.objective)
    assert problem.sharp.contains(fine.x, 1e-7)
    np.testing.assert_allclose(fine.image, problem.map.image(fine.x), atol=1e-9)
    assert (fine.status is Status.SOLVED) <= (_error(fine) <= 1e-6)
    assert fine.counts.oracle_calls > rough.counts.oracle_calls


@pytest.mark.parametrize("name", ["program", "recovery", "regression", "tomography"])
def test_a_rough_average_becomes_an_accurate_point(name: str) -> None:
    problem = PROBLEMS[name](3)
    settings = {"eps": {"program": 1.0, "recovery": 30.0}[name]} if name in ("program", "recovery") else {}
    rough = unipd.solve(problem, "accunipdgrad", accuracy=1e-6, stop=MaxIterations(300), tracker="atoms", **settings)
    fine = unipd.polish(problem, rough)
    assert rough.status is Status.ITERATION_LIMIT
    assert fine.status is Status.SOLVED
    assert fine.seconds > rough.seconds
    assert len(fine.history) == len(rough.history) + 1


def test_an_option_of_solve() -> None:
    problem = _regression(0)
    stop = MaxIterations(200)
    plain = unipd.solve(problem, "unipdgrad", accuracy=1e-8, stop=stop)
    result = unipd.solve(problem, "unipdgrad", accuracy=1e-8, stop=stop, polish=True)
    assert result.status is Status.SOLVED
    assert result.gap < 1e-3 * plain.gap


def test_rescaled_runs_are_polished_in_their_own_units() -> None:
    base = _program(4)
    factors = 10.0 ** np.linspace(-4, 4, 6)
    problem = unipd.Problem(base.sharp, factors[:, None] * base.map.matrix, factors * base.b, "<=")
    rough = unipd.solve(problem, accuracy=1e-6, stop=MaxIterations(2))
    fine = unipd.polish(problem, rough)
    np.testing.assert_allclose(fine.image, problem.map.image(fine.x), rtol=1e-9)
    assert _error(fine) <= _error(rough)
    assert fine.state.certificate.relative_error(problem) <= rough.state.certificate.relative_error(problem) * (
        1 + 1e-9
    )


def test_another_accuracy_decides_the_status_where_nothing_improves() -> None:
    problem = _regression(0)
    solved = unipd.polish(problem, unipd.solve(problem, "corrective", accuracy=1e-9))
    for accuracy, status in ((1e-17, Status.STOPPED), (1e-6, Status.SOLVED)):
        again = unipd.polish(problem, solved, accuracy=accuracy)
        assert again.objective == solved.objective
        assert (again.status, again.accuracy) == (status, accuracy)


def test_many_atoms_are_merged() -> None:
    problem = _regression(1)
    rough = unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=MaxIterations(40), tracker="atoms")
    assert isinstance(rough.state.primal, AtomList)
    kept, weights = merge_light_atoms(rough.state.primal.atoms, list(rough.state.primal.weights), 5)
    assert len(kept) == 5
    mean = sum(w * (atom.dense() if hasattr(atom, "dense") else atom) for w, atom in zip(weights, kept, strict=True))
    np.testing.assert_allclose(mean, rough.x, atol=1e-12)


def test_the_origin_of_frank_wolfe_is_an_atom_too() -> None:
    """Frank-Wolfe from x = 0 keeps weights that add up to less than one: the rest is at zero."""
    problem = unipd.Problem(sharp.L1Ball(4), np.eye(4), np.array([0.3, 0.2, 0.0, 0.0]), couplings.LeastSquares())
    rough = unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=MaxIterations(3), tracker="atoms")
    fine = unipd.polish(problem, rough)
    np.testing.assert_allclose(fine.x, [0.3, 0.2, 0.0, 0.0], atol=1e-9)


def test_results_without_a_point_are_refused() -> None:
    problem = _regression(0)
    bare = unipd.solve(problem, "unipdgrad", stop=MaxIterations(5), tracker="image")
    with pytest.raises(unipd.errors.InvalidInput, match="image"):
        unipd.polish(problem, bare)
    with pytest.raises(unipd.errors.InvalidInput, match="state"):
        unipd.polish(problem, None)


def test_a_result_of_another_problem_is_measured_and_certified_anew(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    A, cost = random.standard_normal((10, 60)), random.standard_normal(60)
    b = A @ random.dirichlet(np.ones(60))

    def program(shift: float, coupling: str = "=") -> unipd.Problem:
        return unipd.Problem(sharp.Linear(cost + shift, sharp.Simplex(60)), A, b, coupling)

    fresh = unipd.solve(program(0.0), accuracy=1e-7)
    fresh.save(tmp_path / "result.npz")
    for problem in (program(0.0), program(-10.0), program(10.0), program(0.0, "<=")):
        optimum = unipd.solve(problem, accuracy=1e-9).objective
        for result in (fresh, unipd.load(tmp_path / "result.npz")):
            fine = unipd.polish(problem, result)
            assert fine.problem is problem
            assert fine.dual_bound <= optimum + 1e-8 * abs(optimum)
            assert fine.objective == pytest.approx(problem.sharp.objective(fine.x), rel=1e-9)
            assert not fine.status.success or fine.objective == pytest.approx(optimum, rel=1e-6)


def test_points_and_atoms_outside_the_set_are_not_polished() -> None:
    A = np.random.default_rng(0).standard_normal((8, 20))
    large, small = (
        unipd.Problem(sharp.L1Ball(20, radius), A, A[:, 0] - A[:, 1], couplings.LeastSquares()) for radius in (3.0, 1.0)
    )
    solved = unipd.solve(large, "pairwise", accuracy=1e-6)
    with pytest.raises(unipd.errors.InvalidInput, match="set X"):
        unipd.polish(small, solved)
    balanced = unipd.solve(replace_b(large, 0.1), "pairwise", accuracy=1e-2)  # in the small ball, of atoms outside it
    assert small.sharp.contains(balanced.x)
    assert small.sharp.contains(unipd.polish(small, balanced).x)


def replace_b(problem: unipd.Problem, factor: float) -> unipd.Problem:
    return unipd.Problem(problem.sharp, problem.map, factor * problem.b, problem.coupling)
