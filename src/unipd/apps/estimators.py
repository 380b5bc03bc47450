"""What estimators share: scikit-learn's base class (or the same methods where it is not there), errors, warnings."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any

from unipd.errors import InvalidInput, UnipdError


class PlainEstimator:
    """get_params and set_params as scikit-learn has them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters by name and return the estimator."""
        unknown = set(parameters) - set(self._names())
        if unknown:
            raise InvalidInput("parameters", f"names among {', '.join(self._names())}", ", ".join(sorted(unknown)))
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def __repr__(self) -> str:
        standard = {name: spec.default for name, spec in inspect.signature(type(self)).parameters.items()}
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if not _same(v, standard[n])]
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(first: Any, second: Any) -> bool:
    return first is second or (type(first) is type(second) and first == second)


def estimator_base() -> type[Any]:
    """Return scikit-learn's BaseEstimator, or :class:`PlainEstimator` when it is not installed."""
    try:
        from sklearn.base import BaseEstimator
    except ImportError:
        return PlainEstimator
    return BaseEstimator


class NotFitted(UnipdError, ValueError, AttributeError):
    """The estimator was asked before it was fitted."""


def not_fitted(name: str) -> NotFitted:
    """Return the error to raise; where scikit-learn is loaded it is its NotFittedError, too.

    >>> isinstance(not_fitted("MatrixCompletion"), ValueError)
    True
    """
    kind: Any = NotFitted
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError

        kind = type("NotFitted", (NotFitted, NotFittedError), {})
    return kind(f"this {name} is not fitted yet: call fit first")


def warn_of_gap(gap: float, iterations: int) -> None:
    """Warn in scikit-learn's way that a fit has ended short of its accuracy; to be called by ``fit`` itself."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(f"the gap is {gap:.1e} after {iterations} iterations", ConvergenceWarning, stacklevel=3)
