"""Checks of a user's function as a sharp oracle: of what it returns, and of what is said about it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd.errors import InvalidInput, OracleError, UnboundedOracle
from unipd.protocols import SharpAnswer

_AGREEMENT = 1e-6
"""Relative difference up to which an answer may differ from what it says of itself."""


def check_traits(traits: dict[str, Any]) -> None:
    """Raise unless what is known beside the function is of the right kind; None stands for unknown.

    >>> check_traits({"degree": 1.0, "contains": None, "exact": True})
    """
    for name, value in traits.items():
        if name in ("exact", "real_only") or (name == "linear" and value is not None):
            validate.flag(name, value)
        elif name in ("objective", "contains", "support"):
            if value is not None and not callable(value):
                raise InvalidInput(name, "something to call", repr(value))
        elif value is not None and not (name == "maximum" and value == math.inf):
            known = validate.number(name, value)
            if name == "degree" and known < 1.0:
                raise InvalidInput(name, "at least 1, as the degree of a convex function is", repr(value))


def floating_atom(atom: Any, dtype: np.dtype[Any]) -> Any:
    """Return lists and arrays as floating arrays of the direction's precision, everything else as it is.

    >>> floating_atom([1, 0], np.dtype(np.float32)).dtype
    dtype('float32')
    """
    if not isinstance(atom, (list, tuple, np.ndarray)):
        return atom
    try:
        array = np.asarray(atom)
        kind = np.result_type(dtype, np.complex64) if array.dtype.kind == "c" else np.finfo(dtype).dtype
        return array.astype(kind, copy=False)
    except (TypeError, ValueError) as error:
        raise OracleError(f"the sharp oracle must return an array of numbers: {error}") from error


def check_claims(y: Any, answer: SharpAnswer, cost: float) -> None:
    """Raise unless what a whole answer says is true of its point, where f is ``cost``; operators y are not applied.

    >>> check_claims(np.array([2.0, 1.0]), SharpAnswer(np.array([1.0, 0.0]), 2.0, 0.0), 0.0)
    """
    if abs(answer.objective - cost) > _AGREEMENT * max(1.0, abs(cost)):
        raise OracleError(f"the sharp oracle says f(x) = {answer.objective}, its objective says {cost}")
    if answer.value == math.inf:
        raise UnboundedOracle("the sharp oracle says that <y, x> - f(x) is unbounded above over X")
    if not answer.error >= 0.0:
        raise OracleError(f"the sharp oracle says that its error is {answer.error}, expected a number >= 0")
    if not isinstance(y, np.ndarray):
        return
    value, size = atoms.inner(y, answer.atom) - cost, atoms.inner(np.abs(y), _magnitudes(answer.atom))
    slack = max(_AGREEMENT, 64.0 * float(np.finfo(y.dtype).eps)) * max(1.0, size, abs(cost))
    if abs(value - answer.value) > slack:
        raise OracleError(
            f"the sharp oracle says that <y, x> - f(x) is {answer.value} at its point, where it is {value}"
        )


def _magnitudes(atom: Any) -> Any:
    """Return the point with the absolute values of its entries."""
    if isinstance(atom, atoms.SparsePoint):
        return replace(atom, values=np.abs(atom.values))
    return np.abs(atoms.dense(atom))
