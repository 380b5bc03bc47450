"""``unipd show``: a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unipd._util.printing import format_value
from unipd.cli.exits import SOLVED
from unipd.cli.options import PICTURES, Options, check_file, check_style, common_options, option
from unipd.cli.output import OutputWriter
from unipd.errors import InvalidInput

if TYPE_CHECKING:
    from unipd.run import Result

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
        str, option("Axis of --plot: iterations, oracle_calls, matvecs or seconds.", "Output")
    ] = "iterations",
    spectrum: Annotated[Path | None, option("Plot the singular values of the solution to this file.", "Output")] = None,
    theme: Annotated[str, option("Theme of plots: light or dark.", "Output")] = "light",
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
    check_style(axis, theme)
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
