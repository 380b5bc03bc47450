"""Sparse recovery and regression: few nonzeros, few groups, or the structure that another norm favours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import lsqr
from scipy.sparse.linalg import norm as sparse_norm

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.couplings import Equality, Huber, L2Ball, LeastSquares
from unipd.errors import InvalidInput, MissingExtra
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.run.result import reduce_result
from unipd.sharp import Box, L1Ball, L1NormSquared, LInfBall, Product
from unipd.sharp import L2Ball as L2Set

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import check_cv
    from sklearn.utils.validation import (
        _check_sample_weight,  # pyright: ignore[reportPrivateUsage]
        check_is_fitted,
        validate_data,
    )
except ImportError as error:
    raise MissingExtra("scikit-learn", "learn", "a regressor") from error

NORMS = {"l1": L1Ball, "l2": L2Set, "linf": LInfBall}
LOSSES = {"squared": LeastSquares, "huber": Huber}
ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}
"""The norms as NumPy calls them."""
DUAL_ORDERS = {"l1": np.inf, "l2": 2, "linf": 1}
"""Their dual norms."""
SMALLEST_RADIUS = 1e-3
"""First radius of a path, as a share of the norm of the unconstrained solution."""
LSQR_STEPS = 100
"""Steps of the iteration for that norm, of which the order of magnitude is enough."""
ROUNDING = 1e-12
"""A spread of y below this share of its size is rounding: y is constant."""


def basis_pursuit(A: Any, b: Any, noise: float = 0.0, accuracy: float = 1e-6, **options: Any) -> Result:
    """Return the least ||x||_1^2 subject to ||A x - b|| <= noise (A x = b for noise = 0).

    Squared, so that its sharp operator is bounded; the solutions are those of min ||x||_1.

    Parameters
    ----------
    A, b
        Measurements; A as in :class:`unipd.Problem` (a matrix, sparse or not, or an operator).
    noise
        Norm of the noise in b.
    accuracy, options
        As in :func:`unipd.solve`.

    Raises
    ------
    InvalidInput
        ``noise``: expected a number of at least zero; ``A``: expected a matrix, or an operator of a shape (m, n).

    See Also
    --------
    NormConstrainedRegressor, unipd.sharp.L1NormSquared

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A, truth = rng.standard_normal((30, 60)), np.zeros(60)
    >>> truth[[4, 40]] = 1.0, -2.0
    >>> float(np.abs(basis_pursuit(A, A @ truth).x - truth).max()) < 1e-4
    True
    """
    kappa = validate.nonnegative("noise", noise)
    columns = getattr(A, "shape", None) or np.shape(A)
    if len(columns) != 2:
        raise InvalidInput("A", "a matrix, or an operator of a shape (m, n)", f"shape {tuple(columns)}")
    coupling = L2Ball(kappa) if kappa else Equality()
    return solve(Problem(L1NormSquared(int(columns[1])), A, b, coupling), accuracy=accuracy, **options)


class NormConstrainedRegressor(RegressorMixin, BaseEstimator):
    """Linear regression with the coefficients in a ball: min loss(X w + c - y) over ||w|| <= radius.

    With the l1 ball this is the Lasso in its constrained form. Any bounded set of
    :mod:`unipd.sharp` can take the place of the ball: groups, k-support, ordered weights, a simplex.

    Parameters
    ----------
    radius
        Radius of the ball (not used when ``norm`` is an oracle).
    norm
        "l1", "l2", "linf", or a sharp oracle of the coefficients.
    loss
        "squared", "huber" (robust against outliers), or a loss of :mod:`unipd.couplings`.
    fit_intercept
        Whether c is free, else 0.
    accuracy
        Certified duality gap, relative to the loss of w = 0 with the best c: a shift of y changes nothing.

    See Also
    --------
    NormConstrainedRegressorCV, basis_pursuit

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 20))
    >>> model = NormConstrainedRegressor(radius=3.0).fit(X, 2.0 * X[:, 3] - X[:, 7] + 5.0)
    >>> np.flatnonzero(model.coef_.round(2)), round(float(model.intercept_), 2)
    (array([3, 7]), 5.0)
    """

    def __init__(
        self,
        radius: float = 1.0,
        norm: Any = "l1",
        loss: Any = "squared",
        fit_intercept: bool = True,
        accuracy: float = 1e-6,
    ) -> None:
        self.radius = radius
        self.norm = norm
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.accuracy = accuracy

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NormConstrainedRegressor:
        """Fit and return the model; ``gap_`` is the certified gap, ``result_`` the result of the run, without the data.

        Parameters
        ----------
        X
            Samples by features, dense or sparse.
        y
            The target, a number per sample.
        sample_weight
            Nonnegative weights of the squares, for the squared loss; default: all 1.

        Returns
        -------
        NormConstrainedRegressor
            The model itself.
        """
        self._fit(X, y, sample_weight, None)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, start: Result | None) -> Result:
        """Fit from the result of another radius, if given, and return that of the run."""
        checked: Any = validate_data(self, X, y, dtype=np.float64, y_numeric=True, accept_sparse="csr")
        samples, target = checked[0], validate.real_array("y", checked[1])
        weights = self._weights(sample_weight, samples)
        oracle, loss = self._oracle(samples.shape[1]), self._loss()
        shift, constant = np.zeros(samples.shape[1]), 0.0
        if self.fit_intercept:
            samples, target, shift, constant = _centre(samples, target, weights, loss)
        if weights is not None:
            samples, target = _scale_rows(np.sqrt(weights), samples), np.sqrt(weights) * target
        if self._has_offset_block(samples, loss):
            bound = float(np.abs(target).max()) + _largest_support(oracle, self.norm, self.radius, samples)
            column = np.ones((target.size, 1)) if weights is None else np.sqrt(weights)[:, None]
            oracle = Product([oracle, Box(np.array([-bound]), np.array([bound]))])
            result = solve(Problem(oracle, [samples, column], target, loss), accuracy=self.accuracy, start=start)
            self.coef_, constant = result.x.parts[0], constant + float(result.x.parts[1][0])
        else:
            result = solve(Problem(oracle, samples, target, loss), accuracy=self.accuracy, start=start)
            self.coef_ = result.x
        self.result_ = reduce_result(result)
        self.intercept_ = constant - float(shift @ self.coef_)
        self.gap_, self.n_iter_ = self.result_.gap, self.result_.iterations
        if not self.result_.status.success:
            remedy = "standardise the features, or ask for less accuracy"
            message = f"the gap is {self.gap_:.1e} after {self.n_iter_} iterations: {remedy}"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return result

    def predict(self, X: Any) -> Array:
        """Return X w + c."""
        check_is_fitted(self)
        samples: Any = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        return samples @ self.coef_ + self.intercept_

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse samples are welcome."""
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _has_offset_block(self, samples: Any, loss: Any) -> bool:
        """Whether c is a block of the problem: centring alone fits it only for squares and dense samples."""
        return self.fit_intercept and (sp.issparse(samples) or not isinstance(loss, LeastSquares))

    def _weights(self, sample_weight: Any, samples: Any) -> FloatArray | None:
        """Return the weights of the samples, None where all are equal."""
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, samples, ensure_non_negative=True)
        if not weights.any():
            raise InvalidInput("sample_weight", "a positive weight", "zeros")
        if np.all(weights == weights[0]):
            return None
        if self.loss != "squared":
            raise InvalidInput("sample_weight", "None or equal weights, unless the loss is squared", "others")
        return weights

    def _oracle(self, features: int) -> Any:
        if not isinstance(self.norm, str):
            if getattr(self.norm, "shape", None) != (features,):
                raise InvalidInput("norm", f"a name or an oracle of {features} coefficients", repr(self.norm))
            return self.norm
        if self.norm not in NORMS:
            raise InvalidInput("norm", f"one of {', '.join(NORMS)}, or a sharp oracle", repr(self.norm))
        return NORMS[self.norm](features, self.radius)

    def _loss(self) -> Any:
        if not isinstance(self.loss, str):
            return self.loss
        if self.loss not in LOSSES:
            raise InvalidInput("loss", f"one of {', '.join(LOSSES)}, or a loss of unipd.couplings", repr(self.loss))
        return LOSSES[self.loss]()


class NormConstrainedRegressorCV(NormConstrainedRegressor):
    """:class:`NormConstrainedRegressor` with the radius chosen by cross-validation.

    Every radius of a path is fitted on every fold, from the fit of the one before; the one with the least mean squared
    error on the samples left out is fitted to all samples.

    Parameters
    ----------
    radii
        The radii, or their number: then they grow geometrically, up to the norm of the least-squares solution (above
        it the ball does not bind) and from a thousandth of it.
    norm, loss, fit_intercept, accuracy
        As in :class:`NormConstrainedRegressor`; ``norm`` is a name.
    cv
        Number of folds or a splitter, as in scikit-learn. Folds are contiguous by default: for sorted samples pass
        ``KFold(5, shuffle=True)``.

    Attributes
    ----------
    radius_, radii_
        The radius chosen, and all radii in increasing order.
    mse_path_
        Mean squared errors on the samples left out, a row per radius and a column per fold.
    coef_, intercept_, gap_, n_iter_, result_
        Those of the final fit.

    See Also
    --------
    NormConstrainedRegressor

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> model = NormConstrainedRegressorCV(10).fit(X, 2.0 * X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(60))
    >>> 1.0 < model.radius_ < 5.0, model.mse_path_.shape
    (True, (10, 5))
    """

    def __init__(
        self,
        radii: Any = 20,
        norm: str = "l1",
        loss: Any = "squared",
        fit_intercept: bool = True,
        accuracy: float = 1e-6,
        cv: Any = None,
    ) -> None:
        self.radii = radii
        self.norm = norm
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.accuracy = accuracy
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NormConstrainedRegressorCV:
        """Choose the radius, fit to all samples and return the model.

        Parameters
        ----------
        X
            Samples by features, dense or sparse.
        y
            The target, a number per sample.
        sample_weight
            Nonnegative weights, in the fits and in the errors of the folds; default: all 1.

        Returns
        -------
        NormConstrainedRegressorCV
            The model itself.
        """
        checked: Any = validate_data(self, X, y, dtype=np.float64, y_numeric=True, accept_sparse="csr")
        samples, target = checked[0], validate.real_array("y", checked[1])
        if not isinstance(self.norm, str) or self.norm not in NORMS:
            raise InvalidInput("norm", f"one of {', '.join(NORMS)}: an oracle has no radius to choose", repr(self.norm))
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, samples, ensure_non_negative=True)
        self.radii_ = self._radii(samples, target)
        splitter: Any = check_cv(self.cv)
        folds = list(splitter.split(samples, target))
        self.mse_path_ = np.empty((self.radii_.size, len(folds)))
        for column, (train, test) in zip(self.mse_path_.T, folds, strict=True):
            fold = samples[train], target[train], None if weights is None else weights[train]
            result = None
            for place, radius in enumerate(self.radii_.tolist()):
                model = self._at(radius)
                result = model._fit(*fold, result)
                errors = (model.predict(samples[test]) - target[test]) ** 2
                column[place] = np.average(errors, weights=None if weights is None else weights[test])
        self.radius_ = float(self.radii_[np.argmin(self.mse_path_.mean(axis=1))])
        best = self._at(self.radius_).fit(samples, target, weights)
        self.coef_, self.intercept_, self.result_ = best.coef_, best.intercept_, best.result_
        self.gap_, self.n_iter_ = best.gap_, best.n_iter_
        return self

    def _at(self, radius: float) -> NormConstrainedRegressor:
        return NormConstrainedRegressor(radius, self.norm, self.loss, self.fit_intercept, self.accuracy)

    def _radii(self, samples: Any, target: Array) -> FloatArray:
        """Return the radii in increasing order."""
        if np.ndim(self.radii):
            radii = np.sort(validate.real_array("radii", self.radii, ndim=1).astype(np.float64))
            if not radii.size or radii[0] <= 0.0:
                raise InvalidInput("radii", "positive numbers", repr(self.radii))
            return radii
        count = validate.integer("radii", self.radii, minimum=1)
        if self.fit_intercept:
            samples, target, _, _ = _centre(samples, target, None, LeastSquares())
        free: Any = lsqr(samples, target, iter_lim=LSQR_STEPS)[0]
        largest = float(np.linalg.norm(free, ORDERS[self.norm])) or 1.0
        return largest * np.geomspace(SMALLEST_RADIUS, 1.0, count)


def _centre(samples: Any, target: Array, weights: FloatArray | None, loss: Any) -> tuple[Any, Array, FloatArray, float]:
    """Return X and y about a centre, and the centre: the mean of dense X, and the best constant for y.

    A weighted mean minimises weighted squares; other losses are minimised numerically.
    """
    if isinstance(loss, LeastSquares):
        constant = float(np.average(target, weights=weights))
    else:
        ends = float(target.min()), float(target.max())
        best: Any = minimize_scalar(lambda c: loss.value(c - target), bounds=ends, method="bounded")
        constant = min((*ends, float(best.x)), key=lambda c: loss.value(c - target))
    centred = target - constant
    if np.linalg.norm(centred) <= ROUNDING * np.linalg.norm(target):
        centred = np.zeros_like(centred)
    if sp.issparse(samples):
        return samples, centred, np.zeros(samples.shape[1]), constant
    shift = np.average(samples, axis=0, weights=weights)
    return samples - shift, centred, shift, constant


def _scale_rows(scales: FloatArray, samples: Any) -> Any:
    return sp.diags_array(scales) @ samples if sp.issparse(samples) else scales[:, None] * samples


def _largest_support(oracle: Any, norm: Any, radius: float, samples: Any) -> float:
    """Return max |<X_i, w>| over samples and coefficients: |c| is at most this plus max |y_i| at an optimum."""
    if isinstance(norm, str):
        sizes: Any = sparse_norm if sp.issparse(samples) else np.linalg.norm
        return radius * float(np.max(sizes(samples, DUAL_ORDERS[norm], axis=1)))
    rows = (row.toarray().ravel() if sp.issparse(row) else row for row in samples)
    return max(max(oracle.support(row), oracle.support(-row)) for row in rows)
