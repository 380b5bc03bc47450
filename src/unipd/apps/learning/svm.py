"""Support vector classification as the distance of two reduced convex hulls: a nu-SVM with a certificate."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd.apps.learning.reduced_hulls import (
    AT_BOUND,
    Hulls,
    LinearKernel,
    RadialKernel,
    nearest_points,
    solve_by_interior_points,
)
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput, MissingExtra
from unipd.problem import Problem
from unipd.run import MaxIterations, Result, solve
from unipd.run.result import reduce_result
from unipd.sharp import Box, CappedSimplex, Product

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import (
        _ovr_decision_function,  # pyright: ignore[reportPrivateUsage]
        check_classification_targets,
    )
    from sklearn.utils.validation import (
        _check_sample_weight,  # pyright: ignore[reportPrivateUsage]
        check_is_fitted,
        validate_data,
    )
except ImportError as error:
    raise MissingExtra("scikit-learn", "learn", "support vector machines") from error

LARGEST_FACTOR = 4000
"""Most samples whose kernel matrix is factored where steps on pairs converge slowly."""
PAIR_ROUNDS = 200
"""Rounds of steps on pairs before that: usually one to ten are enough."""
NEGLIGIBLE = 1e-12
"""Eigenvalues of a kernel matrix below this share of the largest are rounding errors."""
TOUCHING = 1e-14
"""Hulls that no bound proves apart meet if their squared distance is below this share of that of the centroids.

It is also the rounding error of that distance in the corrective method, which works with inner products of samples.
"""
LARGEST_QR = 1_000_000_000
"""Most samples times squared features for interior points, a QR factorisation each: 20 s for all of them."""
MOST_RUNS = 5
"""Runs of a fit; each measures its gap in units of the objective that the one before found."""


def _has_probabilities(estimator: Any) -> bool:
    """Whether probabilities were requested; without, scikit-learn's tools find no ``predict_proba``."""
    if not estimator.probability:
        raise AttributeError("predict_proba needs probability=True when the classifier is made")
    return True


class SupportVectorClassifier(ClassifierMixin, BaseEstimator):
    """Separate classes by the widest margin, with at most a fraction nu of the samples on the wrong side.

    The normal w is the shortest difference of two points, one in the reduced hull of each class:
    min 1/2 ||sum_+ x_i phi_i - sum_- x_i phi_i||^2 over 0 <= x_i <= 2 / (nu n), sum_+ x_i = sum_- x_i = 1 (Crisp and
    Burges, 1999), two blocks of the template. This is the dual of scikit-learn's ``NuSVC``, solved to a
    certified duality gap. Several classes are separated pair by pair, and vote.

    Margins are measured in the units of the features: standardise features of different units first.

    Parameters
    ----------
    nu
        In (0, 1]: at most this share of the samples are margin errors, at least this share are support vectors.
    kernel
        "linear", or "rbf": exp(-gamma ||u - v||^2), whose matrix is not formed: rows are computed as needed.
    gamma
        "scale" for 1 / (features * variance of the weighted samples), or a number.
    accuracy
        Certified suboptimality: the duality gap relative to the objective 1/2 ||w||^2.
    max_iterations
        Limit of the iterations for two classes; with a kernel, an iteration is as many steps as there are samples.
    probability
        Whether to calibrate probabilities for :meth:`predict_proba`, by five more fits on parts of the samples.

    See Also
    --------
    NormConstrainedRegressor

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=3)
    >>> model = SupportVectorClassifier(nu=0.1).fit(X, y)
    >>> model.score(X, y), model.suboptimality_ <= 1e-5
    (1.0, True)
    """

    def __init__(
        self,
        nu: float = 0.5,
        kernel: str = "linear",
        gamma: str | float = "scale",
        accuracy: float = 1e-5,
        max_iterations: int = 5000,
        probability: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.accuracy = accuracy
        self.max_iterations = max_iterations
        self.probability = probability

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SupportVectorClassifier:
        """Fit and return the classifier; X may be sparse, and a sample of weight 2 counts like two.

        ``result_`` is the result of the run, ``gap_`` its duality gap, and ``suboptimality_`` the duality gap relative
        to the objective; of several pairs of classes they belong to the pair of largest suboptimality, and
        ``results_`` has the results of all. ``dual_coef_``, ``coef_`` and ``intercept_`` have a row per pair, (0, 1),
        (0, 2), ..., (1, 2), ...

        Parameters
        ----------
        X
            Samples by features, dense or sparse.
        y
            The classes, at least two.
        sample_weight
            Nonnegative weights of the samples; default: all 1.

        Returns
        -------
        SupportVectorClassifier
            The classifier itself.
        """
        checked: Any = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
        samples, labels = checked
        check_classification_targets(labels)
        self.classes_, members = np.unique(labels, return_inverse=True)
        if self.classes_.size < 2:
            raise InvalidInput("y", "two classes", "one class")
        validate.positive("accuracy", self.accuracy)
        counts = _check_sample_weight(sample_weight, samples, ensure_non_negative=True)
        self._gamma = self._width(samples, counts)
        pairs = list(combinations(range(self.classes_.size), 2))
        machines = [self._separate(samples, members, counts, pair) for pair in pairs]
        self._publish(samples, machines)
        if self.probability:
            plain: Any = clone(self)
            calibrate: Any = CalibratedClassifierCV
            calibrated = calibrate(plain.set_params(probability=False), ensemble=False)
            self._calibrated = calibrated.fit(samples, labels, sample_weight)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x): positive for the second class, +-1 on the margins; votes and confidences of several classes."""
        check_is_fitted(self)
        samples: Any = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        if self.kernel == "linear":
            scores = samples @ self.coef_.T + self.intercept_
        else:
            vectors = self.support_vectors_
            if not (sp.issparse(samples) or sp.issparse(vectors)):  # distances far from 0 are lost to rounding
                centre = vectors.mean(axis=0)
                samples, vectors = samples - centre, vectors - centre
            kernel = rbf_kernel(samples, vectors, self._gamma)
            scores = kernel @ self.dual_coef_.T + self.intercept_
        return (
            scores[:, 0] if self.classes_.size == 2 else _ovr_decision_function(scores > 0, scores, self.classes_.size)
        )

    def predict(self, X: Any) -> Any:
        """Return the class of each sample."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every class: a sigmoid of the scores, fitted to those of held-out samples."""
        check_is_fitted(self)
        samples: Any = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        return np.asarray(self._calibrated.predict_proba(samples))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse samples are welcome."""
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _publish(self, samples: Any, machines: list[Machine]) -> None:
        """Make the machines of all pairs the attributes of the classifier."""
        used = [machine.places[machine.dual_coef != 0] for machine in machines]
        self.support_ = np.unique(np.concatenate(used))
        self.support_vectors_ = samples[self.support_]
        dual = np.zeros((len(machines), samples.shape[0]))
        for row, machine in zip(dual, machines, strict=True):
            row[machine.places] = machine.dual_coef
        self.dual_coef_ = dual[:, self.support_]
        self.intercept_ = np.array([machine.intercept for machine in machines])
        if self.kernel == "linear":
            self.coef_ = np.stack([machine.normal for machine in machines])
        self.results_ = tuple(reduce_result(machine.result) for machine in machines)
        worst = max(range(len(machines)), key=lambda place: machines[place].suboptimality)
        self.result_, self.suboptimality_ = self.results_[worst], machines[worst].suboptimality
        self.gap_, self.n_iter_ = self.result_.gap, sum(machine.iterations for machine in machines)

    def _separate(self, samples: Any, members: IntArray, counts: FloatArray, pair: tuple[int, int]) -> Machine:
        """Return the machine that separates two classes; samples of weight 0 are left out."""
        places = np.flatnonzero(((members == pair[0]) | (members == pair[1])) & (counts > 0))
        sign = np.where(members[places] == pair[1], 1.0, -1.0)
        found = self._solve(samples[places], sign, self._caps(counts[places], sign))
        result, iterations = found.result, found.iterations
        if found.is_touching:
            message = f"nu = {self.nu:g} leaves no margin: the reduced hulls meet; take a larger one"
            warnings.warn(message, stacklevel=3)
            largest = float(np.sign(sign @ counts[places]))
            return Machine(places, 0.0 * sign, 0.0 * found.normal, largest, result, iterations, 0.0)
        scale, suboptimality = 2.0 / (found.upper - found.lower), _suboptimality(result)
        if suboptimality > self.accuracy:
            remedy = "standardise the features, or allow more iterations"
            message = f"the gap is {suboptimality:.1e} of the objective after {iterations} iterations: {remedy}"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        offset = -(found.upper + found.lower) / (found.upper - found.lower)
        weights, normal = scale * sign * found.weights, scale * found.normal
        return Machine(places, weights, normal, offset, result, iterations, suboptimality)

    def _solve(self, samples: Any, sign: FloatArray, caps: FloatArray) -> Solution:
        """Return the nearest points of the two reduced hulls.

        With a kernel by steps on pairs; where these are slow and the matrix is small, from its factor. Where the
        distance of the hulls is lost in the rounding errors of the features' squares, by interior points.
        """
        features, count, most = samples, sign.size, self._most_iterations()
        if self.kernel != "linear":
            kernel, is_small = RadialKernel(samples, self._gamma), count <= LARGEST_FACTOR
            rounds = min(PAIR_ROUNDS, most) if is_small else most
            found = nearest_points(Hulls(kernel, sign, caps), self.accuracy, rounds)
            if found[2].status.success or not is_small:
                return _conclude(*found, sign, caps, found[2].iterations, TOUCHING)
            features = _kernel_factor(kernel.block(slice(None), slice(None)))
        has_few_features = count * features.shape[1] ** 2 <= LARGEST_QR
        smallest = TOUCHING / self.accuracy if has_few_features else TOUCHING
        runs = self._nearest_points(features, sign, caps, smallest)
        result, weights, iterations = runs[-1], np.empty(count), sum(run.iterations for run in runs)
        touching = TOUCHING * runs[0].problem.scale(0.0)
        if has_few_features and _suboptimality(result) > self.accuracy and iterations < most:
            hulls = Hulls(LinearKernel(features), sign, caps)
            result = solve_by_interior_points(hulls, self.accuracy, most - iterations, touching)
            weights, normal, iterations = result.x, result.dual, iterations + result.iterations
        else:
            weights[sign > 0], weights[sign < 0] = (np.asarray(part) for part in result.x.parts[:2])
            normal = (sign * weights) @ features
        found = weights, sign * (features @ normal), result
        return _conclude(*found, sign, caps, iterations, touching)._replace(normal=normal)

    def _nearest_points(self, features: Any, sign: FloatArray, caps: FloatArray, smallest: float) -> list[Result]:
        """Return the runs that find the nearest points of the two reduced hulls, the last of them accurate.

        Every run measures its gap relative to the objective at two reference points, first the centroids, then those
        that the run before found: so the scale of the gap approaches the objective. The last run is also one whose
        objective is below the ``smallest`` share of that of the centroids.
        """
        groups = [np.flatnonzero(sign > 0), np.flatnonzero(sign < 0)]
        hulls = [CappedSimplex(group.size, _common_value(caps[group])) for group in groups]
        blocks = [features[group] for group in groups]
        references = [np.asarray(block.mean(axis=0)).ravel() for block in blocks]
        runs, remaining = list[Result](), self._most_iterations()
        while True:
            problem, start = _hull_problem(hulls, blocks, references), runs[-1].dual if runs else None
            runs.append(solve(problem, accuracy=self.accuracy, stop=MaxIterations(remaining), start=start))
            remaining -= runs[-1].iterations
            last = runs[-1]
            is_final = _suboptimality(last) <= self.accuracy or not last.status.success
            is_final |= last.objective <= smallest * runs[0].problem.scale(0.0)
            if is_final or remaining <= 0 or len(runs) == MOST_RUNS:
                return runs
            references = [np.asarray(part) @ block for part, block in zip(runs[-1].x.parts, blocks, strict=False)]

    def _most_iterations(self) -> int:
        return validate.integer("max_iterations", self.max_iterations, minimum=1)

    def _caps(self, counts: FloatArray, sign: FloatArray) -> FloatArray:
        """Return 2 c_i / (nu sum c) for samples that count c_i, the most that each may weigh."""
        nu = validate.number("nu", self.nu)
        most = 2.0 * min(float(counts[sign > 0].sum()), float(counts[sign < 0].sum())) / float(counts.sum() or 1.0)
        if not 0 < nu <= most:
            raise InvalidInput("nu", f"in (0, {most:g}], twice the share of the smaller class", f"{nu:g}")
        return counts * (2.0 / (nu * float(counts.sum())))

    def _width(self, X: Any, counts: FloatArray) -> float:
        """Return gamma as a number."""
        if self.kernel not in ("linear", "rbf"):
            raise InvalidInput("kernel", '"linear" or "rbf"', repr(self.kernel))
        if self.gamma == "scale":
            shares = counts / (X.shape[1] * (float(counts.sum()) or 1.0))
            mean = float(shares @ np.asarray(X.sum(axis=1)).ravel())
            squares = X.multiply(X) if sp.issparse(X) else (X - mean) ** 2
            variance = float(shares @ np.asarray(squares.sum(axis=1)).ravel()) - sp.issparse(X) * mean**2
            return 1.0 / (X.shape[1] * (variance or 1.0))
        return validate.positive("gamma", self.gamma)


class Solution(NamedTuple):
    """Nearest points of two reduced hulls."""

    weights: FloatArray
    """x_i of every sample."""
    lower: float
    """Score <w, phi> at the margin of the negative class."""
    upper: float
    result: Result
    """Result of the last run."""
    iterations: int
    """Iterations of all runs."""
    is_touching: bool
    normal: Array = np.zeros(0)
    """w, of a linear kernel."""


class Machine(NamedTuple):
    """Two separated classes."""

    places: IntArray
    """The samples of the two classes."""
    dual_coef: FloatArray
    """Their coefficients."""
    normal: Array
    """Those of the features, of a linear kernel."""
    intercept: float
    result: Result
    """Result of the last run."""
    iterations: int
    """Iterations of all runs."""
    suboptimality: float


def _hull_problem(hulls: list[CappedSimplex], blocks: list[Any], references: list[Array]) -> Problem:
    """Return min 1/2 ||P^T x - N^T z||^2 over the hulls, with 1/2 ||p - n||^2 of the reference points as its scale.

    Dense points are moved by p and n, which become the right-hand side. Sparse points stay where they are, and the
    right-hand side p - n is cancelled by a third block, the constant 1.
    """
    apart = references[0] - references[1]
    if not sp.issparse(blocks[0]):
        maps = [(blocks[0] - references[0]).T, (references[1] - blocks[1]).T]
        return Problem(Product(hulls), maps, -apart, LeastSquares())
    one = Box(np.ones(1), np.ones(1))
    maps = [blocks[0].T.tocsr(), -blocks[1].T.tocsr(), apart[:, None]]
    return Problem(Product([*hulls, one]), maps, apart, LeastSquares())


def _common_value(caps: FloatArray) -> Any:
    """Return equal caps as one number, for which the oracle is a partial sort."""
    return float(caps[0]) if np.all(caps == caps[0]) else caps


def _kernel_factor(matrix: Array) -> Array:
    """Return F with F F^T = K, directions of rounding errors left out."""
    values, vectors = np.linalg.eigh(matrix)
    significant = values > NEGLIGIBLE * values[-1]
    return vectors[:, significant] * np.sqrt(values[significant])


def _threshold(scores: Array, weights: Array, sign: Array, caps: FloatArray) -> tuple[float, float]:
    """Return the scores of the two margins: those of the samples with 0 < x_i < c_i, else midway between 0 and c_i.

    In the positive hull samples with x_i = c_i score at most the threshold and those with x_i = 0 at least it; in the
    negative hull it is the other way round.
    """
    edges = {}
    for side in (-1.0, 1.0):
        score, share = side * scores[sign == side], weights[sign == side] / caps[sign == side]
        empty, full = share <= AT_BOUND, share >= 1.0 - AT_BOUND
        free = score[~empty & ~full]
        around = [score[full].max(initial=-np.inf), score[empty].min(initial=np.inf)]
        edges[side] = side * float(np.mean(free if free.size else [edge for edge in around if np.isfinite(edge)]))
    return edges[-1.0], edges[1.0]


def _conclude(
    weights: FloatArray,
    gradient: Array,
    result: Result,
    sign: FloatArray,
    caps: FloatArray,
    iterations: int,
    touching: float,
) -> Solution:
    """Return the solution with its margins; hulls without a positive bound and an objective that small meet."""
    is_touching = result.dual_bound <= 0.0 and result.objective <= touching
    margins = (0.0, 0.0) if is_touching else _threshold(sign * gradient, weights, sign, caps)
    return Solution(weights, *margins, result, iterations, is_touching)


def _suboptimality(result: Result) -> float:
    """Return the duality gap relative to the objective, whose size depends on the unit of the features."""
    return (result.objective - result.dual_bound) / result.objective if result.objective > 0 else 0.0
