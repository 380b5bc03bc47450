"""New users and items in a fitted model, in closed form given the factors of the other side.

At the optimum of the model the factors of X = U V^T minimise 1/2 sum (r - mean - b - c - <u, v>)^2 plus the ridges of
the biases plus mu/2 (||P||^2 + ||Q||^2), where U = L_u P, V = L_v Q and mu is the multiplier of the radius. With V and
c fixed this is a ridge regression for every user alone, and a new user's row is the one that the fit would have given
to a user with these ratings. Items are folded in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import lapack

from unipd._typing import Array, FloatArray, IntArray
from unipd.apps.completion.ratings import IndexedRatings, index_ratings
from unipd.apps.completion.side_information import align_features, feature_names
from unipd.apps.completion.solver import orthogonal_factors
from unipd.errors import InvalidInput
from unipd.io.ratings import Ratings

if TYPE_CHECKING:
    from unipd.apps.completion.fitted_model import FittedModel
    from unipd.apps.completion.problem import CompletionProblem

NEGLIGIBLE = 1e-12
"""Singular values of Z below this share of the largest are rounding."""


@dataclass(frozen=True, eq=False)
class SideModel:
    """How a row of one side is fitted, given the other side."""

    basis: FloatArray
    """T with U = (orthonormal factor) T, for the rows u of this side."""
    ridge: float
    """Ridge of the bias."""
    power: float
    """Power of the counts in D."""
    mean_count: float
    """Mean number of ratings of a rated row."""
    pattern: bool
    """Whether the features are the pattern of the ratings."""
    features: FloatArray | None
    """g times the rows of P that belong to the features; None without side information."""

    def with_features(self, spread: Callable[[FloatArray], FloatArray]) -> SideModel:
        """Return the side with rows of the pattern's features for new names, too."""
        return replace(self, features=spread(self.features)) if self.pattern and self.features is not None else self

    def scale(self, count: float) -> float:
        """Return D^(-1/2) of a row with so many ratings."""
        return (count / self.mean_count) ** (-0.5 * self.power) if count else 1.0


@dataclass(frozen=True, eq=False)
class FoldIn:
    """Both sides, and the multiplier of the radius."""

    multiplier: float
    user: SideModel
    item: SideModel
    unseen_weight: float = 0.0
    """Weight of unseen pairs, for implicit feedback; 0 for ratings."""
    mean_value: float = 1.0
    """Mean weight of a seen pair, which the others are relative to."""

    def arrays(self) -> dict[str, Any]:
        """Return everything as arrays and numbers, for a file."""
        return {**vars(self), "user": dict(vars(self.user)), "item": dict(vars(self.item))}

    @staticmethod
    def from_arrays(content: dict[str, Any]) -> FoldIn:
        """Return what :meth:`arrays` wrote."""
        converted: dict[str, Any] = {name: SideModel(**content[name]) for name in ("user", "item")}
        return FoldIn(**{**content, **converted})


def balanced_factors(point: Any) -> tuple[FloatArray, FloatArray]:
    """Return P and Q with Z = P Q^T and ||Z||_* = 1/2 (||P||^2 + ||Q||^2), from the singular value decomposition."""
    left, values, right = orthogonal_factors(point.left * point.weights, point.right)
    kept = values > NEGLIGIBLE * max(float(values[0]), 1e-300)
    kept[0] = True
    roots = np.sqrt(values[kept])
    return left[:, kept] * roots, right[:, kept] * roots


def build_fold_in(
    completion: CompletionProblem, blocks: tuple[Any, ...], factors: tuple[Array, Array], bases: tuple[Array, Array]
) -> FoldIn:
    """Return what folds rows into the model of a point (Z, b, c) with balanced factors (P, Q)."""
    settings, (matrix, users, items) = completion.settings, blocks
    residual = completion.target - completion.biases_at_ratings(users, items) - completion.sampled.image(matrix)
    size = max(float(np.sum(factors[0] ** 2)), 1e-300)
    sides = []
    for factor, side, basis, counts, ridge, given in (
        (factors[0], completion.left, bases[0], completion.user_counts, settings.user_ridge, settings.user_features),
        (factors[1], completion.right, bases[1], completion.item_counts, settings.item_ridge, settings.item_features),
    ):
        strength = settings.user_strength if side is completion.left else settings.item_strength
        features = None if side.is_diagonal else strength * factor[side.shape[0] :]
        mean_count = float(counts[counts > 0].mean())
        sides.append(SideModel(basis, ridge, settings.weight_power, mean_count, given is None, features))
    return FoldIn(completion.multiplier(matrix, -settings.scale * residual, size), *sides)


def fold_in(model: FittedModel, ratings: Ratings, features: tuple[Any, Any]) -> FittedModel:
    """Return the model with the new users and items of ratings and features.

    Users are fitted first, to their ratings of known items; then items, to their ratings by all users.
    """
    names = [feature_names(f"{name}_features", given) for name, given in zip(("user", "item"), features, strict=True)]
    users, items = model.users.union(ratings.users, names[0]), model.items.union(ratings.items, names[1])
    data = index_ratings(ratings, users, items)
    old_users, old_items = (new.positions(old.names) for new, old in ((users, model.users), (items, model.items)))
    is_old_user, is_old_item = np.zeros(len(users), bool), np.zeros(len(items), bool)
    is_old_user[old_users], is_old_item[old_items] = True, True
    if np.any(is_old_user[data.rows] & is_old_item[data.columns]):
        raise InvalidInput("X", "new users or new items (partial_fit adds ratings of known pairs)", "both known")
    model = _widen(model, data, (old_users, old_items))
    model = _fold_side(model, data.where(is_old_item[data.columns]), ~is_old_user, features[0], is_user=True)
    return _fold_side(model, data, ~is_old_item, features[1], is_user=False)


def _widen(model: FittedModel, data: IndexedRatings, places: tuple[IntArray, IntArray]) -> FittedModel:
    """Return the model with rows of zeros for new users and items, and the new pairs among the rated ones."""
    rows = np.repeat(places[0], np.diff(model.rated_starts))
    rows = np.concatenate([rows, data.rows])
    columns = np.concatenate([places[1][model.rated_columns], data.columns])
    order = np.lexsort((columns, rows))
    counts = np.bincount(rows, minlength=len(data.users))
    sizes = (len(data.users), len(data.items))

    def spread(side: int, values: FloatArray) -> FloatArray:
        out: Any = np.zeros((sizes[side], *values.shape[1:]))
        out[places[side]] = values
        return out

    fold = model.fold
    return replace(
        model,
        users=data.users,
        items=data.items,
        user_bias=spread(0, model.user_bias),
        item_bias=spread(1, model.item_bias),
        left=spread(0, model.left),
        right=spread(1, model.right),
        fold=replace(
            fold,
            user=fold.user.with_features(lambda rows: spread(1, rows)),
            item=fold.item.with_features(lambda rows: spread(0, rows)),
        ),
        rated_starts=np.append(0, np.cumsum(counts)).astype(np.int64),
        rated_columns=columns[order],
    )


def _fold_side(model: FittedModel, data: IndexedRatings, chosen: Array, features: Any, *, is_user: bool) -> FittedModel:
    """Return the model with the chosen rows of one side fitted to the ratings."""
    if not chosen.any():
        return model
    fold, index = model.fold, (data.users if is_user else data.items)
    side, other = (fold.user, fold.item) if is_user else (fold.item, fold.user)
    rows, columns = (data.rows, data.columns) if is_user else (data.columns, data.rows)
    factor, bias = (
        (model.left.copy(), model.user_bias.copy()) if is_user else (model.right.copy(), model.item_bias.copy())
    )
    across = (model.right if is_user else model.left) @ other.basis
    target = data.values - model.mean - (model.item_bias if is_user else model.user_bias)[columns]
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(len(index) + 1))
    argument = "user_features" if is_user else "item_features"
    given = None if features is None else align_features(argument, features, index, complete=False)
    to_basis = np.linalg.pinv(side.basis)
    zero, gram = fold.unseen_weight, fold.unseen_weight * (across.T @ across)
    for row in np.flatnonzero(chosen):
        places = order[bounds[row] : bounds[row + 1]]
        if zero:
            penalty = fold.multiplier / side.scale(places.size + zero * len(across)) ** 2
            weights = data.values[places] / fold.mean_value
            factor[row] = solve_seen_row(gram, across[columns[places]], weights, zero, penalty) @ to_basis
            continue
        vectors, scale = across[columns[places]], side.scale(places.size)
        offset = _feature_offset(side, columns[places], None if given is None else given[[row]], across.shape[1])
        weights, bias[row] = _solve_row(scale * vectors, target[places] - vectors @ offset, fold.multiplier, side.ridge)
        factor[row] = (offset + scale * weights) @ to_basis
    return replace(model, left=factor, user_bias=bias) if is_user else replace(model, right=factor, item_bias=bias)


def _feature_offset(side: SideModel, rated: IntArray, given: Any, rank: int) -> FloatArray:
    """Return the part of a row that its features determine, g F P; items new in the pattern say nothing."""
    if side.features is None or (side.pattern and rated.size == 0) or (not side.pattern and given is None):
        return np.zeros(rank)
    if side.pattern:
        return side.features[rated].sum(axis=0) / np.sqrt(rated.size)
    if given.shape[1] != side.features.shape[0]:
        raise InvalidInput("features", f"{side.features.shape[0]} columns, as in training", str(given.shape[1]))
    return np.asarray(given @ side.features).ravel()


def solve_seen_row(
    gram: Array, vectors: Array, weights: FloatArray, unseen_weight: float, penalty: float
) -> FloatArray:
    """Return argmin of 1/2 sum w_i (1 - <u, v_i>)^2 + (w_0/2) sum over the unseen of <u, v>^2 + (penalty/2) ||u||^2.

    ``gram`` is w_0 times the sum of v v^T over all items, ``vectors`` are the v_i of the seen ones.

    >>> solve_seen_row(np.array([[1.0]]), np.array([[1.0]]), np.array([2.0]), 1.0, 2.0)
    array([0.5])
    """
    system = gram + (vectors.T * (weights - unseen_weight)) @ vectors
    system.flat[:: gram.shape[0] + 1] += penalty
    return _solve_positive(system, weights @ vectors)


def _solve_positive(matrix: Array, right: Array) -> FloatArray:
    """Return the solution of a system with a positive definite matrix; for small ones SciPy's checks would dominate."""
    solve: Any = lapack.dposv  # pyright: ignore[reportAttributeAccessIssue]
    return solve(matrix, right)[1]


def _solve_row(vectors: Array, target: FloatArray, multiplier: float, ridge: float) -> tuple[FloatArray, float]:
    """Return (p, b) that minimise 1/2 ||t - b - W p||^2 + (mu/2) ||p||^2 + (ridge/2) b^2.

    >>> weights, bias = _solve_row(np.ones((1, 1)), np.array([3.0]), 1.0, 1.0)
    >>> weights.round(12), round(bias, 12)
    (array([1.]), 1.0)
    """
    count, rank = vectors.shape
    if count == 0:
        return np.zeros(rank), 0.0
    if count <= rank:
        gram = vectors @ vectors.T / multiplier + 1.0 / ridge
        gram.flat[:: count + 1] += 1.0
        dual = _solve_positive(gram, target)
        return vectors.T @ dual / multiplier, float(dual.sum()) / ridge
    design = np.ones((count, rank + 1))
    design[:, :-1] = vectors
    normal = design.T @ design
    normal.flat[: -1 : rank + 2] += multiplier
    normal[-1, -1] += ridge
    solution = _solve_positive(normal, design.T @ target)
    return solution[:-1], float(solution[-1])
