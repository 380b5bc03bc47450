"""The options that commands share (one declaration each), the decorator that adds them, and checks of paths."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import util
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from zipfile import BadZipFile

import typer
from typer.models import ArgumentInfo, OptionInfo

from unipd._util.context import current_communicator
from unipd._util.files import is_link_loop
from unipd.cli.runtime import (
    DEFAULT_EVERY,
    announce_compilation,
    describe_environment,
    log_to,
    run_environment,
    say,
    serve_live,
    thread_limit,
    translate_argument_names,
)
from unipd.errors import FileFormatError, InvalidInput, MissingExtra

METHOD_OPTIONS = {
    "weights": ("unipdgrad", "accunipdgrad"),
    "eps": ("unipdgrad", "accunipdgrad", "quasi-newton", "corrective"),
    "memory": ("quasi-newton", "corrective", "factored"),
}
"""Options of methods, and the methods that have them."""
SOLVING = ("accuracy", "method", *METHOD_OPTIONS, "seed", "threads", "time_limit", "max_iterations", "max_oracle_calls")
CHECKPOINTING = ("memory_limit", "checkpoint", "every", "resume")
WRITING = ("out", "plot", "json", "quiet", "verbose", "log_file", "debug")
WATCHING = ("live", "live_port")
ALWAYS = ("quiet", "verbose", "log_file", "debug")
"""Options of every command."""
OUTPUT_OPTIONS = ("out", "sides", "save_data", "spectrum", "target")
"""Options and arguments of single commands that name a file to write."""
METHODS = (
    "auto",
    "unipdgrad",
    "accunipdgrad",
    "quasi-newton",
    "frank-wolfe",
    "away-step",
    "pairwise",
    "blended-pairwise",
    "cgal",
    "corrective",
    "coordinate",
    "factored",
    "barrier",
)
"""The methods of :data:`unipd.methods.METHODS`; importing that would load the solvers for ``--help``."""
STANDARD_OUTPUT = "-"
PROGRAM_FILE = "SDPA (.dat-s), SeDuMi (.mat) or CBF (.cbf) file, optionally .gz"
PROBLEM = f"{PROGRAM_FILE}; or a problem in Python, MODULE:NAME or FILE.py:NAME."
_LABELS: dict[Any, str | None] = {int: "N", float: "X", Path: "FILE", str: "TEXT", bool: None}
"""Names of values in help, by type; switches have none, and those of a list are called NAME."""
PICTURES = (".png", ".svg", ".pdf")
PROGRAMS = (".dat-s", ".dat", ".sdpa", ".mat", ".cbf")
_SOLVER, _LIMITS, _CHECKPOINT, _OUTPUT, _LIVE = "Solver", "Limits", "Checkpoint", "Output", "Live page"


def option(help: str, panel: str | None = None, *names: str, **rest: Any) -> Any:
    """Return the Typer declaration of an option."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **rest)


Axis = Annotated[
    Literal["iterations", "oracle_calls", "matvecs", "seconds"],
    option("Horizontal axis of --plot: iterations, oracle_calls, matvecs or seconds.", _OUTPUT),
]
Theme = Annotated[Literal["light", "dark"], option("Theme of plots: light or dark.", _OUTPUT)]


@dataclass(frozen=True)
class Options:
    """Values and declarations of the common options; a command without one of them sees its default."""

    accuracy: Annotated[
        float,
        option(
            "Accuracy of infeasibility and duality gap, relative to the nearest value that the constraints allow and "
            "to the objective.",
            _SOLVER,
        ),
    ] = 1e-3
    method: str = "auto"
    weights: Annotated[Literal["theory", "greedy"] | None, option("Averaging weights: theory or greedy.", _SOLVER)] = (
        None
    )
    eps: Annotated[float | None, option("Absolute accuracy eps of the method.", _SOLVER)] = None
    memory: Annotated[
        int | None, option("Number of atoms (corrective) or pairs (quasi-newton, factored) to keep.", _SOLVER, min=1)
    ] = None
    seed: Annotated[int, option("Random seed.", _SOLVER, min=0)] = 0
    threads: Annotated[int | None, option("Maximum number of threads.", _SOLVER, min=1)] = None
    time_limit: Annotated[float | None, option("Time limit in seconds.", _LIMITS, min=0.0)] = None
    max_iterations: Annotated[int | None, option("Iteration limit.", _LIMITS, min=1)] = None
    max_oracle_calls: Annotated[
        int | None, option("Oracle call limit; the iteration that reaches it is completed.", _LIMITS, min=1)
    ] = None
    memory_limit: Annotated[
        str | None, option("Refuse runs that need more memory, e.g. 2GB, and stop runs that exceed it.", _LIMITS)
    ] = None
    checkpoint: Annotated[Path | None, option("Save the run to this file periodically.", _CHECKPOINT)] = None
    every: Annotated[
        str | None, option(f"Checkpoint interval: {DEFAULT_EVERY} (default), 5m, 1h, 10it.", _CHECKPOINT)
    ] = None
    resume: Annotated[bool, option("Resume from the checkpoint if it exists.", _CHECKPOINT, "--resume")] = False
    out: Annotated[Path | None, option("Write the result to this .npz file.", _OUTPUT)] = None
    plot: Annotated[Path | None, option("Draw the result to this .png, .svg or .pdf file.", _OUTPUT)] = None
    json: Annotated[
        str | None, option("Write a JSON object to this file, - for standard output.", _OUTPUT, "--json")
    ] = None
    quiet: Annotated[bool, option("No progress, no table.", _OUTPUT, "--quiet", "-q")] = False
    verbose: Annotated[bool, option("Verbose output.", _OUTPUT, "--verbose", "-v")] = False
    log_file: Annotated[Path | None, option("Append a log to this file.", _OUTPUT)] = None
    debug: Annotated[bool, option("Show tracebacks of errors.", _OUTPUT, "--debug")] = False
    live: Annotated[bool, option("Serve live curves and figures on this machine.", _LIVE, "--live")] = False
    live_port: Annotated[
        int | None, option("Port of the live page (--live chooses a free one).", _LIVE, min=1, max=65535)
    ] = None

    def check(self) -> None:
        """Raise if options contradict each other or an output cannot be written."""
        if self.quiet and self.verbose:
            raise InvalidInput("--quiet", "either --quiet or --verbose", "both")
        if not 0.0 < self.accuracy < float("inf"):
            raise InvalidInput("--accuracy", "a positive number", repr(self.accuracy))
        if self.eps is not None and not 0.0 < self.eps < float("inf"):
            raise InvalidInput("--eps", "a positive number", repr(self.eps))
        if self.time_limit == float("inf"):
            raise InvalidInput("--time-limit", "a number of seconds (without this option there is no limit)", "inf")
        check_file("--out", self.out, (".npz",))
        check_file("--plot", self.plot, PICTURES)
        check_file("--json", None if self.json in (None, STANDARD_OUTPUT) else Path(str(self.json)))
        check_file("--log-file", self.log_file)
        if self.plot is not None and util.find_spec("matplotlib") is None:
            raise MissingExtra("matplotlib", "plot", "--plot")

    def check_method(self) -> None:
        """Raise if an option is given that the method does not have."""
        for name in self.method_options():
            known = METHOD_OPTIONS[name]
            if self.method not in known:
                expected = f"--method {' or '.join(known)} with this option"
                raise InvalidInput(f"--{name}", expected, f"--method {self.method}")

    def for_method(self, method: str) -> Options:
        """Return the options with another method, without those that it does not have."""
        dropped = {name: None for name, known in METHOD_OPTIONS.items() if method not in known}
        return replace(self, method=method, **dropped)

    def output_paths(self) -> dict[str, Any]:
        """Return the files to write, by option."""
        files = {"--out": self.out, "--plot": self.plot, "--json": self.json, "--log-file": self.log_file}
        return {**files, "--checkpoint": self.checkpoint}

    def without_outputs(self) -> Options:
        """Return the options of a process that prints and writes nothing."""
        outputs = {"out": None, "plot": None, "json": None, "log_file": None}
        return replace(self, quiet=True, verbose=False, live=False, live_port=None, **outputs)

    def settings(self) -> dict[str, Any]:
        """Return the options that determine the result, for the record."""
        return {name: getattr(self, name) for name in SOLVING if getattr(self, name) is not None}

    def method_options(self) -> dict[str, Any]:
        """Return the keyword arguments of the method."""
        return {name: getattr(self, name) for name in METHOD_OPTIONS if getattr(self, name) is not None}


def common_options(
    *,
    only: Collection[str] | None = None,
    methods: Collection[str] = METHODS,
    examples: Collection[str] = (),
    **defaults: Any,
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Replace a command's parameter ``options`` by the common options, one command-line option each.

    So are other parameters whose type is a dataclass of declarations; its ``panel`` is the title of these options. The
    command runs with its outputs checked, its threads limited and its log file open.

    Parameters
    ----------
    only
        Names of the options besides ``ALWAYS``; all of them by default.
    methods
        Values of ``--method``, for a command with methods of its own.
    examples
        Command lines at the end of its help.
    defaults
        Defaults that differ from those of :class:`Options`, e.g. ``accuracy=1e-6``.
    """
    names = tuple(field.name for field in fields(Options) if only is None or field.name in {*only, *ALWAYS})
    hints = get_type_hints(Options, include_extras=True)
    hints["method"] = Annotated[Literal[tuple(methods)], option(f"One of {', '.join(methods)}.", _SOLVER)]  # pyright: ignore
    standard = Options(**defaults)
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(standard, name), annotation=hints[name])
        for name in names
    ]

    return functools.partial(_decorate, standard=standard, common=extra, examples=examples)


def _decorate(
    function: Callable[..., int], *, standard: Options, common: list[inspect.Parameter], examples: Collection[str]
) -> Callable[..., int]:
    """Return the command of a function: its own options and the common ones, which it gets as ``options``."""
    declared = _declarations(function)
    groups: dict[str, Any] = {name: kind for name, kind in declared.items() if is_dataclass(kind)}
    groups.pop("options")
    given = [each for each in inspect.signature(function).parameters.values() if each.name != "options"]
    own = [part for each in given for part in _expand(each, declared.get(each.name, each.annotation))]
    parameters, names = [*own, *common], [parameter.name for parameter in common]
    words = {parameter.name: _name_parameter(parameter) for parameter in parameters}
    title = function.__name__

    @functools.wraps(function)
    def run(**arguments: Any) -> int:
        options = replace(standard, **{name: arguments.pop(name) for name in names})
        if not current_communicator().is_leader:
            options = options.without_outputs()
        options.check()
        written = {words[name]: arguments[name] for name in OUTPUT_OPTIONS if name in arguments}
        read = {words[name]: value for name, value in arguments.items() if name not in OUTPUT_OPTIONS}
        check_no_overwrite({**options.output_paths(), **written}, read)
        if options.verbose:
            say(describe_environment(title))
        if "method" in names:
            options.check_method()
        announces = not (options.quiet or arguments.get("compile"))  # the line names unipd doctor --compile
        with _prepare_run(options, title, announces, "checkpoint" in names), translate_argument_names(words):
            for name, kind in groups.items():
                arguments[name] = kind(**{field.name: arguments.pop(field.name) for field in fields(kind)})
            return function(**arguments, options=options)

    command: Any = run
    command.examples = examples
    command.__signature__ = inspect.Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del command.__wrapped__
    return command


@contextlib.contextmanager
def _prepare_run(options: Options, title: str, announces: bool, solves: bool) -> Generator[None]:
    """Run a command with what its common options ask for: threads, log, live page, checkpoint and limits."""
    with contextlib.ExitStack() as stack:
        if options.threads is not None:
            stack.enter_context(thread_limit(options.threads))
        if announces:
            stack.enter_context(announce_compilation())
        if options.log_file is not None:
            stack.enter_context(log_to(options.log_file, title))
        if options.live or options.live_port is not None:
            stack.enter_context(serve_live(options.live_port, f"unipd {title}", quiet=options.quiet))
        if solves:
            stack.enter_context(run_environment(options))
        yield


def _declarations(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function; Python 3.10 would hide those of optional parameters in Optional[...]."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: next((part for part in get_args(hint) if get_origin(part) is Annotated), hint)
        for name, hint in hints.items()
    }


def _expand(parameter: inspect.Parameter, kind: Any) -> list[inspect.Parameter]:
    """Return the parameter with its declaration, or those of the fields of a dataclass of declarations."""
    if not is_dataclass(kind):
        return [parameter.replace(annotation=kind)]
    group: Any = kind
    declared = _declarations(group)
    for declaration in (get_args(hint)[1] for hint in declared.values() if get_origin(hint) is Annotated):
        declaration.rich_help_panel = group.panel
    return [
        parameter.replace(name=field.name, default=field.default, annotation=declared[field.name])
        for field in fields(group)
    ]


def _name_parameter(parameter: inspect.Parameter) -> str:
    """Return the name of a parameter on the command line: PROBLEM, --noise-level; give its value a short name in help.

    Typer would write the type there, in a column as wide as the longest, which squeezes the descriptions.
    """
    kind, *declarations = get_args(parameter.annotation) or (parameter.annotation,)
    for declaration in declarations:
        if isinstance(declaration, ArgumentInfo):
            declaration.metavar = declaration.metavar or parameter.name.upper()
            return declaration.metavar
        if isinstance(declaration, OptionInfo) and declaration.metavar is None:
            kinds = (kind, *get_args(kind))
            label = next((label for each, label in _LABELS.items() if each in kinds), "NAME")
            declaration.metavar = label if declaration.file_okay else "FOLDER"
    return f"--{parameter.name.replace('_', '-')}"


def is_simulation(data: Path | None, simulated: str | None) -> bool:
    """Whether data are simulated; raise unless there is exactly one source of them."""
    if (data is None) is (simulated is None):
        raise InvalidInput("DATA", "either a file of measurements or --simulate", "both" if data else "neither")
    return data is None


def check_file(option: str, path: Path | None, extensions: tuple[str, ...] = ()) -> None:
    """Raise unless the file can be written: known extension, existing folder, permission."""
    if path is None:
        return
    if extensions and path.suffix.lower() not in extensions:
        raise InvalidInput(option, f"a file name ending in {' or '.join(extensions)}", repr(str(path)))
    if is_link_loop(path):
        raise InvalidInput(option, "a file", f"the symbolic link {str(path)!r}, which leads to itself")
    if path.is_dir():
        raise InvalidInput(option, "a file", f"the folder {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise InvalidInput(option, "a file in an existing folder (create it first)", repr(str(path)))
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InvalidInput(option, "a file that can be written to", repr(str(path)))


def make_folder(option: str, folder: Path) -> None:
    """Create a folder for output files if it is missing; raise if they cannot be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        expected = f"a folder that exists or can be created ({error.strerror})"
        raise InvalidInput(option, expected, repr(str(folder))) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInput(option, "a folder that can be written to", repr(str(folder)))


def read_array_file(option: str, path: Path, kinds: Collection[str]) -> Any:
    """Return the content of a .json or .npy file, or the arrays of an .npz file by name."""
    import json

    import numpy as np

    kind = path.suffix.lower()
    if kind not in kinds:
        raise InvalidInput(option, f"a file name ending in {' or '.join(kinds)}", repr(str(path)))
    try:
        content: Any = json.loads(path.read_bytes()) if kind == ".json" else np.load(path, allow_pickle=False)
        return {name: content[name] for name in content.files} if kind == ".npz" else content
    except (ValueError, EOFError, BadZipFile) as error:
        raise FileFormatError(str(path), f"not a file of matrices ({error})") from error


def check_program_name(path: str) -> None:
    """Raise for an existing file without the extension of a semidefinite program.

    >>> check_program_name("truss1.dat-s.gz")
    """
    name = Path(path).name.lower().removesuffix(".gz")
    if Path(path).is_file() and Path(name).suffix not in PROGRAMS:
        expected = f"a file of SDPA, SeDuMi or CBF ({', '.join(PROGRAMS)}, optionally .gz), or FILE.py:NAME"
        raise InvalidInput("PROBLEM", expected, repr(path))


def check_no_overwrite(written: Mapping[str, Any], read: Mapping[str, Any]) -> None:
    """Raise if an output file is named twice or is an input (a path, several paths, or FILE.py:NAME).

    >>> check_no_overwrite({"--out": Path("state.npz"), "--json": "-"}, {"DATA": Path("data.npz")})
    """
    targets: dict[str, str] = {}
    for option, path in written.items():
        if path is not None and str(path) != STANDARD_OUTPUT:
            other = targets.setdefault(os.path.realpath(path), option)
            if other != option:
                raise InvalidInput(option, f"another file than that of {other}", repr(str(path)))
    for word, value in read.items():
        for part in value if isinstance(value, (list, tuple)) else [value]:
            names = (str(part), str(part).rpartition(":")[0]) if isinstance(part, (str, Path)) else ()
            for name in filter(os.path.isfile, names):
                option = targets.get(os.path.realpath(name))
                if option is not None:
                    raise InvalidInput(option, f"another file than {word}", repr(name))
