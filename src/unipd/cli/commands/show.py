"""``unipd show``: a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unipd.cli import tables
from unipd.cli.exits import SOLVED
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import PICTURES, check_choice, check_file, write_json
from unipd.cli.summary import SHOWN, headline
from unipd.errors import InvalidInput

if TYPE_CHECKING:
    from unipd.io.results import SavedResult

AXES = ("iterations", "oracle_calls", "matvecs", "seconds")
THEMES = ("light", "dark")
EXAMPLES = (
    "unipd show run.npz",
    "unipd show run.npz --json - | jq .gap",
    "unipd show run.npz --plot run.pdf --axis oracle_calls",
    "unipd show state.npz --spectrum eigenvalues.svg --theme dark",
)


@common_options(only=("plot", "json", "quiet", "debug"))
def command(
    result: Annotated[Path, typer.Argument(help="A result file (.npz) written with --out.", metavar="RESULT")],
    axis: Annotated[
        str, typer.Option(help="Of --plot: iterations, oracle_calls, matvecs or seconds.", rich_help_panel="Output")
    ] = "iterations",
    spectrum: Annotated[
        Path | None,
        typer.Option(help="Draw the singular values of the point to this file.", rich_help_panel="Output"),
    ] = None,
    theme: Annotated[str, typer.Option(help="Of pictures: light or dark.", rich_help_panel="Output")] = "light",
    *,
    options: Options,
) -> int:
    """Show a saved result: how the run ended, what is certified, what it took, and what made it.

    With --verbose the certificate is put in words. The exit code is 0 when the file could be read, however the run in
    it ended.
    """
    from unipd.io.results import load
    from unipd.report import certificate_in_words

    check_file("--spectrum", spectrum, PICTURES)
    check_choice("--axis", axis, AXES)
    check_choice("--theme", theme, THEMES)
    saved = load(result)
    _draw(saved, options.plot, spectrum, axis, theme)
    if not options.quiet:
        proven = certificate_in_words(saved) if options.verbose else []
        known = [(name, str(value)) for name, value in saved.versions.items()]
        rows: list[tuple[str, ...]] = [
            *headline(saved.figures, saved.accuracy),
            *((("what is proven" if k == 0 else ""), text) for k, text in enumerate(proven)),
            *((name.replace("_", " "), tables.number(v)) for name, v in saved.figures.items() if name not in SHOWN),
            ("problem", str(saved.facts.get("problem"))),
            ("x", describe(saved.x)),
            ("seed", tables.number(saved.seed)),
            *((f"option {name}", _setting(value)) for name, value in saved.settings.items() if name != "seed"),
            *((f"extra: {name}", describe(value)) for name, value in saved.extra.items()),
            ("saved", f"{saved.saved}, " + ", ".join(f"{name} {version}" for name, version in known)),
        ]
        tables.print_table(rows, tables.stream_for(options.json), str(result))
    about = {"problem": saved.facts.get("problem"), "seed": saved.seed, "settings": saved.settings}
    versions = {"version": saved.versions.get("unipd"), "versions": saved.versions, "saved": saved.saved}
    write_json({**saved.summary(), "accuracy": saved.accuracy, **about, **versions}, options.json)
    return SOLVED


def _draw(saved: SavedResult, plot: Path | None, spectrum: Path | None, axis: str, theme: str) -> None:
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
    return "automatic" if value is None else tables.number(value)


def describe(value: object) -> str:
    """Return what a stored value is, in a few words.

    >>> import numpy as np
    >>> describe(np.zeros((2, 3))), describe(0.25), describe(None)
    ('array (2, 3) float64', '0.25', 'not kept')
    """
    if value is None:
        return "not kept"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        kind = {"ndarray": "array"}.get(type(value).__name__, type(value).__name__)
        return f"{kind} {value.shape} {value.dtype}"  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, (dict, list, tuple)):
        return f"{type(value).__name__} of {len(value)}"
    return tables.number(value)
