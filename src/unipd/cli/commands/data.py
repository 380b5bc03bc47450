"""``unipd data``: the data sets of the experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unipd.cli.exits import SOLVED, say
from unipd.cli.options import Options, common_options, option
from unipd.cli.output import OutputWriter
from unipd.errors import InvalidInput

EXAMPLES = ("unipd data", "unipd data movielens-100k", "unipd data movielens-100k --folder ~/data")
NAMES = ("movielens-100k",)


@common_options(only=("json", "quiet", "debug"))
def command(
    name: Annotated[str | None, typer.Argument(help=f"One of {', '.join(NAMES)}; default: list the data sets.")] = None,
    folder: Annotated[Path | None, option("Target folder; the user's cache by default.", None, file_okay=False)] = None,
    *,
    options: Options,
) -> int:
    """List the data sets, or download one from its official site and verify it.

    The terms of use are shown first: downloading the data means accepting them. Data sets are searched for in the
    folder $UNIPD_DATA, then in the cache.
    """
    from unipd.reproduce import completion_data

    if name is not None and name not in NAMES:
        raise InvalidInput("NAME", f"one of {', '.join(NAMES)}", repr(name))
    if name is None and folder is not None:
        raise InvalidInput("--folder", f"the name of a data set with this option ({', '.join(NAMES)})", "none")
    writer = OutputWriter(options)
    if name is None:
        place = completion_data.find_movielens()
        found = None if place is None else str(place)
        title = f"Data sets, in ${completion_data.DATA_VARIABLE} or the cache"
        content = {"data": {NAMES[0]: found}, "cache": str(completion_data.cache_folder())}
        return writer.finish([(NAMES[0], found or "not found")], content, SOLVED, title)
    if not options.quiet:
        for line in completion_data.MOVIELENS_TERMS:
            say(line)
    target = completion_data.fetch_movielens(None if folder is None else folder.expanduser())
    about = {"folder": str(target), "source": completion_data.MOVIELENS_URL, "sha256": completion_data.SHA256}
    return writer.finish(list(about.items()), {"name": name, **about}, SOLVED, NAMES[0])
