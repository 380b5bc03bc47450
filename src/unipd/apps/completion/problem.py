"""The completion problem for given ratings, in both formulations: model, side information, factored form."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import norm
from unipd._util.context import current_communicator
from unipd._util.threads import single_thread_blas
from unipd.apps.completion.ratings import IndexedRatings
from unipd.atoms import Blocks, LowRank, apply, apply_adjoint
from unipd.couplings import Equality, L2Ball, LeastSquares
from unipd.maps import BlockMap, Sampling, TwoSidedMap
from unipd.maps.matrix import Incidence
from unipd.problem import Problem
from unipd.sharp import L2NormSquared, NuclearBall, Product
from unipd.sharp.spectral.factors import (
    Factors,
    NuclearNormFactors,
    ProductFactors,
    QuadraticFactors,
    SpectralFactors,
    add_random_columns,
    drop_weak_columns,
)
from unipd.sharp.spectral.nuclear import BalancedNuclearNormSquared
from unipd.spectral import PRECISION, Engine, fixed_tolerance_engine
from unipd.spectral.operators import LazyMatrix

SMALL_ROWS = 50_000
"""Rows of the factors up to which one BLAS thread is faster than several."""

LEADING = 10
"""Leading eigenvectors of the features that the preconditioner treats exactly."""
Step = Callable[[Array], Array]

FLOOR = 0.6
"""Share of the multiplier that the preconditioner adds to the curvature of the loss."""
ROUNDING = 1e-12
"""Relative spread of the ratings below which they count as constant."""
SWEEPS = 20
"""Sweeps of the alternating minimisation over user and item biases."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CompletionFactors(SpectralFactors):
    """Factors R = (U, V, slack) of Z in a nuclear ball, for a squared loss on sampled entries of X = L_u Z L_v^T.

    R moves on a sphere. At the optimum the sphere adds the multiplier mu of the radius to the curvature, so the
    preconditioner is the inverse of the loss's curvature plus a share of mu (``floor``), projected to
    the tangent space.
    """

    left: SideCurvature
    right: SideCurvature
    floor: float
    """Estimate of the multiplier of the radius, times ``FLOOR``."""

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the curvature plus the floor, on the tangent space at R."""
        stretch = (self._length() / norm(factor)) ** 2
        left, right = self._split_rows(self._normalize(factor))
        assert right is not None
        solve_left = self.left.inverse(self.right.mean(right), self.floor)
        solve_right = self.right.inverse(self.left.mean(left), self.floor)
        radial = factor / norm(factor)
        end = self.left_rows + self.right_rows

        def solve(block: Array) -> Array:
            tangent = block - float(np.vdot(radial, block)) * radial
            tangent[: self.left_rows] = solve_left(tangent[: self.left_rows])
            tangent[self.left_rows : end] = solve_right(tangent[self.left_rows : end])
            tangent[end:] /= self.floor
            tangent -= float(np.vdot(radial, tangent)) * radial
            tangent /= stretch
            return tangent

        return solve

    def factor_of(self, point: LowRank, columns: int) -> Array:
        """Return a factor of Z (shrunk into the ball if needed), with random columns in place of negligible ones."""
        roots = np.sqrt(point.weights)
        stacked = drop_weak_columns(np.concatenate([point.left * roots, point.right * roots], axis=0))
        spare = np.zeros((1, stacked.shape[1]), stacked.dtype)
        spare[0, -1] = math.sqrt(max(0.0, self._length() ** 2 - norm(stacked) ** 2))
        factor = np.concatenate([stacked, spare], axis=0)
        return add_random_columns(factor, min(columns, self.left_rows, self.right_rows), seed=0)


@dataclass(frozen=True, eq=False)
class BiasFactors(QuadraticFactors):
    """A vector of biases with its ridge; the curvature of the loss along a bias is its number of ratings."""

    counts: FloatArray = field(kw_only=True)

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the diagonal curvature."""
        curvature = (self.unit**2 * (self.counts + 2.0 * self.weight)).astype(factor.dtype, copy=False)
        return lambda block: block / curvature


@dataclass(frozen=True)
class ModelSettings:
    """Parameters of the model, documented in :class:`unipd.MatrixCompletion`."""

    user_ridge: float = 8.0
    item_ridge: float = 5.0
    weight_power: float = 0.5
    user_strength: float = 0.0
    """g_u, weight of the user's features in the user's row (0: none)."""
    item_strength: float = 0.0
    user_features: Any = None
    """Matrix of features that replaces the rating pattern."""
    item_features: Any = None
    biases: bool = True
    """Whether to fit biases; without them the ratings are not centred either."""
    scale: float = 1.0
    """c of the loss (c/2) ||A x - b||^2."""
    dtype: Any = np.float64
    """Type of the numbers in the problem; single precision takes half the memory, and suits an accuracy of 1e-3."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """A point and the multiplier of the radius at it."""

    point: Any
    multiplier: float


class CompletionProblem:
    """r_ui ~ mean + b_u + c_i + X_ui on given ratings, as problems over nuclear balls of Z, X = L_u Z L_v^T.

    Under MPI every rank passes its own ratings, all those of a contiguous range of users; the target has the ratings
    of all ranks.

    Parameters
    ----------
    users, items
        Row and column of every rating, from 0.
    values
        The ratings.
    shape
        Numbers of users and items.
    settings
        Parameters of the model.

    See Also
    --------
    solve_completion, ball_formulation

    Examples
    --------
    >>> ratings = np.array([4.0, 2.0, 3.0])
    >>> completion = CompletionProblem(np.array([0, 0, 1]), np.array([0, 1, 0]), ratings, (2, 2), ModelSettings())
    >>> completion.mean, completion.problem(1.0)
    (3.0, Problem(Product, BlockMap, n=3, LeastSquares, split))
    """

    def __init__(
        self, users: IntArray, items: IntArray, values: FloatArray, shape: tuple[int, int], settings: ModelSettings
    ) -> None:
        self.users, self.items, self.shape, self.settings = users, items, shape, settings
        group = current_communicator()
        ratings, dtype = group.allgather(values), settings.dtype
        self.mean = float(ratings.mean()) if settings.biases else 0.0
        self.target = _center(ratings, self.mean).astype(dtype, copy=False)
        self.target.flags.writeable = False  # so that problems share it
        self.user_counts = group.allreduce(np.bincount(users, minlength=shape[0])).astype(np.float64)
        self.item_counts = group.allreduce(np.bincount(items, minlength=shape[1])).astype(np.float64)
        self.incidences = tuple(
            group.stack_maps(Incidence, each, size, dtype) for each, size in zip((users, items), shape, strict=True)
        )
        counts, places = (self.user_counts, self.item_counts), (users, items)
        self.left = self._side_factor(places, counts, settings.user_strength, settings.user_features)
        self.right = self._side_factor(places[::-1], counts[::-1], settings.item_strength, settings.item_features)
        self.sampled = group.stack_maps(Sampling, users, items, shape, dtype)
        sides = (self.left, self.right)
        if settings.weight_power != 0.0 or not all(side.is_diagonal for side in sides):
            factors = (side.scales if side.is_diagonal else side for side in sides)
            self.sampled = TwoSidedMap(self.sampled, *factors)
        self.curvatures = [SideCurvature(*pair, settings.scale) for pair in zip(sides, counts, strict=True)]

    @classmethod
    def from_ratings(cls, data: IndexedRatings, settings: ModelSettings) -> CompletionProblem:
        """Return the problem of indexed ratings.

        Parameters
        ----------
        data
            Ratings whose users and items are numbered.
        settings
            Scale, ridges and precision of the model.
        """
        return cls(data.rows, data.columns, data.values, data.shape, settings)

    @property
    def checkpoint_identity(self) -> ModelSettings:
        """What a checkpoint compares besides the problem: the ratings here are those of one rank."""
        return self.settings

    @property
    def inner_shape(self) -> tuple[int, int]:
        """Shape of Z."""
        return self.left.shape[1], self.right.shape[1]

    def problem(self, radius: float, engine: Engine | None = None) -> Problem:
        """Return min (c/2) sum (r - mean - b - c - X)^2 + ridges over ||Z||_* <= radius.

        Parameters
        ----------
        radius
            The bound on the nuclear norm.
        engine
            Replaces the default eigensolver of the oracle.
        """
        ball, loss = NuclearBall(self.inner_shape, radius, engine=engine), LeastSquares(self.settings.scale)
        if not self.settings.biases:
            return Problem(ball, self.sampled, self.target, loss)
        blocks = [ball, *(L2NormSquared(counts.size, 0.5 * ridge) for counts, ridge in self._ridges())]
        return Problem(Product(blocks), BlockMap([self.sampled, *self.incidences]), self.target, loss)

    def factors(self, radius: float, multiplier: float) -> Factors:
        """Return the factored form for :class:`unipd.Factored`.

        Parameters
        ----------
        radius
            The bound on the nuclear norm.
        multiplier
            An estimate of its multiplier.
        """
        spectral = self._spectral_factors(radius, multiplier)
        if not self.settings.biases:
            return spectral
        unit = self._bias_unit(radius)
        biases = (BiasFactors((counts.size,), 0.5 * ridge, unit, counts=counts) for counts, ridge in self._ridges())
        return ProductFactors((spectral, *biases))

    def factor_of(self, point: Any, radius: float, columns: int) -> Array:
        """Return a factor of a point in this form, with small random columns up to the requested number.

        Parameters
        ----------
        point
            The point, with its biases.
        radius
            The bound on the nuclear norm, into which the matrix is shrunk if needed.
        columns
            Number of columns.
        """
        matrix, *biases = split_blocks(point)
        factor = self._spectral_factors(radius, 1.0).factor_of(matrix, columns)
        if not biases:
            return factor.astype(self.settings.dtype, copy=False)
        unit = self._bias_unit(radius)
        packed = np.concatenate([factor.reshape(-1), *(bias / unit for bias in biases)])
        return packed.astype(self.settings.dtype, copy=False)

    def _bias_unit(self, radius: float) -> float:
        """Return the size of biases as large as the ratings over the length of the factor of Z; 1 for zeros."""
        size = norm(self.target) * math.sqrt(sum(self.shape) / self.target.size)
        return size / math.sqrt(2.0 * radius) or 1.0

    def _spectral_factors(self, radius: float, multiplier: float) -> CompletionFactors:
        left, right = self.curvatures
        return CompletionFactors(*self.inner_shape, radius, True, left=left, right=right, floor=FLOOR * multiplier)

    def multiplier(self, point: Any, dual: Array, radius: float) -> float:
        """Return mu = -<A^* lam, Z> / radius, the multiplier of ||Z||_* <= radius at a stationary point.

        Parameters
        ----------
        point
            The point, with its biases.
        dual
            The dual vector lam.
        radius
            The bound on the nuclear norm.
        """
        matrix = split_blocks(point)[0]
        return max(-matrix.inner(self.sampled.adjoint(dual)) / radius, self.initial_multiplier(radius) * 1e-3)

    def initial_multiplier(self, radius: float) -> float:
        """Return half of the upper bound phi(0) / radius of mu (by convexity); 1 if it vanishes."""
        return 0.25 * self.settings.scale * float(self.target @ self.target) / radius or 1.0

    def zero(self, radius: float) -> WarmStart:
        """Return the warm start Z = 0, b = c = 0."""
        left, right = (np.zeros((rows, 1), self.settings.dtype) for rows in self.inner_shape)
        matrix = LowRank(left, right, np.zeros(1, self.settings.dtype))
        point = Blocks((matrix, *map(np.zeros, self.shape))) if self.settings.biases else matrix
        return WarmStart(point, self.initial_multiplier(radius))

    def effective(self, point: Any) -> tuple[Array, Array]:
        """Return factors (U, V) of X = U V^T."""
        matrix = split_blocks(point)[0]
        return self.left.matmat(matrix.left * matrix.weights), self.right.matmat(matrix.right)

    def biases_at_ratings(self, users: Array, items: Array) -> Array:
        """Return b_u + c_i for every rating.

        Parameters
        ----------
        users, items
            The biases b of the users and c of the items.
        """
        return self.incidences[0].image(users) + self.incidences[1].image(items)

    def _side_factor(
        self, places: tuple[IntArray, ...], counts: tuple[FloatArray, ...], strength: float, features: Any
    ) -> SideFactor:
        """Return L = [D^(-1/2), g F] of the first side; rows without ratings get the weight of an average row."""
        (own, other), dtype = counts, self.settings.dtype
        weights, rated = np.ones(own.size), own > 0
        weights[rated] = (own[rated] / own[rated].mean()) ** self.settings.weight_power
        scales = (1.0 / np.sqrt(weights)).astype(dtype, copy=False)
        if strength == 0.0:
            return SideFactor(scales)
        if features is None:
            rows, columns = (current_communicator().allgather(part) for part in places)
            features = sp.csr_array((1.0 / np.sqrt(own[rows]), (rows, columns)), shape=(own.size, other.size))
        return SideFactor(scales, (strength * features).astype(dtype, copy=False))

    def _ridges(self) -> tuple[tuple[FloatArray, float], tuple[FloatArray, float]]:
        return (self.user_counts, self.settings.user_ridge), (self.item_counts, self.settings.item_ridge)


def split_blocks(point: Any) -> tuple[Any, ...]:
    """Return the blocks of a point (Z, b, c), or (Z,) of a bare matrix.

    >>> from unipd.atoms import LowRank
    >>> len(split_blocks(LowRank(np.ones((2, 1)), np.ones((3, 1)), np.ones(1))))
    1
    """
    return point.parts if isinstance(point, Blocks) else (point,)


def _center(ratings: FloatArray, mean: float) -> FloatArray:
    """Return ratings - mean, exactly zero when ratings differ by rounding errors only.

    >>> _center(np.full(3, 0.1), 0.1 + 1e-17)
    array([0., 0., 0.])
    """
    target = ratings - mean
    return np.zeros_like(target) if norm(target) <= ROUNDING * norm(ratings) else target


def ball_formulation(users: IntArray, items: IntArray, values: FloatArray, shape: tuple[int, int]) -> CompletionProblem:
    """Return formulation (a), min (1/n) ||A(X) - b||^2 over ||X||_* <= kappa, for every kappa.

    ``ball_formulation(...).problem(kappa)`` is the problem; :func:`~unipd.apps.completion.solve_completion` solves it
    to high accuracy.

    Parameters
    ----------
    users
        Row of each rating, from 0.
    items
        Column of each rating, from 0.
    values
        The ratings.
    shape
        Number of rows and columns.

    See Also
    --------
    ball_problem, CompletionProblem

    Examples
    --------
    >>> ball_formulation(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2)).problem(5.0)
    Problem(NuclearBall, Sampling, n=2, LeastSquares, split)
    """
    return CompletionProblem(
        users, items, values, shape, ModelSettings(weight_power=0.0, biases=False, scale=2.0 / values.size)
    )


def ball_problem(
    users: IntArray,
    items: IntArray,
    values: FloatArray,
    shape: tuple[int, int],
    radius: float,
    *,
    precision: float | None = PRECISION,
) -> Problem:
    """Return formulation (a): min (1/n) ||A(X) - b||^2 over ||X||_* <= radius.

    ``precision`` is the relative residual of the oracle's singular vectors: by default iterates are those of an exact
    oracle. None uses the tolerance that a method requests: fewer products, and other iterates.

    Parameters
    ----------
    users
        Row of each rating, from 0.
    items
        Column of each rating, from 0.
    values
        The ratings.
    shape
        Number of rows and columns.
    radius
        The radius r > 0.
    precision
        Relative residual of the oracle's singular vectors; None for what each method requests.

    Raises
    ------
    InvalidInput
        ``radius``: expected a number above zero.

    See Also
    --------
    ball_formulation, norm_problem, CompletionProblem

    Examples
    --------
    >>> ball_problem(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2), radius=5.0)
    Problem(NuclearBall, Sampling, n=2, LeastSquares, split)
    """
    ball = ball_formulation(users, items, values, shape)
    return ball.problem(validate.positive("radius", radius), fixed_tolerance_engine(precision))


def fit_biases(completion: CompletionProblem) -> tuple[FloatArray, FloatArray]:
    """Return (b, c) that minimise 1/2 sum (r - mean - b_u - c_i)^2 + ridges, by alternating sweeps.

    >>> users, items, ratings = np.array([0, 1]), np.array([0, 0]), np.array([2.0, 4.0])
    >>> completion = CompletionProblem(users, items, ratings, (2, 1), ModelSettings(user_ridge=1.0))
    >>> fit_biases(completion)[0]
    array([-0.5,  0.5])
    """
    (by_user, by_item), target, settings = completion.incidences, completion.target, completion.settings
    users, items = np.zeros(completion.shape[0]), np.zeros(completion.shape[1])
    for _ in range(SWEEPS):
        items = by_item.adjoint(target - by_user.image(users)) / (completion.item_counts + settings.item_ridge)
        users = by_user.adjoint(target - by_item.image(items)) / (completion.user_counts + settings.user_ridge)
    return users, items


class SideFactor(LazyMatrix):
    """The factor L = [diag(scales), F] of one side: ||Z||_* constrains X through L L^T = D^(-1) + F F^T.

    Any L with the same L L^T gives the same set of matrices X. This one is sparse when F is, so that a product costs
    as much as one with the ratings; a user's row of X is its own row plus a mixture of the rows of its features.

    Parameters
    ----------
    scales
        Diagonal of D^(-1/2).
    features
        F, an array or a SciPy sparse array, or None.

    Examples
    --------
    >>> side = SideFactor(np.array([1.0, 2.0]), sp.csr_array(np.array([[3.0], [0.0]])))
    >>> side.matmat(np.eye(3))
    array([[1., 0., 3.],
           [0., 2., 0.]])
    """

    def __init__(self, scales: FloatArray, features: Any = None) -> None:
        self.scales, self.features = scales, features
        self._products: Any = _as_sampled_matrix(features) if sp.issparse(features) else features
        width = 0 if features is None else features.shape[1]
        super().__init__((scales.size, scales.size + width), scales.dtype)

    @property
    def is_diagonal(self) -> bool:
        """Whether L has no features."""
        return self.features is None

    def matmat(self, x: Array) -> Array:
        """Return L X."""
        rows = self.shape[0]
        out = self.scales[:, np.newaxis] * x[:rows]
        if self.features is not None:
            out += apply(self._products, x[rows:])
        return out

    def rmatmat(self, x: Array) -> Array:
        """Return L^T X."""
        own = self.scales[:, np.newaxis] * x
        if self.features is None:
            return own
        return np.concatenate([own, apply_adjoint(self._products, x)], axis=0)

    def gram_diagonal(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of L^T diag(weights) L."""
        own = self.scales**2 * weights
        if self.features is None:
            return own
        return np.concatenate([own, (self.features**2).T @ weights])

    def leading(self, weights: FloatArray, count: int) -> tuple[FloatArray, Array] | None:
        """Return the leading eigenpairs of L^T diag(weights) L; None when it is diagonal."""
        count = min(count, *self.shape)
        if self.features is None or count == 0:
            return None
        roots = np.sqrt(weights)
        scaled = SideFactor(roots * self.scales, sp.diags_array(roots) @ self.features)
        triples = Engine().singular_triples(scaled, count, tolerance=1e-2)
        return triples.values**2, np.ascontiguousarray(triples.right)


class SideCurvature:
    """Curvature of (c/2) sum over ratings of (<u_i, v_j> - r)^2 in the factor P of one side, u = (L P)_i.

    With the other side fixed it is c L^T (sum over j rated by i of v_j v_j^T)_i L. The inner sums are close to
    n_i W, where n_i counts the ratings of i and W is the mean of v_j v_j^T over all ratings, which leaves the
    Kronecker product of C = c L^T diag(n) L and W. C is approximated by its diagonal and its leading eigenvectors:
    features shared by many users make these far larger than the diagonal.

    Parameters
    ----------
    side
        L.
    counts
        n, the number of ratings in each row.
    scale
        c.
    """

    def __init__(self, side: SideFactor, counts: FloatArray, scale: float = 1.0) -> None:
        self.side = side
        self._shares = np.sqrt(counts / counts.sum())[:, np.newaxis].astype(side.dtype, copy=False)
        self.gram_diagonal = scale * side.gram_diagonal(counts)
        self.leading = side.leading(scale * counts, LEADING)

    def mean(self, factor: Array) -> FloatArray:
        """Return the mean over the ratings of u_i u_i^T for the factor P, u = (L P)_i: the other side's W."""
        rows = self.side.matmat(factor) * self._shares
        return rows.T @ rows

    def inverse(self, mean: FloatArray, floor: float) -> Step:
        """Return B -> (C x W + floor)^(-1) B for the other side's W: positive definite and symmetric."""
        sizes, rotation = np.linalg.eigh(mean)
        sizes = np.maximum(sizes, 0.0)
        scales = (1.0 / (self.gram_diagonal[:, np.newaxis] * sizes + floor)).astype(mean.dtype, copy=False)
        if self.leading is None:
            return lambda block: ((block @ rotation) * scales) @ rotation.T
        values, vectors = self.leading
        heads = (1.0 / (values[:, np.newaxis] * sizes + floor)).astype(mean.dtype, copy=False)

        def solve(block: Array) -> Array:
            turned = block @ rotation
            head = vectors.T @ turned
            turned -= vectors @ head
            turned *= scales
            turned += vectors @ (heads * head - vectors.T @ turned)
            return turned @ rotation.T

        return solve


def _as_sampled_matrix(features: Any) -> Any:
    """Wrap a sparse matrix with the sampling kernels, which are multithreaded and faster than SciPy's products."""
    if features.nnz == 0:
        return features
    entries = features.tocoo()
    return Sampling(entries.row, entries.col, features.shape).adjoint(entries.data)


@dataclass(frozen=True, eq=False, kw_only=True)
class NormFactors(NuclearNormFactors):
    """The factors of Z for sampled entries of X = L_u Z L_v^T, preconditioned by the curvature of the penalty."""

    left: SideCurvature
    right: SideCurvature
    scale: float
    """The loss's factor c, which the curvatures contain."""

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the penalty's curvature plus a share of that of the objective."""
        floor, share = FLOOR * self.weight * norm(factor) ** 2 or 1.0, (self.penalty or 0.0) / self.scale
        rows, below = factor[: self.left_rows], factor[self.left_rows :]
        solve_left = self.left.inverse(share * self.right.mean(below), floor)
        solve_right = self.right.inverse(share * self.left.mean(rows), floor)

        def solve(block: Array) -> Array:
            return np.concatenate([solve_left(block[: self.left_rows]), solve_right(block[self.left_rows :])], axis=0)

        return solve


def norm_problem(
    users: IntArray,
    items: IntArray,
    values: FloatArray,
    shape: tuple[int, int],
    noise: float = 0.0,
    *,
    precision: float | None = PRECISION,
) -> Problem:
    """Return formulation (b): min (1/n) ||X||_*^2 subject to ||A(X) - b|| <= noise (A(X) = b when it is 0).

    ``precision`` is as in :func:`ball_problem`.

    Parameters
    ----------
    users
        Row of each rating, from 0.
    items
        Column of each rating, from 0.
    values
        The ratings.
    shape
        Number of rows and columns.
    noise
        The bound on ||A(X) - b||.
    precision
        Relative residual of the oracle's singular vectors; None for what each method requests.

    Raises
    ------
    InvalidInput
        ``noise``: expected a number of at least zero.

    See Also
    --------
    ball_problem

    Examples
    --------
    >>> norm_problem(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2))
    Problem(BalancedNuclearNormSquared, Sampling, n=2, Equality)
    """
    level = validate.nonnegative("noise", noise)
    return minimum_norm_problem(
        ball_formulation(users, items, values, shape), values, level, fixed_tolerance_engine(precision)
    )


def minimum_norm_problem(
    completion: CompletionProblem, target: FloatArray, noise: float, engine: Engine | None = None
) -> Problem:
    """Return min (1/n) ||Z||_*^2 subject to ||A(Z) - target|| <= noise for the matrix Z of a model.

    ``engine`` is as in :meth:`CompletionProblem.problem`.
    """
    coupling = L2Ball(noise) if noise > 0.0 else Equality()
    sharp = BalancedNuclearNormSquared(completion.inner_shape, 1.0 / target.size, engine=engine)
    return Problem(sharp, completion.sampled, target, coupling)


def single_thread_if_small(rows: int) -> AbstractContextManager[Any]:
    """Return a context with one BLAS thread for factors of few rows."""
    return single_thread_blas(rows <= SMALL_ROWS)


def orthogonal_factors(left: Array, right: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (U, s, V) with orthonormal columns and U diag(s) V^T = left right^T.

    >>> orthogonal_factors(np.array([[2.0], [0.0]]), np.array([[3.0]]))[1]
    array([6.])
    """
    with single_thread_if_small(len(left) + len(right)):
        first, upper = np.linalg.qr(left)
        second, lower = np.linalg.qr(right)
        outer, values, inner = np.linalg.svd(upper @ lower.T, full_matrices=False)
        return first @ outer, values, second @ inner.T
