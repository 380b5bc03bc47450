"""Numbers given with Pauli strings, one each: values, shots, standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd.errors import InvalidInput

ROUNDING = 1e-9
"""Imaginary part of a number that counts as real."""


def real_values(name: str, value: Any, size: int, *, spread: bool = False) -> FloatArray:
    """Return one number a string; NaN is left to the check of the measurements, which names the row.

    >>> real_values("shots", 100, 2, spread=True)
    array([100., 100.])
    """
    try:
        given: Any = np.asarray(value)
        array = (given.real if given.dtype.kind == "c" else given).astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(name, "real numbers", type(value).__name__) from None
    if given.dtype.kind == "c" and np.any(np.abs(given.imag) > ROUNDING):  # Qiskit's expectation values are complex
        raise InvalidInput(name, "real numbers", "numbers with imaginary parts")
    if spread and array.ndim == 0:
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise InvalidInput(name, f"{size} values, one a Pauli string", f"shape {array.shape}")
    return array
