"""Certified ranges of observables: min and max of <O, X> over the states that fit the data within chi-square.

With phi the negative log-likelihood of the data (for Gaussian errors half of chi-square), the confidence region is
{X a state: phi(A X - b) <= phi_min + Delta}. For every t > 0 and every X in it

    <O, X> >= (D_t - phi_min - Delta) / t,   D_t = min over states of t <O, X> + phi(A X - b),

and D_t is the template: a linear objective over the spectrahedron and a loss of A X. Its dual bound certifies the
lower end of the range; at the best t it is the minimum itself (Lagrange duality), and there phi of the minimiser is
phi_min + Delta. The upper end is that of -O.

Near the boundary of the set of states a fit is biased (of a nearly pure state it is too mixed), and chi-square with one
degree of freedom is too small a limit for the range of a single observable. There Delta is calibrated: the experiment
is repeated on the states at the ends, and an end that the repeated fits would still reach is moved outwards.

The same file finds out which figures the data do not determine: those that change along directions of the tangent
space at the estimate which no measurement sees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import hermitian_part
from unipd._util.printing import ReprMixin
from unipd.apps.tomography.counts import BasisCounts
from unipd.apps.tomography.fit import WIDE_QUBITS, fit_counts, fit_data, largest_step
from unipd.apps.tomography.fixed_rank import WIDTH, FixedRank
from unipd.apps.tomography.measurements import as_pauli_sum, as_paulis, parameter_count, pauli_map, standard_errors
from unipd.apps.tomography.model import BY_OUTCOME, NATS, Fit, oracle_options
from unipd.apps.tomography.simulation import binomial_mean, sample_bases
from unipd.apps.tomography.state import QuantumState, as_state, read_state_array
from unipd.atoms import LowRank, combination, inner_product
from unipd.couplings import WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.io.pauli import PauliData
from unipd.maps.pauli import DenseOperator
from unipd.problem import Problem
from unipd.run import MaxIterations, Result, solve
from unipd.sharp.linear import Linear
from unipd.sharp.spectral.factors import random_block
from unipd.sharp.spectral.spectrahedron import Spectrahedron

CLOSE = 0.01
"""Distance of the certified end of a range from one that is attained, as a share of its distance from the estimate."""
MOST_SOLVES = 10
"""Solves for one end of a range; two to four are usual."""
MOST_ITERATIONS = 400
"""Limit of a single solve, whose bound holds wherever it stops."""
FIRST_SHIFT = 0.3
"""White noise in the first point, so that no direction is missing."""
INTERIOR = 0.1
"""Smallest eigenvalue of a state well inside the set of states, as a share of that of white noise."""
REPLICATES = 20
"""Repeated experiments at either end of a range, by default: they give its spread to a sixth."""
TANGENT_SIZE = 2_000
"""Most parameters of a tangent space whose singular values are computed; above, parameters are counted."""
BLIND = 1e-6
"""Singular values below this share of the largest belong to directions that no measurement sees."""
UNSEEN = 1e-9
"""Share of an observable outside the span of the measured strings that is rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class StateRange(ReprMixin):
    """The values of <O, X> over a confidence region of states.

    Parameters
    ----------
    low
        Certified lower bound: no state of the region has a smaller value.
    high
        Certified upper bound.
    attained_low
        The smallest value found in the region; the true minimum is between it and ``low``.
    attained_high
        The largest value found in the region.
    estimate
        The value of the estimate; it may lie outside the region if its rank is limited.
    level
        Confidence level.

    See Also
    --------
    state_range

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.0], shots=1000)
    >>> found = state_range(estimate.fit_, "X")
    >>> found.low < found.estimate < found.high
    True
    """

    low: float
    high: float
    attained_low: float
    attained_high: float
    estimate: float
    level: float

    @property
    def width(self) -> float:
        """Length of the certified range."""
        return self.high - self.low


def state_range(
    fit: Fit, observable: Any, level: float = 0.95, *, joint: bool = True, replicates: int = REPLICATES, seed: int = 0
) -> StateRange:
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
        False is for one observable alone: one degree of freedom, the usual profile interval, which is much shorter.
        That is right well inside the set of states and too little near its boundary, where it is calibrated.
    replicates
        For that, the number of repeated experiments on the state at either end of the profile interval. Where their
        fits, with their bias and spread, would still reach the estimate, the end moves outwards, to the region
        of the likelihood ratio that ends where they would not. Every replicate is a fit; 0 keeps the profile interval.
    seed
        Seed of these experiments.

    Raises
    ------
    InvalidInput
        If ``replicates`` is 1.

    See Also
    --------
    StateRange, PauliTomography, bootstrap

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.0], shots=1000)
    >>> single, all_together = (state_range(estimate.fit_, "X", joint=joint) for joint in (False, True))
    >>> round(single.low, 2), round(single.high, 2), round(all_together.low, 2), round(all_together.high, 2)
    (0.55, 0.65, 0.53, 0.67)
    """
    validate.fraction("level", level)
    number = validate.integer("replicates", replicates, minimum=0)
    if number == 1:
        raise InvalidInput("replicates", "0, or at least 2: one has no spread", "1")
    validate.integer("seed", seed, minimum=0)
    operator = as_observable(observable, fit.state.qubits)
    freedom = min(4**fit.state.qubits - 1, fit.model.observations) if joint else 1
    region = confidence_region(fit, 0.5 * float(chdtri(freedom, 1.0 - level)))
    estimate, streams = inner_product(operator, fit.state.low_rank), np.random.SeedSequence(seed).spawn(2)
    ends: list[End] = []
    for sign, stream in zip((1.0, -1.0), streams, strict=True):
        end = smallest_value(region, operator, sign)
        if not joint and number and not is_interior(end.state):
            values = repeat_values(fit, operator, end.state, number, np.random.default_rng(stream))
            excess = calibrate_excess(region, end, sign * estimate, sign * values)
            if excess > region.excess:
                wider = smallest_value(replace(region, excess=excess), operator, sign)
                end = wider._replace(bound=min(wider.bound, end.bound))
        ends.append(end)
    low, high = ends
    return StateRange(low.bound, -high.bound, low.attained, -high.attained, estimate, level)


def is_interior(state: QuantumState) -> bool:
    """Whether a state is well inside the set of states, where intervals of the likelihood ratio are right."""
    return state.rank == state.dimension and bool(state.eigenvalues.min() >= INTERIOR / state.dimension)


def repeat_values(fit: Fit, operator: Any, state: QuantumState, number: int, rng: np.random.Generator) -> FloatArray:
    """Return <O, X> of this state, then of the fits to repeated experiments on it."""
    fits = [repeat_fit(fit, rng, state=state).state for _ in range(number)]
    return np.array([inner_product(operator, point.low_rank) for point in (state, *fits)])


def calibrate_excess(region: Region, end: End, estimate: float, values: FloatArray) -> float:
    """Return Delta of a region that ends where repeated fits just reach the estimate; at least that of the region.

    The fits to experiments on the state at the end, with the value o, have the values o + bias +- s. So the estimate e
    speaks against ends below e - bias - z s, z = sqrt(2 Delta) the normal quantile, and Delta grows as the square of
    the distance from the centre.
    """
    bias, spread = float(values[1:].mean() - values[0]), float(np.std(values[1:], ddof=1))
    farthest = estimate - bias - math.sqrt(2.0 * region.excess) * spread
    reach = end.centre - end.attained
    return region.excess * max(1.0, (end.centre - farthest) / reach) ** 2 if reach > 0.0 else region.excess


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
        return DenseOperator(hermitian_part(matrix))
    strings, coefficients = as_pauli_sum(observable, qubits)
    if np.any(np.imag(coefficients)):
        raise InvalidInput("observable", "real coefficients", "complex ones")
    total: Any = pauli_map(strings, precision="double").adjoint(np.real(coefficients).astype(np.float64))
    return total


@dataclass(frozen=True, eq=False)
class Region:
    """The states with phi(A X - b) <= phi_min + Delta."""

    problem: Problem
    """min phi over all states."""
    least: float
    """phi at its minimiser, to NATS: the ends of a 95 % range then err by about a four-hundredth of its width."""
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
    freedom = max(1, fit.data.size - fit.parameters)
    return float(np.linalg.norm(fit.fitted - fit.data.expectations)) / math.sqrt(freedom)


def mixed_factor(state: QuantumState) -> Array:
    """Return R with R R^* the state and some white noise; above :data:`WIDE_QUBITS` with few random columns of it."""
    roots = state.eigenvectors * np.sqrt((1.0 - FIRST_SHIFT) * state.eigenvalues)
    size = state.dimension
    if state.qubits <= WIDE_QUBITS:
        return np.linalg.cholesky(roots @ roots.conj().T + FIRST_SHIFT / size * np.eye(size))
    share = math.sqrt(FIRST_SHIFT / (1.0 - FIRST_SHIFT))
    return np.concatenate([roots, share * random_block(roots, WIDTH, 0)], axis=1)


def minimize_nats(problem: Problem, factor: Array) -> Result:
    """Minimise over all states from R to the absolute accuracy NATS."""
    start = QuantumState.from_low_rank(LowRank(factor, factor, np.ones(factor.shape[1]))).low_rank
    objective = problem.sharp.objective(start) + problem.coupling.penalty(problem.map.image(start) - problem.b)
    relative, stop = NATS / problem.scale(objective), MaxIterations(MOST_ITERATIONS)
    return solve(problem, FixedRank(initial=factor), accuracy=relative, stop=stop)


class End(NamedTuple):
    """The lower end of the values v = <sign O, X> over a region."""

    bound: float
    """Certified lower bound on v."""
    attained: float
    """The smallest v found in the region."""
    centre: float
    """v of the minimiser of phi."""
    state: QuantumState
    """A state with the smallest v found."""


def smallest_value(region: Region, operator: Any, sign: float) -> End:
    """Return the lower end of <sign O, X> over the region.

    phi(X_t) - phi_min grows as t^2 while the region is an ellipsoid, so t is corrected by the ratio of square roots.
    """
    is_small = region.problem.map.domain[0] <= 1 << WIDE_QUBITS
    reach = operator.norm_bound()
    bounds = np.linalg.eigvalsh(operator.toarray())[[0, -1]] if is_small else np.array([-reach, reach])
    spread = float(bounds[1] - bounds[0]) or 1.0
    best = float(bounds[0] if sign > 0 else -bounds[1])
    centre = sign * inner_product(operator, region.centre)
    middle = region.problem.map.image(region.centre)
    found, point, factor, weight = centre, region.centre, region.factor, 20.0 * region.excess / spread
    tried: list[Trial] = []
    for _ in range(MOST_SOLVES):
        trial = minimize_along(region, operator, sign * weight, factor)
        tried.append(trial)
        best = max(best, (trial.bound - region.limit) / weight)
        step = trial.image - middle
        share = largest_step(lambda s, step=step: region.loss(middle + s * step), region.limit)
        if centre + share * (trial.value - centre) < found:
            found = centre + share * (trial.value - centre)
            point = combination([1.0 - share, share], [region.centre, trial.point])
        if found - best <= CLOSE * (centre - best):
            break
        factor, weight = mixed_factor(QuantumState.from_low_rank(trial.point)), next_weight(tried, region)
    return End(min(best, found), found, centre, QuantumState.from_low_rank(point))


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
    point: LowRank
    """X."""


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


def minimize_along(region: Region, operator: Any, weight: float, factor: Array) -> Trial:
    """Return the minimiser of <weight O, X> + phi, from a factor."""
    problem = region.problem
    cost: Any = DenseOperator(weight * operator.toarray()) if isinstance(operator, DenseOperator) else weight * operator
    sharp = Linear(cost, problem.sharp)
    result = minimize_nats(Problem(sharp, problem.map, problem.b, problem.coupling), factor)
    image = np.asarray(problem.map.image(result.x), np.float64)
    value = math.copysign(1.0, weight) * inner_product(operator, result.x)
    return Trial(abs(weight), region.loss(image), value, result.dual_bound, image, result.x)


def repeat_fit(
    fit: Fit, rng: np.random.Generator, resample: str = "parametric", state: QuantumState | None = None
) -> Fit:
    """Return the fit to data of the same experiment: on a state (the estimate by default), or drawn from the data."""
    settings, truth = fit.refit_settings, fit.state if state is None else state
    if fit.counts is not None and resample == "basis":
        return fit_counts(settings, [_redraw(part, rng) for part in fit.counts], prior=fit.state)
    if fit.counts is not None:
        return fit_counts(settings, _measure_again(fit, fit.counts, truth, rng), prior=fit.state)
    data, stderr = fit.data, fit.data.stderr
    exact = fit.fitted if state is None else np.asarray(fit.model.strings.image(truth.low_rank), np.float64)
    values = np.clip(data.expectations if resample == "basis" else exact, -1.0, 1.0)
    if stderr is None and data.shots is not None:
        values = binomial_mean(values, np.maximum(np.round(data.shots), 1.0), rng)
    else:
        stderr = np.full(values.shape, residual_noise(fit)) if stderr is None else stderr
        values = values + stderr * rng.standard_normal(values.shape)
    return fit_data(settings, PauliData(data.qubits, data.x, data.z, values, data.shots, stderr))


def _measure_again(
    fit: Fit, counts: list[BasisCounts], state: QuantumState, rng: np.random.Generator
) -> list[BasisCounts]:
    """Return counts of the same measurements of a state."""
    if fit.model.histogram is None:
        bases, shots = [part.basis for part in counts], [part.shots for part in counts]
        return list(sample_bases(state, bases, shots, rng))
    probabilities = np.maximum(np.asarray(fit.model.problem.map.image(state.low_rank), np.float64), 0.0)
    rows = np.split(probabilities, np.cumsum(fit.model.histogram.sizes)[:-1])
    drawn = [rng.multinomial(part.shots, row / row.sum()) for part, row in zip(counts, rows, strict=True)]
    seen = [np.flatnonzero(row) for row in drawn]
    return [
        BasisCounts(part.basis, places, row[places], part.povm)
        for part, places, row in zip(counts, seen, drawn, strict=True)
    ]


def _redraw(part: BasisCounts, rng: np.random.Generator) -> BasisCounts:
    """Return as many shots drawn with replacement from those of a basis."""
    if part.is_quasi:
        raise InvalidInput("resample", '"parametric" for quasi-counts', '"basis"')
    drawn = rng.multinomial(part.shots, part.counts / part.counts.sum())
    return BasisCounts(part.basis, part.outcomes, drawn, part.povm)


def is_measured(fit: Fit, observable: Any) -> bool:
    """Whether an observable is a combination of the identity and measured strings, so that every fit determines it."""
    strings, coefficients = as_pauli_sum(observable, fit.state.qubits)
    used = np.abs(coefficients) > UNSEEN * np.abs(coefficients).max()
    shift = fit.state.qubits
    wanted = ((strings.x.astype(np.int64) << shift) | strings.z)[used]
    return bool(np.all(np.isin(wanted, np.append(fit.data.keys, 0))))


def is_target_measured(fit: Fit, target: QuantumState) -> bool:
    """Whether the projector on a pure target is a combination of measured strings: their squares sum to p - 1."""
    keys, first = np.unique(fit.data.keys, return_index=True)
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
    if parameters > TANGENT_SIZE or parameters * fit.model.measured_map.codomain[0] > TANGENT_SIZE**2:
        return True
    values = np.linalg.svd(tangent_images(fit, rank), compute_uv=False)
    return bool(values[-1] > BLIND * values[0])


def tangent_images(fit: Fit, rank: int) -> FloatArray:
    """Return A restricted to the tangent space at the estimate, column by column in an orthonormal basis."""
    size, seen, columns = fit.state.dimension, fit.model.measured_map, list[FloatArray]()
    kept = min(rank, fit.state.rank)
    frame = np.linalg.qr(np.concatenate([fit.state.eigenvectors[:, :kept], np.eye(size)], axis=1))[0][:, :size]
    pairs = [(i, j) for i in range(min(rank, size)) for j in range(i, size)]
    for first, second in ((frame[:, i], frame[:, j]) for i, j in pairs if i < j):
        for other in (second, 1.0j * second):
            left = np.stack([first + other, first - other], axis=1)
            columns.append(np.asarray(seen.image(LowRank(left, left, np.array([0.5, -0.5]) * math.sqrt(0.5)))))
    diagonal = [LowRank(frame[:, [i]], frame[:, [i]], np.ones(1)) for i, j in pairs if i == j]
    images = np.array([seen.image(point) for point in diagonal])
    unit = np.full((len(diagonal), 1), 1.0)
    traceless = np.linalg.qr(np.concatenate([unit, np.eye(len(diagonal))], axis=1))[0][:, 1:]
    return np.concatenate([np.array(columns).reshape(-1, images.shape[1]), traceless.T @ images]).T
