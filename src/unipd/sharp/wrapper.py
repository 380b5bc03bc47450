"""A sharp oracle around another one: everything is the inner oracle's own until a subclass says otherwise."""

from __future__ import annotations

from typing import Any

from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.base import require_oracle


class Wrapper:
    """An oracle that passes every question on to the one it holds.

    Examples
    --------
    An oracle that remembers how often it was asked:

    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> class Asked(Wrapper):
    ...     times = 0
    ...     def __call__(self, direction, **options):
    ...         self.times += 1
    ...         return super().__call__(direction, **options)
    >>> asked = Asked(Simplex(3))
    >>> asked(np.ones(3)).value, asked.times
    (1.0, 1)
    """

    def __init__(self, oracle: SharpOracle) -> None:
        self.oracle: SharpOracle = require_oracle("oracle", oracle)

    @property
    def shape(self) -> Any:
        """Shape of x."""
        return self.oracle.shape

    @property
    def exact(self) -> bool:
        """Whether the oracle is exact."""
        return self.oracle.exact

    @property
    def degree(self) -> float | None:
        """The oracle's degree."""
        return self.oracle.degree

    @property
    def linear(self) -> bool:
        """Whether the oracle's f is linear."""
        return self.oracle.linear

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask the oracle."""
        return self.oracle(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for the oracle's maximum alone."""
        return self.oracle.value(direction, tolerance=tolerance, start=start)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for an answer with the oracle's strongest certificate."""
        return getattr(self.oracle, "certified", self.oracle)(direction, tolerance=tolerance, start=start)

    def objective(self, x: Any) -> float:
        """Return the oracle's f(x)."""
        return self.oracle.objective(x)

    def support(self, direction: Any) -> float:
        """Return the oracle's support function."""
        return self.oracle.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the oracle's set."""
        return self.oracle.contains(x, tolerance)

    def maximum(self) -> float:
        """Return the oracle's maximum of f."""
        return self.oracle.maximum()

    def __getattr__(self, name: str) -> Any:
        if name == "oracle":  # not set yet, as when unpickling
            raise AttributeError(name)
        return getattr(self.oracle, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.oracle!r})"
