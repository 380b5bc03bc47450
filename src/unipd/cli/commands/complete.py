"""``unipd complete``: predict missing ratings."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd._util.context import current_communicator
from unipd.cli.exits import say
from unipd.cli.options import CHECKPOINTING, METHOD_OPTIONS, SOLVING, WATCHING, WRITING, Options, common_options, option
from unipd.cli.output import emit
from unipd.errors import InvalidInput
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.completion import CompletionModel
    from unipd.io.ratings import Ratings
    from unipd.run import Result

METHODS = ("auto", "factored", "accunipdgrad", "unipdgrad", "frank-wolfe", "corrective")
_MODEL, _USE = "Model", "Use"
_COMMON = tuple(name for name in (*SOLVING, *CHECKPOINTING, *WRITING, *WATCHING) if name not in METHOD_OPTIONS)


@common_options(
    only=_COMMON,
    methods=METHODS,
    examples=(
        "unipd complete ratings.csv --out model.npz",
        "unipd complete ub.base --test ub.test --json -",
        "unipd complete ub.base --test ub.test --side",
        "unipd complete ub.base --radius 1000 --recommend 196 --top 5 --titles u.item",
    ),
)
def complete(
    ratings: Annotated[
        Path, typer.Argument(help="One rating per line: user, item, rating (text, .gz or .parquet).", metavar="RATINGS")
    ],
    test: Annotated[Path | None, option("Test ratings, to report the test error.", None)] = None,
    radius: Annotated[
        str, option("Radius of the nuclear ball; auto: by validation; none: with --residual.", _MODEL)
    ] = "auto",
    side: Annotated[
        bool, option("Use the rating pattern as side information (slower, more accurate).", _MODEL, "--side")
    ] = False,
    residual: Annotated[
        float | None, option("Least nuclear norm with this root mean squared residual, instead of a radius.", _MODEL)
    ] = None,
    user_ridge: Annotated[float, option("Ridge penalty of the user biases.", _MODEL)] = 8.0,
    item_ridge: Annotated[float | None, option("Ridge penalty of the item biases; 5, with --side 12.", _MODEL)] = None,
    weight_power: Annotated[
        float | None, option("Power of the rating counts in the weights; 0.5, with --side 0.35.", _MODEL)
    ] = None,
    rank: Annotated[
        int | None, option("Initial number of columns; 64, with --side 48; it grows.", _MODEL, min=1)
    ] = None,
    recommend: Annotated[str | None, option("Recommend items to this user.", _USE)] = None,
    top: Annotated[int, option("Number of recommendations.", _USE, min=1)] = 10,
    titles: Annotated[Path | None, option("Titles of items: item and title per line, as in u.item.", _USE)] = None,
    *,
    options: Options,
) -> int:
    """Predict ratings by biases and a low-rank matrix, with a certified fit.

    RATINGS has one rating per line (separated by tab, comma, semicolon or ::; a header is optional). Pairs of --test
    with an unknown user or item are predicted from the known biases and counted. The accuracy is a certified duality
    gap relative to the loss of the mean alone.

    Iterations, oracle calls and seconds are those of the final fit, which --max-iterations and --max-oracle-calls
    limit; the search for a radius is reported separately (search ...). --time-limit covers both: the search gets
    three quarters of it, the final fit the rest, but at least one iteration.
    """
    from unipd.apps.completion import CompletionModel
    from unipd.io.ratings import read_ratings, read_titles

    if residual is not None and radius not in ("auto", "none"):
        raise InvalidInput("--residual", "either --radius or --residual", "both")
    if titles is not None and recommend is None:
        raise InvalidInput("--titles", "--recommend with this option", "none")
    group = current_communicator()
    train = group.read_shard(read_ratings, ratings)
    user = None if recommend is None else _user(train, recommend)
    names = None if titles is None else group.read(read_titles, titles)
    held_out = None if test is None else group.read(read_ratings, test)
    limits = TotalLimits(options.max_iterations, options.max_oracle_calls)
    model = CompletionModel(
        _radius(radius),
        residual=residual,
        side_information=side,
        user_ridge=user_ridge,
        item_ridge=item_ridge,
        weight_power=weight_power,
        method="factored" if options.method == "auto" else options.method,
        accuracy=options.accuracy,
        rank=rank,
        random_state=options.seed,
        max_seconds=options.time_limit,
        callback=limits,
        verbose=not options.quiet,
    )
    if options.verbose:
        say(f"{len(train)} ratings read from {ratings}")
    model.fit(train)
    result = limits.with_limit_status(model.result_).with_extras(completion=model.fit_.fitted.arrays())
    if held_out is not None:
        result = result.with_extras(**_test_error(model, held_out))
    if user is not None:
        result = result.with_extras(**_recommendations(model, user, top, names))
    sizes = result.extras
    return emit(
        result,
        options,
        title=f"{ratings.name}: {sizes['ratings']} ratings of {sizes['items']} items by {sizes['users']} users",
        unknown=("rmse_test",),
    )


class TotalLimits:
    """Callback that limits iterations and oracle calls summed over the stages of a fit, not of a radius search."""

    limit_status: Status | None = None
    """The limit that the last iteration reached."""

    def __init__(self, iterations: int | None, oracle_calls: int | None) -> None:
        self._limits = (
            math.inf if iterations is None else iterations,
            math.inf if oracle_calls is None else oracle_calls,
        )
        self._before, self._last = (0, 0), (0, 0)

    def __call__(self, info: Any) -> bool:
        """Whether a limit is reached; a new stage starts when the iteration number decreases."""
        now = (info.iteration, info.state.counts.oracle_calls)
        if now[0] <= self._last[0]:
            self._before = (self._before[0] + self._last[0], self._before[1] + self._last[1])
        self._last = now
        statuses = (Status.ITERATION_LIMIT, Status.ORACLE_LIMIT)
        counts = zip(statuses, self._before, now, self._limits, strict=True)
        self.limit_status = next((status for status, before, here, limit in counts if before + here >= limit), None)
        return self.limit_status is not None

    def with_limit_status(self, result: Result) -> Result:
        """Return the result with the limit that ended the fit as its status."""
        if self.limit_status is None or result.status is not Status.STOPPED:
            return result
        from unipd.apps.completion.minimum_norm import add_remedy
        from unipd.run import downgrade

        return add_remedy(downgrade(result, self.limit_status))


def _radius(text: str) -> float | str | None:
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("--radius", "a positive number, auto, or none with --residual", repr(text)) from None


def _test_error(model: CompletionModel, held_out: Ratings) -> dict[str, Any]:
    """Return the test error and the number of pairs with an unknown user or item."""
    fit = model.fit_
    known = (fit.data.users.positions(held_out.users) >= 0) & (fit.data.items.positions(held_out.items) >= 0)
    if not known.any():
        _warn("no pair of --test has a user and an item of RATINGS; the test error is that of the biases alone")
    return {"rmse_test": model.rmse(held_out), "test_ratings": len(held_out), "test_unknown": int((~known).sum())}


def _user(train: Ratings, name: str) -> str | int:
    """Return the user of --recommend in the type of the training users: string or integer."""
    from unipd.io.ratings import Shard

    are_strings = train.users.dtype.kind == "U"
    if not are_strings and not name.isdecimal():
        raise InvalidInput("--recommend", "the number of a user", repr(name))
    user = name if are_strings else int(name)
    users = train.all_users if isinstance(train, Shard) else train.users
    if not (users == user).any():
        _warn(f"user {name} of --recommend has no training ratings; recommending by item bias")
    return user


def _warn(text: str) -> None:
    if current_communicator().is_leader:
        say(f"warning: {text}")


def _recommendations(
    model: CompletionModel, user: str | int, count: int, titles: dict[str, str] | None
) -> dict[str, Any]:
    items, scores = model.recommend(user, count)
    best = [str(item) for item in items.tolist()]
    rounded = {item: _round_score(score) for item, score in zip(best, scores.tolist(), strict=True)}
    figures: dict[str, Any] = {"recommended": rounded}
    return figures if titles is None else {**figures, "recommended_titles": {item: titles.get(item) for item in best}}


def _round_score(score: float) -> float:
    """Round a score to three decimals, a small one to four digits.

    >>> _round_score(4.41534), _round_score(0.00441534)
    (4.415, 0.004415)
    """
    return round(score, 3) if abs(score) >= 1.0 else float(f"{score:.4g}")
