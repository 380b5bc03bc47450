"""Test cases of oracles, and numbers to test them with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd.atoms import Blocks

REAL = (np.float64, np.float32)
ANY = (np.float64, np.float32, np.complex128, np.complex64)

Model = Callable[[Any, Any], tuple[Any, list[Any]]]
"""Takes the module cvxpy and the variable x, returns f(x) and the constraints that define X."""


@dataclass(frozen=True)
class Case:
    """An oracle, the dtypes it takes and its naive twins."""

    name: str
    oracle: Any
    dtypes: tuple[Any, ...]
    model: Model
    vertices: np.ndarray | None = None
    complex_values: bool = False
    """Whether atoms are complex even at real directions."""

    @property
    def polyhedral(self) -> bool:
        return self.vertices is not None


def names(cases: list[Case]) -> list[str]:
    """Return the test ids."""
    return [case.name for case in cases]


def numbers(
    rng: np.random.Generator, shape: Any, dtype: Any, scale: float = 1.0, special: float = 0.0, shift: float = 0.0
) -> Any:
    """Return normal numbers, a share of them replaced by zeros, ties and tiny ones; blocks as a tuple."""
    if isinstance(shape[0], tuple):
        return tuple(numbers(rng, part, dtype, scale, special, shift) for part in shape)

    def real() -> np.ndarray:
        tied = rng.choice([0.0, 1.0, -1.0, 0.5, 1e-40], size=shape)
        return scale * (np.where(rng.uniform(size=shape) < special, tied, rng.standard_normal(shape)) + shift)

    drawn = real() + 1j * real() if np.dtype(dtype).kind == "c" else real()
    return drawn.astype(dtype)


def zeros(shape: Any, dtype: Any) -> Any:
    """Return the zero direction; blocks as a tuple."""
    if isinstance(shape[0], tuple):
        return tuple(zeros(part, dtype) for part in shape)
    return np.zeros(shape, dtype)


def flat(point: Any) -> np.ndarray:
    """Return a direction or an atom as one vector."""
    if isinstance(point, Blocks):
        point = point.parts
    if isinstance(point, tuple):
        return np.concatenate([flat(part) for part in point])
    return np.asarray(point.dense() if hasattr(point, "dense") else point).reshape(-1)
