"""``unipd process``: estimate a quantum channel from input states and measured outputs, real or simulated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from unipd.cli.options import WRITING, Options, check_file, common_options, is_simulation, option, read_array_file
from unipd.cli.output import describe_qubits, emit, note_interruption, stopping_rule
from unipd.cli.runtime import print_warnings, translate_argument_names
from unipd.errors import FileFormatError, InvalidInput
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.process_tomography import ChannelBootstrap, ProcessData, ProcessTomography, QuantumChannel
    from unipd.run import Result


@dataclass(frozen=True)
class DataOptions:
    """How measurements are to be understood."""

    panel: ClassVar[str] = "Data"
    ancilla: Annotated[
        bool, option("The input was half of a maximally entangled pair; bases begin with the other half.")
    ] = False
    readout: Annotated[float, option("Probability of misreading a bit.", min=0.0, max=0.49)] = 0.0


@dataclass(frozen=True)
class SimulationOptions:
    """Options of a simulated experiment."""

    panel: ClassVar[str] = "Simulation"
    simulate: Annotated[
        str | None, option("Simulate this channel: a gate, random, unitary, depolarizing, damping or dephasing.")
    ] = None
    qubits: Annotated[int | None, option("Number of qubits.")] = None
    shots: Annotated[int, option("Shots per pair of preparation and basis.", min=1)] = 1000
    depolarizing: Annotated[float, option("Probability that the output is replaced by white noise.")] = 0.0
    loss: Annotated[float, option("Share of shots that are lost.")] = 0.0
    save_data: Annotated[Path | None, option("Write the simulated counts to this .csv file.")] = None


@dataclass(frozen=True)
class ModelOptions:
    """What is fitted."""

    panel: ClassVar[str] = "Model"
    rank: Annotated[int | None, option("Largest number of Kraus operators.", min=1)] = None
    trace: Annotated[Literal["preserving", "nonincreasing"], option("Trace: preserving or nonincreasing.")] = (
        "preserving"
    )
    accuracy: Annotated[
        float | None, option("Certified gap: of counts in nats (default 0.01), of values relative (default 1e-6).")
    ] = None


@dataclass(frozen=True)
class FigureOptions:
    """Figures of the estimate."""

    panel: ClassVar[str] = "Figures"
    target: Annotated[
        str | None,
        option("Fidelities with this channel: a gate, a .npy file (unitary or Kraus operators), a .qpy circuit."),
    ] = None
    diamond: Annotated[bool, option("Compute the diamond distance from the target.")] = False
    bootstrap: Annotated[int | None, option("Error bars (95 %) from this many bootstrap replicates.", min=2)] = None


@common_options(
    only=("seed", "time_limit", "max_iterations", *WRITING),
    examples=(
        "unipd process counts.csv --target cx --out channel.npz",
        "unipd process counts.csv --rank 2 --readout 0.02 --json -",
        "unipd process bell-pairs.csv --ancilla --target h --diamond",
        "unipd process --simulate cx --depolarizing 0.02 --shots 1000",
        "unipd process --simulate random --qubits 2 --save-data counts.csv",
    ),
)
def process(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Text file with the columns preparation, basis, outcome, count, or preparation, pauli, expectation[, "
            "shots | stderr]; with --ancilla counts of basis, outcome, count."
        ),
    ] = None,
    *,
    reading: DataOptions,
    simulation: SimulationOptions,
    model: ModelOptions,
    figures: FigureOptions,
    options: Options,
) -> int:
    """Estimate a quantum channel: by maximum likelihood from counts, by least squares from expectation values.

    The gap is certified over all channels. The result of --out has the Choi matrix among its extras.
    """
    from unipd.apps.process_tomography import ProcessTomography, UndeterminedChannel, as_channel

    is_simulated = is_simulation(data, simulation.simulate)
    if figures.diamond and figures.target is None and not is_simulated:
        raise InvalidInput("--diamond", "--target with this option", "none")
    with translate_argument_names({"channel": "--target"}):
        goal = None if figures.target is None else as_channel(read_target(figures.target))
    trace = "nonincreasing" if is_simulated and simulation.loss > 0.0 else model.trace
    limits: dict[str, Any] = {"stop": stopping_rule(options), "verbose": not options.quiet}
    estimator = ProcessTomography(accuracy=model.accuracy, rank=model.rank, trace=trace, **limits)
    with print_warnings(UndeterminedChannel):
        if data is not None:
            fit_file(estimator, data, reading, goal)
        else:
            content, truth = run_simulation(simulation, reading.readout, options.seed)
            check_target(goal, content)
            estimator.fit_data(content)
            goal = truth if goal is None else goal
    result = add_figures(estimator, goal, figures.target or simulation.simulate, figures, options.seed)
    name, size = simulation.simulate if data is None else data.name, estimator.data_.values.size
    title = f"{name}: {describe_qubits(estimator.channel_.qubits)}, {size} values"
    return emit(result, replace(options, accuracy=result.accuracy), title=title)


def add_figures(
    estimator: ProcessTomography, goal: QuantumChannel | None, name: str | None, figures: FigureOptions, seed: int
) -> Result:
    """Return the result with the channel and the figures requested; ``name`` is that of the target."""
    from unipd.apps.process_tomography.estimator import target_figures

    channel = estimator.channel_
    result = estimator.result_.with_extras(choi=channel.choi, eigenvalues=channel.eigenvalues)
    if goal is not None:
        result = result.with_extras(**target_figures(channel, goal, figures.diamond), fidelity_target=name)
    if figures.bootstrap is None or result.status is Status.INTERRUPTED:
        return result
    errors = estimator.bootstrap(figures.bootstrap, seed=seed)
    done = len(errors.channels)
    result = result.with_extras(**_error_bars(errors, goal)) if done >= 2 else result
    return note_interruption(result, done, figures.bootstrap)


def _error_bars(errors: ChannelBootstrap, goal: Any) -> dict[str, float]:
    """Return 95 % intervals of the unitarity, the purity and the process fidelity."""
    figures: dict[str, Any] = {"unitarity": lambda channel: channel.unitarity, "purity": lambda channel: channel.purity}
    if goal is not None:
        figures["process_fidelity"] = lambda channel: channel.process_fidelity(goal)
    bars: dict[str, float] = {}
    for name, figure in figures.items():
        bars[f"{name}_low"], bars[f"{name}_high"] = errors.interval(figure, limits=(0.0, 1.0))
    return bars


def fit_file(estimator: ProcessTomography, path: Path, reading: DataOptions, goal: QuantumChannel | None) -> None:
    """Fit the channel to the data of a file, after the check of the target's size."""
    try:
        content = read_data(path, reading.ancilla, reading.readout)
        check_target(goal, content)
        estimator.fit_data(content)
    except InvalidInput as error:
        if error.argument.startswith("--"):
            raise
        raise FileFormatError(str(path), str(error)) from error


def read_data(path: Path, ancilla: bool, readout: float) -> ProcessData:
    """Return the data of a file."""
    from unipd.apps.process_tomography import ancilla_data, counts_data, expectation_data
    from unipd.io.pauli import ProcessExpectations, read_pauli_data, read_process_data

    if ancilla:
        counts: Any = read_pauli_data(path)
        if not isinstance(counts, dict):
            raise FileFormatError(str(path), "expected counts of basis, outcome, count")
        return ancilla_data(counts, None, readout or None)
    found = read_process_data(path)
    if not isinstance(found, ProcessExpectations):
        return counts_data(found, readout or None)
    if readout:
        raise InvalidInput("--readout", "counts with this option", "expectation values")
    return expectation_data(*found)


def check_target(goal: QuantumChannel | None, data: ProcessData) -> None:
    """Raise for a target of another size than the data have."""
    sizes = data.states.shape[1], data.effects.shape[1]
    if goal is not None and (goal.inputs, goal.outputs) != sizes:
        expected, found = (f"a channel from dimension {n} to {m}" for n, m in (sizes, (goal.inputs, goal.outputs)))
        raise InvalidInput("--target", expected, found)


def run_simulation(simulation: SimulationOptions, readout: float, seed: int) -> tuple[ProcessData, QuantumChannel]:
    """Return the data of a simulated experiment, and the true channel."""
    from unipd.apps.process_tomography import counts_data, make_channel, noisy_channel, simulate_process
    from unipd.io.pauli import write_process_counts

    assert simulation.simulate is not None
    check_file("--save-data", simulation.save_data, (".csv",))
    with translate_argument_names({"channel": "--simulate"}):
        clean = make_channel(simulation.simulate, simulation.qubits, seed=seed)
    noisy = noisy_channel(clean, depolarizing=simulation.depolarizing, loss=simulation.loss)
    counts = simulate_process(noisy, shots=simulation.shots, readout=readout, seed=seed)
    if simulation.save_data is not None:
        write_process_counts(counts, simulation.save_data)
    return counts_data(counts, readout or None), clean


def read_target(text: str) -> Any:
    """Return the target: the name of a gate, or the matrices or the circuit of a file."""
    from unipd.apps.process_tomography import GATES
    from unipd.interop.qiskit import read_circuit

    path = Path(text)
    if text in GATES:
        return text
    if path.suffix.lower() not in (".npy", ".qpy"):
        raise InvalidInput("--target", f"one of {', '.join(GATES)}, or a .npy or .qpy file", repr(text))
    return read_circuit(path) if path.suffix.lower() == ".qpy" else read_array_file("--target", path, (".npy",))
