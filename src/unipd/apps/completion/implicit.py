"""Recommendations from implicit feedback (views, purchases, plays): weighted least squares on all pairs.

What was not seen counts as a weak zero. Nothing of the size of the matrix is formed: the unseen pairs enter through a
Gram matrix of the factors, and the gradient is a sparse matrix plus one of low rank.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.apps.completion.estimator import EstimatorBase
from unipd.apps.completion.fitted_model import (
    NEGLIGIBLE,
    FittedModel,
    FoldIn,
    Recommender,
    SideModel,
    balanced_factors,
    ranking_metrics,
    solve_seen_row,
)
from unipd.apps.completion.ratings import IndexedRatings, are_pairs, as_pairs, as_ratings, index_ratings
from unipd.apps.completion.solver import orthogonal_factors, single_thread_if_small
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.io.ratings import Ratings
from unipd.maps import Sampling
from unipd.methods.base import ORACLE_SHARE
from unipd.run import Result, recheck
from unipd.run.result import ProblemFacts
from unipd.sharp import NuclearBall
from unipd.spectral import RIGOROUS
from unipd.spectral.operators import LazyMatrix
from unipd.status import Status

CHECK_EVERY = 4
"""Sweeps between two certificates."""
PATH_SWEEPS, PATH_RANK = 4, 48
"""Sweeps and most columns of a trial of the validation path, which is warm-started."""
PATH_FIRST, PATH_STEP, MOST_TRIALS = 8.0, 1.4, 16
"""The path starts at this fraction of the penalty that leaves X = 0, and divides by this step."""
WEAK = 1e-2
"""Columns of a factor shorter than this share of the longest are replaced before a smaller penalty is tried."""
PATIENCE = 2
"""Trials without a better one after which the path ends."""
TOP = 10
"""Items of the validation's lists."""


@dataclass(frozen=True, eq=False)
class SeenPairs:
    """Seen pairs with their weights, the weight of the others, and D of both sides."""

    matrix: Any
    """Weights w_ui of the seen pairs, in CSR form."""
    transposed: Any
    """The same, item by item."""
    unseen_weight: float
    row_scales: FloatArray
    """D_r."""
    column_scales: FloatArray
    """D_c."""

    @staticmethod
    def of(matrix: Any, unseen_weight: float, power: float) -> SeenPairs:
        """Return the pairs of a CSR matrix of weights."""
        scales = []
        for counts, others in zip(seen_counts(matrix), matrix.shape[::-1], strict=True):
            sizes = counts + unseen_weight * others
            scales.append((sizes / sizes.mean()) ** power)
        return SeenPairs(matrix, matrix.T.tocsr(), unseen_weight, *scales)

    @property
    def loss_at_zero(self) -> float:
        """The loss of X = 0."""
        return 0.5 * float(self.matrix.data.sum())

    def sweep(self, columns: Array, penalty: float) -> tuple[Array, Array]:
        """Return U that is best for V, then V that is best for U."""
        rows = self._best(self.matrix, columns, penalty * self.row_scales)
        return rows, self._best(self.transposed, rows, penalty * self.column_scales)

    def _best(self, matrix: Any, across: Array, penalties: FloatArray) -> Array:
        """Return the best factor of one side, row by row: ridge regressions that share the Gram matrix."""
        gram, out = self.unseen_weight * (across.T @ across), np.empty((matrix.shape[0], across.shape[1]))
        starts, places, weights = matrix.indptr, matrix.indices, matrix.data
        for row, penalty in enumerate(penalties):
            part = slice(starts[row], starts[row + 1])
            out[row] = solve_seen_row(gram, across[places[part]], weights[part], self.unseen_weight, penalty)
        return out

    def measure(self, rows: Array, columns: Array, accuracy: float | None = None) -> Measurement:
        """Return loss, radius and a lower bound at X = U V^T over the ball that touches it.

        Without an accuracy the bound is certified; with one only where the relative gap may be within it: there the top
        singular values of G' are a cluster, in which a bound by residuals is never close.

        f(Y) >= f(X) + <G, Y - X> >= f(X) - <G, X> - radius * ||G'|| for every Y in the ball, where G is the gradient
        and G' = D_r^(-1/2) G D_c^(-1/2).
        """
        weights, zero = self.matrix.data, self.unseen_weight
        users = np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))
        sampling = Sampling(users, self.matrix.indices, self.matrix.shape)
        seen = sampling.image(LowRank(rows, columns, np.ones(rows.shape[1])))
        square = float(np.sum((rows.T @ rows) * (columns.T @ columns)))
        loss = 0.5 * float(weights @ (1.0 - seen) ** 2) + 0.5 * zero * (square - float(seen @ seen))
        slopes = weights * (seen - 1.0) - zero * seen
        left, right = np.sqrt(self.row_scales), np.sqrt(self.column_scales)
        inner = orthogonal_factors(left[:, None] * rows, right[:, None] * columns)
        radius = float(inner[1].sum())
        slope = float(slopes @ seen) + zero * square
        if radius == 0.0:
            return Measurement(loss, loss, 0.0, inner, RIGOROUS)  # of the only point
        scaled = sampling.adjoint(slopes / (left[users] * right[self.matrix.indices]))
        direction = SparsePlusLowRank(scaled, zero * rows / left[:, None], columns / right[:, None])
        ball = NuclearBall(self.matrix.shape, radius)
        enough = math.inf if accuracy is None else accuracy * self.loss_at_zero
        answer = ball(direction, tolerance=ORACLE_SHARE * enough) if accuracy else None
        if answer is None or slope + answer.value <= enough:
            answer = ball.call_certified(direction)
        bound = max(loss - slope - answer.value - answer.error, 0.0)
        return Measurement(loss, bound, radius, inner, answer.bound_kind)


@dataclass(frozen=True, eq=False)
class Measurement:
    """A point and its certificate."""

    loss: float
    bound: float
    """Lower bound on the loss over the ball."""
    radius: float
    """||D_r^(1/2) X D_c^(1/2)||_*."""
    factors: tuple[FloatArray, FloatArray, FloatArray]
    """Singular value decomposition of D_r^(1/2) X D_c^(1/2)."""
    bound_kind: str


class SparsePlusLowRank(LazyMatrix):
    """S + U V^T, known by products."""

    def __init__(self, sparse: Any, left: Array, right: Array) -> None:
        super().__init__(sparse.shape, left.dtype)
        self.sparse, self.left, self.right = sparse, left, right

    def matmat(self, block: Array) -> Array:
        """Return S B + U (V^T B)."""
        return self.sparse.matmat(block) + self.left @ (self.right.T @ block)

    def rmatmat(self, block: Array) -> Array:
        """Return S^T B + V (U^T B)."""
        return self.sparse.rmatmat(block) + self.right @ (self.left.T @ block)


class ImplicitCompletion(Recommender, EstimatorBase):
    """Recommend items from what users have seen, with a matrix X of low rank that scores every pair.

    1/2 sum over seen pairs of w_ui (1 - X_ui)^2 + (unseen_weight / 2) sum over all others of X_ui^2 is minimised over
    the ball ||D_r^(1/2) X D_c^(1/2)||_* <= radius, D = ((count + unseen_weight * size) / mean)^weight_power. The solver
    alternates between the factors of X, with a penalty in place of the radius (the ridge of both factors, iALS); a
    duality gap over the ball that touches the solution is certified.

    Parameters
    ----------
    penalty
        Multiplier of the radius, or "auto": chosen by NDCG on held-out pairs along a warm-started path.
    unseen_weight
        Weight of an unseen pair, relative to the mean weight of a seen one.
    weight_power
        Power of the counts in D.
    rank
        Most columns of the factors. Where it limits the solution, the certified gap shows it.
    accuracy
        Requested duality gap, relative to the loss of X = 0.
    max_iterations
        Limit of the sweeps over both factors.
    validation_fraction, random_state
        Share of the pairs held out for "auto", and the random seed.

    Attributes
    ----------
    user_factors_, singular_values_, item_factors_, rank_, users_, items_, result_, n_iter_
        As in :class:`unipd.MatrixCompletion`.
    penalty_, radius_, path_
        The penalty, the norm of the solution, and the penalties tried with their NDCG.
    gap_
        Certified duality gap, relative to the loss of X = 0.

    See Also
    --------
    MatrixCompletion

    Examples
    --------
    >>> model = ImplicitCompletion(penalty=0.1).fit([("ann", "x"), ("ann", "y"), ("bob", "x"), ("eve", "z")])
    >>> model.recommend("bob", 1)[0], model.result_.status.value
    (array(['y'], dtype='<U1'), 'solved')
    """

    def __init__(
        self,
        penalty: float | str = "auto",
        *,
        unseen_weight: float = 0.4,
        weight_power: float = 0.5,
        rank: int = 128,
        accuracy: float = 1e-2,
        max_iterations: int = 40,
        validation_fraction: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.penalty = penalty
        self.unseen_weight = unseen_weight
        self.weight_power = weight_power
        self.rank = rank
        self.accuracy = accuracy
        self.max_iterations = max_iterations
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ImplicitCompletion:
        """Fit to seen pairs and return the estimator.

        Parameters
        ----------
        X
            Pairs (user, item), or anything that :class:`unipd.MatrixCompletion` takes: its positive ratings (counts,
            stars) are weights, relative to their mean, and zeros count as unseen. Weights of repeated pairs are added.
        y
            Weights of the pairs.
        """
        start = time.perf_counter()
        data = index_interactions(X, y)
        mean = float(data.values.mean())
        matrix = sp.csr_array((data.values / mean, (data.rows, data.columns)), shape=data.shape)
        unseen_weight = validate.positive("unseen_weight", self.unseen_weight)
        pairs = SeenPairs.of(matrix, unseen_weight, validate.nonnegative("weight_power", self.weight_power))
        rank = min(validate.integer("rank", self.rank, minimum=1), *data.shape)
        with single_thread_if_small(sum(data.shape)):
            columns = _initial_factor(data.shape[1], rank)
            self.path_: list[tuple[float, float]] = []
            if self.penalty == "auto":
                self.penalty_, columns[:, :PATH_RANK] = self._choose_penalty(matrix, columns[:, :PATH_RANK])
                columns = _revive(columns)
            else:
                self.penalty_ = validate.positive("penalty", self.penalty)
            sweeps, found = self._minimise(pairs, columns)
        self._publish(self._build(data, pairs, found, mean), self._result(data, pairs, found, sweeps, start))
        self.radius_, self.gap_, self.n_iter_ = found.radius, self.result_.gap, sweeps
        self._folded = None
        return self

    def save(self, path: Any) -> Any:
        """Write the fitted model and its result to an .npz file and return the path."""
        from unipd.io.results import save

        return save(self.result_, path, extras={"completion": self._model().arrays()})

    def _minimise(self, pairs: SeenPairs, columns: Array) -> tuple[int, Measurement]:
        """Return the number of sweeps until the gap is within the accuracy, and the certified point."""
        accuracy = validate.positive("accuracy", self.accuracy)
        most = validate.integer("max_iterations", self.max_iterations, minimum=1)
        sweep = 0
        while True:
            rows, columns = pairs.sweep(columns, self.penalty_)
            sweep += 1
            if sweep >= most:
                return sweep, pairs.measure(rows, columns)
            if sweep % CHECK_EVERY == 0:
                found = pairs.measure(rows, columns, accuracy)
                if found.loss - found.bound <= accuracy * pairs.loss_at_zero:
                    return sweep, found

    def _choose_penalty(self, matrix: Any, columns: Array) -> tuple[float, Array]:
        """Return the penalty with the best NDCG on held-out pairs, and the item factors it led to."""
        share = validate.positive("validation_fraction", self.validation_fraction)
        generator = np.random.default_rng(validate.integer("random_state", self.random_state, minimum=0))
        held = generator.random(matrix.nnz) < share
        entries = matrix.tocoo()
        if held.all() or not held.any():
            raise InvalidInput("penalty", 'a number: "auto" needs pairs to hold out', f"{matrix.nnz} pairs")
        kept = sp.csr_array((entries.data[~held], (entries.row[~held], entries.col[~held])), shape=matrix.shape)
        pairs = SeenPairs.of(kept, self.unseen_weight, self.weight_power)
        penalty = _zero_penalty(pairs) / PATH_FIRST
        trials: list[tuple[float, float, Array]] = []
        while len(trials) < MOST_TRIALS:
            rows, columns = pairs.sweep(_revive(columns), penalty)
            for _ in range(PATH_SWEEPS - 1):
                rows, columns = pairs.sweep(columns, penalty)
            trials.append((_ndcg(rows, columns, kept, entries.row[held], entries.col[held]), penalty, columns))
            if max(trials[-PATIENCE:], key=lambda trial: trial[0])[0] < max(trial[0] for trial in trials):
                break
            penalty /= PATH_STEP
        self.path_ = [(penalty, value) for value, penalty, _ in trials]
        best = max(trials, key=lambda trial: trial[0])
        return best[1], best[2]

    def _build(self, data: IndexedRatings, pairs: SeenPairs, found: Measurement, mean: float) -> FittedModel:
        """Return the model with what folds in new users and items."""
        inner = LowRank(found.factors[0], found.factors[2], found.factors[1])
        factors = balanced_factors(inner)
        rows = factors[0] / np.sqrt(pairs.row_scales)[:, None]
        columns = factors[1] / np.sqrt(pairs.column_scales)[:, None]
        left, values, right = orthogonal_factors(rows, columns)
        sides = [
            SideModel(
                basis,
                ridge=1.0,
                power=float(self.weight_power),
                mean_count=float((counts + self.unseen_weight * others).mean()),
                pattern=False,
                features=None,
            )
            for basis, counts, others in zip(
                (left.T @ rows, right.T @ columns), seen_counts(pairs.matrix), data.shape[::-1], strict=True
            )
        ]
        counts = seen_counts(pairs.matrix)[0]
        return FittedModel(
            data.users,
            data.items,
            0.0,
            np.zeros(data.shape[0]),
            np.zeros(data.shape[1]),
            left,
            values,
            right,
            None,
            rated_starts=np.append(0, np.cumsum(counts)).astype(np.int64),
            rated_columns=pairs.matrix.indices.astype(np.int64),
            negligible=1.0 - found.loss / pairs.loss_at_zero <= NEGLIGIBLE**2,
            fold=FoldIn(self.penalty_, *sides, unseen_weight=float(self.unseen_weight), mean_value=mean),
        )

    def _result(self, data: IndexedRatings, pairs: SeenPairs, found: Measurement, sweeps: int, start: float) -> Result:
        """Return the result: solved if the certified gap is within the accuracy, else stopped at the sweep limit."""
        result = Result(
            Status.SOLVED,
            objective=found.loss,
            infeasibility=0.0,
            dual_bound=found.bound,
            gap=(found.loss - found.bound) / pairs.loss_at_zero,
            bound_kind=found.bound_kind,
            accuracy=self.accuracy,
            method="alternating",
            iterations=sweeps,
            seconds=time.perf_counter() - start,
            facts=ProblemFacts(repr(self), loss=True, scale=pairs.loss_at_zero),
            extras={
                "users": data.shape[0],
                "items": data.shape[1],
                "pairs": int(pairs.matrix.nnz),
                "penalty": self.penalty_,
                "radius": found.radius,
            },
        )
        note = "The sweep limit or the rank kept the gap above the accuracy: raise max_iterations or rank."
        return recheck(result, Status.ITERATION_LIMIT, note)


def index_interactions(X: Any, y: Any = None) -> IndexedRatings:
    """Return seen pairs with positive weights, those of repeated pairs added.

    >>> index_interactions([(1, 5), (1, 5), (2, 6)]).values
    array([2., 1.])
    """
    if y is None and are_pairs(X):
        users, items = as_pairs(X)
        ratings = Ratings(users, items, np.ones(users.size))
    else:
        ratings = as_ratings(X, y)
    if ratings.values.size and ratings.values.min() < 0.0:
        raise InvalidInput("X", "weights that are not negative", f"{ratings.values.min():g}")
    ratings = ratings.where(ratings.values > 0.0)
    if not len(ratings):
        raise InvalidInput("X", "at least one seen pair", "none")
    return index_ratings(ratings, duplicates="sum")


def seen_counts(matrix: Any) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of seen pairs of users and of items."""
    users = np.diff(matrix.indptr).astype(np.float64)
    return users, np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)


def _initial_factor(size: int, rank: int) -> Array:
    return np.random.default_rng(0).standard_normal((size, rank)) / math.sqrt(size)


def _revive(columns: Array) -> Array:
    """Return a factor with random columns in place of negligible ones, from which sweeps could not recover soon."""
    sizes = np.linalg.norm(columns, axis=0)
    weak = sizes < WEAK * sizes.max()
    return np.where(weak, 0.1 * sizes.max() * _initial_factor(*columns.shape), columns)


def _zero_penalty(pairs: SeenPairs) -> float:
    """Return the least penalty that leaves X = 0: the norm of the scaled gradient there."""
    left, right = (sp.diags_array(1.0 / np.sqrt(scales)) for scales in (pairs.row_scales, pairs.column_scales))
    ball = NuclearBall(pairs.matrix.shape)
    return ball((left @ pairs.matrix @ right).tocsr(), tolerance=0.0).value


def _ndcg(rows: Array, columns: Array, seen: Any, users: Array, items: Array) -> float:
    """Return NDCG at ``TOP`` on held-out pairs; seen items are not recommended."""
    names, places = np.unique(users, return_inverse=True)
    best = np.empty((names.size, min(TOP, columns.shape[0])), np.int64)
    step = max(1, (1 << 22) // columns.shape[0])
    for first in range(0, names.size, step):
        part = names[first : first + step]
        scores = rows[part] @ columns.T
        chosen = seen[part]
        scores[np.repeat(np.arange(part.size), np.diff(chosen.indptr)), chosen.indices] = -np.inf
        best[first : first + step] = np.argsort(-scores, axis=1)[:, : best.shape[1]]
    return ranking_metrics(best, places.ravel(), items, np.bincount(places.ravel()))["ndcg"]
