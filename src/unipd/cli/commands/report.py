"""``unipd report``: one page about one or several results."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unipd.cli import tables
from unipd.cli.exits import SOLVED, say
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import check_file
from unipd.errors import FileFormatError, InvalidInput

EXAMPLES = (
    "unipd report run.npz",
    "unipd report run.npz -o run.html --title 'A state of 14 qubits'",
    "unipd report first.npz second.npz third.npz -o comparison.html",
    "unipd report run.ckpt --live",
)
PAGES = (".html", ".htm")
USUAL = Path("report.html")


@common_options(only=("quiet", "verbose", "log_file", "debug"))
def command(
    results: Annotated[
        list[Path], typer.Argument(help="Result files (--out) or checkpoints (--checkpoint).", metavar="RESULT")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The page to write; report.html by default.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Serve the page on 127.0.0.1 and follow the files until Ctrl-C.")
    ] = False,
    live_port: Annotated[
        int | None, typer.Option(help="Serve it on this port (--live takes a free one).", min=1, max=65535)
    ] = None,
    *,
    options: Options,
) -> int:
    """Write one self-contained page: summary, certificate in words, curves to zoom into, settings and versions.

    Several results are overlaid. The page needs no network and can be sent to anybody. With --live nothing is
    written: a run of another process is followed through its checkpoint. The exit code is 0 when the page was written
    or served, however the runs in it ended.
    """
    from unipd.report import write_report

    serve = live or live_port is not None
    if serve and out is not None:
        raise InvalidInput("--live", "either --live or --out", "both")
    target = out or USUAL
    if not serve:
        check_file("--out", target, PAGES)
    loaded = load_all(results)
    if serve:
        return follow(results, loaded, live_port or 0, title)
    write_report(loaded, target, title=title)
    if options.verbose:
        say(f"{len(loaded)} runs from {len(results)} files")
    if not options.quiet:
        tables.print_table([("wrote", str(target))], tables.stream_for(None))
    return SOLVED


def load_all(paths: Sequence[Path]) -> dict[str, Any]:
    """Return the results and runs in these files by a name of each that no other has."""
    from unipd.io.results import load
    from unipd.report.checkpoints import is_checkpoint, load_checkpoint

    found: dict[str, Any] = {}
    for name, path in zip(names_of(paths), paths, strict=True):
        if is_checkpoint(path):
            runs = load_checkpoint(path)
            found |= {name if k == 0 else f"{name}, run {k + 1}": run for k, run in enumerate(runs)}
        else:
            found[name] = load(path)
    return found


def follow(paths: Sequence[Path], loaded: dict[str, Any], port: int, title: str | None) -> int:
    """Serve the page, reading files again when they have changed, until somebody presses Ctrl-C."""
    from unipd.report.live import LiveServer

    latest, seen = loaded, _stamps(paths)

    def source() -> dict[str, Any]:
        nonlocal latest, seen
        stamps = _stamps(paths)
        if stamps != seen:
            with contextlib.suppress(OSError, FileFormatError):
                latest, seen = load_all(paths), stamps
        return latest

    with LiveServer(source, port, title or "Report: " + ", ".join(names_of(paths))) as server:
        say(f"live at {server.url} (Ctrl-C ends it)")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return SOLVED


def _stamps(paths: Sequence[Path]) -> list[float]:
    """Return when each file was last written; 0 for one that is gone."""
    return [path.stat().st_mtime if path.exists() else 0.0 for path in paths]


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return short names: the file's, with its folder where two are alike, with a number where that is not enough.

    >>> names_of([Path("a/run.npz"), Path("b/run.npz"), Path("other.npz"), Path("b/run.npz")])
    ['a/run', 'b/run', 'other', 'b/run #2']
    """
    stems = [path.stem for path in paths]
    folders = [path.absolute().parent.name for path in paths]
    long = [stem if stems.count(stem) == 1 else f"{folder}/{stem}" for stem, folder in zip(stems, folders, strict=True)]
    return [name if name not in long[:k] else f"{name} #{long[:k].count(name) + 1}" for k, name in enumerate(long)]
