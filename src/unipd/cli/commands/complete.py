"""``unipd complete`` and ``unipd predict``: predict missing ratings."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from unipd._util.context import current_communicator
from unipd.cli.options import (
    CHECKPOINTING,
    METHOD_OPTIONS,
    SOLVING,
    WATCHING,
    WRITING,
    Options,
    check_file,
    common_options,
    option,
)
from unipd.cli.output import emit, print_table, stopping_rule, stream_for
from unipd.cli.runtime import SOLVED, print_warnings, say
from unipd.errors import InvalidInput

if TYPE_CHECKING:
    from unipd.apps.completion.model import CompletionModel
    from unipd.io.ratings import Ratings

METHODS = ("auto", "factored", "accunipdgrad", "unipdgrad", "frank-wolfe", "corrective")
_COMMON = tuple(name for name in (*SOLVING, *CHECKPOINTING, *WRITING, *WATCHING) if name not in METHOD_OPTIONS)


@dataclass(frozen=True)
class ModelOptions:
    """What is fitted."""

    panel: ClassVar[str] = "Model"
    duplicates: Annotated[
        str | None, option("What to do with several ratings of one pair: last, mean or error.", metavar="NAME")
    ] = None
    radius: Annotated[str, option("Radius of the nuclear ball; auto: by validation; none: with --residual.")] = "auto"
    side: Annotated[
        bool, option("Use the rating pattern as side information (slower, more accurate).", None, "--side")
    ] = False
    residual: Annotated[
        float | None, option("Minimise the nuclear norm subject to this root mean squared residual; replaces --radius.")
    ] = None
    user_ridge: Annotated[float, option("Ridge penalty of the user biases.")] = 8.0
    item_ridge: Annotated[float | None, option("Ridge penalty of the item biases; default 5, or 12 with --side.")] = (
        None
    )
    weight_power: Annotated[
        float | None, option("Power of the rating counts in the weights; default 0.5, or 0.35 with --side.")
    ] = None
    rank: Annotated[
        int | None, option("Initial number of columns, which grows; default 64, or 48 with --side.", min=1)
    ] = None

    def make_model(self, options: Options) -> CompletionModel:
        """Return the model that these and the common options describe."""
        from unipd.apps.completion.model import CompletionModel

        if self.residual is not None and self.radius not in ("auto", "none"):
            raise InvalidInput("--residual", "either --radius or --residual", "both")
        settings: dict[str, Any] = {**asdict(self), "radius": _radius(self.radius)}
        return CompletionModel(
            side_information=settings.pop("side"),
            **settings,
            method="factored" if options.method == "auto" else options.method,
            accuracy=options.accuracy,
            random_state=options.seed,
            max_seconds=options.time_limit,
            callback=stopping_rule(replace(options, time_limit=None)),
            verbose=not options.quiet,
        )


@dataclass(frozen=True)
class UseOptions:
    """What the model is used for."""

    panel: ClassVar[str] = "Use"
    metrics: Annotated[str, option("Metrics on --test, separated by commas: rmse, mae, ndcg, recall, map.")] = "rmse"
    relevant: Annotated[
        float | None,
        option("Least test rating of a relevant item, for ndcg, recall and map; default: all are relevant."),
    ] = None
    recommend: Annotated[str | None, option("Recommend items to this user.")] = None
    top: Annotated[int, option("Number of recommendations, also for ndcg, recall and map.", min=1)] = 10
    titles: Annotated[Path | None, option("Titles of items: item and title per line, as in u.item.")] = None

    def check(self, test: Path | None) -> tuple[str, ...]:
        """Return the metrics; raise for options without the one that they need."""
        from unipd.apps.completion.fitted_model import check_metrics

        wanted = tuple(dict.fromkeys(("rmse", *check_metrics("--metrics", self.metrics))))
        if test is None and (wanted != ("rmse",) or self.relevant is not None):
            raise InvalidInput("--metrics", "--test with this option", "none")
        if self.titles is not None and self.recommend is None:
            raise InvalidInput("--titles", "--recommend with this option", "none")
        return wanted


@common_options(
    only=_COMMON,
    methods=METHODS,
    examples=(
        "unipd complete ratings.csv --out model.npz",
        "unipd complete ub.base --test ub.test --json -",
        "unipd complete ub.base --test ub.test --side",
        "unipd complete ub.base --test ub.test --metrics rmse,ndcg --relevant 4",
        "unipd complete ub.base --radius 1000 --recommend 196 --top 5 --titles u.item",
    ),
)
def complete(
    ratings: Annotated[
        Path, typer.Argument(help="One rating per line: user, item, rating (text, .gz or .parquet).", metavar="RATINGS")
    ],
    test: Annotated[Path | None, option("Test ratings, to report the test error.")] = None,
    columns: Annotated[
        str | None, option("Names of the columns, also those of --test: user=NAME,item=NAME,rating=NAME.")
    ] = None,
    *,
    model: ModelOptions,
    use: UseOptions,
    options: Options,
) -> int:
    """Predict ratings from biases and a low-rank matrix, with a certified fit.

    RATINGS has one rating per line (separated by tab, comma, semicolon or ::; a header is optional). Pairs of --test
    with an unknown user or item are predicted from the known biases and counted. The accuracy is a certified duality
    gap relative to the loss of the mean alone.

    Iterations, oracle calls and seconds are those of the final fit, which --max-iterations and --max-oracle-calls
    limit; the search for a radius is reported separately (search ...). --time-limit covers both: the search gets
    three quarters of it, the final fit the rest, but at least one iteration.
    """
    from unipd.io.ratings import read_ratings, read_titles

    wanted, group, places = use.check(test), current_communicator(), _columns(columns)
    if places is not None and group.size > 1:
        raise InvalidInput("--columns", "one process", f"{group.size} processes")
    estimator, read = model.make_model(options), partial(read_ratings, columns=places)
    with print_warnings(UserWarning) if group.is_leader else contextlib.nullcontext():
        train = group.read_shard(read, ratings)
    user = None if use.recommend is None else _user(train, use.recommend)
    names = None if use.titles is None else group.read(read_titles, use.titles)
    held_out = None if test is None else group.read(read, test)
    if held_out is not None and use.relevant is not None and not (held_out.values >= use.relevant).any():
        raise InvalidInput("--relevant", "a threshold that some test ratings reach", f"{use.relevant:g}")
    if options.verbose:
        say(f"{len(train)} ratings read from {ratings}")
    with print_warnings(UserWarning) if group.is_leader else contextlib.nullcontext():
        estimator.fit(train)
    result = estimator.result_.with_extras(completion=estimator.arrays())
    if held_out is not None:
        result = result.with_extras(**_test_error(estimator, held_out, wanted, use.top, use.relevant))
    if user is not None:
        result = result.with_extras(**_recommendations(estimator, user, use.top, names))
    sizes = result.extras
    title = f"{ratings.name}: {sizes['ratings']} ratings of {sizes['items']} items by {sizes['users']} users"
    return emit(result, options, title=title, unknown=("rmse_test",))


@common_options(
    only=("quiet", "debug"),
    examples=("unipd predict model.npz pairs.csv -o predictions.csv", "unipd predict model.npz pairs.csv"),
)
def predict(
    model: Annotated[
        Path, typer.Argument(help="A model (.npz) that unipd complete --out or save wrote.", metavar="MODEL")
    ],
    pairs: Annotated[Path, typer.Argument(help="One pair per line: user, item.", metavar="PAIRS")],
    out: Annotated[Path | None, option("Write to this file instead of standard output.", None, "--out", "-o")] = None,
    *,
    options: Options,
) -> int:
    """Predict the ratings of pairs with a saved model.

    Writes a table with columns user, item and prediction. Pairs with an unknown user or item are predicted from the
    known biases; a warning says how many there are.
    """
    from unipd._util.files import format_csv, write_text
    from unipd.apps.completion import load_model
    from unipd.io.ratings import read_pairs

    check_file("--out", out)
    loaded = load_model(model)
    with print_warnings(UserWarning):
        users, items = read_pairs(pairs, lambda pair: not loaded.count_unknown([tuple(pair)]))
    predicted = loaded.predict((users, items))
    unknown = loaded.count_unknown((users, items))
    if unknown:
        _warn(f"{unknown} of {len(predicted)} pairs have a user or an item that the model does not know")
    columns = (part.tolist() for part in (users, items, predicted))
    table = format_csv(("user", "item", "prediction"), zip(*columns, strict=True))
    if out is None:
        print(table, end="")
        return SOLVED
    write_text(out, table)
    if not options.quiet:
        print_table([("wrote", str(out))], stream_for(None))
    return SOLVED


def _columns(text: str | None) -> dict[str, str] | None:
    """Return the columns by role.

    >>> _columns("user=who,item=what,rating=liking")
    {'user': 'who', 'item': 'what', 'rating': 'liking'}
    """
    if text is None:
        return None
    pairs = [part.partition("=")[::2] for part in text.split(",")]
    named = {role.strip(): name.strip() for role, name in pairs}
    if sorted(named) != ["item", "rating", "user"] or not all(named.values()):
        raise InvalidInput("--columns", "user=NAME,item=NAME,rating=NAME", repr(text))
    return named


def _radius(text: str) -> float | str | None:
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("--radius", "a positive number, auto, or none with --residual", repr(text)) from None


def _test_error(
    model: CompletionModel, held_out: Ratings, metrics: tuple[str, ...], top: int, relevant: float | None
) -> dict[str, Any]:
    """Return the metrics on test ratings and the number of pairs with an unknown user or item."""
    unknown = model.count_unknown(held_out)
    if unknown == len(held_out):
        _warn("no pair of --test has a user and an item of RATINGS; the test error is that of the biases alone")
    found = model.evaluate(held_out, metrics=metrics, top=top, relevant=relevant)
    sizes = {"test_ratings": len(held_out), "test_unknown": unknown}
    return {**{f"{name}_test": value for name, value in found.items()}, **sizes}


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
