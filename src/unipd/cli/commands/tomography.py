"""``unipd tomography``: a quantum state from Pauli measurements, from a file or simulated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd.cli.commands.tomography_checks import check_model, check_replicates, counted
from unipd.cli.commands.tomography_data import check_context, fit_file, simulated, warnings_said
from unipd.cli.options import Options, common_options
from unipd.cli.solving import emit, stopping_rule
from unipd.errors import InvalidInput
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.tomography import PauliTomography

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
    check_context(
        simulate is not None,
        {"max-weight": max_weight, "max-paulis": max_paulis},
        {"qubits": qubits, "measurements": measurements, "state-rank": state_rank, "shots": shots}
        | {"depolarising": depolarising, "readout": readout, "gaussian": gaussian, "save-data": save_data},
    )
    check_model(objective, noise_level)
    if bootstrap is not None:
        check_replicates(options)
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
    with warnings_said():
        if data is not None:
            fit_file(estimator, data, max_weight, max_paulis)
        else:
            assert simulate is not None
            noise = Noise(shots, depolarising, readout, gaussian)
            experiment = simulated(simulate, qubits, measurements, state_rank, noise, save_data, options)
            estimator.fit_data(experiment.data)
            truth = experiment.state
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


def _error_bars(estimator: PauliTomography, replicates: int, truth: Any, options: Options) -> dict[str, Any]:
    """Return the figures of a bootstrap."""
    with counted("bootstrap", replicates, quiet=options.quiet) as progress:
        found = estimator.bootstrap(
            replicates, target=truth, seed=options.seed, threads=options.threads, progress=progress
        )
    said = f"The bootstrap was interrupted after {found.replicates} of {replicates} replicates."
    broken_off = {"status": Status.INTERRUPTED.value, "message": f"{estimator.fit_.message} {said}"}
    ended = {} if found.replicates == replicates else broken_off
    if found.replicates < 2:
        return ended
    parts = ("stderr", "low", "high")
    return {f"{name}_{part}": row[part] for name, row in found.summary().items() for part in parts} | ended


def _saved(estimator: PauliTomography) -> dict[str, Any]:
    """Return the state for the result file."""
    state = estimator.state_
    return {"qubits": state.qubits, "eigenvalues": state.eigenvalues, "eigenvectors": state.eigenvectors}
