"""Support vector classification as the distance of two reduced convex hulls: a nu-SVM with a certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput, MissingExtra
from unipd.problem import Problem
from unipd.run import IterationInfo, MaxIterations, Result, solve
from unipd.sharp import CappedSimplex, Product

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra("scikit-learn", "learn", "support vector machines") from error

LARGEST_KERNEL = 4000
"""Most samples of a kernel that is not linear: its matrix is factored."""
NEGLIGIBLE = 1e-12
"""Eigenvalues of a kernel matrix below this share of the largest are rounding errors."""
TOUCHING = 1e-10
"""Hulls whose distance, squared, is below this share of the data's leave no margin."""


class SupportVectorClassifier(ClassifierMixin, BaseEstimator):
    """Separate two classes by the widest margin, with at most a fraction nu of the samples on the wrong side.

    The normal w is the shortest difference of two points, one in the reduced hull of each class:
    min 1/2 ||sum_+ x_i phi_i - sum_- x_i phi_i||^2 over 0 <= x_i <= 2 / (nu n), sum_+ x_i = sum_- x_i = 1 (Crisp and
    Burges, 1999), two blocks of the template. This is the dual of scikit-learn's ``NuSVC``, solved to a
    certified duality gap.

    Parameters
    ----------
    nu
        In (0, 1]: at most this share of the samples are margin errors, at least this share are support vectors.
    kernel
        "linear" (any number of samples), or "rbf": exp(-gamma ||u - v||^2) (up to 4,000 samples).
    gamma
        "scale" for 1 / (features * variance), or a number.
    accuracy
        Certified suboptimality: the duality gap relative to the objective 1/2 ||w||^2.
    max_iterations
        Limit of the run.

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
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.accuracy = accuracy
        self.max_iterations = max_iterations

    def fit(self, X: Any, y: Any) -> SupportVectorClassifier:
        """Fit and return the classifier.

        ``result_`` is the result of the run, ``gap_`` its duality gap, and ``suboptimality_`` the duality gap relative
        to the objective.
        """
        checked: Any = validate_data(self, X, y, dtype=np.float64)
        samples, labels = checked
        self.classes_, side = _two_classes(labels)
        self._gamma = self._width(samples)
        features = samples if self.kernel == "linear" else _kernel_factor(self._kernel_matrix(samples, samples))
        sign = np.where(side == 1, 1.0, -1.0)
        self.result_, weights = self._nearest_points(features, sign)
        scale, offset = self._margins(features, weights, sign)
        self.support_ = np.flatnonzero(weights > 0)
        self.support_vectors_ = samples[self.support_]
        self.dual_coef_ = scale * (sign * weights)[None, self.support_]
        self.intercept_ = np.array([offset])
        if self.kernel == "linear":
            self.coef_ = scale * self.result_.image[None, :]
        self.gap_, self.n_iter_ = self.result_.gap, self.result_.iterations
        self.suboptimality_ = _suboptimality(self.result_.objective, self.result_.dual_bound)
        if scale and self.suboptimality_ > self.accuracy:
            message = f"the gap is {self.suboptimality_:.1e} after {self.n_iter_} iterations"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x): positive for the second class, +-1 on the margins."""
        check_is_fitted(self)
        samples: Any = validate_data(self, X, dtype=np.float64, reset=False)
        if self.kernel == "linear":
            return samples @ self.coef_[0] + self.intercept_[0]
        return self._kernel_matrix(samples, self.support_vectors_) @ self.dual_coef_[0] + self.intercept_[0]

    def predict(self, X: Any) -> Any:
        """Return the class of each sample."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: two classes."""
        tags: Any = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _nearest_points(self, features: Array, sign: Array) -> tuple[Result, Array]:
        """Return the nearest points of the two reduced hulls, and the weights of all samples."""
        groups = [np.flatnonzero(sign > 0), np.flatnonzero(sign < 0)]
        cap, accuracy = self._cap(sign), validate.positive("accuracy", self.accuracy)
        hulls = Product([CappedSimplex(group.size, cap) for group in groups])
        maps = [features[groups[0]].T.copy(), -features[groups[1]].T]
        problem = Problem(hulls, maps, np.zeros(features.shape[1]), LeastSquares())

        def is_accurate(info: IterationInfo) -> bool:
            return _suboptimality(info.objective, info.dual_bound) <= accuracy

        result = solve(problem, accuracy=NEGLIGIBLE, stop=MaxIterations(self.max_iterations), callback=is_accurate)
        weights = np.empty(sign.size)
        for group, block in zip(groups, result.x.parts, strict=True):
            weights[group] = block
        return result, weights

    def _margins(self, features: Array, weights: Array, sign: Array) -> tuple[float, float]:
        """Return s and t such that s <w, phi> + t is +-1 on the margins; 0 and the larger class when there are none."""
        if self.result_.objective <= TOUCHING * float((features**2).sum(axis=1).max()):
            warnings.warn(f"nu = {self.nu:g} leaves no margin: the reduced hulls meet; take a larger one", stacklevel=3)
            return 0.0, float(np.sign(sign.sum()))
        lower, upper = _threshold(features @ self.result_.image, weights, sign, self._cap(sign))
        return 2.0 / (upper - lower), -(upper + lower) / (upper - lower)

    def _cap(self, sign: Array) -> float:
        """Return 2 / (nu n), the most that one sample may weigh."""
        nu = validate.number("nu", self.nu)
        smaller = min(int((sign > 0).sum()), int((sign < 0).sum()))
        most = 2.0 * smaller / sign.size
        if not 0 < nu <= most:
            raise InvalidInput("nu", f"in (0, {most:g}], twice the share of the smaller class", f"{nu:g}")
        return 2.0 / (nu * sign.size)

    def _width(self, X: Array) -> float:
        """Return gamma as a number."""
        if self.kernel not in ("linear", "rbf"):
            raise InvalidInput("kernel", '"linear" or "rbf"', repr(self.kernel))
        if self.gamma == "scale":
            return 1.0 / (X.shape[1] * (float(X.var()) or 1.0))
        return validate.positive("gamma", self.gamma)

    def _kernel_matrix(self, rows: Array, columns: Array) -> Array:
        """Return exp(-gamma ||u - v||^2) for all pairs."""
        from scipy.spatial.distance import cdist

        return np.exp(-self._gamma * cdist(rows, columns, "sqeuclidean"))


def _two_classes(labels: Any) -> tuple[Array, Array]:
    """Return the two classes and which of them each label is, or raise."""
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    classes, side = np.unique(labels, return_inverse=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if classes.size < 2:
        raise InvalidInput("y", "two classes", "one class")
    return classes, side


def _kernel_factor(matrix: Array) -> Array:
    """Return F with F F^T = K, directions of rounding errors left out."""
    if matrix.shape[0] > LARGEST_KERNEL:
        raise InvalidInput("X", f"at most {LARGEST_KERNEL} samples for this kernel", str(matrix.shape[0]))
    values, vectors = np.linalg.eigh(matrix)
    significant = values > NEGLIGIBLE * values[-1]
    return vectors[:, significant] * np.sqrt(values[significant])


def _threshold(scores: Array, weights: Array, sign: Array, cap: float) -> tuple[float, float]:
    """Return the scores of the two margins: those of the samples with 0 < x_i < c, else midway between 0 and c.

    In the positive hull samples with x_i = c score at most the threshold and those with x_i = 0 at least it; in the
    negative hull it is the other way round.
    """
    edges = {}
    for side in (-1.0, 1.0):
        score, weight = side * scores[sign == side], weights[sign == side]
        empty, full = weight <= 1e-6 * cap, weight >= (1.0 - 1e-6) * cap
        free = score[~empty & ~full]
        around = [score[full].max(initial=-np.inf), score[empty].min(initial=np.inf)]
        edges[side] = side * float(np.mean(free if free.size else [edge for edge in around if np.isfinite(edge)]))
    return edges[-1.0], edges[1.0]


def _suboptimality(objective: float, bound: float) -> float:
    """Return the duality gap relative to the objective, whose size depends on the unit of the features."""
    return (objective - bound) / objective if objective > 0 else 0.0
