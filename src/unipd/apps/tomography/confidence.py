"""Certified ranges of observables: min and max of <O, X> over the states that fit the data within chi-square.

With phi the negative log-likelihood of the data (for Gaussian errors half of chi-square), the confidence region is
{X a state: phi(A X - b) <= phi_min + Delta}. For every t > 0 and every X in it

    <O, X> >= (D_t - phi_min - Delta) / t,   D_t = min over states of t <O, X> + phi(A X - b),

and D_t is the template: a linear objective over the spectrahedron and a loss of A X. Its dual bound certifies the
lower end of the range; at the best t it is the minimum itself (Lagrange duality), and there phi of the minimiser is
phi_min + Delta. The upper end is that of -O.

The same file finds out which figures the data do not determine: those that change along directions of the tangent
space at the estimate which no measurement sees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.adapters import read_state_array
from unipd.apps.tomography.fit import largest_step
from unipd.apps.tomography.fixed_rank import WIDTH, FixedRank, warm_factors
from unipd.apps.tomography.measurements import (
    as_pauli_sum,
    as_paulis,
    parameter_count,
    pauli_map,
    standard_errors,
)
from unipd.apps.tomography.model import Fit
from unipd.apps.tomography.objectives import BY_OUTCOME, oracle_options
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.atoms import LowRank
from unipd.couplings import WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.maps.pauli import DenseOperator, OutcomeMap
from unipd.problem import Problem
from unipd.run import MaxIterations, Result, solve
from unipd.sharp.linear import Linear
from unipd.sharp.spectral.spectrahedron import Spectrahedron

NATS = 0.01
"""Certified accuracy of each solve, in nats: the ends of a 95 % range err by about a four-hundredth of its width."""
CLOSE = 0.01
"""Distance of the certified end of a range from one that is attained, as a share of its distance from the estimate."""
MOST_SOLVES = 10
"""Solves for one end of a range; two to four are usual."""
MOST_ITERATIONS = 400
"""Limit of a single solve, whose bound holds wherever it stops."""
DENSE_QUBITS = 9
"""Most qubits of a factor with as many columns as rows."""
FIRST_SHIFT = 0.3
"""White noise in the first point, so that no direction is missing."""
TANGENT_SIZE = 2_000
"""Most parameters of a tangent space whose singular values are computed; above, parameters are counted."""
BLIND = 1e-6
"""Singular values below this share of the largest belong to directions that no measurement sees."""
UNSEEN = 1e-9
"""Share of an observable outside the span of the measured strings that is rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class StateRange(ReprMixin):
    """The values of <O, X> over a confidence region of states."""

    low: float
    """Certified lower bound: no state of the region has a smaller value."""
    high: float
    """Certified upper bound."""
    attained_low: float
    """The smallest value found in the region; the true minimum is between it and ``low``."""
    attained_high: float
    """The largest value found in the region."""
    estimate: float
    """The value of the estimate."""
    level: float
    """Confidence level."""

    @property
    def width(self) -> float:
        """Length of the certified range."""
        return self.high - self.low


def state_range(fit: Fit, observable: Any, level: float = 0.95, *, joint: bool = True) -> StateRange:
    """Return certified bounds on an observable over all states that fit the data within chi-square.

    Parameters
    ----------
    fit
        A fit, ``fit_`` of :class:`~unipd.apps.tomography.PauliTomography`.
    observable
        A sum of Pauli strings as in :meth:`QuantumState.expectation`, a Hermitian matrix, or a pure state (a vector or
        :class:`QuantumState`), whose projector is meant: the range of the fidelity with it.
    level
        Confidence level. The region is that of the likelihood ratio: twice the excess of the negative log-likelihood
        over its minimum is at most a quantile of chi-square.
    joint
        Whether the region is to hold the whole state with this confidence, so that the ranges of all observables hold
        together: chi-square with as many degrees of freedom as the data determine. Positivity only makes it cover more.
        False takes one degree of freedom, the usual profile interval of a single observable. It is much shorter, and
        right well inside the set of states, but too short near its boundary (states of low rank).

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.0], shots=1000)
    >>> single, all_together = (state_range(estimate.fit_, "X", joint=joint) for joint in (False, True))
    >>> round(single.low, 2), round(single.high, 2), round(all_together.low, 2), round(all_together.high, 2)
    (0.55, 0.65, 0.53, 0.67)
    """
    if not 0.0 < validate.number("level", level) < 1.0:
        raise InvalidInput("level", "a number between 0 and 1", repr(level))
    operator = as_observable(observable, fit.state.qubits)
    freedom = min(4**fit.state.qubits - 1, fit.model.observations) if joint else 1
    region = confidence_region(fit, 0.5 * float(chdtri(freedom, 1.0 - level)))
    estimate = pair(operator, fit.state.low_rank)
    low, attained_low = smallest_value(region, operator, 1.0)
    high, attained_high = smallest_value(region, operator, -1.0)
    return StateRange(low, -high, min(attained_low, estimate), max(-attained_high, estimate), estimate, level)


def as_observable(observable: Any, qubits: int) -> DenseOperator:
    """Return a Hermitian observable as an operator.

    >>> as_observable([1.0, 0.0], 1).toarray().real
    array([[1., 0.],
           [0., 0.]])
    """
    size = 1 << qubits
    if isinstance(observable, QuantumState) or np.shape(read_state_array(observable)) == (size,):
        state = as_state(observable)
        if state.rank != 1 or state.qubits != qubits:
            raise InvalidInput("observable", f"a pure state of {qubits} qubits", repr(state))
        return DenseOperator(state.density_matrix(max_qubits=qubits))
    if isinstance(observable, np.ndarray) and observable.shape == (size, size):
        matrix = validate.finite_array("observable", observable).astype(np.complex128)
        if not np.allclose(matrix, matrix.conj().T, atol=1e-9 * max(1.0, float(np.abs(matrix).max()))):
            raise InvalidInput("observable", "a Hermitian matrix", "one that is not")
        return DenseOperator(0.5 * (matrix + matrix.conj().T))
    strings, coefficients = as_pauli_sum(observable, qubits)
    if np.any(np.imag(coefficients)):
        raise InvalidInput("observable", "real coefficients", "complex ones")
    total: Any = pauli_map(strings, precision="double").adjoint(np.real(coefficients).astype(np.float64))
    return total


def pair(operator: Any, point: LowRank) -> float:
    """Return <O, X>."""
    left = point.left
    return float(np.sum(np.asarray(point.weights) * np.sum((left.conj() * (operator @ left)).real, axis=0)))


@dataclass(frozen=True, eq=False)
class Region:
    """The states with phi(A X - b) <= phi_min + Delta."""

    problem: Problem
    """min phi over all states."""
    least: float
    """phi at its minimiser (to :data:`NATS`)."""
    excess: float
    """Delta."""
    factor: Array
    """R with R R^* the minimiser and a little white noise."""
    centre: LowRank
    """The minimiser."""

    @property
    def limit(self) -> float:
        """phi_min + Delta."""
        return self.least + self.excess

    def loss(self, image: FloatArray) -> float:
        """Return phi(A X - b) for the image of a state."""
        return float(self.problem.coupling.penalty(image - self.problem.b))


def confidence_region(fit: Fit, excess: float) -> Region:
    """Return the region of the likelihood ratio with this excess, after a fit over all states."""
    problem = likelihood_of(fit)
    factor = mixed_factor(fit.state)
    result = minimize_nats(problem, factor)
    best = QuantumState.from_low_rank(result.x)
    return Region(problem, result.objective, excess, mixed_factor(best), result.x)


def likelihood_of(fit: Fit) -> Problem:
    """Return the problem of a fit in nats: its own for counts, else least squares weighted by the errors.

    Where these are unknown, they are estimated from the residual.
    """
    model = fit.model
    sharp = Spectrahedron(model.problem.map.domain[0], **oracle_options("fixed-rank"))
    if model.objective in BY_OUTCOME:
        return Problem(sharp, model.problem.map, model.problem.b, model.problem.coupling)
    errors = standard_errors(model.data)
    if errors is None:
        errors = np.full(model.data.size, residual_noise(fit))
    if not np.all(errors > 0.0):
        raise InvalidInput("fit", "measurements with errors: exact data leave no range", "errors of 0")
    values = model.data.expectations.astype(model.strings.dtype)
    return Problem(sharp, model.strings, values, WeightedLeastSquares(errors**-2.0))


def residual_noise(fit: Fit) -> float:
    """Estimate the standard deviation of the noise: the residual over its degrees of freedom.

    Parameters
    ----------
    fit
        The fit, ``fit_`` of :class:`~unipd.PauliTomography`.

    Returns
    -------
    float

    See Also
    --------
    standard_errors, pearson_chi_square

    Examples
    --------
    >>> import unipd
    >>> estimate = unipd.PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.7])
    >>> residual_noise(estimate.fit_) < 1e-3
    True
    """
    rank, size = fit.state.effective_rank(), fit.state.dimension
    freedom = max(1, fit.data.size - (2 * size * rank - rank * rank - 1))
    return float(np.linalg.norm(fit.fitted - fit.data.expectations)) / float(np.sqrt(freedom))


def mixed_factor(state: QuantumState) -> Array:
    """Return R with R R^* the state and some white noise; above :data:`DENSE_QUBITS` with few random columns of it."""
    roots = state.eigenvectors * np.sqrt((1.0 - FIRST_SHIFT) * state.eigenvalues)
    size = state.dimension
    if state.qubits <= DENSE_QUBITS:
        return np.linalg.cholesky(roots @ roots.conj().T + FIRST_SHIFT / size * np.eye(size))
    rng = np.random.default_rng(0)
    block = rng.standard_normal((size, WIDTH)) + 1j * rng.standard_normal((size, WIDTH))
    return np.concatenate([roots, math.sqrt(FIRST_SHIFT) * block / np.linalg.norm(block)], axis=1)


def minimize_nats(problem: Problem, factor: Array, accuracy: float = NATS) -> Result:
    """Minimise over all states from R to an absolute accuracy."""
    start = QuantumState.from_low_rank(LowRank(factor, factor, np.ones(factor.shape[1]))).low_rank
    objective = problem.sharp.objective(start) + problem.coupling.penalty(problem.map.image(start) - problem.b)
    relative = accuracy / problem.scale(objective)
    method = FixedRank(factors=warm_factors(factor))
    return solve(problem, method, accuracy=relative, stop=MaxIterations(MOST_ITERATIONS))


def smallest_value(region: Region, operator: Any, sign: float) -> tuple[float, float]:
    """Return a certified lower bound on <sign O, X> over the region, and the smallest value found there.

    phi(X_t) - phi_min grows as t^2 while the region is an ellipsoid, so t is corrected by the ratio of square roots.
    """
    size = region.problem.map.domain[0]
    matrix = operator.toarray() if size <= 1 << DENSE_QUBITS else None
    bounds = (
        np.linalg.eigvalsh(matrix)[[0, -1]] if matrix is not None else np.array([-1.0, 1.0]) * operator.norm_bound()
    )
    spread = float(bounds[1] - bounds[0]) or 1.0
    best = float(bounds[0] if sign > 0 else -bounds[1])
    centre = sign * pair(operator, region.centre)
    middle = region.problem.map.image(region.centre)
    found, factor, weight = centre, region.factor, 20.0 * region.excess / spread
    tried: list[Trial] = []
    for _ in range(MOST_SOLVES):
        trial, factor = minimize_along(region, operator, sign * weight, factor)
        tried.append(trial)
        best = max(best, (trial.bound - region.limit) / weight)
        step = trial.image - middle
        share = largest_step(lambda s, step=step: region.loss(middle + s * step), region.limit)
        found = min(found, centre + share * (trial.value - centre))
        if found - best <= CLOSE * (centre - best):
            break
        weight = next_weight(tried, region)
    return min(best, found), found


class Trial(NamedTuple):
    """A minimiser of t <O, X> + phi."""

    weight: float
    """t."""
    loss: float
    """phi(X)."""
    value: float
    """<O, X>."""
    bound: float
    """Certified lower bound D on the minimum."""
    image: FloatArray
    """A X."""


def next_weight(tried: list[Trial], region: Region) -> float:
    """Return the next t: by interpolation of sqrt(phi - phi_min) in log t, once the target is between two trials."""
    roots = [(math.log(t.weight), 0.5 * math.log(max(t.loss - region.least, 1e-6 * region.excess))) for t in tried]
    goal = 0.5 * math.log(region.excess)
    below = max((pair for pair in roots if pair[1] <= goal), default=None)
    above = min((pair for pair in roots if pair[1] > goal), default=None)
    if below is not None and above is not None and above[1] > below[1]:
        share = min(0.9, max(0.1, (goal - below[1]) / (above[1] - below[1])))
        return math.exp(below[0] + share * (above[0] - below[0]))
    place, root = roots[-1]
    return math.exp(place + min(4.0, max(-4.0, goal - root)))


def minimize_along(region: Region, operator: Any, weight: float, factor: Array) -> tuple[Trial, Array]:
    """Return the minimiser of <weight O, X> + phi, and a factor to start the next solve from."""
    problem = region.problem
    cost: Any = DenseOperator(weight * operator.toarray()) if isinstance(operator, DenseOperator) else weight * operator
    sharp = Linear(cost, problem.sharp)
    result = minimize_nats(Problem(sharp, problem.map, problem.b, problem.coupling), factor)
    image = np.asarray(problem.map.image(result.x), np.float64)
    value = math.copysign(1.0, weight) * pair(operator, result.x)
    trial = Trial(abs(weight), region.loss(image), value, result.dual_bound, image)
    return trial, mixed_factor(QuantumState.from_low_rank(result.x))


def is_measured(fit: Fit, observable: Any) -> bool:
    """Whether an observable is a combination of the identity and measured strings, so that every fit determines it."""
    strings, coefficients = as_pauli_sum(observable, fit.state.qubits)
    used = np.abs(coefficients) > UNSEEN * np.abs(coefficients).max()
    shift = fit.state.qubits
    wanted = ((strings.x.astype(np.int64) << shift) | strings.z)[used]
    known = (fit.data.x.astype(np.int64) << shift) | fit.data.z
    return bool(np.all(np.isin(wanted, np.append(known, 0))))


def is_target_measured(fit: Fit, target: QuantumState) -> bool:
    """Whether the projector on a pure target is a combination of measured strings: their squares sum to p - 1."""
    keys, first = np.unique((fit.data.x.astype(np.int64) << fit.state.qubits) | fit.data.z, return_index=True)
    first = first[keys != 0]
    strings = as_paulis((fit.data.x[first], fit.data.z[first]), fit.state.qubits)
    values = target.expectations(strings)
    return target.rank == 1 and bool(np.sum(values**2) >= (1.0 - UNSEEN) * (target.dimension - 1))


def is_identified(fit: Fit) -> bool:
    """Whether the data see every direction in which a state of the estimate's rank can move.

    The directions are R H^* + H R^* for the estimate R R^*, of trace zero: 2 p r - r^2 - 1 parameters. Fewer strings
    than that leave some unseen. Where the numbers are small, the singular values of A on this space decide.
    """
    rank = fit.rank_limit or fit.state.effective_rank()
    parameters = parameter_count(fit.state.qubits, rank)
    if fit.model.independent < parameters:
        return False
    if parameters > TANGENT_SIZE or parameters * measured_map(fit).codomain[0] > TANGENT_SIZE**2:
        return True
    values = np.linalg.svd(tangent_images(fit, rank), compute_uv=False)
    return bool(values[-1] > BLIND * values[0])


def measured_map(fit: Fit) -> Any:
    """Return the map to the measured strings, or to the outcomes where single strings are not determined."""
    outcomes = fit.model.problem.map
    is_indirect = isinstance(outcomes, OutcomeMap) and fit.data.size < outcomes.pauli_map.x.size
    return outcomes if is_indirect else fit.model.strings


def tangent_images(fit: Fit, rank: int) -> FloatArray:
    """Return A restricted to the tangent space at the estimate, column by column in an orthonormal basis."""
    size, seen = fit.state.dimension, measured_map(fit)
    kept = min(rank, fit.state.rank)
    frame = np.linalg.qr(np.concatenate([fit.state.eigenvectors[:, :kept], np.eye(size)], axis=1))[0][:, :size]
    columns: list[FloatArray] = []
    for i in range(min(rank, size)):
        for j in range(i, size):
            for phase in (1.0,) if i == j else (1.0, 1.0j):
                left = np.stack([frame[:, i] + phase * frame[:, j], frame[:, i] - phase * frame[:, j]], axis=1)
                if i == j:
                    left = left[:, :1] / 2.0
                weights = np.array([1.0]) if i == j else np.array([0.5, -0.5]) / math.sqrt(2.0)
                columns.append(np.asarray(seen.image(LowRank(left, left, weights)), np.float64))
    images = np.stack(columns, axis=1)
    is_diagonal = np.array([i == j for i in range(min(rank, size)) for j in range(i, size) for _ in range(1 + (i < j))])
    traceless = np.linalg.qr(np.eye(images.shape[1]) - np.outer(is_diagonal, is_diagonal) / is_diagonal.sum())[0]
    return images @ traceless[:, : images.shape[1] - 1] if images.shape[1] > 1 else images
