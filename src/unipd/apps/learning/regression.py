"""Sparse recovery and regression: few nonzeros, few groups, or the structure that another norm favours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.couplings import Equality, Huber, L2Ball, LeastSquares
from unipd.errors import InvalidInput, MissingExtra
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.sharp import Box, L1Ball, L1NormSquared, LInfBall, Product
from unipd.sharp import L2Ball as L2Set

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra("scikit-learn", "learn", "a regressor") from error

NORMS = {"l1": L1Ball, "l2": L2Set, "linf": LInfBall}
LOSSES = {"squared": LeastSquares, "huber": Huber}


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
        raise InvalidInput("A", "a matrix or an operator with two sizes", f"shape {tuple(columns)}")
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
        Whether c is free (within what it can be at an optimum), else 0.
    accuracy
        Proven gap, relative to the loss of w = 0, c = 0.

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

    def fit(self, X: Any, y: Any) -> NormConstrainedRegressor:
        """Fit and return the model; ``gap_`` is the proven gap, ``result_`` the whole run."""
        checked: Any = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        samples, target = checked
        oracle, loss = self._oracle(samples.shape[1]), self._loss()
        if self.fit_intercept:
            bound = _intercept_bound(oracle, samples, target)
            oracle = Product([oracle, Box(np.array([-bound]), np.array([bound]))])
            samples = [samples, np.ones((samples.shape[0], 1))]
        self.result_ = solve(Problem(oracle, samples, target, loss), accuracy=self.accuracy)
        x = self.result_.x
        self.coef_, self.intercept_ = (x.parts[0], float(x.parts[1][0])) if self.fit_intercept else (x, 0.0)
        self.gap_, self.n_iter_ = self.result_.gap, self.result_.iterations
        if not self.result_.status.success:
            message = f"the gap is {self.gap_:.1e} after {self.n_iter_} iterations"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Array:
        """Return X w + c."""
        check_is_fitted(self)
        samples: Any = validate_data(self, X, dtype=np.float64, reset=False)
        return samples @ self.coef_ + self.intercept_

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


def _intercept_bound(oracle: Any, samples: Array, target: Array) -> float:
    """Return a bound on |c| at an optimum: c lies between the least and the largest of y_i - <X_i, w>."""
    largest = max(max(oracle.support(row), oracle.support(-row)) for row in samples)
    return float(np.abs(target).max()) + largest
