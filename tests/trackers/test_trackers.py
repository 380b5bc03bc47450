"""Trackers against the plain average, their independence from one another, and their memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.references import constrained_reference, loss_reference
from unipd import MaxIterations, Problem, atoms, maps, memory, sharp, solve
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.methods.frank_wolfe import ActiveSet, Vertex
from unipd.sharp import Simplex
from unipd.trackers import AtomList, Dense, ImageOnly, vertex_key

KINDS = ["array", "sparse", "low rank", "blocks"]
examples = settings(max_examples=40)
gammas = st.lists(st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 1.0 - 1e-12])), min_size=1, max_size=12)
seeds = st.integers(0, 2**32 - 1)


def atom_of(kind: str, random: np.random.Generator, dtype: Any = np.float64) -> Any:
    """Return a random atom of a kind."""
    if kind == "sparse":
        return atoms.SparsePoint((5,), random.choice(5, 2, replace=False), random.standard_normal(2).astype(dtype))
    if kind == "low rank":
        left, right = random.standard_normal((4, 1)).astype(dtype), random.standard_normal((3, 1)).astype(dtype)
        return atoms.LowRank(left, right, np.ones(1, dtype))
    if kind == "blocks":
        return atoms.Blocks((atom_of("array", random, dtype), atom_of("sparse", random, dtype)))
    return random.standard_normal(5).astype(dtype)


def flat(point: Any) -> Any:
    """Return a point of any kind as one vector."""
    full = atoms.dense(point)
    return np.concatenate([part.reshape(-1) for part in full]) if isinstance(full, tuple) else full.reshape(-1)


def averages(kind: str, seed: int, steps: list[float], tracker: Any) -> tuple[list[Any], list[Any]]:
    """Mix random atoms with the given gammas; return the trackers on the way and the obvious averages."""
    random = np.random.default_rng(seed)
    kept, expected, mean = [], [], np.zeros(flat(atom_of(kind, np.random.default_rng(0))).size)
    for gamma in steps:
        atom = atom_of(kind, random)
        tracker = tracker.mix(gamma, atom)
        mean = (1.0 - gamma) * mean + gamma * flat(atom)
        kept.append(tracker)
        expected.append(mean)
    return kept, expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [Dense, AtomList])
@given(seed=seeds, steps=gammas)
@examples
def test_trackers_hold_the_average_and_earlier_ones_keep_theirs(
    make: type[Dense] | type[AtomList], kind: str, seed: int, steps: list[float]
) -> None:
    kept, expected = averages(kind, seed, steps, make())
    for tracker, mean in zip(kept, expected, strict=True):
        np.testing.assert_allclose(flat(tracker.point()), mean, atol=1e-9)
        assert tracker.nbytes >= 0


@pytest.mark.parametrize("make", [Dense, AtomList])
@given(seed=seeds, steps=gammas)
@examples
def test_two_futures_of_one_tracker_do_not_mix(
    make: type[Dense] | type[AtomList], seed: int, steps: list[float]
) -> None:
    """Branching happens whenever a state is stepped twice, as a resumed run may do."""
    kept, expected = averages("array", seed, steps, make())
    trunk, mean = kept[len(kept) // 2], expected[len(kept) // 2]
    one, other = np.ones(5), np.full(5, -2.0)
    first, second = trunk.mix(0.25, one), trunk.mix(0.5, other)
    third = first.mix(0.5, other)
    np.testing.assert_allclose(first.point(), 0.75 * mean + 0.25, atol=1e-9)
    np.testing.assert_allclose(second.point(), 0.5 * mean - 1.0, atol=1e-9)
    np.testing.assert_allclose(third.point(), 0.375 * mean + 0.125 - 1.0, atol=1e-9)
    np.testing.assert_allclose(trunk.point(), mean, atol=1e-9)


def test_atom_weights_sum_to_one_after_a_full_first_step() -> None:
    tracker = AtomList().mix(1.0, np.ones(2))
    for count in range(2, 400):
        tracker = tracker.mix(2.0 / (count + 1.0), np.ones(2))
    assert tracker.weights.sum() == pytest.approx(1.0)
    assert len(tracker.atoms) == tracker.weights.size == 399


def test_atom_weights_do_not_underflow() -> None:
    tracker = AtomList().mix(1.0, np.ones(1))
    for _ in range(1000):
        tracker = tracker.mix(0.9, np.ones(1))
    np.testing.assert_allclose(tracker.point(), [1.0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [Dense, AtomList])
def test_single_precision_is_kept(make: type[Dense] | type[AtomList], kind: str) -> None:
    random = np.random.default_rng(0)
    tracker: Any = make()
    for gamma in (1.0, 0.3, 0.2):
        tracker = tracker.mix(gamma, atom_of(kind, random, np.float32))
    assert tracker.point().dtype == np.float32


def test_low_rank_atoms_stay_factors_in_the_list() -> None:
    kept, expected = averages("low rank", 0, [1.0, 0.5, 0.25], AtomList())
    assert isinstance(kept[-1].point(), atoms.LowRank)
    assert kept[-1].point().rank == 3
    np.testing.assert_allclose(kept[-1].point().dense().reshape(-1), expected[-1])


def test_the_image_tracker_keeps_nothing() -> None:
    tracker = ImageOnly().mix(1.0, np.ones(1000))
    assert (tracker.point(), tracker.nbytes) == (None, 0)


def vertex(atom: Any) -> Vertex:
    return Vertex(atom, 2.0 * flat(atom), float(flat(atom).sum()), vertex_key(atom))


def test_an_active_set_moves_weight_and_drops_what_is_used_up() -> None:
    corners = [vertex(atoms.one_hot((3,), index, 1.0)) for index in range(3)]
    active = ActiveSet((corners[0],), np.ones(1)).move_weight(0.5, corners[1], None)
    np.testing.assert_allclose(active.point(), [0.5, 0.5, 0.0])
    pairwise = active.move_weight(0.5, corners[2], 0)
    np.testing.assert_allclose(pairwise.point(), [0.0, 0.5, 0.5])
    assert len(pairwise.vertices) == 2
    away = active.move_weight(0.5, None, 0)
    np.testing.assert_allclose(away.point(), [0.25, 0.75, 0.0])
    np.testing.assert_allclose(away.image(), [0.5, 1.5, 0.0])
    assert away.objective() == pytest.approx(1.0)
    np.testing.assert_allclose(active.point(), [0.5, 0.5, 0.0])


def test_an_active_set_recognises_a_vertex_it_has() -> None:
    corner = atoms.one_hot((3,), 1, 1.0)
    active = ActiveSet((vertex(corner),), np.ones(1))
    again = active.move_weight(0.25, vertex(atoms.one_hot((3,), 1, 1.0)), None)
    assert len(again.vertices) == 1
    assert vertex_key(corner) != vertex_key(atoms.one_hot((3,), 1, 2.0))
    assert vertex_key(corner) != vertex_key(atoms.one_hot((3,), 2, 1.0))


def test_an_active_set_refuses_bare_atoms() -> None:
    with pytest.raises(NotImplementedError, match="vertices"):
        ActiveSet((), np.zeros(0)).mix(0.5, np.ones(2))


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "frank-wolfe"])
def test_runs_agree_whatever_they_keep(method: str) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    results = {
        name: solve(problem, method, tracker=name, stop=MaxIterations(40)) for name in ("dense", "atoms", "image")
    }
    np.testing.assert_allclose(results["dense"].x, results["atoms"].x, atol=1e-12)
    assert results["image"].x is None
    np.testing.assert_allclose(results["image"].image, results["dense"].image, atol=1e-12)
    assert results["image"].objective == pytest.approx(results["dense"].objective, rel=1e-12)
    assert results["image"].dual_bound == results["dense"].dual_bound == results["atoms"].dual_bound


def test_without_x_the_objective_of_a_curved_f_is_reported_from_above() -> None:
    problem, _ = constrained_reference("squared norm", "equality")
    kept = solve(problem, "accunipdgrad", tracker="dense", stop=MaxIterations(20))
    image = solve(problem, "accunipdgrad", tracker="image", stop=MaxIterations(20))
    assert kept.iterations == image.iterations == 20
    assert image.objective >= kept.objective
    assert image.infeasibility == pytest.approx(kept.infeasibility)


def big_problem() -> Problem:
    return Problem(Simplex(1000), np.ones((1, 1000)), [1.0], LeastSquares())


def test_a_forecast_names_the_trackers_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    with pytest.raises(MemoryForecastError) as caught:
        solve(big_problem(), tracker="dense")
    message = str(caught.value)
    assert 'tracker="atoms"' in message
    assert 'tracker="image"' in message
    assert "24 kB" in message
    assert "10 kB" in message


def test_the_automatic_choice_follows_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(memory.as_tracker("auto", big_problem()), Dense)
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    assert isinstance(memory.as_tracker("auto", big_problem()), AtomList)
    assert solve(big_problem(), stop=MaxIterations(3)).x.shape == (1000,)


def test_forecasts_count_what_is_held() -> None:
    problem = Problem(Simplex(50), np.ones((3, 50)), np.ones(3), "=")
    assert memory.forecast(problem, "dense").primal >= 50 * 8
    assert memory.forecast(problem, "image").primal == 0
    assert memory.forecast(problem).map == 3 * 50 * 8
    assert memory.forecast(problem).dual >= 3 * 8
    two = Problem([Simplex(50), Simplex(30)], [np.ones((3, 50)), np.ones((3, 30))], np.ones(3), "=")
    assert memory.forecast(two).primal > memory.forecast(problem).primal


def forecast_of(oracle: Any, tracker: str) -> memory.Forecast:
    shapes = oracle.shape if isinstance(oracle.shape[0], tuple) else [oracle.shape]
    maps = [np.ones((2, int(np.prod(shape)))) for shape in shapes]
    return memory.forecast(Problem(oracle, maps if len(shapes) > 1 else maps[0], np.ones(2), "="), tracker)


GRAPH = sharp.FlowPolytope([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], 0, 3)
ATOMS = {
    "simplex": Simplex(50),
    "unit simplex": sharp.UnitSimplex(50),
    "l1": sharp.L1Ball(50),
    "l1 squared": sharp.L1NormSquared(50),
    "l1 norm": sharp.L1NormOnBall(50),
    "l2": sharp.L2Ball(50),
    "box": sharp.Box(0.0, 1.0, 50),
    "Birkhoff": sharp.Birkhoff(6),
    "paths": GRAPH,
    "cost": sharp.Linear(np.arange(50.0), sharp.Counted(Simplex(50))),
    "matrix": sharp.NuclearBall((6, 5)),
    "blocks": sharp.Product([Simplex(50), sharp.Spectrahedron(6), sharp.L2Ball(20)]),
    "function": sharp.from_callable(lambda y: y, 30),
}


def _random(shape: Any) -> Any:
    if isinstance(shape[0], tuple):
        return tuple(_random(part) for part in shape)
    return np.random.default_rng(0).standard_normal(shape)


@pytest.mark.parametrize("name", ATOMS)
def test_atoms_are_forecast_as_large_as_they_are(name: str) -> None:
    atom = ATOMS[name](_random(ATOMS[name].shape)).atom
    assert atom.nbytes <= forecast_of(ATOMS[name], "atoms").primal / 1000 <= 3 * atom.nbytes


def test_every_block_is_forecast_as_it_is_kept() -> None:
    blocks = ATOMS["blocks"]
    for tracker in ("image", "dense", "atoms"):
        parts = sum(forecast_of(part, tracker).primal for part in blocks.oracles)
        assert forecast_of(blocks, tracker).primal == parts
    matrix, vectors = forecast_of(sharp.Spectrahedron(6), "lowrank").primal, 3 * 8 * (50 + 20)
    assert forecast_of(blocks, "lowrank").primal == matrix + vectors


def test_the_direction_of_an_oracle_call_is_counted() -> None:
    assert forecast_of(Simplex(50), "image").direction >= 50 * 8
    assert forecast_of(Simplex(50), "image").total >= forecast_of(Simplex(50), "image").direction
    assert forecast_of(sharp.Spectrahedron(6), "image").direction == 0


def test_factors_are_recommended_for_matrices_and_only_for_these(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    matrices = Problem(sharp.NuclearBall((60, 50)), maps.Sampling([0], [0], (60, 50)), [1.0], LeastSquares())
    for problem, expected in ((matrices, True), (big_problem(), False)):
        with pytest.raises(MemoryForecastError) as caught:
            solve(problem, tracker="dense")
        assert ('tracker="lowrank" or "sketch" (factors), ' in str(caught.value)) is expected


def test_atoms_are_not_recommended_where_they_are_as_large_as_x(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    with pytest.raises(MemoryForecastError) as caught:
        solve(Problem(sharp.L2Ball(1000), np.ones((1, 1000)), [1.0], LeastSquares()), tracker="dense")
    assert str(caught.value).endswith('10 kB are available: use tracker="image" (A x only)')


def test_memory_is_measured_in_bytes_of_this_machine() -> None:
    assert memory.available_memory() > 10_000_000
    assert 10_000_000 < memory.peak_memory() < 10**12


def test_unknown_trackers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="tracker"):
        solve(big_problem(), tracker="sparse")
