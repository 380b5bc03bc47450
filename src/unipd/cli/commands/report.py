"""``unipd report``: one page about one or several results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unipd.cli import tables
from unipd.cli.exits import SOLVED
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import check_file

if TYPE_CHECKING:
    from unipd.io.results import SavedResult

EXAMPLES = (
    "unipd report run.npz",
    "unipd report run.npz -o run.html --title 'A state of 14 qubits'",
    "unipd report first.npz second.npz third.npz -o comparison.html",
)
PAGES = (".html", ".htm")


@common_options(only=("quiet", "debug"))
def command(
    results: Annotated[list[Path], typer.Argument(help="Result files (.npz) written with --out.", metavar="RESULT")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    *,
    options: Options,
) -> int:
    """Write one self-contained page: summary, certificate in words, curves to zoom into, settings and versions.

    Several results are overlaid. The page needs no network and can be sent to anybody. The exit code is 0 when it was
    written, however the runs in it ended.
    """
    from unipd.report import write_report

    check_file("--out", out, PAGES)
    write_report(load_all(results), out, title=title)
    if not options.quiet:
        tables.print_table([("wrote", str(out))], tables.stream_for(None))
    return SOLVED


def load_all(paths: Sequence[Path]) -> dict[str, SavedResult]:
    """Return the results in these files by a name of each that no other has."""
    from unipd.io.results import load

    return dict(zip(names_of(paths), (load(path) for path in paths), strict=True))


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return short names: the file's, with its folder where two are alike, with a number where that is not enough.

    >>> names_of([Path("a/run.npz"), Path("b/run.npz"), Path("other.npz"), Path("b/run.npz")])
    ['a/run', 'b/run', 'other', 'b/run #2']
    """
    stems = [path.stem for path in paths]
    folders = [path.absolute().parent.name for path in paths]
    long = [stem if stems.count(stem) == 1 else f"{folder}/{stem}" for stem, folder in zip(stems, folders, strict=True)]
    return [name if name not in long[:k] else f"{name} #{long[:k].count(name) + 1}" for k, name in enumerate(long)]
