"""Counts fitted outcome by outcome: the weighted least squares that approximates the multinomial likelihood.

The Pauli strings that one basis determines are correlated, and an outcome that was never seen says more than any of
them: its probability is known to be small. Both are respected when the probabilities themselves are fitted,
p(s | B) = 2^-q sum over sets S of qubits of (-1)^|s & S| tr(P_(B, S) rho), a Walsh-Hadamard transform for each basis.

The weights are N / p, for a multinomial the inverse of the covariance on frequencies that sum to one. Taken from the
counts (Neyman) they favour outcomes that were never seen. That makes up for what a fit at the border of the set of
states adds, and states of low rank come out best; but a little white noise is lost. With p from a state fitted before
(Pearson) it is not. Fitting again and again is Fisher's scoring: where it ends, the gradient sum (N - n / p) Pi is
that of the likelihood. Which of the two suits is seen from the likelihood's slope towards white noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.tomography.counts import BasisCounts
from unipd.apps.tomography.mapping import pauli_map
from unipd.apps.tomography.paulis import Paulis
from unipd.apps.tomography.state import QuantumState
from unipd.apps.tomography.supports import walsh_hadamard
from unipd.couplings import WeightedLeastSquares
from unipd.io.pauli_model import PauliData
from unipd.maps.base import Map
from unipd.maps.pauli import PauliMap
from unipd.maps.pauli.strings import parse
from unipd.problem import Problem
from unipd.sharp.spectral_trace import Spectrahedron

MOST_OUTCOMES = 1 << 22
"""Outcomes (bases times 2^q) up to which they are fitted one by one."""
ENOUGH = 16
"""Shots an outcome, on average, from which on frequencies rather than Pauli estimates are fitted."""
BY_OUTCOME = ("outcomes", "gaussian")
"""Objectives that fit frequencies of outcomes."""
GAUSSIAN_HEDGE = 0.5
"""Counts added to every outcome for the weights of "gaussian"."""
HEDGE = 1.0
"""Counts added to every outcome for the weights of the first fit."""
LEAST_COUNT = 0.1
"""Expected count of an outcome that is assumed at least; smaller ones would only make the problem ill-conditioned."""
SCORES = (-4.0, 1.5)
"""Slopes of the likelihood towards white noise, in standard errors, at which weights from the counts suit.

By simulation with 1,000 shots: pure states and states of rank 2, of two to five qubits, had slopes from -3.1 to 0.9,
and "outcomes" serves them ill. With 5% of white noise they were up to 1.1 for two and three qubits, 1 to 8 for four and
13 to 36 for five; GHZ and W states of three and more qubits had -3.6 to -37.
"""
LEAST_SCORED = 0.5
"""Expected count of an outcome that such a slope takes at least."""
ROUGH = 1e-3
"""Accuracy of the fits that only give the weights of the next."""
ROUNDS = 2
"""Fits: the first with weights from the counts, the next from the state before."""


class OutcomeMap(Map):
    """Probabilities of all outcomes in some local bases, A(X)_(B, s) = tr(Pi_(B, s) X), through the Pauli map.

    Parameters
    ----------
    bases
        Labels of the bases.
    precision, threads
        As in :class:`~unipd.maps.pauli.PauliMap`.

    Examples
    --------
    >>> from unipd.atoms import LowRank
    >>> plus = np.array([[1.0], [1.0]]) / np.sqrt(2)
    >>> OutcomeMap(["Z", "X"], "double").image(LowRank(plus, plus, np.ones(1))).round(9)
    array([0.5, 0.5, 1. , 0. ])
    """

    def __init__(self, bases: list[str], precision: str = "single", threads: int | None = None) -> None:
        qubits, x, z = parse(bases)
        sets = np.arange(1 << qubits)
        keys = ((sets & x[:, np.newaxis]) << qubits) | (sets & z[:, np.newaxis])
        distinct, places = np.unique(keys, return_inverse=True)
        self._places: IntArray = places.reshape(keys.shape).astype(np.int32)
        masks = Paulis(qubits, distinct >> qubits, distinct & ((1 << qubits) - 1))
        self.pauli_map: PauliMap = pauli_map(masks, precision=precision, threads=threads)
        super().__init__(self.pauli_map.domain, (keys.size,), np.float64)

    @property
    def precision(self) -> str:
        """Precision of the Pauli map."""
        return self.pauli_map.precision

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._places.nbytes + self.pauli_map.nbytes

    def image(self, atom: Any) -> FloatArray:
        """Return the probabilities, basis after basis, outcomes by index."""
        values = np.asarray(self.pauli_map.image(atom), np.float64)
        return walsh_hadamard(values[self._places]).reshape(-1) / self._places.shape[1]

    def adjoint(self, dual: Array) -> Any:
        """Return sum over outcomes of lam Pi as an operator: a sum of Pauli strings."""
        sums = walsh_hadamard(np.asarray(dual, np.float64).reshape(self._places.shape)) / self._places.shape[1]
        return self.pauli_map.adjoint(np.bincount(self._places.reshape(-1), sums.reshape(-1), self.pauli_map.x.size))

    def pooled(self, histogram: FloatArray) -> PauliData:
        """Return the Pauli estimates that counts (bases x outcomes) give, pooled over the bases by their shots."""
        sums = walsh_hadamard(histogram)
        shots = np.broadcast_to(histogram.sum(axis=1, keepdims=True), sums.shape)
        flat, size = self._places.reshape(-1), self.pauli_map.x.size
        total = np.bincount(flat, shots.reshape(-1), size).astype(np.float64)
        means = np.bincount(flat, sums.reshape(-1), size) / total
        return PauliData(self.pauli_map.qubits, self.pauli_map.x, self.pauli_map.z, means, total)


def few_outcomes(counts: list[BasisCounts]) -> bool:
    """Whether there are few enough outcomes to fit them one by one."""
    return len(counts) << len(counts[0].basis) <= MOST_OUTCOMES


def suit_outcomes(counts: list[BasisCounts]) -> bool:
    """Whether outcomes are few, and seen often enough on average for their frequencies to be nearly Gaussian."""
    return few_outcomes(counts) and min(part.shots for part in counts) >= ENOUGH << len(counts[0].basis)


def hedged_chances(histogram: FloatArray) -> FloatArray:
    """Return the frequencies with one count added to every outcome, none of which is zero.

    >>> hedged_chances(np.array([[0.0, 8.0]]))
    array([[0.1, 0.9]])
    """
    raised = histogram + HEDGE
    return raised / raised.sum(axis=1, keepdims=True)


def outcome_problem(measured: OutcomeMap, histogram: FloatArray, chances: FloatArray, **options: Any) -> Problem:
    """Return min 1/2 sum over outcomes of (A(X) - f)^2 / v over density matrices, with f the observed frequencies.

    The variances v = p / N come from ``chances`` p, which are bounded from below by :data:`LEAST_COUNT` / N.
    ``options`` are those of the spectral oracle.
    """
    shots = histogram.sum(axis=1, keepdims=True)
    variance = np.maximum(chances.reshape(histogram.shape), LEAST_COUNT / shots) / shots
    loss = WeightedLeastSquares(1.0 / variance.reshape(-1))
    return Problem(Spectrahedron(measured.domain[0], **options), measured, (histogram / shots).reshape(-1), loss)


def gaussian_problem(measured: OutcomeMap, histogram: FloatArray, **options: Any) -> Problem:
    """Return the same with the variance h (1 - h) / N of every single frequency, h being hedged frequencies.

    It is what ``cvxpy_gaussian_lstsq`` of qiskit-experiments minimises. The estimates of pure states are good, those of
    states with a little noise too pure.
    """
    shots = histogram.sum(axis=1, keepdims=True)
    hedged = (histogram + GAUSSIAN_HEDGE) / (shots + GAUSSIAN_HEDGE * histogram.shape[1])
    loss = WeightedLeastSquares((shots / (hedged * (1.0 - hedged))).reshape(-1))
    return Problem(Spectrahedron(measured.domain[0], **options), measured, (histogram / shots).reshape(-1), loss)


def weighs_well(measured: OutcomeMap, histogram: FloatArray, state: QuantumState) -> bool:
    """Whether a state fitted with weights from the counts has neither lost white noise nor gained it.

    Moving the state towards I/p changes the log-likelihood at the rate sum (n - N p)(2^-q - p) / p, the score. In the
    true state it has mean 0 and variance sum N (2^-q - p)^2 / p. Above :data:`SCORES`, in such errors,
    the fit has lost white noise; below them it has too much, as where many outcomes never happen (GHZ states).
    """
    shots = histogram.sum(axis=1, keepdims=True)
    chances = np.maximum(measured.image(state.low_rank).reshape(histogram.shape), LEAST_SCORED / shots)
    rise = 1.0 / histogram.shape[1] - chances
    slope, variance = np.sum((histogram - shots * chances) * rise / chances), np.sum(shots * rise**2 / chances)
    least, most = np.sqrt(variance) * np.array(SCORES)
    return bool(least <= slope <= most)


def histogram_of(counts: list[BasisCounts]) -> FloatArray:
    """Return the counts as an array of shape (bases, 2^q).

    >>> histogram_of([BasisCounts("Z", np.array([1]), np.array([7]))])
    array([[0., 7.]])
    """
    table = np.zeros((len(counts), 1 << len(counts[0].basis)))
    for row, part in zip(table, counts, strict=True):
        np.add.at(row, part.outcomes, part.counts)
    return table
