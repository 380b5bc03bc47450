"""``unipd tomography``: estimate a quantum state from Pauli measurements, measured or simulated."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from bisect import bisect_left
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from unipd._util import validate
from unipd._util.context import current_communicator
from unipd.cli.options import ALWAYS, Options, check_file, common_options, is_simulation, option, read_array_file
from unipd.cli.output import OutputWriter, describe_qubits, emit, note_interruption, stopping_rule
from unipd.cli.runtime import print_warnings, say, translate_argument_names
from unipd.errors import FileFormatError, InvalidInput
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.tomography import Bootstrap, PauliTomography, QuantumState, Simulation
    from unipd.run import Result


_CONSTRAINED = ("trace", "trace-squared")
_TARGETS = ("ghz", "w")
_FIGURES = "Figures"


@dataclass(frozen=True)
class CountsOptions:
    """Options of a file of counts."""

    panel: ClassVar[str] = "Data"
    readout_matrix: Annotated[
        Path | None,
        option(
            "Counts: .json or .npy file of readout errors: one 2 x 2 matrix, one for each qubit (qubit 0 first), or "
            "one for all outcomes; entry (i, j) is the probability of reading i in state j."
        ),
    ] = None
    povm: Annotated[
        str | None,
        option(
            "Counts of measurements other than local bases: sic, pauli-6, or a file of operators, .npy (outcomes x "
            "2 x 2, or x 2^q x 2^q) or .npz (such an array by setting, or by letter of the settings)."
        ),
    ] = None
    max_weight: Annotated[int | None, option("Counts: largest weight of a Pauli string.", min=1)] = None
    max_paulis: Annotated[int | None, option("Counts: largest number of Pauli strings.", min=1)] = None


@dataclass(frozen=True)
class SimulationOptions:
    """Options of a simulated experiment."""

    panel: ClassVar[str] = "Simulation"
    simulate: Annotated[str | None, option("Simulate this state: random, mixed, ghz, w or product.")] = None
    qubits: Annotated[int | None, option("Number of qubits.")] = None
    measurements: Annotated[
        int | None, option("Number of random Pauli strings; default 2 p log10 p times the rank.", min=1)
    ] = None
    state_rank: Annotated[int | None, option("Rank of a mixed state.", min=1)] = None
    shots: Annotated[int | None, option("Shots per Pauli string.", min=1)] = None
    depolarizing: Annotated[float, option("Depolarizing noise: share of the maximally mixed state.")] = 0.0
    readout: Annotated[float, option("Readout error: probability of a bit flip.")] = 0.0
    gaussian: Annotated[float, option("Standard deviation of added Gaussian noise.")] = 0.0
    save_data: Annotated[Path | None, option("Write the simulated measurements to this file.")] = None

    @property
    def is_pure(self) -> bool:
        """Whether a pure state is simulated."""
        return self.simulate is not None and (self.simulate != "mixed" or self.state_rank == 1)


@dataclass(frozen=True)
class ModelOptions:
    """What is fitted."""

    panel: ClassVar[str] = "Model"
    objective: Annotated[
        str,
        option(
            "auto, likelihood, outcomes or gaussian (counts), least-squares, weighted, trace or trace-squared.",
            metavar="NAME",
        ),
    ] = "auto"
    noise_level: Annotated[float | None, option("Bound on ||A(X) - b||, for trace and trace-squared.", min=0.0)] = None
    rank: Annotated[
        str | None, option("Fit over states of at most this rank; auto chooses it by an information criterion.")
    ] = None
    accuracy: Annotated[
        float | None,
        option("Certified gap: relative to the loss at X = 0 (default 1e-4 or less), of likelihoods in nats (0.01)."),
    ] = None

    def make_estimator(self, options: Options) -> PauliTomography:
        """Return the estimator that these and the common options describe."""
        from unipd.apps.tomography import PauliTomography

        if self.noise_level is not None and self.objective not in _CONSTRAINED:
            expected = "--objective trace or trace-squared with this option"
            raise InvalidInput("--noise-level", expected, f"--objective {self.objective}")
        return PauliTomography(
            objective=self.objective,
            noise_level=self.noise_level,
            method=options.method,
            accuracy=self.accuracy,
            rank=parse_rank(self.rank),
            threads=options.threads,
            stop=stopping_rule(options),
            verbose=not options.quiet,
            method_options=options.method_options(),
        )


@dataclass(frozen=True)
class FigureOptions:
    """Figures of the estimate."""

    panel: ClassVar[str] = _FIGURES
    target: Annotated[
        str | None,
        option("Fidelity with this state: ghz, w, or a .npy, .npz (a saved state), .qpy or .qasm (a circuit) file."),
    ] = None
    observable: Annotated[
        list[str] | None,
        option("Expectation value of a string or sum, e.g. XXZ or '0.5*XX+0.5*ZZ'; may be repeated."),
    ] = None
    bootstrap: Annotated[int | None, option("Error bars (95 %) from this many bootstrap replicates.", min=2)] = None
    resample: Annotated[
        Literal["parametric", "basis"],
        option("Bootstrap: parametric (draw from the estimate) or basis (redraw the shots)."),
    ] = "parametric"
    certified_range: Annotated[
        bool,
        option("Certified range of each observable, and of the fidelity, over all states that fit the data (95 %)."),
    ] = False

    @cached_property
    def sums(self) -> dict[str, dict[str, float]]:
        """The observables."""
        return {text: parse_observable(text) for text in self.observable or []}

    @cached_property
    def saved_target(self) -> QuantumState | None:
        """The target of a file."""
        return None if self.target is None or self.target in _TARGETS else read_target(self.target)

    def check(self, simulation: SimulationOptions, checkpoint: Path | None) -> None:
        """Raise before the fit for what cannot be read or computed after it."""
        from unipd.apps.tomography.error_bars import read_replicates

        if self.resample == "basis" and self.bootstrap is None:
            raise InvalidInput("--resample", "--bootstrap with this option", "none")
        if self.bootstrap is not None and checkpoint is not None:
            read_replicates(checkpoint)
        saved = self.saved_target
        has_pure_target = simulation.is_pure if self.target is None else saved is None or saved.rank == 1
        if self.certified_range and not self.sums and not has_pure_target:
            raise InvalidInput("--certified-range", "--observable or a pure --target with this option", "neither")

    def check_size(self, qubits: int, is_quasi: bool = False) -> None:
        """Raise for observables or a target of another size than the data, and quasi-counts that cannot be redrawn."""
        if is_quasi and self.resample == "basis":
            raise InvalidInput("--resample", "parametric for quasi-counts (negative or fractional)", self.resample)
        from unipd.apps.tomography import as_pauli_sum

        with translate_argument_names({"observable": "--observable", "paulis": "--observable"}):
            for observable in self.sums.values():
                as_pauli_sum(observable, qubits)
        if self.saved_target is not None and self.saved_target.qubits != qubits:
            raise InvalidInput("--target", f"a state of {qubits} qubits", f"{self.saved_target.qubits} qubits")


@common_options(
    only=tuple(field.name for field in fields(Options) if field.name != "accuracy"),
    examples=(
        "unipd tomography measurements.csv --out state.npz --plot state.png",
        "unipd tomography counts.json --bootstrap 100 --target ghz",
        "unipd tomography counts.json --observable '0.5*XX+0.5*ZZ' --certified-range",
        "unipd tomography counts.csv --readout-matrix confusion.json --rank auto",
        "unipd tomography --simulate random --qubits 14 --accuracy 1e-8 --json -",
        "unipd tomography --simulate ghz --qubits 6 --shots 2000 --readout 0.01",
        "unipd tomography --simulate w --qubits 9 --method accunipdgrad",
    ),
)
def tomography(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Measurements: .csv, .npz or .json with pauli, expectation[, shots | stderr]; or counts: .csv with "
            "basis, outcome, count, or .json."
        ),
    ] = None,
    *,
    counts: CountsOptions,
    simulation: SimulationOptions,
    model: ModelOptions,
    figures: FigureOptions,
    options: Options,
) -> int:
    """Estimate a quantum state from Pauli measurements: by least squares, or from counts by maximum likelihood.

    The accuracy is a certified duality gap; for exact data it bounds the relative residual. The fidelity is with the
    state of --target; for --simulate the default is the true state.
    """
    from unipd.apps.tomography import MeasurementWarning

    check_context(data, counts, simulation)
    estimator = model.make_estimator(options)
    figures.check(simulation, options.checkpoint)
    truth: QuantumState | None = None
    with print_warnings(MeasurementWarning):
        if data is not None:
            fit_file(estimator, data, counts, figures)
        else:
            experiment = run_simulation(simulation, figures, options)
            estimator.fit_data(experiment.data)
            truth = experiment.state
    options = replace(options, accuracy=estimator.result_.accuracy)
    if options.verbose:
        say(f"objective {estimator.objective_name_}, rank: {estimator.fit_.rank_choice}")
    result, goal, errors = add_figures(estimator, truth, figures, options)
    title = f"simulated state: {simulation.simulate}" if data is None else data.name
    return emit(
        result,
        options,
        draw=lambda path: estimator.plot(path, target=goal, title=title, errors=errors),
        title=f"{title}: {describe_qubits(estimator.data_.qubits)}, {estimator.data_.size} measurements",
    )


def add_figures(
    estimator: PauliTomography, truth: QuantumState | None, figures: FigureOptions, options: Options
) -> tuple[Result, QuantumState | None, Bootstrap | None]:
    """Return the result with the figures requested, the state of the fidelity (by default the true one), error bars."""
    from unipd.apps.tomography import make_state, report_data

    goal, name = truth, "simulated state"
    if figures.target is not None:
        goal, name = figures.saved_target or make_state(figures.target, estimator.state_.qubits), figures.target
    extras = report_data(estimator.fit_, target=goal, observables=figures.sums)
    values = dict(zip(figures.sums, extras.get("observables", {}).get("values", ()), strict=True))
    result = estimator.result_ if goal is None else estimator.result_.with_extras(fidelity_target=name)
    result, errors = result.with_extras(**extras, **values), None
    if figures.bootstrap is not None and result.status is not Status.INTERRUPTED:
        result, errors = _add_error_bars(result, estimator, goal, figures, options)
    return (_add_ranges(result, estimator, goal, figures) if figures.certified_range else result), goal, errors


@common_options(
    only=("json", *ALWAYS),
    examples=(
        "unipd shadows counts.json --observable Z0Z1 --observable '0.5*X0X1+0.5*Y0Y1'",
        "unipd shadows counts.csv --observable XXII --estimator matched --json -",
    ),
)
def shadows(
    data: Annotated[Path, typer.Argument(help="Counts by basis: .csv with basis, outcome, count, or .json.")],
    observable: Annotated[
        list[str], option("A string or sum, e.g. ZZII, Z0Z1 or '0.5*X0X1+0.5*Z0Z1'; may be repeated.", _FIGURES)
    ],
    estimator: Annotated[
        str,
        option("median-of-means (random bases, guaranteed intervals) or matched (bases of any kind).", _FIGURES),
    ] = "median-of-means",
    level: Annotated[float, option("Confidence level of the intervals.", _FIGURES)] = 0.95,
    batches: Annotated[int | None, option("Number of batches.", _FIGURES, min=2)] = None,
    *,
    options: Options,
) -> int:
    """Estimate observables from counts in many bases, without a state: classical shadows, for any number of qubits."""
    from unipd.apps.tomography import MeasurementWarning, Shadow
    from unipd.io.pauli import PauliData, read_pauli_data

    sums = {text: parse_observable(text) for text in observable}
    with translate_argument_names({"path": "DATA"}):
        content = read_pauli_data(data)
    if isinstance(content, PauliData):
        raise InvalidInput("DATA", "counts by basis", "expectation values")
    shots = interpret_counts(data, content, Shadow.from_counts)
    names = {name: f"--{name}" for name in ("observable", "level", "batches", "estimator")} | {"paulis": "--observable"}
    with print_warnings(MeasurementWarning), translate_argument_names(names):
        found = shots.estimate(sums, estimator=estimator, level=level, batches=batches)
        largest = {name: sum(map(abs, terms.values())) for name, terms in sums.items()}
        empty = [name for name, part in found.items() if part.high - part.low >= 2.0 * largest[name]]
        if empty and estimator == "median-of-means":
            hint = "median-of-means needs many random bases, --estimator matched takes bases of any kind"
            warnings.warn(
                f"the interval of {', '.join(empty)} excludes no value: {hint}", MeasurementWarning, stacklevel=2
            )
    rows = [("qubits", str(shots.qubits)), ("shots", str(shots.size)), ("bases", str(shots.draws))]
    rows += [(name, f"{part.value:.6g} in [{part.low:.6g}, {part.high:.6g}]") for name, part in found.items()]
    figures = {name: asdict(part) for name, part in found.items()}
    summary = {"qubits": shots.qubits, "shots": shots.size, "bases": shots.draws, "estimator": estimator}
    return OutputWriter(options).finish(rows, {**summary, "observables": figures}, 0, f"{data.name}: {estimator}")


@contextlib.contextmanager
def progress_counter(name: str, total: int, *, quiet: bool) -> Generator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that shows progress: a bar on a terminal, elsewhere a line every tenth."""
    if quiet:
        yield lambda done, total: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(name, total=total)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return

    def line(done: int, total: int) -> None:
        if done == total or done % max(1, total // 10) == 0:
            say(f"{name}: {done} of {total}")

    yield line


def check_context(data: Path | None, counts: CountsOptions, simulation: SimulationOptions) -> None:
    """Raise unless there is one source of data, and for options of the other."""
    is_simulated = is_simulation(data, simulation.simulate)
    for name, value in asdict(counts if is_simulated else simulation).items():
        if value:
            expected = "a file of counts instead of --simulate" if is_simulated else "--simulate instead of a file"
            found = repr(value) if isinstance(value, (int, float)) else str(value)
            raise InvalidInput(f"--{name.replace('_', '-')}", expected, found)


def run_simulation(simulation: SimulationOptions, figures: FigureOptions, options: Options) -> Simulation:
    """Return the simulated experiment, after the check of its number of qubits."""
    from unipd.apps.tomography import Noise, simulate
    from unipd.io.pauli import FORMATS, write_pauli_data

    assert simulation.simulate is not None
    if simulation.qubits is None:
        raise InvalidInput("--qubits", "the number of qubits of the simulated state", "none")
    noise = Noise(simulation.shots, simulation.depolarizing, simulation.readout, simulation.gaussian)
    figures.check_size(validate.integer("--qubits", simulation.qubits, minimum=1))
    check_file("--save-data", simulation.save_data, FORMATS)
    with translate_argument_names({"state": "--simulate", "rank": "--state-rank", "count": "--measurements"}):
        experiment = simulate(
            simulation.simulate,
            simulation.qubits,
            noise=noise,
            measurements=simulation.measurements,
            rank=simulation.state_rank,
            seed=options.seed,
            threads=options.threads,
        )
    if simulation.save_data is not None and current_communicator().is_leader:
        write_pauli_data(experiment.data, simulation.save_data)
    return experiment


def parse_rank(text: str | None) -> int | str | None:
    """Return the rank of the command line: a number, auto or none.

    >>> parse_rank("3"), parse_rank("auto")
    (3, 'auto')
    """
    if text is None or text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise InvalidInput("--rank", "auto or a whole number >= 1", repr(text))
    return int(text)


def read_povm(text: str) -> Any:
    """Return a POVM: its name, or the operators of a .npy or .npz file."""
    kinds = (".npy", ".npz")
    return read_array_file("--povm", Path(text), kinds) if Path(text).suffix.lower() in kinds else text


def fit_file(estimator: PauliTomography, path: Path, options: CountsOptions, figures: FigureOptions) -> None:
    """Fit the content of a file, expectation values or counts by basis, after the check of its number of qubits."""
    from unipd.apps.tomography import as_counts
    from unipd.io.pauli import PauliData, read_pauli_data

    read = current_communicator().read
    with translate_argument_names({"path": "DATA"}):
        content = read(read_pauli_data, path)
    if isinstance(content, PauliData):
        if any(given is not None for given in asdict(options).values()):
            names = "--max-weight, --max-paulis, --readout-matrix, --povm"
            raise InvalidInput(names, "a file of counts with these options", str(path))
        figures.check_size(content.qubits)
        estimator.fit_data(content)
        return
    operators = None if options.povm is None else read(read_povm, options.povm)
    counts = interpret_counts(path, content, partial(as_counts, povm=operators))
    figures.check_size(counts[0].qubits, any(part.is_quasi for part in counts))
    read_errors = partial(read_array_file, "--readout-matrix", kinds=(".json", ".npy"))
    errors = None if options.readout_matrix is None else read(read_errors, options.readout_matrix)
    with translate_argument_names({"readout": "--readout-matrix"}):
        estimator.fit_counts(counts, readout=errors, max_weight=options.max_weight, max_paulis=options.max_paulis)


def interpret_counts(path: Path, counts: Any, interpret: Callable[[Any], Any]) -> Any:
    """Return what a function makes of the counts of a file; an error becomes one of the file, of a table with the line.

    Bases and outcomes have a meaning only together with a POVM. Without their numbers, rows that cannot be interpreted
    make every longer table one that cannot either, so that bisection finds the first of them.
    """
    try:
        return interpret(counts)
    except InvalidInput as error:
        if path.suffix.lower() != ".csv" or error.argument == "povm":
            raise FileFormatError(str(path), str(error)) from error
        fault = error
    from unipd.io.pauli import read_columns

    columns, lines = read_columns(str(path), None)
    labels = list(zip(columns["basis"], columns["outcome"], strict=True))

    def find_fault(rows: int) -> InvalidInput | None:
        table: dict[str, dict[str, int]] = {}
        for basis, outcome in labels[:rows]:
            table.setdefault(basis, {})[outcome] = 1
        try:
            interpret(table)
        except InvalidInput as error:
            return error
        return None

    first = bisect_left(range(1, len(labels) + 1), True, key=lambda rows: find_fault(rows) is not None)
    if first == len(labels):
        raise FileFormatError(str(path), str(fault)) from fault
    raise FileFormatError(str(path), str(find_fault(first + 1)), lines[first + 1]) from fault


def read_target(text: str) -> QuantumState:
    """Return the state of a file: a vector, a density matrix, a saved result or a circuit."""
    import numpy as np

    from unipd.apps.tomography import as_state

    path = Path(text)
    if path.suffix.lower() not in (".npy", ".npz", ".qpy", ".qasm"):
        raise InvalidInput("--target", f"{', '.join(_TARGETS)}, or a .npy, .npz, .qpy or .qasm file", repr(text))
    if path.suffix.lower() in (".qpy", ".qasm"):
        from unipd.interop.qiskit import read_circuit_state

        return read_circuit_state(path)
    try:
        from unipd.io import load

        return as_state(load(path) if path.suffix.lower() == ".npz" else np.load(path, allow_pickle=False))
    except (ValueError, EOFError, InvalidInput) as error:
        raise FileFormatError(str(path), f"not a state ({error})") from error


def parse_observable(text: str) -> dict[str, float]:
    """Return the coefficients of a sum of Pauli strings.

    >>> parse_observable("0.5*XX - ZZ"), parse_observable("XIZ"), parse_observable("2*X0Z12+Z3")
    ({'XX': 0.5, 'ZZ': -1.0}, {'XIZ': 1.0}, {'X0Z12': 2.0, 'Z3': 1.0})
    """
    terms: dict[str, float] = {}
    compact = text.replace(" ", "")
    term = r"([+-]?)(\d+\.?\d*([eE][+-]?\d+)?)?\*?((?:[IXYZ]\d+)+|[IXYZ]+)(?![^+-])"
    if not re.fullmatch(f"({term})+", compact):
        raise InvalidInput("--observable", "a sum such as 0.5*XX+0.5*ZZ, or of letters with qubits, X0X1", repr(text))
    for sign, number, _, label in re.findall(term, compact):
        terms[label] = terms.get(label, 0.0) + float(f"{sign}{number or '1'}")
    return terms


def _add_error_bars(
    result: Result, estimator: PauliTomography, goal: QuantumState | None, figures: FigureOptions, options: Options
) -> tuple[Result, Bootstrap]:
    """Return the result with the figures of a bootstrap; its status says whether that was interrupted."""
    from unipd.apps.tomography import report_data

    replicates = figures.bootstrap or 0
    with progress_counter("bootstrap", replicates, quiet=options.quiet) as progress:
        bootstrap = estimator.bootstrap(
            replicates,
            target=goal,
            observables=figures.sums,
            resample=figures.resample,
            seed=options.seed,
            threads=options.threads,
            progress=progress,
        )
    if bootstrap.replicates >= 2:
        result = result.with_extras(**report_data(estimator.fit_, errors=bootstrap))
        if bootstrap.undetermined_figures or bootstrap.range_figures:
            undetermined = ", ".join((*bootstrap.range_figures, *bootstrap.undetermined_figures))
            result = result.with_extras(undetermined=undetermined)
            say(f"The data do not determine: {undetermined}. Observables among them have their certified range.")
    return note_interruption(result, bootstrap.replicates, replicates), bootstrap


def _add_ranges(
    result: Result, estimator: PauliTomography, goal: QuantumState | None, figures: FigureOptions
) -> Result:
    """Return the result with certified ranges of the observables and of the fidelity with a pure target."""
    named: dict[str, Any] = {**figures.sums} | ({"fidelity": goal} if goal is not None and goal.rank == 1 else {})
    for name, figure in named.items():
        found = estimator.state_range(figure)
        result = result.with_extras(**{f"{name}_certified_low": found.low, f"{name}_certified_high": found.high})
    return result
