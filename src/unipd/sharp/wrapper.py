"""Sharp oracles around another one: the base that passes everything on, and the call counter."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from unipd._typing import Array
from unipd.protocols import Adapted, OracleDefaults, SharpAnswer, SharpOracle, unwrap
from unipd.sharp.base import require_oracle


class AdaptedOracle(Adapted):
    """A user-supplied oracle that derives from no class of this library, with the defaults of what it lacks."""

    defaults = OracleDefaults

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Call the oracle."""
        return self.part(direction, tolerance=tolerance, start=start)


def as_oracle(name: str, value: Any) -> Any:
    """Return a sharp oracle with all its optional members (:class:`~unipd.protocols.OracleDefaults`), or raise.

    >>> from unipd.sharp import Simplex
    >>> as_oracle("sharp", Simplex(2)).factors() is None
    True
    """
    oracle = require_oracle(name, value)
    return oracle if isinstance(oracle, (OracleDefaults, AdaptedOracle, Wrapper)) else AdaptedOracle(oracle)


class Wrapper:
    """An oracle that forwards every member to the one it holds.

    Examples
    --------
    An oracle that counts its calls:

    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> class Counting(Wrapper):
    ...     calls = 0
    ...     def __call__(self, direction, **options):
    ...         self.calls += 1
    ...         return super().__call__(direction, **options)
    >>> counting = Counting(Simplex(3))
    >>> counting(np.ones(3)).value, counting.calls
    (1.0, 1)
    """

    def __init__(self, oracle: SharpOracle) -> None:
        self.oracle: OracleDefaults = as_oracle("oracle", oracle)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The oracle inside."""
        return (self.oracle,)

    @property
    def checkpoint_identity(self) -> Any:
        """None: the wrapper itself."""
        return None

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
        """Call the oracle."""
        return self.oracle(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the oracle's maximum."""
        return self.oracle.value(direction, tolerance=tolerance, start=start)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer with the oracle's strongest certificate."""
        return self.oracle.call_certified(direction, tolerance=tolerance, start=start)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return None: a wrapper may change the answers, and with them the vertices."""
        return None

    def equations(self, places: Any) -> Any:
        """Return None: a wrapper may change the set."""
        return None

    def factors(self) -> Any:
        """Return None: a wrapper may change the set."""
        return None

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


class Counted(Wrapper):
    """An oracle with counters of its calls and of the seconds spent in them; its answers do not change.

    Parameters
    ----------
    oracle
        A sharp oracle, see :mod:`unipd.sharp`.

    See Also
    --------
    unipd.methods.Counts, from_callable

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> counted = Counted(Simplex(3))
    >>> counted(np.zeros(3)).value, counted.value(np.ones(3)).value
    (0.0, 1.0)
    >>> counted.calls, counted.value_calls
    (1, 1)
    """

    def __init__(self, oracle: SharpOracle) -> None:
        super().__init__(oracle)
        self.reset()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Set the counters to zero."""
        self.calls = 0
        self.value_calls = 0
        self.seconds = 0.0

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Call the oracle and count the call."""
        with self._counting(calls=1):
            return super().__call__(direction, tolerance=tolerance, start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the oracle's maximum and count the call."""
        with self._counting(value_calls=1):
            return super().value(direction, tolerance=tolerance, start=start)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer with the oracle's strongest certificate and count the call."""
        with self._counting(calls=1):
            return super().call_certified(direction, tolerance=tolerance, start=start)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return the oracle's best vertices."""
        return self.oracle.best_vertices(direction, count, above)

    def equations(self, places: Any) -> Any:
        """Return the oracle's equations."""
        return self.oracle.equations(places)

    def factors(self) -> Any:
        """Return the oracle's factored form."""
        return self.oracle.factors()

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @contextmanager
    def _counting(self, calls: int = 0, value_calls: int = 0) -> Generator[None, None, None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self.calls += calls
                self.value_calls += value_calls
                self.seconds += time.perf_counter() - began


def unwrap_counter(oracle: Any) -> Any:
    """Return an oracle without the counter or the adapter around it.

    >>> from unipd.sharp import Simplex
    >>> unwrap_counter(Counted(Simplex(3)))
    Simplex(size=3, scale=1)
    """
    return unwrap_counter(oracle.oracle) if type(oracle) is Counted else unwrap(oracle)
