"""The measurements of ``unipd tomography``: from a file, or of a simulated state."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unipd.cli.exits import as_typed, say
from unipd.cli.options import Options
from unipd.cli.outputs import check_file
from unipd.errors import FileFormatError, InvalidInput
from unipd.team import team

if TYPE_CHECKING:
    from unipd.apps.tomography import PauliTomography, Simulation


def check_context(simulated: bool, for_counts: dict[str, Any], for_simulations: dict[str, Any]) -> None:
    """Raise for options that belong to the other kind of data."""
    for name, value in (for_counts if simulated else for_simulations).items():
        if value:
            expected = "a file of counts instead of --simulate" if simulated else "--simulate instead of a file"
            raise InvalidInput(f"--{name}", expected, repr(value) if isinstance(value, (int, float)) else str(value))


def simulated(
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


def fit_file(estimator: PauliTomography, path: Path, max_weight: int | None, max_paulis: int | None) -> None:
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


@contextlib.contextmanager
def warnings_said() -> Generator[None]:
    """Turn the warnings about the measurements into lines on standard error."""
    from unipd.apps.tomography import MeasurementWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", MeasurementWarning)
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
        yield
