"""Symmetric matrices, sparse plus rank-one terms, with proved and likely bounds on their extreme eigenvalues.

The adjoint of a semidefinite map (:mod:`unipd.maps.sdp`) is such a matrix. The compiled kernels at the end are serial,
so threads may call them at once; they read indices as unsigned, which spares the wrap-around of negative ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, IntArray
from unipd._util.arrays import EPS
from unipd._util.context import notify
from unipd._util.lazy import compile_lazily, is_small
from unipd._util.threads import sum_over_rows
from unipd.errors import InvalidInput, MemoryForecastError, OracleError
from unipd.spectral.certify import bracket_of_run, weight_quantile
from unipd.spectral.operators import OperatorDefaults

DENSE_LIMIT = 20_000
"""Largest order that is made dense (3.2 GB of doubles)."""
_THREADED_ORDER = 1 << 17
"""Order from which the rows of a Lanczos step are divided among threads."""
_BREAKDOWN = 1e-15
"""A remainder of at most this share of the largest coefficients counts as zero: the Krylov space is complete."""
_FIRST_CHECK = 48
"""Lanczos steps before the bracket is computed first; the interval then grows by half each time."""


@dataclass(frozen=True, eq=False)
class SymmetricOperator(OperatorDefaults):
    """S = M + V diag(c) V^T with M symmetric sparse (both triangles, CSR) and V a few dense columns.

    Accessed through products (``matvec``, ``matmat`` and their adjoints, which are the same); ``toarray`` and
    ``tocsr`` form the matrix, for small orders.

    Parameters
    ----------
    starts
        CSR row pointers of M.
    indices
        CSR column indices of M.
    data
        CSR values of M.
    vectors
        V, of shape (n, k).
    coefficients
        c, of shape (k,).

    See Also
    --------
    unipd.maps.SdpMap, top_eigenvalue

    Examples
    --------
    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> operator = SdpMap((2, 2), Entries.from_matrices([np.diag([1.0, 2.0])]), 1).adjoint(np.array([3.0]))
    >>> operator.matvec(np.array([1.0, 1.0]))
    array([3., 6.])
    """

    starts: IntArray
    indices: IntArray
    data: Array
    vectors: Array
    coefficients: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n)."""
        order = self.starts.size - 1
        return (order, order)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the entries."""
        return self.data.dtype

    @cached_property
    def sparse_part(self) -> Any:
        """M as a SciPy CSR array, which shares its data."""
        return scipy.sparse.csr_array((self.data, self.indices, self.starts), shape=self.shape)

    def matvec(self, x: Array) -> Array:
        """Return S x."""
        return self @ np.reshape(x, -1)

    def matmat(self, block: Array) -> Array:
        """Return S B for a block of columns B."""
        return self @ block

    def rmatvec(self, x: Array) -> Array:
        """Return S^T x = S x."""
        return self.matvec(x)

    def rmatmat(self, block: Array) -> Array:
        """Return S^T B = S B."""
        return self.matmat(block)

    def __matmul__(self, other: Array) -> Array:
        if other.shape[0] != self.shape[0]:
            raise InvalidInput("x", f"{self.shape[0]} rows", f"shape {other.shape}")
        if other.dtype.kind == "c":
            raise InvalidInput("x", "real numbers", f"dtype {other.dtype}")
        out = self._sparse_product(other)
        if self.coefficients.size:
            out += (self.vectors * self.coefficients) @ (self.vectors.T @ other)
        return out

    @cached_property
    def _single_data(self) -> Array:
        """The values of M in single precision."""
        return self.data.astype(np.float32, copy=False)

    def _sparse_product(self, other: Array) -> Array:
        """Return M B; blocks by a kernel, since making a SciPy array takes longer than many a product.

        Blocks in single precision stay so: at a million rows they are half the memory and half the time.
        """
        is_single = other.dtype == np.float32
        if other.ndim == 1 or (not is_single and is_small(self.data, other)):
            return self.sparse_part @ other
        data = self._single_data if is_single else self.data
        block, rows = np.ascontiguousarray(other), self.starts.size - 1
        out = np.empty((rows, other.shape[1]), np.result_type(data.dtype, other.dtype))

        def multiply(first: int, last: int) -> float:
            csr_block(self.starts, self.indices, data, block, out, first, last)
            return 0.0

        sum_over_rows(multiply, rows, other.shape[1])
        return out

    def __sub__(self, other: SymmetricOperator) -> SymmetricOperator:
        """Return the difference of two matrices on one pattern, with the same V."""
        return replace(self, data=self.data - other.data, coefficients=self.coefficients - other.coefficients)

    def diagonal(self) -> Array:
        """Return the diagonal entries."""
        return self.sparse_part.diagonal() + self.vectors**2 @ self.coefficients

    def tocsr(self) -> Any:
        """Return S as a SciPy CSR array; rank-one terms make it dense."""
        return scipy.sparse.csr_array(self.toarray()) if self.coefficients.size else self.sparse_part

    def toarray(self) -> Array:
        """Return S as an array, for orders up to 20,000."""
        if self.shape[0] > DENSE_LIMIT:
            raise MemoryForecastError(f"a dense matrix of order {self.shape[0]} is too large: use matvec or tocsr")
        out = self.sparse_part.toarray()
        if self.coefficients.size:
            outer = (self.vectors * self.coefficients) @ self.vectors.T
            out += (outer + outer.T) / 2
        return out


@dataclass(frozen=True)
class TopEigenvalue:
    """Bracket of the top eigenvalue from a Lanczos run."""

    lower: float
    """The largest Ritz value."""
    upper: float
    """Upper bound, wrong with the requested probability at most."""
    vector: Array | None
    """A unit Ritz vector, if requested."""
    matvecs: int


def has_compiled_lanczos(operator: Any) -> bool:
    """Whether the compiled Lanczos recurrence applies: sparse, double precision, all rows in this process.

    Parameters
    ----------
    operator
        The operator.

    See Also
    --------
    SymmetricOperator, top_eigenvalue

    Examples
    --------
    >>> has_compiled_lanczos(np.eye(2))
    False
    """
    return (
        type(operator) is SymmetricOperator
        and operator.coefficients.size == 0
        and operator.dtype == np.dtype(np.float64)
    )


def top_eigenvalue(
    operator: SymmetricOperator, width: float, delta: float, steps: int, seed: list[int], *, vector: bool = False
) -> TopEigenvalue:
    """Run Lanczos from a random vector until the bracket of the top eigenvalue is as narrow as ``width``.

    Parameters
    ----------
    operator
        The symmetric matrix; it must not depend on the random vector of this seed.
    width
        Stop once upper and lower bound are this close.
    delta
        Probability with which the upper bound may be wrong.
    steps
        Largest number of steps.
    seed
        Words of the seed of the starting vector.
    vector
        Whether to return a Ritz vector (doubles the products).

    Returns
    -------
    TopEigenvalue
        ``lower``, ``upper``, the products spent, and the vector if requested.

    Raises
    ------
    OracleError
        If a product is not finite.

    See Also
    --------
    certified_upper, smallest_eigenpair

    Examples
    --------
    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> operator = SdpMap((3, 3), Entries.from_matrices([np.diag([1.0, 3.0, 2.0])]), 1).adjoint(np.ones(1))
    >>> found = top_eigenvalue(operator, 1e-9, 1e-9, 10, [0], vector=True)
    >>> round(found.lower, 9), abs(found.vector).round(6) + 0.0
    (3.0, array([0., 1., 0.]))
    """
    order = operator.shape[0]
    start = np.random.default_rng(seed).standard_normal(order)
    start /= np.linalg.norm(start)
    alpha, beta, work = np.empty(steps), np.empty(steps), lanczos_workspace(start)
    matrix = (operator.starts, operator.indices, operator.data)
    weight = weight_quantile(order, delta, False)
    take_steps = lanczos_steps if order < _THREADED_ORDER else steps_by_rows
    done, check = 0, _FIRST_CHECK
    while True:
        before, wanted = done, min(check, steps)
        done = take_steps(*matrix, work, alpha, beta, before, wanted, _NO_VECTOR, _NO_VECTOR)
        notify("eigenvector", done - before)
        if not (np.isfinite(alpha[:done]).all() and np.isfinite(beta[:done]).all()):
            raise OracleError("a product with the operator has entries that are NaN or infinite")
        lower, upper = bracket_of_run(alpha[:done].tolist(), beta[:done].tolist(), weight)
        upper += EPS * (8.0 + done) * float((np.abs(alpha[:done]) + beta[:done]).max())
        if done < wanted or done >= steps or beta[done - 1] == 0.0 or upper - lower <= width:
            break
        check += check // 2
    if not vector:
        return TopEigenvalue(lower, upper, None, done)
    top = (done - 1, done - 1)
    shares = scipy.linalg.eigh_tridiagonal(alpha[:done], beta[: done - 1], select="i", select_range=top)[1][:, 0]
    total = np.zeros(order)
    take_steps(*matrix, lanczos_workspace(start), alpha, beta, 0, done, shares, total)
    notify("eigenvector", done)
    return TopEigenvalue(lower, upper, total / np.linalg.norm(total), 2 * done)


_NO_VECTOR = np.zeros(0)


def lanczos_workspace(start: Array) -> Array:
    """Return space for three vectors, with the start in the second."""
    out = np.zeros((3, start.size))
    out[1] = start
    return out


def steps_by_rows(
    starts: IntArray,
    indices: IntArray,
    data: Array,
    vectors: Array,
    alpha: Array,
    beta: Array,
    first: int,
    last: int,
    shares: Array,
    total: Array,
) -> int:
    """Do what ``lanczos_steps`` does, with the rows of each step divided among threads."""
    order, size, work = starts.size - 1, 0.0, vectors[2]
    columns, matrix = 1 + indices.size // order, (starts, indices, data)
    for step in range(first, last):
        before, here = vectors[step % 2], vectors[(step + 1) % 2]
        link = beta[step - 1] if step > 0 else 0.0
        share = shares[step] if total.size else 0.0

        def multiply(*rows: int, here: Array = here, before: Array = before, link: float = link) -> float:
            return csr_three_term(*matrix, here, before, link, work, *rows)

        diagonal = float(sum_over_rows(multiply, order, columns))

        def orthogonalize(*rows: int, here: Array = here, diagonal: float = diagonal, share: float = share) -> float:
            return remove_component(diagonal, here, work, share, total, *rows)

        length = float(np.sqrt(sum_over_rows(orthogonalize, order, columns)))
        size = max(size, abs(diagonal) + length)
        alpha[step], beta[step] = diagonal, length
        if length <= _BREAKDOWN * size:
            beta[step] = 0.0
            return step + 1
        np.divide(work, length, out=before)
    return last


def _csr(starts: IntArray, indices: IntArray, data: Array, first: int, last: int) -> Any:
    """Return rows of a matrix in CSR form as a SciPy array, without a copy where the indices are signed."""
    order, bounds = starts.size - 1, slice(int(starts[first]), int(starts[last]))
    rows = starts[first : last + 1].astype(np.int64) - bounds.start
    return scipy.sparse.csr_array((data[bounds], indices[bounds].astype(np.int64), rows), shape=(last - first, order))


def _csr_three_term_plain(
    starts: IntArray, indices: IntArray, data: Array, here: Array, before: Array, link: float, out: Array,
    first: int, last: int,
) -> float:  # fmt: skip
    rows = slice(first, last)
    out[rows] = _csr(starts, indices, data, first, last) @ here - link * before[rows]
    return float(out[rows] @ here[rows])


@compile_lazily(reorder=True, plain=_csr_three_term_plain)
def csr_three_term(
    starts: IntArray,
    indices: IntArray,
    data: Array,
    here: Array,
    before: Array,
    link: float,
    out: Array,
    first: int,
    last: int,
) -> float:
    """Set rows first, ..., last - 1 of out = M here - link before; return their part of <out, here>."""
    total = 0.0
    for row in range(first, last):
        product = 0.0
        for place in range(starts[row], starts[row + 1]):
            product += data[place] * here[np.uint32(indices[place])]
        product -= link * before[row]
        out[row] = product
        total += product * here[row]
    return total


def _remove_component_plain(
    diagonal: float, here: Array, out: Array, share: float, total: Array, first: int, last: int
) -> float:
    rows = slice(first, last)
    out[rows] -= diagonal * here[rows]
    if total.size:
        total[rows] += share * here[rows]
    return float(out[rows] @ out[rows])


@compile_lazily(reorder=True, plain=_remove_component_plain)
def remove_component(
    diagonal: float, here: Array, out: Array, share: float, total: Array, first: int, last: int
) -> float:
    """Subtract diagonal * here from out and add share * here to a total; return the part of ||out||^2."""
    squares = 0.0
    for row in range(first, last):
        out[row] -= diagonal * here[row]
        squares += out[row] * out[row]
    if total.size:
        for row in range(first, last):
            total[row] += share * here[row]
    return squares


def _csr_block_plain(
    starts: IntArray, indices: IntArray, data: Array, block: Array, out: Array, first: int, last: int
) -> None:
    out[first:last] = _csr(starts, indices, data, first, last) @ block


@compile_lazily(plain=_csr_block_plain)
def csr_block(
    starts: IntArray, indices: IntArray, data: Array, block: Array, out: Array, first: int, last: int
) -> None:
    """Set rows first, ..., last - 1 of out = M block, for M in CSR form and a block of columns."""
    for row in range(first, last):
        out[row, :] = 0
        for place in range(starts[row], starts[row + 1]):
            value, source = data[place], np.uint32(indices[place])
            for column in range(block.shape[1]):
                out[row, column] += value * block[source, column]


def _lanczos_steps_plain(
    starts: IntArray, indices: IntArray, data: Array, vectors: Array, alpha: Array, beta: Array,
    first: int, last: int, shares: Array, total: Array,
) -> int:  # fmt: skip
    matrix, size, work = _csr(starts, indices, data, 0, starts.size - 1), 0.0, vectors[2]
    for step in range(first, last):
        before, here = vectors[step % 2], vectors[(step + 1) % 2]
        work[:] = matrix @ here - (beta[step - 1] if step > 0 else 0.0) * before
        diagonal = float(work @ here)
        work -= diagonal * here
        if total.size:
            total += shares[step] * here
        length = float(np.sqrt(work @ work))
        size = max(size, abs(diagonal) + length)
        alpha[step], beta[step] = diagonal, length
        if length <= _BREAKDOWN * size:
            beta[step] = 0.0
            return step + 1
        np.divide(work, length, out=before)
    return last


@compile_lazily(reorder=True, plain=_lanczos_steps_plain)
def lanczos_steps(
    starts: IntArray,
    indices: IntArray,
    data: Array,
    vectors: Array,
    alpha: Array,
    beta: Array,
    first: int,
    last: int,
    shares: Array,
    total: Array,
) -> int:
    """Do steps first, ..., last - 1 of the Lanczos recurrence of M and return how many are done in all.

    Rows 0 and 1 of ``vectors`` are the previous and the present vector (by parity of the step), row 2 is work. The
    present vector of step k, times ``shares[k]``, is added to ``total`` (when it is not empty): so a second run with
    the same start adds up a Ritz vector. Stops where the Krylov space ends: the last beta is then zero.
    """
    order, size = starts.size - 1, 0.0
    for step in range(first, last):
        before, here = vectors[step % 2], vectors[(step + 1) % 2]
        link = beta[step - 1] if step > 0 else 0.0
        diagonal = 0.0
        for row in range(order):
            product = 0.0
            for place in range(starts[row], starts[row + 1]):
                product += data[place] * here[np.uint32(indices[place])]
            product -= link * before[row]
            vectors[2, row] = product
            diagonal += product * here[row]
        squares = 0.0
        for row in range(order):
            vectors[2, row] -= diagonal * here[row]
            squares += vectors[2, row] * vectors[2, row]
        for row in range(total.size):
            total[row] += shares[step] * here[row]
        length = np.sqrt(squares)
        size = max(size, abs(diagonal) + length)
        alpha[step], beta[step] = diagonal, length
        if length <= _BREAKDOWN * size:
            beta[step] = 0.0
            return step + 1
        for row in range(order):
            before[row] = vectors[2, row] / length
    return last
