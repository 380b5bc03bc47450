"""The estimator: from input states and measured outputs to a quantum channel with a certified fit and error bars.

The method is descent over Kraus operators: every point is a channel, and the multipliers of tr_out J = I have a closed
form. A factor R of J = R R^*, read as a matrix of d_in rows, is an isometry W (W W^* = I) exactly where tr_out J = I,
and its columns are the Kraus operators. Any R of full rank stands for the channel of its polar factor
W = (R R^*)^(-1/2) R, so that quasi-Newton steps are free of constraints. With S the gradient of the loss in J, the
multipliers Y at a stationary point satisfy (S + Y (x) I) W = 0, hence Y = -Re tr_out(S J); the top eigenvalue of
-(S + Y (x) I) then bounds the optimum from below, at every point.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import hermitian_part, precision
from unipd._util.context import is_stop_requested, notify
from unipd._util.printing import ReprMixin
from unipd.apps.process_tomography.channel import QuantumChannel, as_channel
from unipd.apps.process_tomography.data import ProcessData, ancilla_data, counts_data, expectation_data
from unipd.apps.tomography import MeasurementWarning
from unipd.apps.tomography.error_bars import interval_of
from unipd.apps.tomography.fit import improve_bound
from unipd.apps.tomography.fixed_rank import REGULARISATION, FixedRank
from unipd.apps.tomography.model import LEAST_EXPECTED, NATS, START_NOISE
from unipd.atoms import LowRank
from unipd.couplings import Equality, LeastSquares, PoissonLikelihood, Product, WeightedLeastSquares
from unipd.dual import oracle_errors
from unipd.errors import InvalidInput, UnipdError
from unipd.maps import Stacked
from unipd.maps.channel import ChannelMeasurements, PartialTrace, pack, unpack_channel
from unipd.methods.factored.augmented_lagrangian import ROUNDING, AugmentedLagrangian, Evaluation, FactoredState
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.run import IterationInfo, Result, StoppingRule, solve
from unipd.sharp import Spectrahedron
from unipd.sharp.spectral.factors import SpectralFactors, random_block
from unipd.status import Status

SINGULAR = 1e-24
"""Eigenvalues of tr_out R R^* are at least this share of the largest: a singular trial step stays finite."""


@dataclass(frozen=True)
class KrausFactors(SpectralFactors):
    """Factors R of Choi matrices with tr_out J = I, by the polar factor of R.

    >>> factors = KrausFactors(4, 0, 2.0, ball=False, inputs=2)
    >>> choi = factors.point(np.arange(1.0, 9.0).reshape(4, 2)).dense()
    >>> np.trace(choi.reshape(2, 2, 2, 2), axis1=1, axis2=3).round(9)
    array([[1., 0.],
           [0., 1.]])
    """

    inputs: int = 1
    """d_in."""

    def _normalize(self, factor: Array) -> Array:
        """Return the polar factor W, in the shape of R."""
        values, vectors = self._spectrum(factor)
        root = (vectors / np.sqrt(values)) @ vectors.conj().T
        return (root @ factor.reshape(self.inputs, -1)).reshape(factor.shape)

    def _spectrum(self, factor: Array) -> tuple[Array, Array]:
        """Return the eigenvalues and eigenvectors of tr_out R R^*."""
        rows = factor.reshape(self.inputs, -1)
        values, vectors = np.linalg.eigh(rows @ rows.conj().T)
        return np.maximum(values, SINGULAR * values[-1]), vectors

    def pull_back(self, slope: Array, factor: Array) -> Array:
        """Return the gradient in R of a function whose gradient in W is ``slope``.

        With R = P W it is P^(-1) V (I - W^* W) + 2 B W, where V is the slope and P B + B P = (V W^* - W V^*) / 2.
        """
        values, vectors = self._spectrum(factor)
        lengths = np.sqrt(values)
        rows = vectors.conj().T @ factor.reshape(self.inputs, -1) / lengths[:, None]  # W in the eigenvectors of P
        turned = vectors.conj().T @ slope.reshape(self.inputs, -1)
        products = turned @ rows.conj().T
        skew = 0.5 * (products - products.conj().T) / (lengths[:, None] + lengths)
        gradient = (turned - products @ rows) / lengths[:, None] + 2.0 * skew @ rows
        return (vectors @ gradient).reshape(factor.shape)

    def multipliers(self, slope: Array, unit: Array) -> Array:
        """Return Y = -Re tr_out(S J), packed, from 2 S W and W."""
        products = 0.5 * slope.reshape(self.inputs, -1) @ unit.reshape(self.inputs, -1).conj().T
        return -pack(hermitian_part(products))


@dataclass(frozen=True)
class ChannelLoss(AugmentedLagrangian):
    """The loss over Kraus operators, for a problem whose first rows are tr_out J = I and whose others are measured."""

    @cached_property
    def _parts(self) -> tuple[Any, Any, Array, Array]:
        """The measurements, their loss, and b of the constraints and of the measurements."""
        stack, coupling = self.problem.map, self.problem.coupling
        assert isinstance(stack, Stacked)
        rows = math.prod(stack.maps[0].codomain)
        return stack.maps[1], coupling.parts[1], self.problem.b[:rows], self.problem.b[rows:]  # type: ignore[attr-defined]

    def rounding(self, value: float, factor: Array) -> float:
        """Return the size of a change of the loss that is rounding error."""
        return ROUNDING * precision(factor) * max(abs(value), self._parts[1].cancellation)

    def evaluate(self, factor: Array) -> Evaluation:
        """Return value and gradient at R, with the multipliers of tr_out J = I in the dual vector."""
        measure, loss, identity, data = self._parts
        factors: Any = self.factors
        point: LowRank = factors.point(factor)
        with oracle_errors:
            measured = measure.image(point)
            residual = measured - data
            dual = loss.gradient(residual)
            slope = 2.0 * measure.adjoint(dual) @ point.left
        matvecs = 2 * factors.rank(factor)
        notify("quasi-Newton steps", matvecs)
        complete = np.concatenate([factors.multipliers(slope, point.left), dual])
        gradient, image = factors.pull_back(slope, factor), np.concatenate([identity, measured])
        return Evaluation(loss.value(residual), gradient, point, image, 0.0, complete, matvecs)

    def best_gamma(self, here: Evaluation, image: Array, cost: float) -> float:
        """Return 0: the channel of a mixture is not on the segment, and trials find its weight."""
        return 0.0


@dataclass(frozen=True)
class KrausDescent(FixedRank):
    """Quasi-Newton steps over Kraus operators, certified by the bound of the convex problem.

    With as many Kraus operators as J has rows the descent solves the convex problem. With fewer (``rank``) it ends as
    ``local`` when it is stationary and the bound does not prove it optimal among all channels.

    Parameters
    ----------
    rank
        Largest number of Kraus operators; None for any.
    inner_steps, memory, seed
        As in :class:`unipd.Factored`.
    factors
        Factored form of the set; by default that of the problem.
    initial
        The factor R to start from.
    inputs
        Dimension d_in of the input.

    See Also
    --------
    unipd.Factored, unipd.ProcessTomography

    Examples
    --------
    >>> KrausDescent(rank=2, inputs=2).rank
    2
    """

    inner_steps: int = 30
    memory: int = 20
    inputs: int = field(default=1, kw_only=True)

    @property
    def name(self) -> str:
        """Name in results."""
        return "kraus-descent"

    def _find_factors(self, problem: Problem) -> KrausFactors:
        rows = problem.map.domain[0]
        return KrausFactors(rows, 0, float(self.inputs), False, REGULARISATION, inputs=self.inputs)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Start from the given factor."""
        assert self.initial is not None
        model = ChannelLoss(problem, self._find_factors(problem), dual, 0.0)
        return self.start_from(model, self.initial, accuracy)


SHARE_OF_SHOTS = 1e-8
"""Share of all shots, in nats, to which double precision resolves a likelihood."""
RELATIVE_ACCURACY = 1e-6
"""Default accuracy of least squares, relative to the loss at J = 0."""
MOST_ROWS = 1024
"""Largest size of the Choi matrix (five qubits), which is stored."""
BIAS_FACTOR = 2.0
"""Safety factor on the bias of the replicates: that of an estimate is 1.0 to 1.6 times as large."""
TRACES = ("preserving", "nonincreasing")
"""What a map may do to the trace of a state."""


class UndeterminedChannel(MeasurementWarning):
    """The data do not determine the channel.

    See Also
    --------
    unipd.ProcessTomography

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", UndeterminedChannel)  # in a pipeline, undetermined channels are errors
    """


@dataclass(frozen=True, eq=False, repr=False)
class ChannelBootstrap(ReprMixin):
    """The channels fitted to repeated experiments, and intervals of any figure of the channel.

    Parameters
    ----------
    channels
        The channel of each replicate: fewer than requested after an interruption.
    estimate
        The channel whose experiment was repeated.

    See Also
    --------
    unipd.ProcessTomography, QuantumChannel

    Examples
    --------
    >>> import unipd
    >>> from unipd.apps.process_tomography import simulate_process
    >>> estimate = unipd.ProcessTomography().fit_counts(simulate_process("h", shots=200))
    >>> errors = estimate.bootstrap(3)
    >>> len(errors.channels)
    3
    """

    channels: tuple[QuantumChannel, ...]
    estimate: QuantumChannel

    def values(self, figure: Callable[[QuantumChannel], float]) -> FloatArray:
        """Return a figure of every replicate."""
        return np.array([float(figure(channel)) for channel in self.channels])

    def interval(
        self,
        figure: Callable[[QuantumChannel], float],
        level: float = 0.95,
        limits: tuple[float, float] = (-np.inf, np.inf),
    ) -> tuple[float, float]:
        """Return a confidence interval of a figure, widened by twice the bias that the replicates show.

        A fit over all channels has more Kraus operators than a channel with little noise. The replicates are measured
        on the fit, which is already too noisy, and so they may show only about two thirds of its bias.

        Parameters
        ----------
        figure
            A function of a channel, e.g. ``lambda channel: channel.process_fidelity("cx")``.
        level
            Probability of the interval.
        limits
            Smallest and largest value that the figure can have.
        """
        validate.fraction("level", level)
        if len(self.channels) < 2:
            raise InvalidInput("channels", "at least two replicates", str(len(self.channels)))
        return interval_of(self.values(figure), float(figure(self.estimate)), level, limits, BIAS_FACTOR)


class ProcessTomography:
    """Estimate a quantum channel: maximum likelihood from counts, least squares from expectation values.

    The estimate is completely positive and trace preserving by construction. The fit is over all channels and is
    certified by the dual bound of that convex problem, for counts in nats: no channel has a log-likelihood that is
    larger by more than the gap.

    Parameters
    ----------
    accuracy
        Certified gap: for counts in nats (by default 0.01, or 1e-8 of all shots where that is more), for expectation
        values relative to the loss at J = 0 (by default 1e-6).
    rank
        Largest number of Kraus operators. The fit then ends as ``local`` unless it is proven optimal among all
        channels.
    trace
        "preserving", or "nonincreasing" for maps that may lose the state (tr_out J <= I).
    stop, callback, verbose
        As in :func:`unipd.solve`.

    Attributes
    ----------
    channel_
        The estimate, a :class:`QuantumChannel`.
    result_
        The solver's :class:`unipd.Result`, with the figures of the channel among its extras.
    data_
        The measurements.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero; ``rank``: expected an integer of at least 1.

    See Also
    --------
    PauliTomography, unipd.apps.process_tomography.QuantumChannel

    Examples
    --------
    >>> from unipd.apps.process_tomography import simulate_process
    >>> estimate = ProcessTomography().fit_counts(simulate_process("h", shots=2000))
    >>> estimate.channel_.process_fidelity("h") > 0.99, estimate.result_.status.value
    (True, 'solved')
    """

    def __init__(
        self,
        *,
        accuracy: float | None = None,
        rank: int | None = None,
        trace: str = "preserving",
        stop: StoppingRule | None = None,
        callback: Callable[[IterationInfo], bool | None] | None = None,
        verbose: bool = False,
    ) -> None:
        self.accuracy = None if accuracy is None else validate.positive("accuracy", accuracy)
        self.rank = None if rank is None else validate.integer("rank", rank, minimum=1)
        self.trace = validate.choice("trace", trace, TRACES)
        self.stop, self.callback, self.verbose = stop, callback, verbose
        self._fit: tuple[ProcessData, QuantumChannel, Result] | None = None

    def fit(
        self, preparations: Any, paulis: Any, expectations: Any, shots: Any = None, stderr: Any = None
    ) -> ProcessTomography:
        """Estimate the channel from expectation values tr(P E(rho)) by least squares.

        Parameters
        ----------
        preparations
            The input state of each value: a label of letters 0, 1, +, -, r, l (qubit 0 at the right), or a density
            matrix.
        paulis
            The Pauli string of each value.
        expectations
            The values.
        shots, stderr
            Shots or standard errors of the values (numbers for each, or one for all): residuals are weighted by them.
        """
        return self.fit_data(expectation_data(preparations, paulis, expectations, shots, stderr))

    def fit_counts(self, counts: Any, *, readout: Any = None) -> ProcessTomography:
        """Estimate the channel from counts by maximum likelihood.

        Parameters
        ----------
        counts
            ``{(preparation, basis): {bit-string: count}}``, e.g. ``{("0+", "XZ"): {"00": 480, "11": 520}}``, qubit 0
            at the right. Any pairs, with any numbers of shots. Shots without a result are counted under "lost"; they
            need ``trace="nonincreasing"``.
        readout
            Readout errors, as in :meth:`unipd.apps.tomography.PauliTomography.fit_counts`.
        """
        return self.fit_data(counts_data(counts, readout))

    def fit_ancilla(self, counts: Any, *, state: Any = None, readout: Any = None) -> ProcessTomography:
        """Estimate the channel from counts of ancilla and output, where the input was entangled with the ancilla.

        Parameters
        ----------
        counts
            ``{basis: {bit-string: count}}``; the left halves of bases and bit-strings belong to the ancilla.
        state
            The state of ancilla (left) and input that was prepared; maximally entangled by default.
        readout
            Readout errors of the qubits, qubit 0 first.
        """
        return self.fit_data(ancilla_data(counts, state, readout))

    def fit_data(self, data: ProcessData) -> ProcessTomography:
        """Estimate the channel from measurements in their general form."""
        if data.states.shape[1] * data.effects.shape[1] > MOST_ROWS:
            found = f"{data.states.shape[1] * data.effects.shape[1]}"
            raise InvalidInput("data", f"a Choi matrix of at most {MOST_ROWS} rows (five qubits)", found)
        if data.is_counts and self.trace == "preserving" and data.lost.max() > 0.0:
            raise InvalidInput("counts", 'no lost shots (or trace="nonincreasing")', f"{data.lost.sum():g} lost")
        warn_if_undetermined(data, self.rank, self.trace)
        whole = data if self.trace == "preserving" else data.add_lost_level()
        problem = process_problem(whole)
        inputs = data.states.shape[1]
        result = solve(
            problem,
            KrausDescent(rank=self._column_limit(data), initial=self._first_factor(whole, data), inputs=inputs),
            accuracy=default_accuracy(data) if self.accuracy is None else self.accuracy,
            stop=self.stop,
            callback=self.callback,
            verbose=self.verbose,
        )
        result = add_bound_of_data(result, whole)
        choi = result.x.dense().reshape(inputs, -1, inputs, whole.effects.shape[1])
        outputs = data.effects.shape[1]
        choi = choi[:, :outputs, :, :outputs].reshape(inputs * outputs, -1)
        channel = QuantumChannel(choi, inputs)
        self._fit = data, channel, result.with_extras(**channel_figures(data, channel, result.status))
        return self

    def _column_limit(self, data: ProcessData) -> int | None:
        """Return the largest number of columns of the factor; those of a lost state are not limited."""
        if self.rank is None or self.rank >= data.states.shape[1] * data.effects.shape[1]:
            return None
        return self.rank + (data.states.shape[1] if self.trace == "nonincreasing" else 0)

    def _first_factor(self, whole: ProcessData, data: ProcessData) -> Array:
        """Return a factor of linear inversion with white noise; lost states have columns of their own."""
        factor = invert_process_data(data)
        factor = factor if self.rank is None else make_regular(factor[:, -self.rank :], data.states.shape[1])
        if whole is data:
            return factor
        inputs, outputs = data.states.shape[1], data.effects.shape[1]
        rows = factor.reshape(inputs, outputs, -1)
        padded = np.pad(rows, ((0, 0), (0, 1), (0, inputs)))
        padded[np.arange(inputs), -1, rows.shape[2] + np.arange(inputs)] = np.sqrt(START_NOISE)
        return padded.reshape(inputs * (outputs + 1), -1)

    def _last_fit(self) -> tuple[ProcessData, QuantumChannel, Result]:
        """Return data, channel and result, or raise."""
        if self._fit is None:
            raise UnipdError("no channel yet: call fit, fit_counts or fit_ancilla first")
        return self._fit

    @property
    def data_(self) -> ProcessData:
        """The measurements."""
        return self._last_fit()[0]

    @property
    def channel_(self) -> QuantumChannel:
        """The estimate."""
        return self._last_fit()[1]

    @property
    def result_(self) -> Result:
        """The solver's result."""
        return self._last_fit()[2]

    @property
    def guarantee(self) -> str:
        """What is proven about the estimate."""
        return self.result_.extras["guarantee"]

    def bootstrap(self, replicates: int = 100, *, seed: int = 0) -> ChannelBootstrap:
        """Return the channels of repeated experiments, fewer when a stop is requested: intervals of any figure.

        Parameters
        ----------
        replicates
            Number of repeated experiments.
        seed
            Seed of their outcomes.
        """
        number = validate.integer("replicates", replicates, minimum=2)
        rng = np.random.default_rng(validate.integer("seed", seed, minimum=0))
        again = ProcessTomography(accuracy=self.accuracy, rank=self.rank, trace=self.trace)
        channels: list[QuantumChannel] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say about the data was said at the fit
            for _ in range(number):
                if is_stop_requested():
                    break
                channels.append(again.fit_data(resample(self.data_, self.channel_, rng)).channel_)
        return ChannelBootstrap(tuple(channels), self.channel_)

    def summary(self, target: Any = None, *, diamond: bool = False) -> dict[str, Any]:
        """Return the summary of the result; with a target also the fidelities, and on request the diamond distance.

        Parameters
        ----------
        target
            A channel, or what :func:`as_channel` makes one of; None for the result alone.
        diamond
            Whether to compute the diamond distance to the target too, which takes longer.

        Returns
        -------
        dict
            Names and figures.
        """
        return {**self.result_.summary(), **({} if target is None else target_figures(self.channel_, target, diamond))}

    def report(self, path: str, *, target: Any = None, diamond: bool = False, title: str | None = None) -> Any:
        """Write an HTML page of the fit: certificate, Choi matrix, spectrum, Pauli transfer matrix, fidelities.

        Parameters
        ----------
        path
            The file.
        target
            A channel for the fidelities, as in :meth:`summary`.
        diamond
            Whether to show the diamond distance from it as well.
        title
            Title of the page.
        """
        import unipd

        figures = {} if target is None else target_figures(self.channel_, target, diamond)
        result = self.result_.with_extras(choi=self.channel_.choi, eigenvalues=self.channel_.eigenvalues, **figures)
        return unipd.report.write_report({title or "process": result}, path, title=title)


def resample(data: ProcessData, channel: QuantumChannel, rng: np.random.Generator) -> ProcessData:
    """Return the data of a repeated experiment: outcomes of the channel with the shots, or errors, of the data."""
    exact = data.measurements.image(channel.choi)
    if data.shots is None:
        if data.stderr is None:
            raise InvalidInput("data", "counts, or expectation values with shots or standard errors", "neither")
        return replace(data, values=exact + data.stderr * rng.standard_normal(exact.size))
    assert data.settings is not None
    values, order = np.zeros_like(data.values), np.argsort(data.settings, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(data.settings))[:-1])
    for row, shots in zip(rows, data.shots, strict=True):
        probabilities = np.maximum(exact[row], 0.0)
        missing = max(0.0, 1.0 - float(probabilities.sum())) if np.any(data.lost > 0.0) else 0.0
        shares = [*probabilities, missing] / (probabilities.sum() + missing)
        values[row] = rng.multinomial(round(float(shots)), shares)[:-1]
    return replace(data, values=values)


def channel_figures(data: ProcessData, channel: QuantumChannel, status: Status) -> dict[str, Any]:
    """Return the figures of a fit, extras of its result."""
    figures = {
        "qubits": channel.qubits,
        "measurements": int(data.values.size),
        "objective_name": "likelihood" if data.is_counts else "least-squares" if data.stderr is None else "weighted",
        "guarantee": "optimal over all channels" if status.success else "bound only",
        "rank": channel.rank,
        "purity": channel.purity,
        "unitarity": channel.unitarity,
    }
    if status is Status.LOCAL:
        figures["guarantee"] = "local: limited number of Kraus operators"
    if data.is_counts:
        probabilities = np.maximum(data.measurements.image(channel.choi), 0.0)
        figures["chi_square_per_dof"] = chi_square_per_dof(data, probabilities, channel)
    return figures


def target_figures(channel: QuantumChannel, target: Any, diamond: bool = False) -> dict[str, float]:
    """Return process fidelity, average gate fidelity (of a unitary target) and, on request, the diamond distance."""
    other = as_channel(target)
    figures = {"process_fidelity": channel.process_fidelity(other)}
    if other.rank == 1 and other.is_trace_preserving:
        figures["average_gate_fidelity"] = channel.average_gate_fidelity(other)
    return figures | ({"diamond_distance": channel.diamond_distance(other)} if diamond else {})


def default_accuracy(data: ProcessData) -> float:
    """Return the accuracy where none is requested."""
    if data.shots is None:
        return RELATIVE_ACCURACY
    return max(NATS, SHARE_OF_SHOTS * float(data.shots.sum()))


def process_problem(data: ProcessData) -> Problem:
    """Return the template of the fit: J psd of trace d_in, tr_out J = I, and a loss of the measured values.

    The loss of counts is the negative log-likelihood in Poisson's form, which is the multinomial one where the
    probabilities of an experiment sum to one, as those of channels do, and whose gradient is smaller by far.

    Parameters
    ----------
    data
        The measurements.

    See Also
    --------
    ProcessData, unipd.ProcessTomography

    Examples
    --------
    >>> from unipd.apps.process_tomography import counts_data, simulate_process
    >>> process_problem(counts_data(simulate_process("h", shots=100)))
    Problem(Spectrahedron, Stacked, n=..., Product...)
    """
    measure, inputs, outputs = data.measurements, data.states.shape[1], data.effects.shape[1]
    if data.is_counts:
        loss, b = PoissonLikelihood(data.values, data.row_shots), np.zeros_like(data.values)
    else:
        loss = LeastSquares() if data.stderr is None else WeightedLeastSquares(data.stderr**-2.0)
        b = data.values
    rows, identity = Stacked([PartialTrace(inputs, outputs), measure]), pack(np.eye(inputs))
    coupling = Product([Equality(), loss], [identity.size, b.size])
    return Problem(Spectrahedron(inputs * outputs, float(inputs)), rows, np.concatenate([identity, b]), coupling)


def add_bound_of_data(result: Result, data: ProcessData) -> Result:
    """Return a result whose bound is at least that of a perfect fit, 0: no channel fits better than the data do.

    The bound of the residual can be below that where the number of Kraus operators is too small.
    """
    if result.dual_bound >= 0.0:
        return result
    dual = np.zeros_like(result.problem.b)
    if data.is_counts:
        dual[-data.values.size :] = np.where(data.values > 0, 0.0, data.row_shots)  # the gradient at the frequencies
    return improve_bound(result, dual)


def invert_process_data(data: ProcessData) -> Array:
    """Return a factor of the least-squares solution, its negative part removed, with a little white noise.

    Pairs that were not measured have the values of white noise.
    """
    measure, inputs, outputs = data.measurements, data.states.shape[1], data.effects.shape[1]
    white = np.eye(inputs * outputs) / outputs
    values = data.values / data.row_shots if data.is_counts else data.values
    if data.settings is not None and np.any(data.lost > 0.0):
        values = values / np.maximum(1.0 - data.lost / np.asarray(data.shots), 1e-300)[data.settings]
    table = ChannelMeasurements(data.states, data.effects).image(white).reshape(measure.table_shape)
    seen = measure.spread(np.ones_like(values))
    table = np.where(seen > 0.0, measure.spread(values) / np.maximum(seen, 1.0), table)
    packed = np.linalg.pinv(measure.states) @ table @ np.linalg.pinv(measure.effects).T
    eigenvalues, vectors = np.linalg.eigh(unpack_channel(packed))
    shares = np.maximum(eigenvalues, 0.0)
    total = float(shares.sum()) or 1.0
    return vectors * np.sqrt((1.0 - START_NOISE) * shares / total + START_NOISE / shares.size)


def make_regular(factor: Array, inputs: int) -> Array:
    """Return the factor, with a little random noise where tr_out R R^* is nearly singular, which no channel has."""
    rows = factor.reshape(inputs, -1)
    values = np.linalg.eigvalsh(rows @ rows.conj().T)
    if values[0] >= START_NOISE * values.mean():
        return factor
    return factor + np.sqrt(START_NOISE) * random_block(factor, factor.shape[1], seed=0)


def chi_square_per_dof(data: ProcessData, probabilities: FloatArray, channel: QuantumChannel) -> float:
    """Return Pearson's chi-square over the degrees of freedom: outcomes less one an experiment, less parameters."""
    shots = data.row_shots
    expected = np.maximum(shots * probabilities, LEAST_EXPECTED)
    chi_square = float(np.sum((data.values - expected) ** 2 / expected))
    parameters = parameter_count(channel.inputs, channel.outputs, channel.rank)
    freedom = data.values.size - np.asarray(data.shots).size - parameters
    return chi_square / freedom if freedom > 0 else float("nan")


def parameter_count(inputs: int, outputs: int, rank: int) -> int:
    """Return the number of real parameters of channels with this many Kraus operators.

    >>> parameter_count(2, 2, 1), parameter_count(2, 2, 4)
    (3, 12)
    """
    return 2 * inputs * outputs * rank - rank**2 - inputs**2


def warn_if_undetermined(data: ProcessData, rank: int | None, trace: str) -> None:
    """Warn when the states or operators do not span their spaces, or pairs are fewer than parameters.

    Of a channel the value of the identity is known.
    """
    inputs, outputs = data.states.shape[1], data.effects.shape[1]
    measure = data.measurements
    known = [pack(np.eye(outputs))] if trace == "preserving" else []
    spans = [int(np.linalg.matrix_rank(part)) for part in (measure.states, np.array([*known, *measure.effects]))]
    distinct = np.unique(np.ravel_multi_index(data.pairs, measure.table_shape)).size
    needed = parameter_count(inputs, outputs, min(rank or inputs * outputs, inputs * outputs))
    short = [
        f"the {name} span {found} of {full} dimensions"
        for name, found, full in zip(("input states", "measurements"), spans, (inputs**2, outputs**2), strict=True)
        if found < full
    ]
    if distinct < needed:
        short.append(f"{distinct} pairs for {needed} parameters")
    if short and (rank is None or distinct < needed):
        remedy = "" if rank is not None else "; limit the number of Kraus operators (rank), or measure more"
        text = f"the data do not determine the channel: {', '.join(short)}{remedy}"
        warnings.warn(text, UndeterminedChannel, stacklevel=3)
