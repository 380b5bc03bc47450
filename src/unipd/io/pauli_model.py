"""Expectation values of Pauli strings with what is known of their noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unipd._typing import FloatArray, IntArray
from unipd.errors import InvalidInput
from unipd.maps.pauli.strings import write

SIGMAS = 6.0
"""Standard errors by which an expectation value may exceed 1 in modulus."""
UNKNOWN_NOISE = 0.1
"""Excess over 1 that is accepted when nothing is known of the noise."""


@dataclass(frozen=True, eq=False)
class PauliData:
    """Measured expectation values tr(P_k rho) of Pauli strings, with shots or standard errors when known.

    >>> PauliData(2, np.array([3]), np.array([0]), np.array([0.5])).labels()
    ['XX']
    """

    qubits: int
    """Number of qubits."""
    x: IntArray
    """x masks of the strings: bit b is set when qubit b has X or Y."""
    z: IntArray
    """z masks of the strings: bit b is set when qubit b has Z or Y."""
    expectations: FloatArray
    """Measured values."""
    shots: FloatArray | None = None
    """Number of shots behind each value."""
    stderr: FloatArray | None = None
    """Standard error of each value; wins over ``shots``."""

    def __post_init__(self) -> None:
        for name in ("z", "expectations", "shots", "stderr"):
            array = getattr(self, name)
            if array is not None and array.shape != self.x.shape:
                raise InvalidInput(name, f"{self.x.size} values, one a Pauli string", f"shape {array.shape}")
        found = first_fault(self.expectations, self.shots, self.stderr)
        if found is not None:
            row, fault = found
            raise InvalidInput("expectations", "finite values in [-1, 1] up to noise", f"row {row}: {fault}")

    @property
    def size(self) -> int:
        """Number of measurements."""
        return int(self.x.size)

    def labels(self) -> list[str]:
        """Return the strings' labels, the rightmost letter being qubit 0."""
        return write(self.qubits, self.x, self.z)


def first_fault(
    expectations: FloatArray, shots: FloatArray | None, stderr: FloatArray | None
) -> tuple[int, str] | None:
    """Return the first row that cannot be a measurement and what is wrong with it.

    >>> first_fault(np.array([0.5, 1.7]), None, None)
    (1, 'the expectation value 1.7 lies outside [-1, 1] by more than noise explains')
    """
    noise = np.full(expectations.shape, UNKNOWN_NOISE)
    faults: list[tuple[int, str]] = []
    _note(faults, ~np.isfinite(expectations), expectations, "the expectation value {} is not a finite number")
    if shots is not None:
        _note(faults, ~(np.isfinite(shots) & (shots > 0)), shots, "the number of shots {} is not above zero")
        noise = SIGMAS / np.sqrt(np.where(shots > 0, shots, np.inf))
    if stderr is not None:
        _note(
            faults, ~(np.isfinite(stderr) & (stderr >= 0)), stderr, "the standard error {} is not a finite number >= 0"
        )
        noise = np.maximum(SIGMAS * stderr, 1e-6)
    outside = np.abs(expectations) > 1.0 + np.where(np.isfinite(noise), noise, np.inf)
    text = "the expectation value {} lies outside [-1, 1] by more than noise explains"
    _note(faults, outside & np.isfinite(expectations), expectations, text)
    return min(faults, default=None)


def _note(faults: list[tuple[int, str]], wrong: NDArray[np.bool_], values: FloatArray, text: str) -> None:
    rows = np.flatnonzero(wrong)
    if rows.size:
        faults.append((int(rows[0]), text.format(f"{values[rows[0]]:g}")))
