"""The attributes of a fitted estimator."""

from __future__ import annotations

from unipd._typing import Array, FloatArray
from unipd.apps.completion.fitted import Fitted
from unipd.apps.completion.fitting import Fit
from unipd.apps.estimators import not_fitted
from unipd.run import Result


class ModelAttributes:
    """The model r_ui = mean + b_u + c_i + (U diag(s) V^T)_ui, by the names that scikit-learn's users expect."""

    def _model(self) -> Fitted:
        raise NotImplementedError

    @property
    def user_factors_(self) -> FloatArray:
        """U of X = U diag(s) V^T, a row for each user, with orthonormal columns."""
        return self._model().left

    @property
    def item_factors_(self) -> FloatArray:
        """V of X = U diag(s) V^T, a row for each item, with orthonormal columns."""
        return self._model().right

    @property
    def singular_values_(self) -> FloatArray:
        """The singular values s of X, largest first."""
        return self._model().singular_values

    @property
    def rank_(self) -> int:
        """Singular values above a thousandth of the largest; 0 where X is negligible beside the ratings' spread."""
        return self._model().rank

    @property
    def mean_(self) -> float:
        """Mean of the training ratings."""
        return self._model().mean

    @property
    def user_bias_(self) -> FloatArray:
        """The biases b, one for each user."""
        return self._model().user_bias

    @property
    def item_bias_(self) -> FloatArray:
        """The biases c, one for each item."""
        return self._model().item_bias

    @property
    def users_(self) -> Array:
        """Names of the users, in the order of the rows."""
        return self._model().users.names

    @property
    def items_(self) -> Array:
        """Names of the items, in the order of the columns."""
        return self._model().items.names

    @property
    def range_(self) -> tuple[float, float] | None:
        """Least and largest prediction, None when nothing is clipped."""
        return self._model().range


class FittedAttributes(ModelAttributes):
    """What a fit found; asking before the fit raises."""

    fit_: Fit
    """Everything that the fit gave."""

    def _fit(self) -> Fit:
        fit = vars(self).get("fit_")
        if fit is None:
            raise not_fitted(type(self).__name__)
        return fit

    def _model(self) -> Fitted:
        return self._fit().fitted

    @property
    def radius_(self) -> float:
        """Radius of the nuclear ball (of formulation (b): the nuclear norm found)."""
        return self._fit().radius

    @property
    def path_(self) -> list[tuple[float, float]]:
        """Radii tried by validation and the errors there."""
        return [(trial.radius, trial.error) for trial in self._fit().path]

    @property
    def result_(self) -> Result:
        """The solver's result: status, objective, certified bound and gap, counts, history."""
        return self._fit().result

    @property
    def objective_(self) -> float:
        """The objective at the point found."""
        return self._fit().result.objective

    @property
    def dual_bound_(self) -> float:
        """Certified lower bound of the least objective, at least 0."""
        return self._fit().result.dual_bound

    @property
    def gap_(self) -> float:
        """Certified gap, relative to the loss of the mean alone."""
        return self._fit().result.gap

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver."""
        return self._fit().result.iterations
