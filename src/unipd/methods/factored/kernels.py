"""Compiled kernels of the trust-region steps over factors with rows of fixed length.

Each does in one pass over the arrays what would take several: at a million entries memory traffic is the whole cost.
"""

from __future__ import annotations

from numba import njit

from unipd._typing import Array, IntArray

_REORDER = {"reassoc", "contract"}
"""Sums may be reordered (the same way on every call); NaN and infinity keep their meaning."""


@njit(cache=True, nogil=True, fastmath=_REORDER)
def project_groups(
    groups: IntArray, targets: Array, radial: Array, unit: Array, direction: Array, image: Array, sums: Array
) -> float:
    """Turn image = S D into H = P (S D - radial D) in place and return <D, H>; P projects along the rows of R.

    In each group g of rows, P V = V - (<V, R>_g / t_g) R.
    """
    columns = unit.shape[1]
    sums[:] = 0.0
    for i in range(groups.size):
        group = groups[i]
        for c in range(columns):
            image[i, c] -= radial[group] * direction[i, c]
            sums[group] += image[i, c] * unit[i, c]
    total = 0.0
    for i in range(groups.size):
        share = sums[groups[i]] / targets[groups[i]]
        for c in range(columns):
            image[i, c] -= share * unit[i, c]
            total += image[i, c] * direction[i, c]
    return total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def project_rows(targets: Array, radial: Array, unit: Array, direction: Array, image: Array) -> float:
    """Do what ``project_groups`` does for groups of one row each; targets and radial are given by row."""
    columns = unit.shape[1]
    total = 0.0
    for i in range(unit.shape[0]):
        inside = 0.0
        for c in range(columns):
            image[i, c] -= radial[i] * direction[i, c]
            inside += image[i, c] * unit[i, c]
        share = inside / targets[i]
        for c in range(columns):
            image[i, c] -= share * unit[i, c]
            total += image[i, c] * direction[i, c]
    return total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def take_step(
    length: float, direction: Array, image: Array, inverse: Array, step: Array, residual: Array
) -> tuple[float, float]:
    """Add length D to the step and length H D to the residual r; return <r, r> and <r, M r> for M by rows."""
    plain, weighted = 0.0, 0.0
    for i in range(direction.shape[0]):
        squares = 0.0
        for c in range(direction.shape[1]):
            step[i, c] += length * direction[i, c]
            residual[i, c] += length * image[i, c]
            squares += residual[i, c] * residual[i, c]
        plain += squares
        weighted += inverse[i] * squares
    return plain, weighted


@njit(cache=True, nogil=True, fastmath=_REORDER)
def update_direction(share: float, inverse: Array, residual: Array, direction: Array) -> None:
    """Set D = share D - M r."""
    for i in range(direction.shape[0]):
        for c in range(direction.shape[1]):
            direction[i, c] = share * direction[i, c] - inverse[i] * residual[i, c]
