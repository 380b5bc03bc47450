"""``unipd data``: data sets that the experiments use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unipd._version import __version__
from unipd.cli import tables
from unipd.cli.exits import SOLVED, say
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import write_json
from unipd.errors import InvalidInput

EXAMPLES = (
    "unipd data",
    "unipd data movielens-100k",
    "unipd data movielens-100k --folder ~/data",
)
NAMES = ("movielens-100k",)


@common_options(only=("json", "quiet", "debug"))
def command(
    name: Annotated[str | None, typer.Argument(help=f"One of {', '.join(NAMES)}; without it: what there is.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where to put it; the default is the cache of this user.", file_okay=False)
    ] = None,
    *,
    options: Options,
) -> int:
    """Show which data sets there are, or fetch one from its official site and check it.

    The terms of use are shown first: fetching the data means accepting them. Data sets are looked for in the folder
    that $UNIPD_DATA names, then in the cache.
    """
    from unipd.apps.completion import movielens

    if name is not None and name not in NAMES:
        raise InvalidInput("NAME", f"one of {', '.join(NAMES)}", repr(name))
    if name is None and folder is not None:
        raise InvalidInput("--folder", f"the name of what to put there beside it ({', '.join(NAMES)})", "none")
    if name is None:
        place = movielens.find()
        rows = [(NAMES[0], "not here" if place is None else str(place))]
        if not options.quiet:
            tables.print_table(
                rows, tables.stream_for(options.json), f"Data sets, in ${movielens.VARIABLE} or the cache"
            )
        found = {NAMES[0]: None if place is None else str(place)}
        write_json({"data": found, "cache": str(movielens.cache_folder()), "version": __version__}, options.json)
        return SOLVED
    if not options.quiet:
        for line in movielens.TERMS:
            say(line)
    target = movielens.fetch(None if folder is None else folder.expanduser())
    if not options.quiet:
        rows = [("folder", str(target)), ("source", movielens.ADDRESS), ("sha256", movielens.SHA256)]
        tables.print_table(rows, tables.stream_for(options.json), NAMES[0])
    about = {"folder": str(target), "source": movielens.ADDRESS, "sha256": movielens.SHA256}
    write_json({"name": name, **about, "version": __version__}, options.json)
    return SOLVED
