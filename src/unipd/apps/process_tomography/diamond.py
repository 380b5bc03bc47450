"""The diamond distance of two channels: half the diamond norm of their difference, between certified bounds.

With D the difference of the Choi matrices, the diamond norm is the maximum over input states rho of ||B||_1, where
B = (rho^(1/2) (x) I) D (rho^(1/2) (x) I); the dual is the minimum of the largest eigenvalue of tr_out(P + N) over
D = P - N with P, N psd (Watrous, 2009). Every rho gives a value of both: P and N are the positive and negative part of
B, transformed back. The iteration rho <- tr_out |B| / ||B||_1 has the optimal rho as a fixed point, and a step costs
one eigendecomposition; where it is slow, interior points solve the semidefinite program of the dual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.process_tomography.channel import as_channel
from unipd.apps.sdp import SDP
from unipd.apps.sdp.solver import has_interior_points
from unipd.errors import InvalidInput
from unipd.maps.channel import unpack

STEPS, MANY_STEPS = 500, 10_000
"""Most steps of the iteration, and where no program can take over."""
PROGRAM_ROWS = 16
"""Largest Choi matrix (two qubits) for which the semidefinite program is solved."""
FLOOR = 1e-7
"""White noise in rho for upper bounds: its inverse root amplifies rounding errors."""


@dataclass(frozen=True)
class DiamondDistance(ReprMixin):
    """Half the diamond norm of a difference, with proven bounds.

    Parameters
    ----------
    value
        The lower bound, attained by the state.
    upper_bound
        No input distinguishes the channels better.
    state
        The reduced input state rho that attains the value, in the conjugate basis of the Choi matrix's input.

    See Also
    --------
    diamond_distance

    Examples
    --------
    >>> distance = diamond_distance("x", "z")
    >>> round(distance.value, 6), distance.value <= distance.upper_bound
    (1.0, True)
    """

    value: float
    upper_bound: float
    state: Array

    @property
    def gap(self) -> float:
        """Width of the interval."""
        return self.upper_bound - self.value


def diamond_distance(channel: Any, target: Any, *, accuracy: float = 1e-6) -> DiamondDistance:
    """Return half the diamond norm of the difference of two channels: 0 for equal ones, at most 1.

    Parameters
    ----------
    channel, target
        Channels, or what :func:`as_channel` makes one of.
    accuracy
        Width of the interval between the bounds at which the search ends.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero.

    See Also
    --------
    DiamondDistance, QuantumChannel

    Examples
    --------
    >>> from unipd.apps.process_tomography import noisy_channel
    >>> round(diamond_distance(noisy_channel("cx", depolarizing=0.1), "cx").value, 9)
    0.09375
    >>> round(diamond_distance("s", "id").value, 6)
    0.707107
    """
    first, second = as_channel(channel), as_channel(target)
    if (first.inputs, first.outputs) != (second.inputs, second.outputs):
        raise InvalidInput("target", f"a channel from dimension {first.inputs} to {first.outputs}", "another size")
    eps, difference = validate.positive("accuracy", accuracy), first.choi - second.choi
    found = iterate_states(difference, first.inputs, eps, STEPS)
    if found.gap <= eps:
        return found
    if difference.shape[0] > PROGRAM_ROWS or not has_interior_points():
        return iterate_states(difference, first.inputs, eps, MANY_STEPS)
    result = dual_program(difference, first.inputs).solve(accuracy=0.1 * eps)
    lower, upper = max(found.value, result.dual_bound), min(found.upper_bound, result.objective)
    return DiamondDistance(lower, max(upper, lower), found.state)


def iterate_states(difference: Array, inputs: int, eps: float, steps: int) -> DiamondDistance:
    """Iterate rho <- tr_out |B| / ||B||_1 until the bounds are within eps."""
    rho, best, upper = np.eye(inputs) / inputs, 0.0, math.inf
    state = rho
    for _ in range(steps):
        value, reduced = _transform(difference, rho)[:2]
        if value > best:
            best, state = value, rho
        upper = min(upper, _upper_bound(difference, (1.0 - FLOOR) * rho + FLOOR * np.eye(inputs) / inputs))
        if upper - best <= eps or value == 0.0:
            break
        rho = reduced / (2.0 * value)
    return DiamondDistance(best, max(upper, best), state)


def _transform(difference: Array, rho: Array) -> tuple[float, Array, Array, Array]:
    """Return ||B||_1 / 2, tr_out |B|, and the eigenvalues and eigenvectors of B."""
    inputs = rho.shape[0]
    values, vectors = np.linalg.eigh(rho)
    root = np.kron((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.conj().T, np.eye(len(difference) // inputs))
    values, vectors = np.linalg.eigh(root @ difference @ root)
    modulus = (vectors * np.abs(values)) @ vectors.conj().T
    return 0.5 * float(np.abs(values).sum()), _reduce(modulus, inputs), values, vectors


def _upper_bound(difference: Array, rho: Array) -> float:
    """Return half the largest eigenvalue of tr_out(P + N), plus what P - N misses of the difference."""
    inputs = rho.shape[0]
    outputs = len(difference) // inputs
    values, vectors = _transform(difference, rho)[2:]
    roots, basis = np.linalg.eigh(rho)
    back = np.kron((basis / np.sqrt(roots)) @ basis.conj().T, np.eye(outputs)) @ vectors
    positive, negative = ((back * np.maximum(sign * values, 0.0)) @ back.conj().T for sign in (1.0, -1.0))
    missing = float(np.linalg.norm(positive - negative - difference, 2))
    return 0.5 * (float(np.linalg.eigvalsh(_reduce(positive + negative, inputs))[-1]) + outputs * missing)


def _reduce(matrix: Array, inputs: int) -> Array:
    """Return the partial trace over the output."""
    outputs = len(matrix) // inputs
    return np.trace(matrix.reshape(inputs, outputs, inputs, outputs), axis1=1, axis2=3)


def dual_program(difference: Array, inputs: int) -> SDP:
    """Return min t / 2 subject to P - N = D, tr_out(P + N) + S = t I over psd P, N, S, as a real program.

    A Hermitian matrix M stands for the real one [[Re M, -Im M], [Im M, Re M]]. t is the mean of the diagonal.

    >>> dual_program(np.diag([0.5, -0.5, -0.5, 0.5]), 2)
    SDP(min, order=20, constraints=19, blocks=1)
    """
    size = len(difference)
    outputs = size // inputs
    nothing = sp.csr_array((2 * inputs, 2 * inputs))
    rows, right = list[Any](), list[float]()
    for matrix in unpack(np.eye(size * size)):
        real = _embed(matrix)
        rows.append(sp.block_diag([real, -real, nothing], format="csr"))
        right.append(float(np.vdot(matrix, difference).real))
    unit = np.eye(inputs)
    diagonal = [np.diag(unit[0] - other) for other in unit[1:]]
    for matrix in [*diagonal, *unpack(np.eye(inputs * inputs))[inputs:]]:
        real = _embed(np.kron(matrix, np.eye(outputs)))
        rows.append(sp.block_diag([real, real, _embed(matrix)], format="csr"))
        right.append(0.0)
    cost = sp.eye_array(4 * size + 2 * inputs, format="csr") * (0.25 / inputs)
    return SDP.from_matrices(cost, rows, right)


def _embed(matrix: Array) -> Any:
    """Return half the real form of a Hermitian matrix, so that inner products with real forms are those of matrices."""
    real, imaginary = np.real(matrix), np.imag(matrix)
    return sp.csr_array(0.5 * np.block([[real, -imaginary], [imaginary, real]]))
