"""``unipd show`` and ``unipd report``: saved results in the terminal and as an HTML page."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd._util.printing import format_value
from unipd.cli.options import PICTURES, Axis, Options, Theme, check_file, common_options, option
from unipd.cli.output import OutputWriter, print_table, stream_for
from unipd.cli.runtime import SOLVED, say
from unipd.errors import FileFormatError, InvalidInput

if TYPE_CHECKING:
    from unipd.run import Result


PAGES = (".html", ".htm")
DEFAULT_PAGE = Path("report.html")


@common_options(
    only=("plot", "json", "quiet", "debug"),
    examples=(
        "unipd show run.npz",
        "unipd show run.npz --json - | jq .gap",
        "unipd show run.npz --plot run.pdf --axis oracle_calls",
        "unipd show state.npz --spectrum eigenvalues.svg --theme dark",
    ),
)
def show(
    result: Annotated[Path, typer.Argument(help="A result file (.npz) written with --out.", metavar="RESULT")],
    axis: Axis = "iterations",
    spectrum: Annotated[Path | None, option("Plot the singular values of the solution to this file.", "Output")] = None,
    theme: Theme = "light",
    *,
    options: Options,
) -> int:
    """Show a saved result: status, certificate, work, settings and versions.

    --verbose explains the certificate. The exit code is 0 if the file can be read, however the run ended.
    """
    from unipd.io.results import load
    from unipd.report import describe_certificate
    from unipd.run.result import problem_facts, summary_rows

    check_file("--spectrum", spectrum, PICTURES)
    saved = load(result)
    _draw(saved, options.plot, spectrum, axis, theme)
    proven = describe_certificate(saved) if options.verbose else []
    figures = saved.summary()
    rows = [
        *summary_rows(figures, saved.accuracy),
        *((("certificate" if k == 0 else ""), text) for k, text in enumerate(proven)),
        ("problem", str(problem_facts(saved).problem)),
        ("x", describe(saved.x)),
        ("seed", format_value(saved.seed)),
        *((f"option {name}", _setting(value)) for name, value in saved.settings.items() if name != "seed"),
        *((f"extra: {name}", describe(value)) for name, value in saved.extras.items() if name not in figures),
        ("saved", f"{saved.saved}, " + ", ".join(f"{name} {version}" for name, version in saved.versions.items())),
    ]
    content = {
        **figures,
        "accuracy": saved.accuracy,
        "problem": problem_facts(saved).problem,
        "seed": saved.seed,
        "settings": saved.settings,
        "version": saved.versions.get("unipd"),
        "versions": saved.versions,
        "saved": saved.saved,
    }
    return OutputWriter(options).finish(rows, content, SOLVED, str(result))


def _draw(saved: Result, plot: Path | None, spectrum: Path | None, axis: str, theme: str) -> None:
    from unipd import report

    if plot is not None:
        report.plot_convergence(saved, plot, axis=axis, theme=theme)
    if spectrum is not None:
        try:
            values = report.spectrum_of(saved)
        except InvalidInput as error:
            raise InvalidInput("--spectrum", "a result whose point is a matrix", error.got) from error
        report.plot_spectrum(values, spectrum, theme=theme)


def _setting(value: object) -> str:
    return "automatic" if value is None else format_value(value)


def describe(value: object) -> str:
    """Describe a stored value in a few words.

    >>> import numpy as np
    >>> describe(np.zeros((2, 3))), describe(0.25), describe(None)
    ('array (2, 3) float64', '0.25', 'not stored')
    """
    if value is None:
        return "not stored"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        kind = {"ndarray": "array"}.get(type(value).__name__, type(value).__name__)
        return f"{kind} {value.shape} {value.dtype}"  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, (dict, list, tuple)):
        return f"{type(value).__name__} of {len(value)}"
    return format_value(value)


@common_options(
    only=("quiet", "verbose", "log_file", "debug"),
    examples=(
        "unipd report run.npz",
        "unipd report run.npz -o run.html --title 'A state of 14 qubits'",
        "unipd report first.npz second.npz third.npz -o comparison.html",
        "unipd report run.ckpt --live",
    ),
)
def report(
    results: Annotated[
        list[Path], typer.Argument(help="Result files (--out) or checkpoints (--checkpoint).", metavar="RESULT")
    ],
    out: Annotated[Path | None, option("Page to write; report.html by default.", None, "--out", "-o")] = None,
    title: Annotated[str | None, option("Heading of the page.", None)] = None,
    live: Annotated[
        bool, option("Serve the page on 127.0.0.1 and follow the files until Ctrl-C.", None, "--live")
    ] = False,
    live_port: Annotated[
        int | None, option("Port of the page (--live chooses a free one).", None, min=1, max=65535)
    ] = None,
    *,
    options: Options,
) -> int:
    """Write one self-contained page: summary, certificate, zoomable curves, settings and versions.

    Several results are overlaid. The page works offline. With --live nothing is written; a run of another process is
    followed through its checkpoint. The exit code is 0 once the page is written or served, however the runs ended.
    """
    from unipd.report import write_report

    serve = live or live_port is not None
    if serve and out is not None:
        raise InvalidInput("--live", "either --live or --out", "both")
    target = out or DEFAULT_PAGE
    if not serve:
        check_file("--out", target, PAGES)
    loaded = load_all(results)
    if serve:
        return follow(results, loaded, live_port or 0, title)
    write_report(loaded, target, title=title)
    if options.verbose:
        say(f"{len(loaded)} runs from {len(results)} files")
    if not options.quiet:
        print_table([("wrote", str(target))], stream_for(None))
    return SOLVED


def load_all(paths: Sequence[Path]) -> dict[str, Any]:
    """Load results and checkpoints, each under a unique name."""
    from unipd.io.results import load
    from unipd.report import is_checkpoint, load_checkpoint

    results: dict[str, Any] = {}
    for name, path in zip(unique_names(paths), paths, strict=True):
        if is_checkpoint(path):
            runs = load_checkpoint(path)
            results |= {name if k == 0 else f"{name}, run {k + 1}": run for k, run in enumerate(runs)}
        else:
            results[name] = load(path)
    return results


def follow(paths: Sequence[Path], loaded: dict[str, Any], port: int, title: str | None) -> int:
    """Serve the page, rereading changed files, until Ctrl-C."""
    from unipd.report.live_run import LiveServer

    latest, seen = loaded, _stamps(paths)

    def source() -> dict[str, Any]:
        nonlocal latest, seen
        stamps = _stamps(paths)
        if stamps != seen:
            with contextlib.suppress(OSError, FileFormatError):
                latest, seen = load_all(paths), stamps
        return latest

    with LiveServer(source, port, title or "Report: " + ", ".join(unique_names(paths))) as server:
        say(f"live at {server.url} (Ctrl-C to stop)")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return SOLVED


def _stamps(paths: Sequence[Path]) -> list[float]:
    """Return the modification time of every file; 0 for a missing one."""
    return [path.stat().st_mtime if path.exists() else 0.0 for path in paths]


def unique_names(paths: Sequence[Path]) -> list[str]:
    """Return unique short names: that of the file, with its folder and then a number if needed.

    >>> unique_names([Path("a/run.npz"), Path("b/run.npz"), Path("other.npz"), Path("b/run.npz")])
    ['a/run', 'b/run', 'other', 'b/run #2']
    """
    stems = [path.stem for path in paths]
    folders = [path.absolute().parent.name for path in paths]
    long = [stem if stems.count(stem) == 1 else f"{folder}/{stem}" for stem, folder in zip(stems, folders, strict=True)]
    return [name if name not in long[:k] else f"{name} #{long[:k].count(name) + 1}" for k, name in enumerate(long)]
