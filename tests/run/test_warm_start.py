"""Warm starts carry atoms and curvature, not the dual vector alone: fewer iterations after every kind of change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import unipd
from unipd import Problem, Status, solve
from unipd._util.arrays import solve_system
from unipd.couplings import Absolute, AtMost, Equality, L2Ball, LeastSquares, Product
from unipd.sharp import (
    Entropy,
    L1Ball,
    L1NormSquared,
    Linear,
    LInfNormSquared,
    NuclearBall,
    NuclearNormSquared,
    QuadraticBox,
    Simplex,
)

ROWS, SIZE = 40, 400
RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((ROWS, SIZE))
POINT = RANDOM.dirichlet(np.full(SIZE, 0.05))
B, COST = A @ POINT, RANDOM.random(SIZE)
ROW, NOISE, OTHER = RANDOM.standard_normal(SIZE), RANDOM.standard_normal(SIZE), RANDOM.dirichlet(np.full(SIZE, 0.05))


def program(cost: Any = COST, b: Any = B, coupling: Any = "=", matrix: Any = A) -> Problem:
    return Problem(Linear(cost, Simplex(SIZE)), matrix, b, coupling)


@pytest.fixture(scope="module")
def earlier() -> unipd.Result:
    return solve(program(), accuracy=1e-6)


def changed(name: str, earlier: unipd.Result) -> Problem:
    stacked = np.vstack([A, ROW])
    cut = Product([Equality(), AtMost()], [ROWS, 1])
    return {
        "nothing": lambda: program(),
        "b": lambda: program(b=A @ (0.99 * POINT + 0.01 * OTHER)),
        "cost": lambda: program(COST + 0.02 * NOISE),
        "row": lambda: program(b=np.append(B, ROW @ POINT), matrix=stacked),
        "cut": lambda: program(b=np.append(B, ROW @ earlier.x - 0.01), coupling=cut, matrix=stacked),
    }[name]()


@pytest.mark.parametrize("name", ["nothing", "b", "cost", "row", "cut"])
def test_a_changed_program_takes_at_most_a_third_of_the_iterations(name: str, earlier: unipd.Result) -> None:
    problem = changed(name, earlier)
    cold, warm = (solve(problem, accuracy=1e-6, start=start) for start in (None, earlier))
    assert cold.status is warm.status is Status.SOLVED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    assert 3 * warm.iterations <= cold.iterations


def test_rows_with_multipliers_are_known_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first master over "<=" begins with the rows that had multipliers: no pivots where they stay the same."""
    master, systems = "unipd.methods.corrective.master.solve_system", list[int]()

    def counted(matrix: Any, right: Any) -> Any:
        systems.append(matrix.shape[0])
        return solve_system(matrix, right)

    monkeypatch.setattr(master, counted)
    random = np.random.default_rng(0)
    oracle, matrix = Linear(random.random(SIZE), Simplex(SIZE)), random.random((ROWS, SIZE))
    b = matrix @ random.dirichlet(np.ones(SIZE))
    before = solve(Problem(oracle, matrix, b, "<="), accuracy=1e-6)
    shifted, counts = Problem(oracle, matrix, 1.001 * b, "<="), list[int]()
    for start in (None, before):
        systems.clear()
        assert solve(shifted, accuracy=1e-6, start=start).status is Status.SOLVED
        counts.append(len(systems))
    assert counts[1] == 1 < counts[0]


def test_rows_in_other_units_are_rescaled() -> None:
    factors = np.geomspace(1e-3, 1e3, ROWS)
    problem = program(b=factors * B, matrix=factors[:, None] * A)
    assert problem.rows is not None
    cold = solve(problem, accuracy=1e-6)
    warm = solve(problem, accuracy=1e-6, start=cold)
    assert warm.status is Status.SOLVED
    assert warm.iterations <= 2


PATHS: dict[str, Any] = {
    "larger balls": lambda share: Problem(L1Ball(SIZE, 1.0 + 4.0 * share), A, 10.0 * B, LeastSquares()),
    "smaller balls": lambda share: Problem(L1Ball(SIZE, 5.0 - 4.0 * share), A, 10.0 * B, LeastSquares()),
    "tighter constraints": lambda share: Problem(L1NormSquared(SIZE), A, B, L2Ball(0.6 - 0.5 * share)),
    "moving moments": lambda share: Problem(Entropy(SIZE), A, A @ ((1 - 0.1 * share) * 0.0025 + 0.1 * share * OTHER)),
}


@pytest.mark.parametrize("name", ["larger balls", "smaller balls"])
def test_coordinates_in_use_are_a_start(name: str) -> None:
    cold_total, warm_total, previous = 0, 0, None
    method = unipd.CoordinateDescent(working_set=2)
    for share in np.linspace(0.1, 1.0, 10):
        problem = PATHS[name](share)
        cold = solve(problem, method, accuracy=1e-6)
        previous = solve(problem, method, accuracy=1e-6, start=previous)
        assert previous.status is cold.status is Status.SOLVED
        cold_total, warm_total = cold_total + cold.iterations, warm_total + previous.iterations
    assert warm_total < 0.85 * cold_total


@pytest.mark.parametrize("name", PATHS)
def test_a_path_takes_fewer_iterations(name: str) -> None:
    cold_total, warm_total, previous = 0, 0, None
    method = "corrective" if name.endswith("balls") else "auto"  # coordinates need but one iteration from cold
    for share in np.linspace(0.1, 1.0, 10):
        problem = PATHS[name](share)
        cold = solve(problem, method, accuracy=1e-6)
        previous = solve(problem, method, accuracy=1e-6, start=previous)
        assert previous.status is cold.status is Status.SOLVED
        assert previous.objective == pytest.approx(cold.objective, rel=1e-5, abs=1e-5 * problem.scale(0.0))
        cold_total, warm_total = cold_total + cold.iterations, warm_total + previous.iterations
    assert warm_total < 0.85 * cold_total


def test_atoms_of_another_size_are_scaled() -> None:
    """The atoms of a ball twice as large are those of the ball, not points in its interior or outside."""
    first = solve(Problem(L1Ball(SIZE, 1.0), A, 10.0 * B, LeastSquares()), "pairwise", accuracy=1e-6)
    for radius in (0.5, 2.0):
        problem = Problem(L1Ball(SIZE, radius), A, 10.0 * B, LeastSquares())
        state = next(unipd.iterate(problem, "corrective", start=first))
        assert all(np.abs(unipd.atoms.dense(atom)).sum() == pytest.approx(radius) for atom in state.primal.atoms)  # type: ignore[attr-defined]


def test_a_dual_vector_outside_the_domain_is_projected() -> None:
    equality = solve(program(), accuracy=1e-6)
    problem = program(coupling="<=")
    assert solve(problem, accuracy=1e-6, start=equality).status is Status.SOLVED


def test_a_result_with_more_rows_is_refused() -> None:
    longer = solve(program(b=np.append(B, ROW @ POINT), matrix=np.vstack([A, ROW])), accuracy=1e-4)
    with pytest.raises(unipd.errors.InvalidInput, match="start"):
        solve(program(), start=longer)


def test_a_path_of_linear_programs_with_many_rows_is_never_slower_than_cold() -> None:
    random = np.random.default_rng(2)
    matrix, cost = random.standard_normal((200, 1000)), np.linspace(0.0, 1.0, 1000)

    def along_path(share: float) -> Problem:
        inside = np.full(1000, share / 1000) + (1.0 - share) * np.eye(1000)[0]
        return Problem(Linear(cost, Simplex(1000)), matrix, matrix @ inside, "=")

    warm = solve(along_path(0.05), accuracy=1e-6)
    for share in (0.055, 0.06, 0.07):
        cold = solve(along_path(share), accuracy=1e-6)
        warm = solve(along_path(share), accuracy=1e-6, start=warm)
        assert warm.status is cold.status is Status.SOLVED
        assert warm.iterations <= cold.iterations


def test_a_factor_is_a_start() -> None:
    random = np.random.default_rng(0)
    truth = random.standard_normal((30, 2)) @ random.standard_normal((2, 20))
    rows, columns = np.nonzero(random.random((30, 20)) < 0.6)
    entries, y = unipd.maps.Sampling(rows, columns, (30, 20)), truth[rows, columns]

    def along_path(share: float) -> Problem:
        return Problem(NuclearBall((30, 20), share * float(np.linalg.norm(truth, "nuc"))), entries, y, LeastSquares())

    earlier = solve(along_path(0.7), "factored", accuracy=1e-6)
    cold, warm = (solve(along_path(0.72), "factored", accuracy=1e-6, start=start) for start in (None, earlier))
    assert warm.status is cold.status is Status.SOLVED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    assert 2 * warm.iterations <= cold.iterations


@pytest.mark.parametrize("oracle", [NuclearBall((30, 20), 40.0), NuclearNormSquared((30, 20), 0.01)])
def test_a_saved_matrix_is_a_start_of_factors(oracle: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth = random.standard_normal((30, 2)) @ random.standard_normal((2, 20))
    rows, columns = np.nonzero(random.random((30, 20)) < 0.6)
    y = truth[rows, columns] + 0.1 * random.standard_normal(rows.size)
    problem = Problem(oracle, unipd.maps.Sampling(rows, columns, (30, 20)), y, LeastSquares())
    rough = solve(problem, "factored", accuracy=1e-4)
    rough.save(tmp_path / "rough.npz")
    cold, warm = (
        solve(problem, "factored", accuracy=1e-7, start=s) for s in (None, unipd.load(tmp_path / "rough.npz"))
    )
    assert warm.status is cold.status is Status.SOLVED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert 4 * warm.iterations <= 3 * cold.iterations


def test_a_path_of_factors_takes_few_products() -> None:
    """Steps end where the factor is stationary, and the oracle is then asked for the final bound at once."""
    random = np.random.default_rng(0)
    truth = random.standard_normal((90, 3)) @ random.standard_normal((3, 60))
    rows, columns = np.nonzero(random.random((90, 60)) < 0.4)
    y = truth[rows, columns] + 0.1 * random.standard_normal(rows.size)
    entries, length = unipd.maps.Sampling(rows, columns, (90, 60)), float(np.linalg.norm(truth, "nuc"))
    cold_total, warm_total, previous = 0, 0, None
    for share in np.linspace(0.5, 0.7, 10):
        problem = Problem(NuclearBall((90, 60), share * length), entries, y, LeastSquares())
        cold = solve(problem, accuracy=1e-6)
        previous = solve(problem, accuracy=1e-6, start=previous)
        assert previous.status is cold.status is Status.SOLVED
        cold_total, warm_total = cold_total + cold.counts.matvecs, warm_total + previous.counts.matvecs
    assert 2 * warm_total <= cold_total


def test_idle_atoms_are_carried_and_weights_kept() -> None:
    earlier = solve(program(), "corrective", accuracy=1e-6)
    bundle = next(unipd.iterate(program(), "corrective", start=earlier)).bundle  # type: ignore[attr-defined]
    idle = earlier.state.unwrap().idle_atoms  # type: ignore[union-attr]
    assert 0 < len(idle) <= np.count_nonzero(earlier.x)
    assert {atom.indices.tobytes() for atom in idle} <= {atom.indices.tobytes() for atom in bundle.atoms}


def test_an_unrelated_problem_is_no_start() -> None:
    """Where the dual vector gives a worse bound than zero does, the run is the one from zero."""
    first, second = (Problem(L1NormSquared(SIZE), A, sign * B, "=") for sign in (1.0, -1.0))
    cold, warm = (solve(second, "corrective", accuracy=1e-6, start=start) for start in (None, solve(first)))
    assert warm.iterations == cold.iterations
    assert warm.objective == cold.objective


def test_a_saved_result_is_continued_with_its_atoms_and_its_prox_parameter(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    matrix = random.standard_normal((100, 800))
    problem = Problem(L1NormSquared(800), matrix, matrix @ random.standard_normal(800), "=")
    rough = solve(problem, "corrective", accuracy=1e-3)
    rough.save(tmp_path / "rough.npz")
    starts = (None, rough, unipd.load(tmp_path / "rough.npz"))
    cold, fresh, saved = (solve(problem, "corrective", accuracy=1e-6, start=start) for start in starts)
    assert saved.status.success
    assert saved.objective == pytest.approx(fresh.objective, rel=1e-6)
    assert 2 * saved.iterations <= cold.iterations


def blocks_program(share: float, coupling: Any, radius: float = 0.5) -> Problem:
    random = np.random.default_rng(1)
    costs, maps = random.standard_normal((5, 30)), [random.standard_normal((12, 30)) for _ in range(5)]
    b = sum(part @ (0.05 * random.dirichlet(np.ones(30))) for part in maps)
    blocks = [Linear(cost, L1Ball(30, radius)) for cost in costs]
    return Problem(blocks, maps, (1.0 + 0.2 * share) * b, coupling)


@pytest.mark.parametrize("coupling", [Equality(), AtMost(), LeastSquares(10.0), Absolute()])
def test_a_path_of_blocks_takes_their_atoms_along(coupling: Any) -> None:
    cold_total, warm_total, previous = 0, 0, None
    for share in np.linspace(0.0, 1.0, 6):
        problem = blocks_program(share, coupling)
        cold = solve(problem, "corrective", accuracy=1e-6)
        previous = solve(problem, "corrective", accuracy=1e-6, start=previous)
        assert previous.status is cold.status is Status.SOLVED
        assert previous.objective == pytest.approx(cold.objective, rel=1e-5)
        cold_total, warm_total = cold_total + cold.iterations, warm_total + previous.iterations
    assert 2 * warm_total <= cold_total
    assert solve(problem, "corrective", accuracy=1e-6, start=previous).iterations <= 2


def test_atoms_of_blocks_outside_their_sets_are_left_behind() -> None:
    earlier, problem = solve(blocks_program(0.0, "=")), blocks_program(0.0, "=", radius=0.4)
    state = next(unipd.iterate(problem, "corrective", start=earlier))
    assert all(np.abs(unipd.atoms.dense(atom)).sum() <= 0.4 + 1e-9 for atom in state.bundle.atoms)  # type: ignore[attr-defined]
    warm = solve(problem, accuracy=1e-6, start=earlier)
    assert warm.status is Status.SOLVED
    assert warm.objective == pytest.approx(solve(problem, accuracy=1e-6).objective, rel=1e-5)


def test_linear_masters_take_their_entries_along() -> None:
    random = np.random.default_rng(0)
    costs, change, ones = random.random((100, 100)), random.random((100, 100)), np.ones((1, 100))
    eye = scipy.sparse.eye_array(100)
    sums = scipy.sparse.vstack([scipy.sparse.kron(eye, ones), scipy.sparse.kron(ones, eye)]).tocsc()

    def transport(share: float) -> Problem:
        return Problem(Linear((costs + share * change).ravel(), Simplex(10_000)), sums, np.full(200, 0.01), "=")

    earlier = solve(transport(0.0), accuracy=1e-6)
    cold, warm = (solve(transport(0.02), accuracy=1e-6, start=start) for start in (None, earlier))
    assert warm.status is cold.status is Status.SOLVED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert 3 * warm.iterations <= cold.iterations


CURVED: dict[str, Any] = {
    "largest entry": lambda share: Problem(LInfNormSquared(SIZE), A[:20], (1.0 + share) * B[:20] + 0.1 * share, "="),
    "quadratic": lambda share: Problem(QuadraticBox(1.0, COST, 0.0, 1.0, SIZE), A[:20], (1.0 + share) * B[:20], "="),
}


@pytest.mark.parametrize("name", CURVED)
def test_a_path_of_curved_objectives_is_no_slower_than_cold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    systems = list[int]()

    def counted(matrix: Any, right: Any) -> Any:
        systems.append(matrix.shape[0])
        return solve_system(matrix, right)

    monkeypatch.setattr("unipd.methods.corrective.master.solve_system", counted)
    work, previous = [0, 0], None
    for share in np.linspace(0.0, 1.0, 5):
        problem = CURVED[name](share)
        for place, start in enumerate((None, previous)):
            systems.clear()
            previous = solve(problem, "corrective", accuracy=1e-6, start=start)
            assert previous.status is Status.SOLVED
            work[place] += previous.iterations + len(systems)
    assert work[1] <= 1.1 * work[0]
