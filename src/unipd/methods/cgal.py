"""CGAL: conditional gradients on the augmented Lagrangian, for constraints (Yurtsever, Fercoq and Cevher, 2019).

Iteration k = 1, 2, ... with eta_k = 2 / (k + 1) and beta_k = beta_0 sqrt(k + 1), and where each line is computed:

1. lam_k = y_k + beta_k (A x_k - b - P_K(A x_k - b + y_k / beta_k))              ``augmented_dual``
2. s_k in [-A^* lam_k]^#; the same answer gives the bound -G(lam_k)              ``call_oracle``
3. x_{k+1} = (1 - eta_k) x_k + eta_k s_k                                         ``Tracker.mix``
4. u = A x_{k+1} - b - P_K(A x_{k+1} - b + y_k / beta_{k+1})                     ``augmented_dual``
   y_{k+1} = y_k + sigma u with the largest sigma <= beta_0 that keeps
   sigma ||u||^2 <= eta_k^2 beta_{k+1} D_k^2 / 2; y_k where ||y_{k+1}|| would
   exceed its limit                                                              ``CGAL._dual_step``

The publication has ||A|| diam(X) in place of D_k, the largest of ||b||, ||A x_1|| and ||A (s_i - x_i)|| with i <= k.
The proof needs the last ones only, so that no norm of A has to be known; the first two let y_k move while the atoms
do not. The error of an inexact oracle decreases as 1 / sqrt(k), as in the publication: a fixed one would limit
||A x_k - b|| to about its square root. Only A x_k and lam_k are needed in full: with ``tracker="sketch"`` this is
SketchyCGAL (Yurtsever, Tropp, Fercoq, Udell and Cevher, 2021), whose memory does not grow with the size of x. A sparse
cost over a large spectrahedron is factorised once, for a rigorous bound on f, and may fill in; one given as an operator
is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import norm
from unipd.dual import call_oracle, dual_value, evaluate, image_of, proximal_step
from unipd.methods.base import (
    ORACLE_SHARE,
    Counts,
    State,
    empty_certificate,
    fast_replace,
    measure_point,
    require_applicable,
    require_domain,
)
from unipd.methods.descent import direction_between
from unipd.problem import Problem
from unipd.protocols import Tracker


@dataclass(frozen=True)
class CGALState(State):
    """State of CGAL; the dual vector is y_k, and the bound is that of lam_k."""

    first_penalty: float
    """beta_0."""
    diameter: float
    """D_k, the largest of ||b||, ||A x_1|| and ||A (s_i - x_i)|| so far."""
    warm_start: Any
    """The last atom, from which an iterative oracle starts."""
    oracle_tolerance: float
    """Absolute error allowed to an inexact oracle at first; it decreases as 1 / sqrt(k)."""

    @property
    def resolved_options(self) -> dict[str, Any]:
        """The first penalty."""
        return {"penalty": self.first_penalty}

    def clear_history(self, dual: Array) -> CGALState:
        """Return the state at a dual vector; the next step goes all the way to an atom."""
        return fast_replace(self, iteration=0, dual=dual)


@dataclass(frozen=True)
class CGAL:
    """Conditional gradient augmented Lagrangian method for min f(x) over X subject to A x - b in K, with f linear.

    An iteration is one oracle call and one projection onto K. For equality constraints, objective and infeasibility are
    within the bounds of :func:`unipd.theory.cgal_objective_bound` and ``cgal_feasibility_bound``, which decrease as
    O(1/sqrt(k)) while the multipliers y_k stay bounded: a finite ``dual_limit`` sees to that. Other sets K are served
    through their projection, with the same certificates but no rate that is stated here. With ``tracker="sketch"`` it
    is SketchyCGAL.

    Parameters
    ----------
    penalty
        beta_0, the penalty of the first iterations. Default: the size of f on X over that of ||A x||^2 and ||b||^2.
    dual_limit
        Largest ||y_k||; a dual step that exceeds it is left out. The rate needs a finite limit, practice does not.

    Raises
    ------
    InvalidInput
        ``penalty``, ``dual_limit``: expected a number above zero.

    See Also
    --------
    FrankWolfe, Factored, unipd.theory.cgal_objective_bound

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.CGAL(), accuracy=1e-2).status.value
    'solved'
    """

    name = "cgal"

    penalty: float | None = None
    dual_limit: float = math.inf

    def __post_init__(self) -> None:
        if self.penalty is not None:
            validate.positive("penalty", self.penalty)
        if self.dual_limit != math.inf:
            validate.positive("dual_limit", self.dual_limit)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> CGALState:
        """Start at y_1 = lam_0 and at x_1, the oracle's atom there."""
        is_met = problem.linear and not problem.has_penalty
        require_applicable(problem, self.name, "a linear objective and constraints, no loss", is_met=is_met)
        require_domain(problem, dual)
        point = evaluate(problem, dual, tolerance=ORACLE_SHARE * accuracy * problem.typical_objective)
        objective_size = max(abs(point.objective), problem.typical_objective)
        image_size = max(problem.norm_b, norm(point.image)) or 1.0
        primal = tracker.mix(1.0, point.atom)
        measures = measure_point(problem, primal, point.image, point.objective)
        return CGALState(
            dual=dual,
            primal=primal,
            image=point.image,
            mean_objective=point.objective,
            certificate=empty_certificate(dual).update_point_and_bound(problem, measures, point),
            counts=Counts(1, 0, point.matvecs),
            first_penalty=self.penalty or objective_size / image_size / image_size,
            diameter=image_size,
            warm_start=point.atom,
            oracle_tolerance=ORACLE_SHARE * accuracy * objective_size,
        )

    def step(self, problem: Problem, state: CGALState) -> CGALState:
        """Do one iteration; the numbers are its lines above."""
        k = state.iteration + 1
        eta, first = 2.0 / (k + 1.0), state.first_penalty
        penalty, next_penalty = first * math.sqrt(k + 1.0), first * math.sqrt(k + 2.0)
        # 1-2: the gradient of the augmented Lagrangian is f plus A^* lam_k; the oracle's atom and bound there
        lam = augmented_dual(problem, state.dual, state.image, penalty)
        tolerance = state.oracle_tolerance / math.sqrt(k)
        answer = call_oracle(problem, lam, tolerance=tolerance, start=state.warm_start)
        # 3: the point
        direction, squared = direction_between(state.image, image_of(problem, answer.atom))
        image, primal = state.image + eta * direction, state.primal.mix(eta, answer.atom)
        cost = (1.0 - eta) * state.mean_objective + eta * answer.objective
        # 4: the multipliers
        diameter = max(state.diameter, math.sqrt(squared))
        change = augmented_dual(problem, state.dual, image, next_penalty) - state.dual
        violation = norm(change) / next_penalty
        sigma = self._dual_step(first, violation, eta * eta * next_penalty * diameter * diameter)
        dual = state.dual + (sigma / next_penalty) * change
        return fast_replace(
            state,
            iteration=k,
            dual=dual if norm(dual) <= self.dual_limit else state.dual,
            primal=primal,
            image=image,
            mean_objective=cost,
            certificate=state.certificate.update_point_and_bound(
                problem, measure_point(problem, primal, image, cost), dual_value(problem, lam, answer)
            ),
            counts=state.counts.plus(1, 0, 1 + (answer.matvecs or 1)),
            smoothness=penalty,
            diameter=diameter,
            warm_start=answer.atom,
        )

    def _dual_step(self, largest: float, violation: float, curvature: float) -> float:
        """Return the largest sigma up to beta_0 with sigma ||u||^2 <= curvature / 2."""
        allowed = 0.5 * curvature
        return largest if largest * violation * violation <= allowed else allowed / violation / violation


def augmented_dual(problem: Problem, dual: Array, image: Array, penalty: float) -> Array:
    """Return y + beta (A x - b - P_K(A x - b + y / beta)), by Moreau the prox of beta h at y + beta (A x - b).

    It lies in the domain of h, whatever y, so that -G is a bound there.
    """
    return proximal_step(problem, dual, problem.b - image, 1.0 / penalty)
