"""The completion estimator without scikit-learn: from parameters and ratings to a fitted model."""

from __future__ import annotations

import inspect
import os
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._util import validate
from unipd._util.arrays import norm
from unipd._util.context import current_communicator
from unipd._util.printing import ReprMixin
from unipd.apps.completion.fitted_model import (
    NEGLIGIBLE,
    FittedModel,
    Recommender,
    balanced_factors,
    build_fold_in,
    clip_range,
)
from unipd.apps.completion.problem import CompletionProblem, ModelSettings, WarmStart, fit_biases
from unipd.apps.completion.ratings import (
    IndexedRatings,
    align_features,
    as_ratings,
    feature_names,
    index_local_ratings,
    index_ratings,
    join_ratings,
)
from unipd.apps.completion.saved_model import fit_content, model_content, restore_fit
from unipd.apps.completion.solver import (
    FIRST_RANK,
    MOST_NORM_ITERATIONS,
    Deadline,
    RadiusChoice,
    SolverOptions,
    add_remedy,
    apply_trivial_bound,
    cross_validate_radius,
    factored_norm_method,
    orthogonal_factors,
    reindex_warm_start,
    root_mean_square,
    single_thread_if_small,
    solve_completion,
    solve_minimum_norm,
    warm_start_from,
)
from unipd.atoms import Blocks
from unipd.errors import InvalidInput
from unipd.io.ratings import Shard
from unipd.methods import auto
from unipd.problem import Problem
from unipd.run import Result, downgrade
from unipd.run.result import reduce_result
from unipd.run.termination import Callback
from unipd.status import Status

SEARCH_SHARE = 0.75
"""Share of a time limit for the choice of the radius; the rest is for the final fit."""
SEARCH_CUT = "The time limit ended the search for a radius; the fit uses the best one tried."
PLAIN_DEFAULTS: dict[str, float] = {"item_ridge": 5.0, "weight_power": 0.5, "rank": FIRST_RANK, "accuracy": 1e-3}
"""Defaults of the plain model."""
MANY_RATINGS, RANK_OF_MANY, ACCURACY_OF_MANY = 1_000_000, 16, 0.15
"""With more ratings the default initial rank is lower, because every column costs a pass over them and factors can
widen, and so is the accuracy: closer to the optimum predictions hardly change, at many times the cost."""
SINGLE_ACCURACY = 1e-4
"""Smallest accuracy at which data of that size are fitted in single precision, to save memory and time."""
SIDE_DEFAULTS: dict[str, float] = {"item_ridge": 12.0, "weight_power": 0.35, "rank": 48, "accuracy": 1e-3}
"""Defaults with side information."""


class CompletionModel(Recommender):
    """Everything of :class:`unipd.MatrixCompletion`, which adds scikit-learn's base class where it is installed."""

    fit_: Fit
    """The fitted model with its data and its runs."""

    def __init__(
        self,
        radius: float | str | None = "auto",
        *,
        residual: float | None = None,
        side_information: bool = False,
        user_ridge: float = 8.0,
        item_ridge: float | None = None,
        weight_power: float | None = None,
        user_strength: float = 0.5,
        item_strength: float = 0.7,
        clip: bool | tuple[float, float] = True,
        duplicates: str | None = None,
        method: str = "factored",
        accuracy: float | None = None,
        rank: int | None = None,
        validation_fraction: float = 0.1,
        random_state: Any = 0,
        max_seconds: float | None = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.radius = radius
        self.residual = residual
        self.side_information = side_information
        self.user_ridge = user_ridge
        self.item_ridge = item_ridge
        self.weight_power = weight_power
        self.user_strength = user_strength
        self.item_strength = item_strength
        self.clip = clip
        self.duplicates = duplicates
        self.method = method
        self.accuracy = accuracy
        self.rank = rank
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, user_features: Any = None, item_features: Any = None) -> Any:
        """Fit to ratings and return the estimator.

        Parameters
        ----------
        X
            A SciPy sparse matrix; a tuple (users, items, ratings), or rows of such triples; a DataFrame with columns
            user, item and rating, or with users as its index, items as its columns and NaN for missing ratings; a
            float array with NaN for missing ratings; or, with ``y``, rows of pairs (user, item).
        y
            Ratings of the pairs.
        user_features, item_features
            With ``side_information=True``: features that replace the rating pattern, as ``{name: numbers}``, a
            DataFrame indexed by name, or a matrix whose row k belongs to the name k, with a row for every name.
            Users and items with features but without ratings are part of the model: they are predicted, and items
            recommended, from their features (of a matrix, rows of zeros do not count).
        """
        parameters, features = check_parameters(self), (user_features, item_features)
        names = (feature_names("user_features", user_features), feature_names("item_features", item_features))
        ratings = X if isinstance(X, Shard) else as_ratings(X, y)
        data = index_local_ratings(ratings, parameters.duplicates or "last", *names)
        del ratings  # a copy of the data
        _warn_of_content(data, parameters.duplicates)
        fit = fit_data(data, self._adapt_parameters(parameters, data, features))
        self._features, self._folded, self.n_features_in_ = features, None, 2
        return self._set_fit(fit)

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Fit to additional ratings, warm-started from the present fit, and return the estimator.

        A new rating of a known pair replaces the old one. Users and items may be new; they have no features if these
        were passed as a matrix without a row for them. Ratings that :meth:`fold_in` added are part of the fit, without
        features passed there. The radius is kept. With ``residual``, and with methods other
        than "factored", there is no warm start. Before the first fit this is :meth:`fit`.

        Parameters
        ----------
        X, y
            The additional pairs and ratings, given as to :meth:`fit`.
        """
        if self._fitted is None:
            return self.fit(X, y)
        processes = current_communicator().size
        if processes > 1:
            raise InvalidInput("partial_fit", "one process (fit works on several)", f"{processes} processes")
        parameters, before = check_parameters(self), self.fit_
        latest = index_ratings(as_ratings(X, y), duplicates=parameters.duplicates or "last")
        _warn_of_duplicates(latest, parameters.duplicates)
        more = latest.ratings() if self._folded is None else join_ratings(self._folded, latest.ratings())
        users, items = before.data.users.union(more.users), before.data.items.union(more.items)
        earlier = before.data.ratings()
        data = index_ratings(join_ratings(earlier, more), users, items)
        parameters = self._adapt_parameters(parameters, data, self._features, complete=False)
        start = None if before.start is None else reindex_warm_start(before.start, before.data, data, self._features)
        self._folded = None
        return self._set_fit(fit_data(data, parameters, start, before.radius))

    def save(self, path: str | os.PathLike[str]) -> Any:
        """Write the fitted model and its result to an .npz file for :func:`unipd.load`, and return the path.

        The ratings are part of the file, so that a loaded model can go on with :meth:`partial_fit`. The callback is
        not, and a random generator becomes ``random_state=None``.
        """
        from unipd.io.results import save

        content = self.arrays()
        return save(self.result_, path, extras={"completion": content})

    def arrays(self) -> dict[str, Any]:
        """Return the fitted estimator as arrays and numbers, for a file."""
        parameters = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        return model_content(self._model(), self.fit_, parameters, self._features, self._folded)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for a pickle; the result is without its problem, the solver's state and A x."""
        base: Any = super()
        content = dict(base.__getstate__() if hasattr(base, "__getstate__") else vars(self))
        if self._fitted is not None:
            content["result_"] = reduce_result(self.result_)
            content["fit_"] = fit_content(self.fit_)
        return content

    def __setstate__(self, content: dict[str, Any]) -> None:
        """Restore the attributes from a pickle."""
        base: Any = super()
        restore = base.__setstate__ if hasattr(base, "__setstate__") else vars(self).update
        restore(content)
        if self._fitted is not None:
            self._set_fit(restore_fit(content["fit_"], self._fitted, self.result_))

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings.

        Iterations, calls, products and seconds are those of the final fit; names with the prefix ``search_`` belong to
        the choice of the radius. ``total_seconds`` covers both.
        """
        self._model()
        return self.result_.summary()

    def _set_fit(self, fit: Fit) -> Any:
        self.fit_, result = fit, fit.result
        self._publish(fit.fitted, result)
        self.radius_, self.path_ = fit.radius, fit.path
        self.objective_, self.dual_bound_ = result.objective, result.dual_bound
        self.gap_, self.n_iter_ = result.gap, result.iterations
        return self

    def _adapt_parameters(
        self, parameters: Parameters, data: IndexedRatings, given: tuple[Any, Any], *, complete: bool = True
    ) -> Parameters:
        """Return the parameters with the features of users and items, and with what suits very many ratings."""
        settings = parameters.settings
        if data.values.size > MANY_RATINGS:
            defaults = {"rank": RANK_OF_MANY, "accuracy": ACCURACY_OF_MANY}
            chosen = {name: value for name, value in defaults.items() if getattr(self, name) is None}
            parameters = replace(parameters, options=replace(parameters.options, **chosen))
            if parameters.options.accuracy >= SINGLE_ACCURACY:
                settings = replace(settings, dtype=np.float32)
        named = zip(("user_features", "item_features"), given, (data.users, data.items), strict=True)
        for name, features, index in named:
            if features is None:
                continue
            if not self.side_information:
                raise InvalidInput(name, "None without side_information=True", type(features).__name__)
            settings = replace(settings, **{name: align_features(name, features, index, complete=complete)})
        return replace(parameters, settings=settings)


@dataclass(frozen=True)
class Parameters:
    """Checked parameters of :class:`unipd.MatrixCompletion`."""

    settings: ModelSettings
    options: SolverOptions
    radius: float | None
    """None: chosen by validation."""
    residual: float | None
    """Root mean squared residual of formulation (b); None for the ball."""
    clip: tuple[float, float] | bool
    """Range of predictions; True for that of the training ratings."""
    duplicates: str | None
    method: str
    validation_fraction: float
    seed: int
    deadline: Deadline
    """End of the whole fit, set when the parameters are checked."""

    def options_in_time(self, share: float = 1.0) -> SolverOptions:
        """Return the solver options with what remains of the first ``share`` of the time as their limit."""
        return replace(self.options, seconds=self.deadline.remaining(share))


def check_parameters(estimator: Any) -> Parameters:
    """Return the checked parameters of an estimator; an error names the invalid one."""
    given: dict[str, Any] = vars(estimator)
    has_side, residual, limit = given["side_information"], given["residual"], given["max_seconds"]
    defaults = SIDE_DEFAULTS if has_side else PLAIN_DEFAULTS
    given = {**given, **{name: value for name, value in defaults.items() if given[name] is None}}
    strengths = [validate.nonnegative(name, given[name]) for name in ("user_strength", "item_strength")]
    return Parameters(
        settings=ModelSettings(
            user_ridge=validate.positive("user_ridge", given["user_ridge"]),
            item_ridge=validate.positive("item_ridge", given["item_ridge"]),
            weight_power=validate.nonnegative("weight_power", given["weight_power"]),
            user_strength=strengths[0] if has_side else 0.0,
            item_strength=strengths[1] if has_side else 0.0,
        ),
        options=SolverOptions(
            accuracy=validate.positive("accuracy", given["accuracy"]),
            rank=validate.integer("rank", given["rank"], minimum=1),
            callback=given["callback"],
            verbose=bool(given["verbose"]),
        ),
        radius=_radius(given["radius"], is_optional=residual is not None),
        residual=None if residual is None else validate.nonnegative("residual", residual),
        clip=_clip(given["clip"]),
        duplicates=None
        if given["duplicates"] is None
        else validate.choice("duplicates", given["duplicates"], ("last", "mean", "error")),
        method=_method(given["method"]),
        validation_fraction=validate.fraction("validation_fraction", given["validation_fraction"]),
        seed=_seed(given["random_state"]),
        deadline=Deadline(None if limit is None else validate.nonnegative("max_seconds", limit)),
    )


def _warn_of_content(data: IndexedRatings, duplicates: str | None) -> None:
    """Warn of ratings that are all equal, and of duplicates unless their treatment was chosen."""
    _warn_of_duplicates(data, duplicates)
    ends = current_communicator().allgather(
        np.array([data.values.min(initial=np.inf), data.values.max(initial=-np.inf)])
    )
    if ends.min() == ends.max() and data.values.size > 1:
        advice = "for views, purchases and the like use unipd.ImplicitCompletion"
        warnings.warn(f"all ratings are {ends[0]:g}, and so is every prediction: {advice}", stacklevel=3)


def _warn_of_duplicates(data: IndexedRatings, duplicates: str | None) -> None:
    if data.repeated and duplicates is None:
        advice = 'choose duplicates="last", "mean" or "error"'
        warnings.warn(
            f"ratings ignored because their pairs are rated again later: {data.repeated}; {advice}", stacklevel=4
        )


def _radius(radius: Any, *, is_optional: bool) -> float | None:
    """Return the radius; None if it is to be chosen or not needed."""
    if radius is None or isinstance(radius, str):
        if radius == "auto" or (radius is None and is_optional):
            return None
        raise InvalidInput("radius", 'a positive number or "auto" (None only with a residual)', repr(radius))
    return validate.positive("radius", radius)


def _clip(clip: Any) -> tuple[float, float] | bool:
    if isinstance(clip, (bool, np.bool_)):
        return bool(clip)
    if not isinstance(clip, (tuple, list)) or len(clip) != 2:
        raise InvalidInput("clip", "True, False or (least, largest)", repr(clip))
    low, high = (validate.number("clip", end) for end in clip)
    if low > high:
        raise InvalidInput("clip", "(least, largest) in this order", repr(clip))
    return low, high


def _method(method: Any) -> str:
    name = validate.choice("method", method, ("auto", *auto.METHODS))
    return "factored" if name == "auto" else name


def _seed(state: Any) -> int:
    """Return the seed: an integer, a draw from a NumPy generator, or 0 for None."""
    if isinstance(state, (np.random.RandomState, np.random.Generator)):
        draw = state.integers if isinstance(state, np.random.Generator) else state.randint
        return int(draw(2**31 - 1))
    return validate.integer("random_state", 0 if state is None else state, minimum=0)


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ReprMixin):
    """A fitted model with its data and run history."""

    fitted: FittedModel
    result: Result
    data: IndexedRatings
    radius: float
    """Radius of the ball; for formulation (b) the least nuclear norm."""
    path: list[tuple[float, float]]
    """Radii tried by validation, with their errors."""
    start: WarmStart | None
    """Warm start for a fit to more ratings."""


def fit_data(
    data: IndexedRatings, parameters: Parameters, start: WarmStart | None = None, radius: float | None = None
) -> Fit:
    """Fit a model to indexed ratings; warm start and radius are those of an earlier fit, when ratings were added."""
    begin = time.perf_counter()
    radius = parameters.radius if radius is None else radius
    if parameters.residual is not None:
        fitted, result, radius = _fit_norm(data, parameters, parameters.residual)
        choice, start = RadiusChoice(radius), None
    else:
        choice = _choose_radius(data, parameters) if radius is None else RadiusChoice(radius)
        fitted, result, start = _fit_ball(data, parameters, choice.start or start, choice.radius)
    count, error = root_mean_square(fitted.predict_at(data.rows, data.columns) - data.values)
    path = [(trial.radius, trial.error) for trial in choice.trials]
    result = _add_search(result, choice, begin).with_extras(
        users=len(fitted.users),
        items=len(fitted.items),
        ratings=count,
        radius=choice.radius,
        rank=fitted.rank,
        rmse_train=error,
    )
    if data.repeated:
        result = result.with_extras(duplicates=data.repeated)
    return Fit(fitted, result, data, choice.radius, path, start)


def _choose_radius(data: IndexedRatings, parameters: Parameters) -> RadiusChoice:
    options = parameters.options_in_time(SEARCH_SHARE)
    fraction, seed, clip = parameters.validation_fraction, parameters.seed, parameters.clip
    return cross_validate_radius(data, parameters.settings, options, fraction=fraction, seed=seed, clip=clip)


def _fit_ball(
    data: IndexedRatings, parameters: Parameters, start: WarmStart | None, radius: float
) -> tuple[FittedModel, Result, WarmStart | None]:
    """Fit formulation (a), biases and a matrix in the ball jointly; return a warm start for further fits, too."""
    completion, options = CompletionProblem.from_ratings(data, parameters.settings), parameters.options_in_time()
    if parameters.method == "factored":
        result = solve_completion(completion, radius, options, start)
        start = warm_start_from(completion, radius, result)
    else:
        options = replace(options, iterations=None)
        result, start = options.solve(completion.problem(radius), parameters.method, tracker="atoms"), None
    return _build_fitted_model(data, parameters, completion, result.x), result, start


def _fit_norm(data: IndexedRatings, parameters: Parameters, residual: float) -> tuple[FittedModel, Result, float]:
    """Fit formulation (b): biases first, then the least nuclear norm (the third value) with a small enough residual."""
    completion, options = CompletionProblem.from_ratings(data, parameters.settings), parameters.options_in_time()
    biases = fit_biases(completion)
    target = completion.target - completion.biases_at_ratings(*biases)

    def run(problem: Problem) -> Result:
        if parameters.method != "factored":
            return replace(options, iterations=None).solve(problem, parameters.method, tracker="atoms")
        with single_thread_if_small(sum(completion.inner_shape)):
            limited = replace(options, iterations=MOST_NORM_ITERATIONS)
            return limited.solve(problem, factored_norm_method(completion, problem, options.rank))

    result = solve_minimum_norm(completion, target, residual, run)
    least = float(np.sqrt(max(result.objective, 0.0) * target.size))
    return _build_fitted_model(data, parameters, completion, Blocks((result.x, *biases))), result, least


def _build_fitted_model(
    data: IndexedRatings, parameters: Parameters, completion: CompletionProblem, point: Blocks
) -> FittedModel:
    """Return the model of a point (Z, b, c)."""
    (given, users, items), group = point.parts, current_communicator()
    matrix: Any = given
    matrix = replace(matrix, left=matrix.left.astype(np.float64), right=matrix.right.astype(np.float64))
    factors = balanced_factors(matrix)
    rows, columns = completion.left.matmat(factors[0]), completion.right.matmat(factors[1])
    left, values, right = orthogonal_factors(rows, columns)
    spread = norm(completion.target)
    return FittedModel(
        data.users,
        data.items,
        completion.mean,
        np.asarray(users, np.float64),
        np.asarray(items, np.float64),
        left,
        values,
        right,
        clip_range(parameters.clip, group.allgather(data.values)),
        rated_starts=np.append(0, np.cumsum(completion.user_counts)).astype(np.int64),
        rated_columns=group.allgather(data.columns).astype(np.int32),
        negligible=spread == 0.0 or norm(completion.sampled.image(matrix)) <= NEGLIGIBLE * spread,
        fold=build_fold_in(completion, point.parts, factors, (left.T @ rows, right.T @ columns)),
    )


def _add_search(result: Result, choice: RadiusChoice, begin: float) -> Result:
    """Return the result of the final fit with the work of the search for its radius among the extras.

    After a search that the time limit ended, the fit is not a success.
    """
    extras = {f"search_{name}": spent for name, spent in choice.work.items()}
    extras["total_seconds"] = time.perf_counter() - begin
    result = replace(apply_trivial_bound(result), extras=extras)
    if choice.cut and (result.status.success or result.status is Status.TIME_LIMIT):
        return downgrade(result, Status.TIME_LIMIT, SEARCH_CUT)
    return add_remedy(result)
