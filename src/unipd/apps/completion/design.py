"""The completion model on one set of ratings: everything but the radius."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.completion.curvature import SideCurvature
from unipd.apps.completion.factors import BiasFactors, CompletionFactors
from unipd.apps.completion.incidence import Incidence
from unipd.apps.completion.side import Side
from unipd.atoms import Blocks, LowRank
from unipd.couplings import LeastSquares
from unipd.maps import BlockMap, Sampling, Sandwich
from unipd.methods.factors import Factors
from unipd.methods.product_factors import ProductFactors
from unipd.problem import Problem
from unipd.protocols import norm
from unipd.sharp import L2NormSquared, NuclearBall, Product
from unipd.spectral import Engine
from unipd.team import team

FLOOR = 0.6
"""Share of the multiplier that the preconditioner adds to the curvature of the loss."""
ROUNDING = 1e-12
"""Spread of the ratings, relative to their size, that is none."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the model; :class:`unipd.MatrixCompletion` says what they mean."""

    user_ridge: float = 8.0
    item_ridge: float = 5.0
    weight_power: float = 0.5
    user_strength: float = 0.0
    """g_u, how much a user's row follows the user's features (0: not at all)."""
    item_strength: float = 0.0
    user_features: Any = None
    """A matrix of features in the place of the mask of the ratings."""
    item_features: Any = None
    biases: bool = True
    """Whether there are biases; without them the ratings are not centred either."""
    scale: float = 1.0
    """c of the loss (c/2) ||A x - b||^2."""


@dataclass(frozen=True, eq=False)
class Start:
    """A point to start from, and the multiplier of the radius there."""

    point: Any
    multiplier: float


class Design:
    """r_ui ~ mean + b_u + c_i + X_ui on given ratings, as problems over the nuclear balls of Z, X = L_u Z L_v^T.

    In a team a member gives its own ratings, all those of some users in the order of the members; only the target is
    that of all ratings.

    Parameters
    ----------
    users, items
        Indices of the ratings, from 0.
    values
        The ratings.
    shape
        Number of users and of items.
    settings
        Parameters of the model.

    Examples
    --------
    >>> design = Design(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([4.0, 2.0, 3.0]), (2, 2), Settings())
    >>> design.mean, design.problem(1.0)
    (3.0, Problem(Product, BlockMap, n=3, LeastSquares, split))
    """

    def __init__(
        self, users: IntArray, items: IntArray, values: FloatArray, shape: tuple[int, int], settings: Settings
    ) -> None:
        self.users, self.items, self.shape, self.settings = users, items, shape, settings
        ratings = team().joined(values)
        self.mean = float(ratings.mean()) if settings.biases else 0.0
        self.target = _centred(ratings, self.mean)
        self.user_counts = team().total(np.bincount(users, minlength=shape[0])).astype(np.float64)
        self.item_counts = team().total(np.bincount(items, minlength=shape[1])).astype(np.float64)
        self.incidences = (
            team().stacked(Incidence, users, shape[0]),
            team().stacked(Incidence, items, shape[1]),
        )
        self.left = _side(self.user_counts, settings, "user", (users, items, shape))
        self.right = _side(self.item_counts, settings, "item", (items, users, (shape[1], shape[0])))
        sampling = team().stacked(Sampling, users, items, shape)
        plain = settings.weight_power == 0.0 and self.left.diagonal and self.right.diagonal
        self.sampled = sampling if plain else Sandwich(sampling, _as_factor(self.left), _as_factor(self.right))
        self.curvatures = (
            SideCurvature(self.left, self.user_counts, settings.scale),
            SideCurvature(self.right, self.item_counts, settings.scale),
        )

    @property
    def inner_shape(self) -> tuple[int, int]:
        """Shape of Z."""
        return self.left.shape[1], self.right.shape[1]

    def problem(self, radius: float, engine: Engine | None = None) -> Problem:
        """Return min (c/2) sum (r - mean - b - c - X)^2 + ridges over ||Z||_* <= radius.

        ``engine`` computes the singular vectors of the oracle; by default the oracle's own.
        """
        ball, loss = NuclearBall(self.inner_shape, radius, engine=engine), LeastSquares(self.settings.scale)
        if not self.settings.biases:
            return Problem(ball, self.sampled, self.target, loss)
        blocks = [ball, *(L2NormSquared(counts.size, 0.5 * ridge) for counts, ridge in self._ridges())]
        return Problem(Product(blocks), BlockMap([self.sampled, *self.incidences]), self.target, loss)

    def factors(self, radius: float, rank: int, start: Start | None = None) -> Factors:
        """Return the factored form that :class:`~unipd.methods.factored.Factored` works on."""
        multiplier = self.guessed_multiplier(radius) if start is None else start.multiplier
        left, right = self.curvatures
        floor = FLOOR * multiplier
        spectral = CompletionFactors(*self.inner_shape, radius, True, left=left, right=right, floor=floor)
        parts: list[Any] = [None, None, None] if start is None else [*split_blocks(start.point)]
        if start is not None:
            spectral = replace(spectral, warm=spectral.of_point(parts[0], rank))
        if not self.settings.biases:
            return spectral
        pairs = zip(self._ridges(), parts[1:], strict=True)
        biases = [BiasFactors((counts.size,), 0.5 * ridge, counts, warm) for (counts, ridge), warm in pairs]
        return ProductFactors((spectral, *biases))

    def multiplier(self, point: Any, dual: Array, radius: float) -> float:
        """Return mu = -<A^* lam, Z> / radius, the multiplier of ||Z||_* <= radius at a stationary point."""
        matrix = split_blocks(point)[0]
        return max(-matrix.inner(self.sampled.adjoint(dual)) / radius, self.guessed_multiplier(radius) * 1e-3)

    def guessed_multiplier(self, radius: float) -> float:
        """Return half of phi(0) / radius, which by convexity bounds mu; 1 where that is nothing."""
        return 0.25 * self.settings.scale * float(self.target @ self.target) / radius or 1.0

    def zero(self, radius: float) -> Start:
        """Return Z = 0 without biases to start from."""
        left, right = (np.zeros((rows, 1)) for rows in self.inner_shape)
        matrix = LowRank(left, right, np.zeros(1))
        point = Blocks((matrix, *map(np.zeros, self.shape))) if self.settings.biases else matrix
        return Start(point, self.guessed_multiplier(radius))

    def effective(self, point: Any) -> tuple[Array, Array]:
        """Return factors (U, V) of X = U V^T."""
        matrix = split_blocks(point)[0]
        return self.left.matmat(matrix.left * matrix.weights), self.right.matmat(matrix.right)

    def biases_at_ratings(self, users: Array, items: Array) -> Array:
        """Return b_u + c_i for every rating."""
        return self.incidences[0].image(users) + self.incidences[1].image(items)

    def _ridges(self) -> tuple[tuple[FloatArray, float], tuple[FloatArray, float]]:
        return (self.user_counts, self.settings.user_ridge), (self.item_counts, self.settings.item_ridge)


def split_blocks(point: Any) -> tuple[Any, ...]:
    """Return the blocks of a point (Z, b, c), or (Z,) of a bare matrix.

    >>> from unipd.atoms import LowRank
    >>> len(split_blocks(LowRank(np.ones((2, 1)), np.ones((3, 1)), np.ones(1))))
    1
    """
    return point.parts if isinstance(point, Blocks) else (point,)


def _centred(ratings: FloatArray, mean: float) -> FloatArray:
    """Return ratings - mean, zero where ratings differ by rounding only.

    >>> _centred(np.full(3, 0.1), 0.1 + 1e-17)
    array([0., 0., 0.])
    """
    target = ratings - mean
    return np.zeros_like(target) if norm(target) <= ROUNDING * norm(ratings) else target


def _side(counts: FloatArray, settings: Settings, name: str, mask: tuple[IntArray, IntArray, tuple[int, int]]) -> Side:
    """Return L = [D^(-1/2), g F]; rows without ratings have the weight of a mean row."""
    strength, features = getattr(settings, f"{name}_strength"), getattr(settings, f"{name}_features")
    rated = counts > 0
    weights = np.ones(counts.size)
    weights[rated] = (counts[rated] / counts[rated].mean()) ** settings.weight_power
    if strength == 0.0:
        return Side(1.0 / np.sqrt(weights))
    if features is None:
        rows, columns, shape = team().joined(mask[0]), team().joined(mask[1]), mask[2]
        features = sp.csr_array((1.0 / np.sqrt(counts[rows]), (rows, columns)), shape=shape)
    return Side(1.0 / np.sqrt(weights), strength * features)


def _as_factor(side: Side) -> Any:
    return side.scales if side.diagonal else side
