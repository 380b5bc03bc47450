"""Certified upper bounds on top eigenvalues and singular values: probabilistic, rigorous, and around known vectors.

**Probabilistic bounds** hold with a stated probability. They need a starting vector that is random and independent of
the operator: no restart, no warm start, and a seed of its own. The run keeps only the three-term recurrence: by
Greenbaum's analysis (Linear Algebra Appl. 113, 1989) its coefficients in floating point are those of an exact run on a
matrix whose eigenvalues are smeared by a few eps ||M||, which the bound adds.

A Ritz value is a lower bound, and Ritz value plus residual bounds some eigenvalue only. What a Lanczos run does
prove about the top eigenvalue rests on its starting vector b, uniform on the sphere and independent of the
operator. Let w = |<v, b>|^2 be its weight on a top eigenvector v, and p_0, p_1, ..., p_k the polynomials of the
run: the j-th Lanczos vector is p_j(M) b, so they are orthonormal for the spectral measure of b. For every
polynomial q of degree at most k, w q(lambda)^2 <= ||q(M) b||^2; the best q gives

    sum_{j <= k} p_j(lambda)^2 <= 1 / w,

and the left side increases without bound to the right of the largest Ritz value theta. The weight has the law
Beta(1/2, (n-1)/2) for real and Beta(1, n-1) for complex vectors, so w >= x except with probability delta, with x
its quantile; the largest lambda with sum_j p_j(lambda)^2 <= 1/x is then an upper bound. The event does not depend
on k, so a run may check the bound as often as it likes and stop when it is good enough.

Choosing for q the Chebyshev polynomial of degree k - 1 on the Ritz interval [theta_k, theta_1] shows that the bound
is never above

    theta_1 + (theta_1 - theta_k) sinh^2(arccosh(x^(-1/2)) / (2k - 2)),

which is the rate of Kuczynski and Wozniakowski (SIAM J. Matrix Anal. Appl. 13, 1992), whose theorem reads
P[lambda - theta > eps (lambda - lambda_min)] <= 1.648 sqrt(n) exp(-(2k - 1) sqrt(eps)); bounds from the run's own
polynomials, which profit from a gap, go back to van Dorsselaer, Hochstenbach and van der Vorst (same journal, 22,
2000).

**Rigorous bounds** hold whatever rounding did: definiteness by factorisation, the smaller Gram matrix.

**Vectors already found** turn an oracle's answer into a certificate. With orthonormal columns Q (one for each wanted
eigenvalue), Theta = Q^* M Q, R = M Q - Q Theta = W T (QR), and any mu that bounds M on the complement of Q from above,
M is below the block matrix with mu I in place of its last block,

    M <= [[Theta, R^*], [R, mu I]]   (Loewner order),

so the sum of the k largest eigenvalues of the small matrix [[Theta, T^*], [T, mu I]] is above that of M: for k = 1
and a gap it exceeds Theta by about ||R||^2 / (Theta - mu) only. mu is rigorous or comes from a deflated Lanczos run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd._util import arrays, validate
from unipd._util.arrays import EPS, draw_normal, hermitian_part, precision
from unipd.errors import InvalidInput, OracleError
from unipd.spectral.krylov import divide_by_length, length_of
from unipd.spectral.operators import (
    PROBABILISTIC,
    RIGOROUS,
    Gram,
    Products,
    exponent_of,
    finite_bound,
    frobenius,
    is_explicit,
    is_small,
    largest_part,
    norm_bound,
    rounding_allowance,
    times_power,
)


def weight_quantile(size: int, delta: float, is_complex: bool) -> float:
    """Return x with P[w <= x] = delta, for the weight w of a uniform unit vector on a fixed direction.

    >>> weight_quantile(1, 0.1, False), round(weight_quantile(3, 0.19, True), 3)
    (1.0, 0.1)
    """
    if size == 1:
        return 1.0
    if is_complex:
        return -math.expm1(math.log1p(-delta) / (size - 1))
    from scipy.special import betaincinv

    return float(betaincinv(0.5, 0.5 * (size - 1), delta))


def bracket_of_run(alpha: list[float], beta: list[float], weight: float) -> tuple[float, float]:
    """Return (theta, upper) for k Lanczos steps: alpha_1..alpha_k, beta_1..beta_k and the least weight.

    >>> theta, upper = bracket_of_run([1.0], [0.5], 0.2)
    >>> theta, upper
    (1.0, 2.0)
    """
    exponent = exponent_of(max(map(abs, [*alpha, *beta])))
    unit = 2.0**-exponent
    theta, upper = _bracket([unit * a for a in alpha], [unit * b for b in beta], weight)
    return theta / unit, upper / unit


def _bracket(alpha: list[float], beta: list[float], weight: float) -> tuple[float, float]:
    """Do the same for coefficients near one, whose squares are in range."""
    steps = len(alpha)
    last = (steps - 1, steps - 1)
    top = alpha[0] if steps == 1 else float(scipy.linalg.eigh_tridiagonal(alpha, beta[:-1], True, "i", last)[0])
    if beta[-1] <= 0.0 or weight >= 1.0:
        return top, top
    if steps == 1:
        return top, top + beta[0] * math.sqrt(1.0 / weight - 1.0)
    discs = [0.0, *beta[:-1]]
    lowest = min(a - left - right for a, left, right in zip(alpha, discs, beta, strict=True))
    reach = (top - lowest) * math.sinh(math.acosh(weight**-0.5) / (2 * steps - 2)) ** 2
    inside, outside = top, top + reach
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        if _exceeds(middle, alpha, beta, 1.0 / weight):
            outside = middle
        else:
            inside = middle
    return top, outside


_HALVINGS = 40


def _exceeds(point: float, alpha: list[float], beta: list[float], bound: float) -> bool:
    """Whether sum_{j<=k} p_j(point)^2 > bound, by the recurrence of the orthonormal polynomials."""
    before, here, total, link = 0.0, 1.0, 1.0, 0.0
    for diagonal, off in zip(alpha, beta, strict=True):
        before, here = here, ((point - diagonal) * here - link * before) / off
        link = off
        total += here * here
        if total > bound:
            return True
    return False


CERTIFICATE_STREAM = 0x5EED
"""Second word of the seeds used here, so that no other random vector of the library is one of these."""


@dataclass(frozen=True)
class Certification:
    """How an upper bound is certified.

    Parameters
    ----------
    delta
        Probability of failure allowed to a probabilistic bound.
    steps
        Largest number of Lanczos steps spent on it.
    seed
        Seed of its random vector.
    dense_limit
        Rigorous bounds come from a dense matrix of the order of the shorter side, where that is at most this.

    Raises
    ------
    InvalidInput
        If ``delta`` is not a probability.

    See Also
    --------
    Certified, certify_eigenvalues

    Examples
    --------
    >>> Certification(delta=1e-6).steps
    300
    """

    delta: float = 1e-9
    steps: int = 300
    seed: int = 0
    dense_limit: int = 1500

    def __post_init__(self) -> None:
        validate.integer("steps", self.steps, minimum=1)
        if not 0.0 < validate.number("delta", self.delta) < 1.0:
            raise InvalidInput("delta", "a probability between 0 and 1", repr(self.delta))


@dataclass(frozen=True)
class Certified:
    """A bracket of the top eigenvalue (or singular value).

    Parameters
    ----------
    upper
        Upper bound: wrong with probability at most ``delta``.
    lower
        Largest Ritz value of the run: a lower bound, up to rounding.
    delta
        Probability of failure of the upper bound (0 when rigorous).
    matvecs
        Products spent.
    bound_kind
        Kind of the upper bound.

    See Also
    --------
    certified_upper, Certification

    Examples
    --------
    >>> import numpy as np
    >>> found = certified_upper(np.diag(np.arange(9.0)))
    >>> round(found.lower, 6), found.upper >= 8.0, found.bound_kind
    (8.0, True, 'probabilistic')
    """

    upper: float
    lower: float
    delta: float
    matvecs: int
    bound_kind: str = PROBABILISTIC


def certified_upper(
    operator: Any,
    steps: int = 300,
    delta: float = 1e-9,
    seed: int = 0,
    *,
    tolerance: float = 0.0,
    deflate: Array | None = None,
) -> Certified:
    """Bound the largest eigenvalue of a Hermitian operator from above, wrong with probability at most ``delta``.

    Parameters
    ----------
    operator
        The Hermitian matrix or operator; it must not depend on the random vector of this seed.
    steps
        Largest number of Lanczos steps (one product each).
    delta
        Probability of failure allowed.
    seed
        Seed of the starting vector.
    tolerance
        Stop once upper and lower bound are this close.
    deflate
        Orthonormal columns Q: bound the operator on the complement of their span, (I - QQ^*) M (I - QQ^*).

    Returns
    -------
    Certified

    See Also
    --------
    Certified, certify_eigenvalues, top_eigenvalue

    Examples
    --------
    >>> found = certified_upper(np.diag(np.arange(100.0)), steps=60)
    >>> found.lower <= 99.0 + 1e-9 and 99.0 < found.upper < 101.0
    True
    """
    plan = Certification(steps=steps, delta=delta, seed=seed)
    return bracket(Products(operator, hermitian=True), plan, lambda low, up: up - low <= tolerance, deflate)


def bracket(
    products: Products | Gram,
    plan: Certification,
    enough: Callable[[float, float], bool],
    deflate: Array | None = None,
) -> Certified:
    """Run Lanczos until ``enough(lower, upper)`` or out of steps; the work behind the functions above."""
    free = products.shape[0] - (0 if deflate is None else deflate.shape[1])
    if free < 1:
        return Certified(-math.inf, -math.inf, 0.0, 0)
    before = products.count
    weight = weight_quantile(free, plan.delta, products.dtype.kind == "c")
    run = _Recurrence(products, np.random.default_rng([plan.seed, CERTIFICATE_STREAM]), deflate)
    eps = precision(products)
    look = 4
    while True:
        ended = run.advance(min(look, plan.steps), eps)
        lower, upper = bracket_of_run(run.alpha, run.beta, weight)
        upper += eps * (8.0 + len(run.alpha)) * run.size
        if ended or len(run.alpha) >= plan.steps or (math.isfinite(upper) and enough(lower, upper)):
            return Certified(finite_bound(upper), lower, plan.delta, products.count - before)
        look += max(4, look // 8)


class _Recurrence:
    """Lanczos without reorthogonalisation: the coefficients alpha_j, beta_j of the three-term recurrence."""

    def __init__(self, products: Products | Gram, generator: np.random.Generator, deflate: Array | None) -> None:
        self._products = products
        self._deflate = deflate
        start = self._free(draw_normal(generator, (products.shape[0],), products.dtype))
        self._current = start / length_of(start)
        self._previous = np.zeros_like(self._current)
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.size = 0.0

    def advance(self, steps: int, eps: float) -> bool:
        """Continue up to this number of steps; return whether the Krylov space ended (its values are then exact)."""
        while len(self.alpha) < steps:
            image = self._products.forward(self._current[:, np.newaxis])[:, 0]
            image = image - (self.beta[-1] if self.beta else 0.0) * self._previous
            diagonal = float(arrays.dot(self._current, image).real)
            image = self._free(image - diagonal * self._current)  # after the rounding of the others
            length = length_of(image)
            self.size = max(self.size, abs(diagonal) + length)
            ended = length <= 4.0 * eps * self.size
            self.alpha.append(diagonal)
            self.beta.append(0.0 if ended else length)
            if ended:
                return True
            self._previous, self._current = self._current, divide_by_length(image, length)
        return False

    def _free(self, vector: Array) -> Array:
        if self._deflate is None:
            return vector
        for _ in range(2):
            inside = arrays.product(vector.conj(), self._deflate).conj()
            vector = vector - arrays.product(self._deflate, inside)
        return vector


def affords_rigorous(operator: Any, hermitian: bool, limit: int) -> bool:
    """Whether a rigorous bound takes a moment, and no array of the matrix's shape unless the matrix is small.

    Only operators that are known by their products alone are made dense for it: the longer side counts as well.

    >>> affords_rigorous(np.ones((2, 900)), False, 10), affords_rigorous(np.ones((20, 20)), False, 10)
    (True, False)
    """
    if hermitian and is_explicit(operator):
        return not scipy.sparse.issparse(operator) or bound_fill(operator) <= LARGEST_FILL
    return min(operator.shape) <= limit if knows_entries(operator) else is_small(operator.shape, limit)


LARGEST_FILL = 1 << 26
"""Entries that a factor of a sparse matrix may have at most: about 1 GB, and less by the ordering that is used."""


def bound_fill(matrix: Any) -> int:
    """Return the entries of a band that holds a sparse symmetric matrix and its factor, after reordering.

    >>> bound_fill(scipy.sparse.eye_array(10_000)), bound_fill(scipy.sparse.csr_array(np.ones((3, 3))))
    (10000, 9)
    """
    order = matrix.shape[0]
    if order**2 <= LARGEST_FILL and matrix.nnz > order:
        return order**2
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    entries: Any = scipy.sparse.coo_array(matrix)
    place = np.empty(order, np.int64)
    place[reverse_cuthill_mckee(scipy.sparse.csr_matrix(matrix), symmetric_mode=True)] = np.arange(order)
    return order * (1 + int(np.abs(place[entries.row] - place[entries.col]).max(initial=0)))


def knows_entries(operator: Any) -> bool:
    """Whether the entries are known without products: an array, a sparse matrix, an operator with ``tocsr``."""
    return is_explicit(operator) or hasattr(operator, "tocsr")


def entries_of(products: Products) -> Any:
    """Return the matrix as it is known, an array or a sparse matrix; by products where nothing is known."""
    operator = products.operator
    if products.explicit:
        return operator
    return operator.tocsr() if knows_entries(operator) else products.dense()


def array_of(products: Products) -> Array:
    """Return the matrix as an array, without products where its entries are known."""
    matrix = entries_of(products)
    return np.asarray(matrix.toarray() if scipy.sparse.issparse(matrix) else matrix).astype(products.dtype, copy=False)


def cholesky_bound(operator: Any, shift: float) -> float | None:
    """Return a proved lower bound on the smallest eigenvalue of S when S + shift I factorises, else None.

    A Cholesky factorisation of B that runs to its end in floating point proves B + E psd for an
    ||E|| <= gamma tr(B), gamma = (n + 2) u / (1 - (n + 2) u) with u the unit of rounding (Demmel; Rump, 2006);
    hence lambda_min(S) >= -shift - gamma tr(B), up to the rounding of the diagonal, which is counted too. A sparse S is
    factorised as L D L^* with D > 0, whose distance to the matrix is then bounded entry by entry.

    Parameters
    ----------
    operator
        S, Hermitian: an array, a sparse matrix, or an operator with ``toarray``.
    shift
        What is added to the diagonal.

    Raises
    ------
    InvalidInput
        If S is not square or not finite.

    See Also
    --------
    smallest_eigenpair

    Examples
    --------
    >>> matrix = np.diag([1.0, -2.0])
    >>> round(cholesky_bound(matrix, 2.5), 6), cholesky_bound(matrix, 1.5)
    (-2.5, None)
    """
    validate.number("shift", shift)
    if operator.shape[0] != operator.shape[-1]:
        raise InvalidInput("operator", "a square matrix", f"shape {operator.shape}")
    if scipy.sparse.issparse(operator):
        return -shift if _is_psd_sparse(operator, shift) else None
    matrix = validate.finite_array("operator", as_dense(operator), ndim=2)
    shifted, order = matrix.copy(), matrix.shape[0]
    shifted.flat[:: order + 1] += shift
    diagonal = np.real(shifted.diagonal()).copy()
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    gamma = _gamma(order + 2, matrix.dtype)
    return -shift - gamma * float(diagonal.sum()) - EPS * (float(diagonal.max()) + abs(shift)) - _ZERO_MARGIN


@dataclass(frozen=True)
class SmallestEigenpair:
    """The smallest eigenvalue of S, its eigenvector, and a proved bound from below."""

    value: float
    """theta, as computed."""
    vector: Array
    """A unit eigenvector."""
    lower: float
    """Proved: the smallest eigenvalue is at least this."""


def smallest_eigenpair(operator: Any) -> SmallestEigenpair:
    """Return the smallest eigenpair by a dense eigensolver, with a bound proved by :func:`cholesky_bound`.

    Parameters
    ----------
    operator
        S, symmetric: an array, or an operator with ``toarray``.

    See Also
    --------
    cholesky_bound, top_eigenvalue

    Examples
    --------
    >>> pair = smallest_eigenpair(np.diag([1.0, -2.0]))
    >>> round(pair.value, 9), pair.lower <= -2.0
    (-2.0, True)
    """
    matrix = as_dense(operator)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[0, 0])
    theta = float(values[0])
    size = float(np.abs(matrix).sum(axis=1).max())
    margin = max(matrix.shape[0] * EPS * size, _ZERO_MARGIN)
    lower = None
    while lower is None:
        lower = cholesky_bound(matrix, margin - theta)
        margin *= 4.0
    return SmallestEigenpair(theta, vectors[:, 0], lower)


def as_dense(operator: Any) -> Array:
    """Return a Hermitian operator, array or sparse matrix as an array in double precision."""
    matrix = operator if isinstance(operator, np.ndarray) else operator.toarray()
    return matrix.astype(np.result_type(matrix, np.float64), copy=False)


def rigorous_upper(matrix: Any, estimate: float) -> float:
    """Return a proven upper bound on the largest eigenvalue near an estimate, by factorising t I - M.

    Tries t = estimate + width for widths that grow from ``_RESOLUTION`` times the size of M by factors of 10; when
    none is proven the Gershgorin bound is returned.

    >>> 3.0 <= rigorous_upper(np.diag([3.0, 1.0]), 3.0) < 3.0 + 1e-6
    True
    """
    exponent = exponent_of(float(abs(matrix).max()))
    if abs(exponent) > _USUAL:
        scaled, unit = matrix * 2.0**-exponent, 2.0**-exponent
        return times_power(rigorous_upper(scaled, estimate * unit), exponent)
    ceiling = gershgorin_upper(matrix)
    width = _RESOLUTION * max(abs(ceiling), abs(estimate), np.finfo(np.float64).tiny)
    for _ in range(_ATTEMPTS):
        if estimate + width >= ceiling:
            break
        lower = cholesky_bound(-matrix, estimate + width)
        if lower is not None:
            return -lower
        width *= 10.0
    return ceiling


def gershgorin_upper(matrix: Any) -> float:
    """Return max_i (Re M_ii + sum_{j != i} |M_ij|), which no eigenvalue of a Hermitian matrix exceeds.

    >>> round(gershgorin_upper(np.array([[1.0, -2.0], [-2.0, 0.0]])), 9)
    3.0
    """
    moduli = abs(matrix)
    diagonal = np.asarray(matrix.diagonal())
    sums = np.asarray(moduli.sum(axis=1), np.float64).reshape(-1)
    reach = np.real(diagonal) + sums - np.abs(diagonal)
    eps = float(np.finfo(validate.floating_dtype("operator", matrix.dtype)).eps)
    return float(reach.max() + 2.0 * matrix.shape[0] * eps * sums.max())


def _is_psd_sparse(matrix: Any, shift: float) -> bool:
    """Factorise M + (shift - margin) I = L D L^* + E and check ||E|| <= margin, widening the margin if need be."""
    shifted = matrix.astype(np.result_type(matrix.dtype, np.float64)) + shift * scipy.sparse.eye_array(matrix.shape[0])
    largest = float(shifted.diagonal().real.max())
    if shifted.diagonal().real.min() <= 0.0:
        return False
    margin = 8.0 * _gamma(64, shifted.dtype) * largest
    for _ in range(3):
        error = _factor_error(shifted, margin)
        if error is None:
            return False
        if error + 4.0 * EPS * (largest + margin) <= margin:
            return True
        margin = 2.0 * error
    return False


def _factor_error(shifted: Any, margin: float) -> float | None:
    """Return a bound on ||M - margin I - L D L^*|| for the computed factors, or None when D > 0 fails.

    The factors satisfy M + E = L U with |E| <= gamma |L| |U| entry by entry, and U differs from D L^* by a
    known G, so ||gamma |L| |U| 1|| + |||L| |G| 1|| in the maximum norm bounds the distance.
    """
    from scipy.sparse.linalg import splu

    size = shifted.shape[0]
    try:
        factors: Any = splu(
            (shifted - margin * scipy.sparse.eye_array(size)).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return None
    pivots = factors.U.diagonal().real
    if not np.array_equal(factors.perm_r, factors.perm_c) or pivots.min() <= 0.0:
        return None
    lower, upper = factors.L, factors.U
    difference = abs(upper - scipy.sparse.diags_array(pivots) @ lower.conj().T)
    ones = np.ones(size)
    products = abs(lower) @ (_gamma(size + 2, shifted.dtype) * (abs(upper) @ ones) + difference @ ones)
    return 2.0 * float(np.max(products))


_USUAL = 200
"""Matrices whose largest entry is within 2 to this power (and its inverse) are factorised as they are."""
_RESOLUTION, _ATTEMPTS = 1e-9, 12
"""The first width tried, relative to the size of the matrix, and how many are."""
_ZERO_MARGIN = 1e-290
"""Margin for zero matrices, far above the smallest double."""


def _gamma(terms: int, dtype: Any) -> float:
    """Return the rounding constant of a sum of ``terms`` products (twice the usual; complex products round more)."""
    rounding = (4.0 if np.dtype(dtype).kind == "c" else 1.0) * terms * EPS
    return rounding / (1.0 - rounding)


BLOCK_ENTRIES = 1 << 19
"""Entries of the blocks of columns that are made dense, one after the other."""
_DENSE_SPEED = 64
"""Multiplications of a dense block product in the time of one multiplication of a sparse product."""


def gram_norm_upper(matrix: Any) -> float:
    """Return an upper bound on the largest singular value of an array or a sparse matrix, which is never copied whole.

    M M^* of the shorter side is summed over blocks of columns, or is a sparse product where that is less work. With
    at most l nonzero terms in a sum, entry (i, j) is off by at most gamma_l |m_i| |m_j| for rows m_i, in whatever
    order they are added, so the whole by at most gamma_l ||M||_F^2 in norm; the eigenvalues add the error of LAPACK.
    Both are counted, in double precision, for M scaled by a power of two so that no square leaves the range. The root
    halves the relative error of the top eigenvalue, the only one that counts. This takes a fraction of the time of a
    singular value decomposition.

    >>> gram_norm_upper(np.diag([3.0, 2.0, 1.0])).__round__(9)
    3.0
    """
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    sparse = scipy.sparse.issparse(wide)
    wide = _compress_columns(wide) if sparse else wide
    size = largest_part(wide.data) if sparse else max(map(largest_part, _blocks(wide)))
    if size == 0.0:
        return 0.0
    exponent = exponent_of(size)
    gram = _sparse_gram(wide, 2.0**-exponent) if sparse else _gram(_blocks(wide), 2.0**-exponent)
    terms = int(np.bincount(wide.indices).max()) if sparse else wide.shape[1]
    values = np.linalg.eigvalsh(gram)
    eps = precision(gram)
    allowance = 4.0 * (terms + 4) * eps * float(np.trace(gram).real) + rounding_allowance(gram, float(values[-1]))
    root = math.sqrt(max(float(values[-1]), 0.0) + allowance) * (1.0 + 8.0 * eps)
    return times_power(root, exponent)


def _compress_columns(wide: Any) -> Any:
    """Return the columns that are not empty, in double precision and with one entry per place."""
    columns = scipy.sparse.csc_array(wide, dtype=np.result_type(wide.dtype, np.float64), copy=True)
    columns.sum_duplicates()
    return columns[:, np.diff(columns.indptr) > 0]


def _sparse_gram(columns: Any, scale: float) -> Array:
    scaled = columns * scale
    lengths = np.diff(scaled.indptr).astype(np.float64)
    if _DENSE_SPEED * float(lengths @ lengths) <= math.prod(scaled.shape) * float(scaled.shape[0]):
        return (scaled @ scaled.conj().T).toarray()
    return _gram((block.toarray() for block in _blocks(scaled)), 1.0)


def _blocks(wide: Any) -> Iterator[Any]:
    rows, columns = wide.shape
    width = max(1, BLOCK_ENTRIES // rows)
    return (wide[:, low : low + width] for low in range(0, columns, width))


def _gram(blocks: Iterator[Array], scale: float) -> Array:
    """Return the sum of B B^* over scaled blocks B, in double precision."""
    total: Any = 0.0
    for block in blocks:
        scaled = block.astype(np.result_type(block.dtype, np.float64))
        scaled *= scale
        product = scaled @ scaled.conj().T
        total = product if isinstance(total, float) else np.add(total, product, out=total)
    return total


_DEFAULT = Certification()


def certify_eigenvalues(
    operator: Any, vectors: Array, kind: str, plan: Certification = _DEFAULT, tolerance: float = 0.0
) -> Certified:
    """Bracket the sum of the k largest eigenvalues of a Hermitian operator, given k orthonormal vectors.

    Parameters
    ----------
    operator
        The Hermitian matrix or operator.
    vectors
        Approximate eigenvectors as columns.
    kind
        "probabilistic" or "rigorous". Rigorous bounds need a matrix that is small enough to be made dense,
        a matrix to factorise (k = 1), or a ``norm_bound``.
    plan
        Failure probability, steps, seed and limits.
    tolerance
        Width of the bracket that is good enough.

    Returns
    -------
    Certified

    Raises
    ------
    InvalidInput
        If ``kind`` is another word.

    See Also
    --------
    certify_singular_value, Certified

    Examples
    --------
    >>> found = certify_eigenvalues(np.diag([3.0, 2.0, 1.0]), np.eye(3)[:, :1], "probabilistic")
    >>> round(found.lower, 9), round(found.upper, 9), found.bound_kind
    (3.0, 3.0, 'probabilistic')
    """
    products = Products(operator, hermitian=True)
    if kind == PROBABILISTIC:
        return _probabilistic(products, vectors, plan, lambda low, up: up - low <= tolerance)
    if kind != RIGOROUS:
        raise InvalidInput("certify", '"probabilistic" or "rigorous"', repr(kind))
    count = vectors.shape[1]
    lower = float(np.trace(_project(products, vectors)[0]).real)
    if products.shape[0] <= plan.dense_limit:
        matrix = array_of(products)
        values = np.linalg.eigvalsh(matrix)
        upper = float(values[-count:].sum()) + count * rounding_allowance(matrix, float(np.abs(values).max()))
    elif products.explicit and count == 1:
        upper = rigorous_upper(products.operator, lower)
    else:
        upper = count * _by_norm(operator)
    return Certified(max(upper, lower), lower, 0.0, products.count, RIGOROUS)


def certify_singular_value(
    operator: Any,
    left: Array,
    right: Array,
    kind: str,
    plan: Certification = _DEFAULT,
    tolerance: float = 0.0,
) -> Certified:
    """Bracket the largest singular value, given approximate singular vectors.

    Parameters
    ----------
    operator
        The matrix or operator.
    left, right
        Approximate singular vectors, as columns.
    kind, plan, tolerance
        As in :func:`certify_eigenvalues`.

    Returns
    -------
    Certified

    Raises
    ------
    InvalidInput
        If ``kind`` is another word.

    See Also
    --------
    certify_eigenvalues, Certified

    Examples
    --------
    >>> e = np.eye(3)[:, :1]
    >>> certify_singular_value(np.diag([3.0, 2.0, 1.0]), e, e, "rigorous").upper.__round__(9)
    3.0
    """
    products = Products(operator)
    if kind == PROBABILISTIC:
        vector = right if products.shape[1] <= products.shape[0] else left
        gram = Gram(operator)
        found = _probabilistic(gram, vector, plan, lambda low, up: gram.root(up) - gram.root(low) <= tolerance)
        return replace(found, upper=finite_bound(gram.root(found.upper)), lower=gram.root(found.lower))
    if kind != RIGOROUS:
        raise InvalidInput("certify", '"probabilistic" or "rigorous"', repr(kind))
    lower = length_of(products.forward(right[:, :1])[:, 0].copy())
    small = min(products.shape) <= plan.dense_limit
    upper = gram_norm_upper(entries_of(products)) if small else _by_norm(operator)
    return Certified(max(upper, lower), lower, 0.0, products.count, RIGOROUS)


def _probabilistic(
    products: Products | Gram, vectors: Array, plan: Certification, close: Callable[[float, float], bool]
) -> Certified:
    """Bound M on the complement by a deflated run, and join it with what Q knows."""
    before = products.count
    inside, coupling = _project(products, vectors)
    lower = float(np.trace(inside).real)
    size = frobenius(inside) + frobenius(coupling)
    allowance = 16.0 * precision(products) * size * len(inside)

    def enough(low: float, up: float) -> bool:
        above = block_upper_bound(inside, coupling, up)
        if above - block_upper_bound(inside, coupling, low) <= 1e-2 * (above - lower):
            return True
        return close(lower, above)

    rest = bracket(products, plan, enough, vectors)
    upper = block_upper_bound(inside, coupling, rest.upper) if math.isfinite(rest.upper) else lower
    return Certified(upper + allowance, lower, plan.delta, products.count - before, PROBABILISTIC)


def block_upper_bound(inside: Array, coupling: Array, outside: float) -> float:
    """Return the sum of the k largest eigenvalues of [[Theta, T^*], [T, mu I]].

    >>> block_upper_bound(np.array([[1.0]]), np.array([[0.0]]), 0.5)
    1.0
    """
    count = len(inside)
    block = np.block([[inside, coupling.conj().T], [coupling, outside * np.eye(count)]])
    return float(np.linalg.eigvalsh(block)[-count:].sum())


def _project(products: Products | Gram, vectors: Array) -> tuple[Array, Array]:
    """Return Theta = Q^* M Q and T with M Q - Q Theta = W T, W orthonormal, in double precision."""
    wide = np.result_type(products.dtype, np.float64)
    images = products.forward(vectors).astype(wide)
    basis = vectors.astype(wide)
    inside = hermitian_part(basis.conj().T @ images)
    return inside, np.linalg.qr(images - basis @ inside)[1]


def _by_norm(operator: Any) -> float:
    bound = norm_bound(operator)
    if bound is None:
        raise OracleError(
            "no rigorous bound: the operator is too large to be made dense and has no norm_bound(); "
            'use certify="probabilistic"'
        )
    return bound
