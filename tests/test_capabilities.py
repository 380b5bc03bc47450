"""User-supplied parts: the required members suffice, and declared optional ones give the fast paths."""

import pickle
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import couplings, protocols, sharp
from unipd.atoms import one_hot
from unipd.protocols import SharpAnswer
from unipd.sharp import SpectralFactors


class Bare:
    """The required members of an oracle, forwarded explicitly; derives from no class of the library."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.shape, self.degree, self.linear, self.exact = inner.shape, inner.degree, inner.linear, inner.exact

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return self.inner(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return self.inner.value(direction, tolerance=tolerance, start=start)

    def objective(self, x: Any) -> float:
        return self.inner.objective(x)

    def support(self, direction: Any) -> float:
        return self.inner.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        return self.inner.contains(x, tolerance)

    def maximum(self) -> float:
        return self.inner.maximum()


class Priced(Bare):
    """A simplex that prices many vertices at once."""

    priced = 0

    def best_vertices(self, direction: Any, count: int, above: float) -> list[Any]:
        self.priced += 1
        order = np.argsort(-direction)[:count]
        return [one_hot(self.shape, int(i), 1.0) for i in order if direction[i] > above]


class Factorable(Bare):
    """A spectrahedron with its factored form."""

    hermitian = True

    def factors(self) -> SpectralFactors:
        return SpectralFactors(self.shape[0], 0, 1.0, ball=False)


class Certifying(Bare):
    """An oracle with residual errors that offers rigorous ones on request."""

    certified_calls = 0

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.exact = False

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        answer = super().__call__(direction, tolerance=tolerance, start=start)
        return SharpAnswer(answer.atom, answer.value, answer.objective, bound_kind="residual")

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return self(direction)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.certified_calls += 1
        return self.inner(direction, tolerance=tolerance, start=start)


class Passing:
    """A wrapper that passes everything on by ``__getattr__``, but has its own adjoint."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def image(self, atom: Any) -> Any:
        return 2.0 * self._inner.image(atom)

    def adjoint(self, dual: Any) -> Any:
        return 2.0 * self._inner.adjoint(dual)

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)


RANDOM = np.random.default_rng(0)
A, B = RANDOM.standard_normal((12, 40)), RANDOM.standard_normal(12)


@pytest.mark.parametrize("defaults", [protocols.OracleDefaults, protocols.MapDefaults, protocols.TrackerDefaults])
def test_the_tables_of_the_protocols_list_every_optional_member(defaults: type) -> None:
    members = [name for name in vars(defaults) if not name.startswith("_")]
    assert members
    assert [name for name in members if f"``{name}``" not in str(protocols.__doc__)] == []


def test_required_members_suffice() -> None:
    problem = unipd.Problem(Bare(sharp.Simplex(40)), A, B, couplings.LeastSquares())
    assert repr(problem) == "Problem(Bare, DenseMatrix, n=12, LeastSquares, split)"
    assert problem.sharp.factors() is None
    assert problem.sharp.best_vertices(np.zeros(40), 3, -1.0) is None
    assert not problem.sharp.real_only
    result = unipd.solve(problem, accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert pickle.loads(pickle.dumps(problem.sharp)).shape == (40,)


def test_declared_pricing_is_used() -> None:
    calls = {}
    for kind in (Bare, Priced):
        oracle = kind(sharp.Simplex(40))
        result = unipd.solve(unipd.Problem(oracle, A, B, couplings.LeastSquares()), "corrective", accuracy=1e-8)
        assert result.status is unipd.Status.SOLVED
        calls[kind] = result.counts.oracle_calls
    assert oracle.priced > 0
    assert calls[Priced] < calls[Bare]


def test_declared_factors_choose_the_factored_method() -> None:
    target = np.diag([0.5, 0.3, 0.2])
    rows = unipd.maps.DenseMatrix(np.eye(9), domain=(3, 3))
    for kind, method in ((Factorable, "factored"), (Bare, "corrective")):
        oracle = kind(sharp.Spectrahedron(3))
        result = unipd.solve(unipd.Problem(oracle, rows, target.ravel(), couplings.LeastSquares()), accuracy=1e-6)
        assert result.method == method
        assert result.status is unipd.Status.SOLVED


@pytest.mark.parametrize("inside", ["alone", "linear", "product"])
def test_declared_certificates_decide_the_kind_of_the_bound(inside: str) -> None:
    oracle = Certifying(sharp.Simplex(40))
    if inside == "product":
        problem = unipd.Problem([oracle, sharp.Simplex(2)], [A, np.ones((12, 2))], B, couplings.LeastSquares())
    else:
        whole = oracle if inside == "alone" else sharp.Linear(np.zeros(40), oracle)
        problem = unipd.Problem(whole, A, B, couplings.LeastSquares())
    result = unipd.solve(problem, accuracy=1e-5)
    assert result.status is unipd.Status.SOLVED
    assert oracle.certified_calls > 0
    assert result.state.certificate.bound_kind == "rigorous"


def test_a_coupling_declares_that_it_is_an_equality() -> None:
    class Zero:
        """K = {0} without a base class."""

        is_loss, conjugate_degree, is_equality = False, 1.0, True

        def check(self, shape: Any, dtype: Any) -> None:
            pass

        def value(self, residual: Any) -> float:
            return 0.0 if not residual.any() else np.inf

        def distance(self, residual: Any) -> float:
            return float(np.linalg.norm(residual))

        def prox(self, vector: Any, step: float) -> Any:
            return np.zeros_like(vector)

        def conjugate(self, dual: Any) -> float:
            return 0.0

        def prox_conjugate(self, vector: Any, step: float) -> Any:
            return vector

    point = RANDOM.dirichlet(np.ones(40))
    oracle = sharp.Linear(RANDOM.standard_normal(40), sharp.Simplex(40))
    own = unipd.Problem(oracle, A, A @ point, Zero())
    assert own.free_dual
    assert own.conjugate_curvature == 0.0
    ours = unipd.Problem(oracle, A, A @ point, "=")
    mine, theirs = (unipd.solve(problem, "accunipdgrad", stop=unipd.MaxIterations(40)) for problem in (own, ours))
    np.testing.assert_array_equal(mine.dual, theirs.dual)
    mine, theirs = (unipd.solve(problem, "corrective", accuracy=1e-6) for problem in (own, ours))
    assert mine.status is theirs.status is unipd.Status.SOLVED
    assert mine.iterations == theirs.iterations


def test_a_loss_declares_that_it_is_quadratic() -> None:
    class Half(couplings.ConvexLoss):
        """||r||^2 / 4."""

        quadratic_weights = 0.5

        def value(self, residual):
            return float(np.vdot(residual, residual)) / 4

        def gradient(self, residual):
            return residual / 2

        def curvature(self):
            return 0.5

        def conjugate(self, dual):
            return float(np.vdot(dual, dual))

        def slack(self, dual):
            return 2 * dual, self.conjugate(dual)

        def prox(self, vector, step):
            return vector / (1 + step / 2)

    problem = unipd.Problem(sharp.Simplex(40), A, B, Half())
    assert problem.conjugate_curvature == 2.0
    objective = unipd.solve(problem, accuracy=1e-7).objective
    ours = unipd.solve(unipd.Problem(sharp.Simplex(40), A, B, couplings.LeastSquares(0.5)), accuracy=1e-7)
    assert objective == pytest.approx(ours.objective, rel=1e-5)


def test_members_passed_on_by_getattr_are_not_declared() -> None:
    problem = unipd.Problem(sharp.Simplex(40), Passing(unipd.maps.DenseMatrix(A)), B, couplings.LeastSquares())
    np.testing.assert_allclose(problem.map.negated_adjoint(B), -2.0 * A.T @ B)
    assert not problem.map.has_cheap_images


def test_a_tracker_with_mix_and_point_suffices() -> None:
    class Last:
        """Keeps the last atom."""

        def __init__(self, atom: Any = None) -> None:
            self.atom = atom

        def mix(self, gamma: float, atom: Any) -> "Last":
            return Last(atom)

        def point(self) -> Any:
            return None

    problem = unipd.Problem(sharp.Simplex(40), A, B, couplings.LeastSquares())
    result = unipd.solve(problem, "accunipdgrad", tracker=Last(), stop=unipd.MaxIterations(20))
    assert result.x is None
    assert result.state.primal.atom is not None


def test_a_declared_map_with_entries_has_the_smaller_forecast() -> None:
    class Forwarded:
        """The required members of a sampling map; derives from no class of the library."""

        def __init__(self, inner: Any) -> None:
            self.image, self.adjoint = inner.image, inner.adjoint
            self.domain, self.codomain, self.dtype = inner.domain, inner.codomain, inner.dtype

    class WithEntries(Forwarded):
        has_adjoint_entries = True

    sampling = unipd.maps.Sampling([0, 1], [0, 1], (30, 20))
    sizes = [
        unipd.memory.forecast(unipd.Problem(sharp.NuclearBall((30, 20)), map, np.ones(2))).certificate
        for map in (sampling, WithEntries(sampling), Forwarded(sampling))
    ]
    assert sizes[0] == sizes[1] < sizes[2]


def test_a_loss_without_its_members_is_refused() -> None:
    class Incomplete:
        """Says that it is a loss, and has the members of a set only."""

        is_loss, conjugate_degree = True, None
        check = value = distance = prox = conjugate = prox_conjugate = staticmethod(lambda *_: 0.0)

    with pytest.raises(unipd.errors.InvalidInput, match="gradient"):
        unipd.Problem(sharp.Simplex(40), A, B, Incomplete())
