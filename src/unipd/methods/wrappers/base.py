"""What every wrapper shares: it holds the method ``inner``, and its state holds that method's state as ``inner``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

from unipd._typing import Array
from unipd.methods.base import Certificate, Method, State, fast_replace, method_options, rebuild_shared
from unipd.problem import Problem

W = TypeVar("W", bound="WrapperState")


@dataclass(frozen=True)
class WrapperState(State):
    """State of a method around another one.

    Parameters
    ----------
    iteration, dual, primal, image, mean_objective, certificate, counts, smoothness, dual_step, gradient_change, failure
        As in :class:`State`.
    inner
        The state of the inner method.

    See Also
    --------
    Wrapper, unipd.methods.State

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], "=")
    >>> state = next(unipd.iterate(problem, unipd.Restarts(unipd.AccUniPDGrad())))
    >>> isinstance(state, WrapperState), type(state.unwrap()).__name__
    (True, 'AccUniPDGradState')
    """

    inner: State

    def inner_state(self) -> State:
        """Return the state from which the inner method continues, with all work counted: that of the loop too."""
        return fast_replace(self.inner, counts=self.counts)

    @property
    def resolved_options(self) -> dict[str, Any]:
        """Options that were left to the inner method, with the values that it has chosen."""
        return self.inner.resolved_options

    def unwrap(self) -> State:
        """Return the state of the active method, however deep."""
        return self.inner.unwrap()

    def cap_bound(self: W, bound: float, bound_kind: str) -> W:
        """Return the state with no dual bound above ``bound``, here and inside."""
        inner = self.inner.cap_bound(self.bound_inside(bound), bound_kind)
        return fast_replace(super().cap_bound(bound, bound_kind), inner=inner)

    def clear_history(self: W, dual: Array) -> W:
        """Return the state with the inner state at a dual vector, without averages or momentum."""
        return fast_replace(self, inner=self.inner.clear_history(self.dual_inside(dual)))

    def dual_inside(self, dual: Array) -> Array:
        """Return a dual vector in the units of the inner state."""
        return dual

    def bound_inside(self, bound: float) -> float:
        """Return a dual bound in the units of the inner state."""
        return bound

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and what the inner state shares."""
        return {"problem": problem, **prefix_names("inner", self.inner.shared_objects(problem))}


@dataclass(frozen=True)
class Wrapper:
    """A method around another one, known by its name.

    Parameters
    ----------
    inner
        The method inside.

    See Also
    --------
    WrapperState, Fallback, unipd.Restarts

    Examples
    --------
    >>> import unipd
    >>> Wrapper(unipd.UniPDGrad()).name
    'unipdgrad'
    """

    inner: Method

    @property
    def name(self) -> str:
        """Name of the inner method."""
        return self.inner.name

    @property
    def options(self) -> dict[str, Any]:
        """Options for the record: those of the inner method, and the wrapper's own fields."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "inner"}
        return {**method_options(self.inner), **own}

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Rebuild the objects that the states share."""
        return {"problem": problem, **prefix_names("inner", rebuild_shared(self.inner, problem))}


def best_dual(problem: Problem, certificate: Certificate, own: Array) -> Array:
    """Return the dual vector of the best bound, or the method's own where h is infinite at it."""
    return certificate.dual if problem.in_dual_domain(certificate.dual) else own


def prefix_names(field: str, named: dict[str, Any]) -> dict[str, Any]:
    """Return objects under names that start with the field in which their state lies.

    >>> prefix_names("inner", {"factors": 1})
    {'inner.factors': 1}
    """
    return {f"{field}.{name}": value for name, value in named.items()}
