"""``unipd tomography``: a quantum state from Pauli measurements, from a file or simulated."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd.cli.commands.tomography_checks import check_model, counted
from unipd.cli.exits import as_typed, say
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import check_file
from unipd.cli.solving import emit, stopping_rule
from unipd.errors import FileFormatError, InvalidInput
from unipd.status import Status
from unipd.team import team

if TYPE_CHECKING:
    from unipd.apps.tomography import PauliTomography, Simulation

EXAMPLES = (
    "unipd tomography measurements.csv --out state.npz --plot state.png",
    "unipd tomography counts.json --bootstrap 100",
    "unipd tomography --simulate random --qubits 14 --accuracy 1e-8 --json -",
    "unipd tomography --simulate ghz --qubits 6 --shots 2000 --readout 0.01",
    "unipd tomography --simulate w --qubits 9 --method accunipdgrad",
)
_DATA, _SIMULATION, _MODEL = "Data", "Simulation", "Model"


@common_options(accuracy=1e-4)
def command(
    data: Annotated[
        Path | None,
        typer.Argument(help="Measurements: .csv, .npz or .json with pauli, expectation[, shots | stderr], or counts."),
    ] = None,
    max_weight: Annotated[
        int | None, typer.Option(help="For counts: largest weight of a Pauli string.", rich_help_panel=_DATA, min=1)
    ] = None,
    max_paulis: Annotated[
        int | None, typer.Option(help="For counts: most Pauli strings.", rich_help_panel=_DATA, min=1)
    ] = None,
    simulate: Annotated[
        str | None,
        typer.Option(help="Measure this state: random, mixed, ghz, w, product.", rich_help_panel=_SIMULATION),
    ] = None,
    qubits: Annotated[int | None, typer.Option(help="Number of qubits.", rich_help_panel=_SIMULATION)] = None,
    measurements: Annotated[
        int | None,
        typer.Option(
            help="Number of random Pauli strings; default 2 p log10 p, times the rank.",
            rich_help_panel=_SIMULATION,
            min=1,
        ),
    ] = None,
    state_rank: Annotated[
        int | None, typer.Option(help="Rank of the state mixed.", rich_help_panel=_SIMULATION, min=1)
    ] = None,
    shots: Annotated[
        int | None, typer.Option(help="Shots of every Pauli string.", rich_help_panel=_SIMULATION, min=1)
    ] = None,
    depolarising: Annotated[
        float, typer.Option(help="Share of white noise in the state.", rich_help_panel=_SIMULATION)
    ] = 0.0,
    readout: Annotated[
        float, typer.Option(help="Probability that a measured bit flips.", rich_help_panel=_SIMULATION)
    ] = 0.0,
    gaussian: Annotated[
        float, typer.Option(help="Standard deviation of added errors.", rich_help_panel=_SIMULATION)
    ] = 0.0,
    save_data: Annotated[
        Path | None,
        typer.Option(help="Write the simulated measurements to this file.", rich_help_panel=_SIMULATION),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            help="auto, least-squares, weighted, outcomes or gaussian (counts), trace or trace-squared.",
            rich_help_panel=_MODEL,
            metavar="NAME",
        ),
    ] = "auto",
    noise_level: Annotated[
        float | None,
        typer.Option(help="For trace and trace-squared: bound of ||A(X) - b||.", rich_help_panel=_MODEL, min=0.0),
    ] = None,
    rank: Annotated[
        int | None, typer.Option(help="Largest rank of the estimate; found by default.", rich_help_panel=_MODEL, min=1)
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(help="Error bars from so many repeated experiments.", rich_help_panel=_MODEL, min=2),
    ] = None,
    *,
    options: Options,
) -> int:
    """Estimate a quantum state from Pauli measurements by least squares over density matrices.

    The accuracy is a certified gap relative to the loss at X = 0; for exact data it bounds the relative residual. With
    --simulate the state is known, and the fidelity with it is reported.
    """
    from unipd.apps.tomography import Noise, PauliTomography

    if (data is None) == (simulate is None):
        raise InvalidInput("DATA", "either a file of measurements or --simulate", "both" if data else "neither")
    _check_context(
        simulate is not None,
        {"max-weight": max_weight, "max-paulis": max_paulis},
        {"qubits": qubits, "measurements": measurements, "state-rank": state_rank, "shots": shots}
        | {"depolarising": depolarising, "readout": readout, "gaussian": gaussian, "save-data": save_data},
    )
    check_model(objective, noise_level, options)
    weights = {} if options.weights is None else {"weights": options.weights}
    estimator = PauliTomography(
        objective=objective,
        noise_level=noise_level,
        method=options.method,
        accuracy=options.accuracy,
        rank=rank,
        threads=options.threads,
        stop=stopping_rule(options),
        verbose=not options.quiet,
        method_options=weights,
    )
    truth, title = None, "" if data is None else data.name
    with _warnings_said():
        if data is not None:
            _fit_file(estimator, data, max_weight, max_paulis)
        else:
            assert simulate is not None
            noise = Noise(shots, depolarising, readout, gaussian)
            truth = _fit_simulation(
                estimator, _simulated(simulate, qubits, measurements, state_rank, noise, save_data, options)
            ).state
            title = f"simulated state: {simulate}"
    figures: dict[str, Any] = estimator.summary(truth)
    if bootstrap is not None and figures["status"] != Status.INTERRUPTED.value:
        figures |= _error_bars(estimator, bootstrap, truth, options)
    return emit(
        figures,
        estimator.result_,
        options,
        save=_saved(estimator),
        draw=lambda path: estimator.plot(path, target=truth, title=title),
        title=f"{title}: {figures['qubits']} qubits, {figures['measurements']} measurements",
    )


def _check_context(simulated: bool, for_counts: dict[str, Any], for_simulations: dict[str, Any]) -> None:
    """Raise for options that belong to the other kind of data."""
    for name, value in (for_counts if simulated else for_simulations).items():
        if value:
            expected = "a file of counts instead of --simulate" if simulated else "--simulate instead of a file"
            raise InvalidInput(f"--{name}", expected, repr(value) if isinstance(value, (int, float)) else str(value))


def _simulated(
    name: str,
    qubits: int | None,
    measurements: int | None,
    state_rank: int | None,
    noise: Any,
    save_data: Path | None,
    options: Options,
) -> Simulation:
    """Return the experiment of --simulate."""
    from unipd.apps.tomography import simulate
    from unipd.io.pauli_data import FORMATS, write_pauli_data

    if qubits is None:
        raise InvalidInput("--qubits", "the number of qubits of the simulated state", "none")
    check_file("--save-data", save_data, FORMATS)
    with as_typed({"state": "--simulate", "rank": "--state-rank", "count": "--measurements"}):
        experiment = simulate(
            name,
            qubits,
            measurements=measurements,
            noise=noise,
            rank=state_rank,
            seed=options.seed,
            threads=options.threads,
        )
    if save_data is not None and team().leads:
        write_pauli_data(experiment.data, save_data)
    return experiment


def _fit_simulation(estimator: PauliTomography, experiment: Simulation) -> Simulation:
    estimator.fit_data(experiment.data)
    return experiment


def _fit_file(estimator: PauliTomography, path: Path, max_weight: int | None, max_paulis: int | None) -> None:
    """Fit what a file holds: expectation values, or counts by basis."""
    from unipd.apps.tomography.counts import as_counts
    from unipd.io.pauli_data import PauliData, read_pauli_data

    with as_typed({"path": "DATA"}):
        content = team().read(read_pauli_data, path)
    if isinstance(content, PauliData):
        if max_weight is not None or max_paulis is not None:
            raise InvalidInput("--max-weight, --max-paulis", "a file of counts with these options", str(path))
        estimator.fit_data(content)
        return
    try:
        counts = as_counts(content)
    except InvalidInput as error:
        raise FileFormatError(str(path), str(error)) from error
    estimator.fit_counts(counts, max_weight=max_weight, max_paulis=max_paulis)


def _error_bars(estimator: PauliTomography, replicates: int, truth: Any, options: Options) -> dict[str, Any]:
    """Return the figures of a bootstrap."""
    with counted("bootstrap", replicates, quiet=options.quiet) as progress:
        found = estimator.bootstrap(
            replicates, target=truth, seed=options.seed, threads=options.threads, progress=progress
        )
    ended = {} if found.replicates == replicates else {"status": Status.INTERRUPTED.value}
    if found.replicates < 2:
        return ended
    parts = ("stderr", "low", "high")
    return {f"{name}_{part}": row[part] for name, row in found.summary().items() for part in parts} | ended


def _saved(estimator: PauliTomography) -> dict[str, Any]:
    """Return the state for the result file."""
    state = estimator.state_
    return {"qubits": state.qubits, "eigenvalues": state.eigenvalues, "eigenvectors": state.eigenvectors}


@contextlib.contextmanager
def _warnings_said() -> Generator[None]:
    """Turn the warnings about the measurements into lines on standard error."""
    from unipd.apps.tomography import MeasurementWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", MeasurementWarning)
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
        yield
