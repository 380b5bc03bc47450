"""Matrix oracles against full decompositions: values, atoms, errors, membership, warm starts, certificates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from spectral.matrices import DTYPES, CountingOperator, eps_of, hermitian, random_basis, rectangular
from unipd import atoms
from unipd.errors import OracleError
from unipd.sharp import (
    Fantope,
    GroupNuclearBall,
    NormOnBall,
    NuclearBall,
    NuclearNormOnBall,
    NuclearNormSquared,
    SchattenSquared,
    Spectrahedron,
    SpectralBall,
    TraceBall,
    WeightedNuclearBall,
)
from unipd.spectral import PROBABILISTIC, RESIDUAL, RIGOROUS, Certification, Engine

LANCZOS = Engine(solver="lanczos")
SHAPE, SIZE = (6, 9), 7
ROWS, COLUMNS = np.linspace(0.5, 2.0, 6), np.linspace(1.0, 3.0, 9)
GROUPS = ([0, 3, 4], [1, 2], [5, 6, 7, 8])
ON_BALL = " on its ball"


def oracles(**options: Any) -> dict[str, Any]:
    """Return one oracle of each kind on small shapes."""
    return {
        "nuclear": NuclearBall(SHAPE, 2.0, **options),
        "squared": NuclearNormSquared(SHAPE, 0.5, **options),
        "nuclear on its ball": NuclearNormOnBall(SHAPE, 2.0, 0.5, **options),
        "weighted on its ball": NormOnBall(WeightedNuclearBall(ROWS, COLUMNS, 2.0, **options), 0.5),
        "group on its ball": NormOnBall(GroupNuclearBall(SHAPE, GROUPS, 2.0, **options), 0.5),
        "spectral on its ball": NormOnBall(SpectralBall(SHAPE, 2.0), 0.5),
        "weighted": WeightedNuclearBall(ROWS, COLUMNS, 2.0, **options),
        "group": GroupNuclearBall(SHAPE, GROUPS, 2.0, **options),
        "spectrahedron": Spectrahedron(SIZE, 3.0, **options),
        "trace ball": TraceBall(SIZE, 3.0, **options),
        "fantope": Fantope(SIZE, 3, **options),
        "spectral": SpectralBall(SHAPE, 2.0),
        "schatten 3": SchattenSquared(SHAPE, 3.0, 0.5),
        "schatten inf": SchattenSquared(SHAPE, math.inf, 0.5),
    }


NAMES = tuple(oracles())
OBJECTIVES = ("squared", "schatten 3", "schatten inf", *(name for name in NAMES if name.endswith(ON_BALL)))
SETS = tuple(name for name in NAMES if name not in OBJECTIVES)


def truth(name: str, direction: Any) -> float:
    """Return the maximum by a full decomposition: the naive twin of every oracle."""
    y = direction.astype(np.complex128)
    singular = lambda matrix: np.linalg.svd(matrix, compute_uv=False)  # noqa: E731
    if name == "nuclear":
        return 2.0 * singular(y)[0]
    if name == "squared":
        return singular(y)[0] ** 2 / 2.0
    if name.endswith(ON_BALL):
        return max(0.0, truth(name.removesuffix(ON_BALL), direction) - 2.0 * 0.5)
    if name == "weighted":
        return 2.0 * singular(y / np.sqrt(np.outer(ROWS, COLUMNS)))[0]
    if name == "group":
        return 2.0 * max(singular(y[:, group])[0] for group in GROUPS)
    if name == "spectral":
        return 2.0 * singular(y).sum()
    if name == "schatten 3":
        return float((singular(y) ** 1.5).sum()) ** (4.0 / 3.0) / 2.0
    if name == "schatten inf":
        return singular(y).sum() ** 2 / 2.0
    values = np.linalg.eigvalsh(0.5 * (y + y.conj().T))
    if name == "fantope":
        return float(values[-3:].sum())
    return 3.0 * (values[-1] if name == "spectrahedron" else max(values[-1], 0.0))


def direction_of(oracle: Any, dtype: Any, seed: int, kind: str = "generic") -> Any:
    generator = np.random.default_rng(seed)
    rows, columns = oracle.shape
    if kind == "zero":
        return np.zeros((rows, columns), dtype)
    if rows == columns:
        spectrum = {
            "generic": generator.standard_normal(rows),
            "negative": -1.0 - generator.random(rows),
            "degenerate": np.r_[np.ones(4), -generator.random(rows - 4)],
        }[kind]
        return hermitian(spectrum, dtype, seed)
    singular = np.ones(5) if kind == "degenerate" else generator.random(1 if kind == "negative" else min(rows, columns))
    return rectangular(rows, columns, singular, dtype, seed)


@settings(max_examples=120)
@given(
    name=st.sampled_from(NAMES),
    dtype=st.sampled_from(DTYPES),
    engine=st.sampled_from([Engine(), LANCZOS]),
    kind=st.sampled_from(["generic", "negative", "degenerate", "zero"]),
    seed=st.integers(0, 999),
)
def test_answers_match_full_decompositions(name: str, dtype: type, engine: Engine, kind: str, seed: int) -> None:
    oracle = oracles(engine=engine)[name]
    y = direction_of(oracle, dtype, seed, kind)
    answer = oracle(y)
    best = truth(name, y)
    size = 100 * eps_of(dtype) * max(1.0, float(np.linalg.norm(y))) * max(1.0, abs(best))
    assert answer.value == pytest.approx(best, abs=size)
    assert best <= answer.value + answer.error + 0.1 * size
    assert 0.0 <= answer.error <= 10 * math.sqrt(eps_of(dtype)) * max(1.0, float(np.linalg.norm(y))) ** 2
    assert isinstance(answer.atom, atoms.LowRank)
    assert answer.atom.dtype == dtype
    assert answer.atom.dense().dtype == dtype
    assert atoms.inner_product(y, answer.atom) - answer.objective == pytest.approx(answer.value, abs=size)
    assert answer.objective == pytest.approx(oracle.objective(answer.atom), abs=size)
    assert oracle.value(y).value == pytest.approx(best, abs=size)
    assert oracle.contains(answer.atom)
    assert oracle.contains(answer.atom.dense())


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_support_is_above_every_point(name: str, dtype: type) -> None:
    oracle = oracles(engine=LANCZOS)[name]
    points = [oracle(direction_of(oracle, dtype, seed)).atom.dense() for seed in range(6)]
    mean = sum(points) / len(points)
    assert oracle.contains(mean, 1e-5)
    assert oracle.maximum() == 0.0
    for seed in range(6, 12):
        y = direction_of(oracle, dtype, seed)
        assert max(atoms.inner_product(y, point) for point in [*points, mean]) <= oracle.support(y) + 1e-4


def test_norm_squared_is_conjugate_to_its_square() -> None:
    oracle = NuclearNormSquared(SHAPE, 0.5, engine=LANCZOS)
    x, y = (direction_of(oracle, np.float64, seed) for seed in (1, 2))
    assert oracle.objective(x) == pytest.approx(0.5 * np.linalg.norm(x, "nuc") ** 2)
    assert atoms.inner_product(y, x) <= oracle.objective(x) + oracle.value(y).value + 1e-12
    assert (oracle.degree, oracle.linear, oracle.maximum()) == (2.0, False, math.inf)
    assert (oracle.support(y), oracle.support(0 * y)) == (math.inf, 0.0)


def test_paper_scaling_of_the_squared_nuclear_norm() -> None:
    """f = (1/n) ||X||_*^2 has the sharp point (n sigma_1 / 2) u v^* and conjugate n sigma_1^2 / 4."""
    n, y = 50, np.diag([3.0, 1.0])
    answer = NuclearNormSquared((2, 2), 1.0 / n)(y)
    np.testing.assert_allclose(answer.atom.dense(), np.diag([75.0, 0.0]), atol=1e-10)
    assert answer.value == pytest.approx(n * 9.0 / 4.0)


@pytest.mark.parametrize("name", [*SETS, "squared"])
def test_degree_is_that_of_the_conjugate(name: str) -> None:
    oracle = oracles()[name]
    y = direction_of(oracle, np.float64, 3)
    assert oracle.value(2.5 * y).value == pytest.approx(2.5**oracle.degree * oracle.value(y).value)


@pytest.mark.parametrize("engine", [Engine(), LANCZOS])
@pytest.mark.parametrize("name", NAMES)
def test_zero_direction_is_answered_the_same_every_time(name: str, engine: Engine) -> None:
    oracle = oracles(engine=engine)[name]
    zero = np.zeros(oracle.shape)
    first, again = oracle(zero), oracle(zero)
    assert (first.value, first.error) == (0.0, 0.0)
    assert np.array_equal(first.atom.dense(), again.atom.dense())
    assert bool(np.any(first.atom.dense())) == (name in ("spectrahedron", "fantope"))  # others contain zero


@pytest.mark.parametrize("name", NAMES)
def test_every_form_of_direction(name: str) -> None:
    oracle = oracles()[name]
    y = direction_of(oracle, np.float64, 4)
    best = truth(name, y)
    for form in (y, y.tolist(), sp.csr_array(y), sp.coo_matrix(y), aslinearoperator(y), CountingOperator(y)):
        answer = oracle(form)
        assert answer.value == pytest.approx(best)
        assert atoms.inner_product(y, answer.atom) - answer.objective == pytest.approx(best)


def test_hermitian_oracles_see_the_hermitian_part() -> None:
    y = np.random.default_rng(0).standard_normal((SIZE, SIZE)) * (1 + 1j)
    for name in ("spectrahedron", "trace ball", "fantope"):
        answer = oracles()[name](y)
        assert answer.value == pytest.approx(truth(name, y))
        assert atoms.inner_product(y, answer.atom) == pytest.approx(answer.value)
        assert oracles()[name](sp.csc_array(y)).value == pytest.approx(answer.value)


def large(name: str, **options: Any) -> tuple[Any, Any, float]:
    """Return an oracle that does not go dense, a direction, and the true maximum."""
    if name in ("spectrahedron", "trace ball", "fantope"):
        spectrum = np.r_[2.0, 1.6, 1.5, np.linspace(-1.0, 1.0, 147)]
        y = hermitian(spectrum, np.complex128)
        choice = {"spectrahedron": Spectrahedron, "trace ball": TraceBall, "fantope": Fantope}[name]
        scale = {"spectrahedron": 3.0, "trace ball": 3.0, "fantope": 3}[name]
        return choice(150, scale, **options), y, 5.1 if name == "fantope" else 6.0
    y = rectangular(100, 150, np.r_[2.0, 1.6, np.linspace(0.0, 1.0, 98)])
    if name == "weighted":
        rows, columns = np.linspace(0.5, 2.0, 100), np.linspace(1.0, 3.0, 150)
        scaled = y * np.sqrt(np.outer(rows, columns))
        return WeightedNuclearBall(rows, columns, 3.0, **options), scaled, 6.0
    if name == "group":
        groups = [range(70), range(70, 150)]
        best = 3.0 * max(float(np.linalg.norm(y[:, list(group)], 2)) for group in groups)
        return GroupNuclearBall((100, 150), groups, 3.0, **options), y, best
    if name == "squared":
        return NuclearNormSquared((100, 150), 0.5, **options), y, 2.0
    return NuclearBall((100, 150), 3.0, **options), y, 6.0


ITERATIVE = ("nuclear", "squared", "weighted", "group", "spectrahedron", "trace ball", "fantope")


@pytest.mark.parametrize("name", ITERATIVE)
def test_tolerance_is_met_and_looser_is_cheaper(name: str) -> None:
    oracle, y, best = large(name, engine=LANCZOS)
    work = []
    for tolerance in (0.3, 1e-2, 1e-5, 0.0):
        counting = CountingOperator(y)
        answer = oracle(counting, tolerance=tolerance)
        assert best - answer.value <= tolerance + 1e-9
        assert best <= answer.value + answer.error + 1e-9
        assert answer.bound_kind == RESIDUAL
        assert answer.matvecs == counting.products
        work.append(answer.matvecs)
    assert work == sorted(work)
    assert work[0] < work[-1]
    assert not oracle.exact


@pytest.mark.parametrize("name", ITERATIVE)
def test_recent_atom_saves_products(name: str) -> None:
    engine = Engine(solver="lanczos", missed_eigenvalue_guard=None, mix=1e-3)
    oracle, y, _ = large(name, engine=engine)
    first = oracle(y, tolerance=1e-4)
    again = oracle(1.01 * y, tolerance=1e-4, start=first.atom)
    cold = oracle(1.01 * y, tolerance=1e-4)
    assert again.matvecs < 0.7 * cold.matvecs
    assert again.value == pytest.approx(cold.value, abs=2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_useless_starts_are_ignored(name: str) -> None:
    oracle = oracles(engine=LANCZOS)[name]
    y = direction_of(oracle, np.float64, 5)
    rows, columns = oracle.shape
    empty = atoms.LowRank(np.zeros((rows, 0)), np.zeros((columns, 0)), np.zeros(0))
    blank = atoms.LowRank(np.zeros((rows, 1)), np.zeros((columns, 1)), np.zeros(1))
    other = atoms.LowRank(np.ones((2, 1)), np.ones((3, 1)), np.ones(1))
    for start in (None, empty, blank, other, np.ones((rows, columns)), "atom"):
        assert oracle(y, start=start).value == pytest.approx(truth(name, y))


@pytest.mark.parametrize("kind", [PROBABILISTIC, RIGOROUS])
@pytest.mark.parametrize("name", ITERATIVE)
def test_certified_kinds(name: str, kind: str) -> None:
    oracle, y, best = large(name, engine=LANCZOS, certify=kind)
    counting = CountingOperator(y)
    answer = oracle(counting, tolerance=0.3)
    assert answer.bound_kind == kind
    assert answer.matvecs == counting.products
    assert best <= answer.value + answer.error + 1e-9
    assert answer.error < 1.0


@pytest.mark.parametrize("name", ITERATIVE)
def test_final_certificate_is_rigorous_when_affordable(name: str) -> None:
    oracle, y, best = large(name, engine=LANCZOS)
    answer = oracle.call_certified(CountingOperator(y), tolerance=1e-3)
    assert answer.bound_kind == RIGOROUS
    assert best <= answer.value + answer.error + 1e-9
    frugal, _, _ = large(name, engine=LANCZOS, certification=Certification(dense_limit=10, delta=1e-6))
    answer = frugal.call_certified(CountingOperator(y), tolerance=1e-3)
    assert answer.bound_kind == PROBABILISTIC
    assert best <= answer.value + answer.error + 1e-9
    assert answer.error < 0.05


def test_missed_top_is_caught_by_the_certificate() -> None:
    """An engine that trusts a wrong start misses the top; its residual error does not cover it, certificates do."""
    y = np.diag(np.r_[2.0, 1.0, np.linspace(-1.0, 0.9, 198)])
    wrong = atoms.LowRank(np.eye(200)[:, 1:2], np.eye(200)[:, 1:2], np.ones(1))
    trusting = Engine(solver="lanczos", missed_eigenvalue_guard=None, mix=1e-3)
    for kind, covers in ((RESIDUAL, False), (PROBABILISTIC, True), (RIGOROUS, True)):
        answer = Spectrahedron(200, engine=trusting, certify=kind)(CountingOperator(y), tolerance=1e-2, start=wrong)
        assert answer.value < 1.1
        assert (answer.value + answer.error >= 2.0 - 1e-9) == covers


def test_small_oracles_are_exact_and_rigorous() -> None:
    for name, oracle in oracles().items():
        assert oracle.exact, name
        assert oracle(CountingOperator(direction_of(oracle, np.float64, 1))).bound_kind == RIGOROUS


def test_spectral_ball_reports_broken_products() -> None:
    class Broken(CountingOperator):
        def matvec(self, x: Any) -> Any:
            return np.full(self.shape[0], np.nan)

        rmatvec = matvec

    with pytest.raises(OracleError):
        SpectralBall((3, 3))(Broken(np.eye(3)))


@settings(max_examples=60)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 999), dtype=st.sampled_from(DTYPES))
def test_membership_by_factors_is_membership_of_the_matrix(name: str, seed: int, dtype: type) -> None:
    """Random low-rank points, scaled to lie well inside or well outside."""
    oracle = oracles()[name]
    generator = np.random.default_rng(seed)
    rows, columns = oracle.shape
    left = random_basis(rows, 2, dtype, generator).astype(dtype)
    right = left if rows == columns else random_basis(columns, 2, dtype, generator).astype(dtype)
    weights = generator.uniform(-0.5 if seed % 3 else 0.1, 4.0, 2).astype(np.finfo(dtype).dtype)
    point = atoms.LowRank(left, right, weights)
    assert oracle.contains(point, 1e-4) == oracle.contains(point.dense(), 1e-4) == naive_contains(name, point.dense())


def naive_contains(name: str, x: Any, tolerance: float = 1e-4) -> bool:
    name = name.removesuffix(ON_BALL)
    if name in ("squared", "schatten 3", "schatten inf"):
        return True
    if name == "spectral":
        return bool(np.linalg.norm(x, 2) <= 2.0 + tolerance)
    if name in ("nuclear", "weighted", "group"):
        scaled = x * np.sqrt(np.outer(ROWS, COLUMNS)) if name == "weighted" else x
        parts = [scaled[:, group] for group in GROUPS] if name == "group" else [scaled]
        return bool(sum(np.linalg.norm(part, "nuc") for part in parts) <= 2.0 + tolerance)
    values = np.linalg.eigvalsh(x)
    total = float(values.sum())
    if name == "fantope":
        return bool(values[0] >= -tolerance and values[-1] <= 1 + tolerance and abs(total - 3.0) <= tolerance)
    level = total <= 3.0 + tolerance if name == "trace ball" else abs(total - 3.0) <= tolerance
    return bool(values[0] >= -tolerance and level)


@pytest.mark.parametrize("name", NAMES)
def test_points_that_do_not_fit_are_not_contained(name: str) -> None:
    oracle = oracles()[name]
    assert not oracle.contains(np.zeros((3, 2)))
    assert not oracle.contains(np.full(oracle.shape, np.nan))
    inside = oracle(direction_of(oracle, np.float64, 0)).atom.dense()
    assert oracle.contains(sp.csr_array(inside))
    if oracle.shape[0] == oracle.shape[1]:
        skewed = inside.copy()
        skewed[0, 1] += 0.5
        assert not oracle.contains(skewed)
