"""``unipd complete``: predict the ratings that are missing."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd.cli.exits import say
from unipd.cli.options import LASTING, Options, common_options
from unipd.cli.solving import emit
from unipd.errors import InvalidInput
from unipd.status import Status
from unipd.team import team

if TYPE_CHECKING:
    from unipd.apps.completion.model import CompletionModel
    from unipd.io.ratings import Ratings
    from unipd.run import Result

EXAMPLES = (
    "unipd complete ratings.csv --out model.npz",
    "unipd complete ub.base --test ub.test --json -",
    "unipd complete ub.base --test ub.test --side",
    "unipd complete ub.base --radius 1000 --recommend 196 --top 5 --titles u.item",
)
METHODS = ("auto", "factored", "accunipdgrad", "unipdgrad", "frank-wolfe", "corrective")
_MODEL, _USE = "Model", "Use"


_OPTIONS = ("accuracy", "method", "seed", "threads", "time_limit", "max_iterations", "max_oracle_calls", *LASTING)
_OUTPUT = ("out", "plot", "json", "quiet", "verbose", "log_file", "debug", "live", "live_port")


@common_options(only=(*_OPTIONS, *_OUTPUT), methods=METHODS)
def command(
    ratings: Annotated[
        Path, typer.Argument(help="One rating a line: user, item, rating (text, .gz or .parquet).", metavar="RATINGS")
    ],
    test: Annotated[Path | None, typer.Option(help="Ratings to predict, for the test error.")] = None,
    radius: Annotated[
        str,
        typer.Option(help="Radius of the nuclear ball; auto: by validation; none: --residual.", rich_help_panel=_MODEL),
    ] = "auto",
    side: Annotated[
        bool, typer.Option("--side", help="Let rows follow what was rated (slower, better).", rich_help_panel=_MODEL)
    ] = False,
    residual: Annotated[
        float | None,
        typer.Option(
            help="No radius: least nuclear norm with this root mean squared residual.", rich_help_panel=_MODEL
        ),
    ] = None,
    user_ridge: Annotated[float, typer.Option(help="Ridge of the users' biases.", rich_help_panel=_MODEL)] = 8.0,
    item_ridge: Annotated[
        float | None, typer.Option(help="Ridge of the items' biases; 5, with --side 12.", rich_help_panel=_MODEL)
    ] = None,
    weight_power: Annotated[
        float | None, typer.Option(help="Power of the counts; 0.5, with --side 0.35.", rich_help_panel=_MODEL)
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(help="Columns to begin with; 64, with --side 48; they grow.", rich_help_panel=_MODEL, min=1),
    ] = None,
    recommend: Annotated[
        str | None, typer.Option(help="Show the best items for this user.", rich_help_panel=_USE)
    ] = None,
    top: Annotated[int, typer.Option(help="How many of them.", rich_help_panel=_USE, min=1)] = 10,
    titles: Annotated[
        Path | None, typer.Option(help="Their titles: item and title a line, as in u.item.", rich_help_panel=_USE)
    ] = None,
    *,
    options: Options,
) -> int:
    """Predict ratings from biases and a matrix of low rank, with a certified fit.

    RATINGS has one rating a line (tab, comma, semicolon or :: between; with or without names above). Pairs of --test
    with an unknown user or item are predicted from the biases that are known, and counted. The accuracy is a certified
    gap relative to the loss of the mean alone.

    Iterations, oracle calls and seconds are those of the final fit, and --max-iterations and --max-oracle-calls limit
    these; what the choice of the radius took is told beside them (search ...). --time-limit is for everything: the
    choice of the radius has three quarters of it, and the final fit the rest, or one iteration where nothing is left.
    """
    from unipd.apps.completion.model import CompletionModel
    from unipd.io.ratings import read_ratings
    from unipd.io.titles import read_titles

    if residual is not None and radius not in ("auto", "none"):
        raise InvalidInput("--residual", "either --radius or --residual", "both")
    if titles is not None and recommend is None:
        raise InvalidInput("--titles", "--recommend beside it", "none")
    train = team().shard(read_ratings, ratings)
    user = None if recommend is None else _user(train, recommend)
    names = None if titles is None else team().read(read_titles, titles)
    held = None if test is None else team().read(read_ratings, test)
    limits = TotalLimits(options.max_iterations, options.max_oracle_calls)
    model = CompletionModel(
        _radius(radius),
        residual=residual,
        side=side,
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
    result = limits.named(model.result_)
    figures: dict[str, Any] = {**model.summary(), **result.summary()}
    figures |= {} if held is None else _tested(model, held)
    figures |= {} if user is None else _recommended(model, user, top, names)
    return emit(
        figures,
        result,
        options,
        save={"completion": model.fit_.arrays()},
        title=f"{ratings.name}: {figures['ratings']} ratings of {figures['items']} items by {figures['users']} users",
        unknown=("rmse_test",),
    )


class TotalLimits:
    """Callback that ends a fit of several stages after so many iterations, or oracle calls, of all stages together.

    The search for a radius is not counted.
    """

    reached: Status | None = None
    """Which limit the last moment had reached."""

    def __init__(self, iterations: int | None, oracle_calls: int | None) -> None:
        self._limits = (
            math.inf if iterations is None else iterations,
            math.inf if oracle_calls is None else oracle_calls,
        )
        self._before, self._last = (0, 0), (0, 0)

    def __call__(self, moment: Any) -> bool:
        """Whether a limit is reached; a stage is a new one when its iterations begin again."""
        now = (moment.iteration, moment.state.counts.oracle_calls)
        if now[0] <= self._last[0]:
            self._before = (self._before[0] + self._last[0], self._before[1] + self._last[1])
        self._last = now
        over = (before + here >= limit for before, here, limit in zip(self._before, now, self._limits, strict=True))
        kinds = (Status.ITERATION_LIMIT, Status.ORACLE_LIMIT)
        self.reached = next((kind for kind, too_many in zip(kinds, over, strict=True) if too_many), None)
        return self.reached is not None

    def named(self, result: Result) -> Result:
        """Return the result with the limit that ended the fit as its status."""
        ended = self.reached is not None and result.status is Status.STOPPED
        return replace(result, status=self.reached) if ended else result


def _radius(text: str) -> float | str | None:
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("--radius", "a number above zero, auto, or none beside --residual", repr(text)) from None


def _tested(model: CompletionModel, held: Ratings) -> dict[str, Any]:
    """Return the test error, and how many pairs had a user or an item that was not in training."""
    fit = model.fit_
    known = (fit.data.users.places(held.users) >= 0) & (fit.data.items.places(held.items) >= 0)
    if not known.any():
        _warn("no pair of --test has both a user and an item of RATINGS; the test error is that of biases alone")
    return {"rmse_test": model.rmse(held), "test_ratings": len(held), "test_unknown": int((~known).sum())}


def _user(train: Ratings, name: str) -> str | int:
    """Return the user of --recommend as training has users: a text or a number."""
    texts = train.users.dtype.kind == "U"
    if not texts and not name.isdecimal():
        raise InvalidInput("--recommend", "the number of a user", repr(name))
    user = name if texts else int(name)
    if not (getattr(train, "all_users", train.users) == user).any():
        _warn(f"no rating is by the user {name} of --recommend, who gets what everybody likes")
    return user


def _warn(text: str) -> None:
    if team().leads:
        say(f"warning: {text}")


def _recommended(model: CompletionModel, user: str | int, count: int, titles: dict[str, str] | None) -> dict[str, Any]:
    items, scores = model.recommend(user, count)
    best = [str(item) for item in items.tolist()]
    found: dict[str, Any] = {
        "recommended": {item: _rounded(score) for item, score in zip(best, scores.tolist(), strict=True)}
    }
    return found if titles is None else {**found, "recommended_titles": {item: titles.get(item) for item in best}}


def _rounded(score: float) -> float:
    """Return a score to three decimals, a small one to four digits.

    >>> _rounded(4.41534), _rounded(0.00441534)
    (4.415, 0.004415)
    """
    return round(score, 3) if abs(score) >= 1.0 else float(f"{score:.4g}")
