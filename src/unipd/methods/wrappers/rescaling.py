"""Row equilibration: any method on the problem in better units, reported in the original ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from unipd._typing import Array
from unipd.couplings.base import power_of_two
from unipd.maps.compose import RowScaled
from unipd.methods.base import State, WarmPoint, common_fields, method_options, rebuild_shared, start_from
from unipd.methods.wrappers.base import Wrapper, WrapperState, prefix_names
from unipd.problem import Problem
from unipd.protocols import Tracker


@dataclass(frozen=True)
class ScaledProblem:
    """A problem with its rows in other units."""

    problem: Problem
    """min f(x) over x in X, D A x - D b in D K."""
    factors: Array
    """The diagonal of D, in the shape of b; powers of two, so that nothing is rounded: lam = D mu, A x = image / D."""


def equilibrate(problem: Problem) -> ScaledProblem | None:
    """Return the problem with rows of about unit norm, or None where that is impossible or gains little.

    The set X, the objective, the optimal value and what :attr:`Problem.rows` measures do not change; only the metric of
    the dual space does, and with it the steps of every method. Columns need no scaling: methods see x only through A x
    and f(x), which do not depend on the units of x, and a common factor of A and b or of f changes none of their steps.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.diag([1.0, 1e-5]), [0.5, 0.5e-5], "=")
    >>> equilibrate(problem).problem.b
    array([0.5    , 0.65536])
    """
    norms = problem.row_norms if problem.has_uneven_rows else None
    rows = None if norms is None else problem.equilibrate(power_of_two(norms))
    if rows is None:
        return None
    scaled = Problem(problem.sharp, RowScaled(problem.map, rows.factors), rows.factors * problem.b, rows.coupling)
    return ScaledProblem(scaled, rows.factors)


@dataclass(frozen=True)
class RescalingState(WrapperState):
    """State of a method in other units; everything that the loop sees is in the original ones."""

    scaling: ScaledProblem
    """The equilibrated problem."""

    def dual_inside(self, dual: Array) -> Array:
        """Return a dual vector of the problem as one of the equilibrated problem."""
        return dual / self.scaling.factors

    def improve(self, problem: Problem, update: Callable[[Problem, State], State]) -> State:
        """Return the state with the point and bound that ``update`` finds for the equilibrated problem."""
        return to_original_units(problem, self.scaling, self.inner.improve(self.scaling.problem, update))

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem, the scaling and what the inner state shares."""
        return _share(problem, self.scaling, self.inner.shared_objects(self.scaling.problem))


@dataclass(frozen=True)
class Rescaling(Wrapper):
    """Run a method on the problem with its rows scaled to about unit norm, and report in the original units.

    Everything reported is that of the original problem. Guarantees of the inner method hold in the scaled units. Where
    there is nothing to equilibrate, the run is that of the inner method.

    Parameters
    ----------
    inner
        The method to run.

    See Also
    --------
    Restarts, unipd.doctor.check_scaling

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A = np.array([[1e6, 2e6, 0.0], [0.0, 1e-6, 3e-6]])
    >>> oracle = unipd.sharp.Linear([1.0, 2.0, 3.0], unipd.sharp.Simplex(3))
    >>> problem = unipd.Problem(oracle, A, A @ [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.Rescaling(unipd.Corrective()), accuracy=1e-8).status.value
    'solved'
    """

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record: those of the inner method, and that rows were scaled."""
        return {**method_options(self.inner), "scaling": "rows"}

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Rebuild the objects that the states share."""
        scaling = equilibrate(problem)
        if scaling is None:
            return rebuild_shared(self.inner, problem)
        return _share(problem, scaling, rebuild_shared(self.inner, scaling.problem))

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> State:
        """Equilibrate, and start the inner method from the dual vector in the new units."""
        scaling = equilibrate(problem)
        if scaling is None:
            return self.inner.start(problem, tracker, dual, accuracy)
        inner = self.inner.start(scaling.problem, tracker, dual / scaling.factors, accuracy)
        return to_original_units(problem, scaling, inner)

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> State | None:
        """Start the inner method from another run, where it can; points and atoms have no units of rows."""
        scaling = equilibrate(problem)
        if scaling is None:
            return start_from(self.inner, problem, tracker, warm, accuracy)
        warm = replace(warm, dual=warm.dual / scaling.factors, state=None)
        inner = start_from(self.inner, scaling.problem, tracker, warm, accuracy)
        return None if inner is None else to_original_units(problem, scaling, inner)

    def step(self, problem: Problem, state: State) -> State:
        """Do one step of the inner method."""
        if not isinstance(state, RescalingState):
            return self.inner.step(problem, state)
        return to_original_units(problem, state.scaling, self.inner.step(state.scaling.problem, state.inner_state()))


def _share(problem: Problem, scaling: ScaledProblem, inside: dict[str, Any]) -> dict[str, Any]:
    return {"problem": problem, "scaling": scaling, **prefix_names("inner", inside)}


def to_original_units(problem: Problem, scaling: ScaledProblem, inner: State) -> RescalingState:
    """Return the state in the original units."""
    image, certificate = inner.image / scaling.factors, inner.certificate
    if math.isfinite(certificate.violation):
        violation, infeasibility = problem.measure_residual(image - problem.b)
        certificate = replace(certificate, violation=violation, infeasibility=infeasibility)
    common: dict[str, Any] = common_fields(inner) | {
        "dual": scaling.factors * inner.dual,
        "image": image,
        "certificate": replace(certificate, ray=scaling.factors * certificate.dual, ray_scale=1.0),
    }
    return RescalingState(**common, inner=inner, scaling=scaling)
