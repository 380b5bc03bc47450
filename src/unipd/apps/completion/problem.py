"""The completion problem for given ratings and any radius: model, factored form, preconditioner, biases alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import norm
from unipd._util.context import current_communicator
from unipd.apps.completion.ratings import IndexedRatings
from unipd.apps.completion.side_information import SideCurvature, SideFactor, Step
from unipd.atoms import Blocks, LowRank
from unipd.couplings import LeastSquares
from unipd.maps import BlockMap, Sampling, TwoSidedMap
from unipd.maps.matrix import Incidence
from unipd.problem import Problem
from unipd.sharp import L2NormSquared, NuclearBall, Product
from unipd.sharp.spectral.factors import (
    Factors,
    ProductFactors,
    QuadraticFactors,
    SpectralFactors,
    add_random_columns,
    drop_weak_columns,
)
from unipd.spectral import PRECISION, Engine, fixed_tolerance_engine

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
    warm: Array | None = None
    """The factor to start from."""

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return the factor to start from, or one made from the atom."""
        return super().start(atom, columns, seed) if self.warm is None else self.warm

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

    counts: FloatArray
    warm: Array | None = None
    """The biases to start from."""

    def start(self, atom: Any, columns: int, seed: int) -> Array:
        """Return the biases to start from, zero by default."""
        return super().start(atom, columns, seed) if self.warm is None else self.warm

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the diagonal curvature."""
        curvature = (self.counts + 2.0 * self.weight).astype(factor.dtype, copy=False)
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

    def factors(self, radius: float, rank: int, start: WarmStart | None = None) -> Factors:
        """Return the factored form for :class:`unipd.Factored`.

        Parameters
        ----------
        radius
            The bound on the nuclear norm.
        rank
            The columns of the factors.
        start
            The solution at another radius, from which to start.
        """
        multiplier = self.initial_multiplier(radius) if start is None else start.multiplier
        left, right = self.curvatures
        floor, dtype = FLOOR * multiplier, self.settings.dtype
        spectral = CompletionFactors(*self.inner_shape, radius, True, left=left, right=right, floor=floor)
        parts: list[Any] = [None, None, None] if start is None else [*split_blocks(start.point)]
        if start is not None:
            spectral = replace(spectral, warm=spectral.factor_of(parts[0], rank).astype(dtype, copy=False))
            parts[1:] = [np.asarray(biases, dtype) for biases in parts[1:]]
        if not self.settings.biases:
            return spectral
        pairs = zip(self._ridges(), parts[1:], strict=True)
        biases = [BiasFactors((counts.size,), 0.5 * ridge, counts, warm) for (counts, ridge), warm in pairs]
        return ProductFactors((spectral, *biases))

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
