"""The result of a command: solve with progress, print the table, write JSON and files, return the exit code."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from unipd._util.context import current_communicator
from unipd._util.files import write_text
from unipd._util.printing import LostStream, clean_line, plain_table
from unipd._version import __version__
from unipd.cli.options import STANDARD_OUTPUT, Options
from unipd.cli.runtime import LOGGER, UNEXPECTED, exit_code, explain, publish_result, report_error, say
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.problem import Problem
    from unipd.run import Result

_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that JSON need not escape and that control some terminals, or cannot be printed."""
REQUIRED_KEYS = (
    *("status", "objective", "dual_bound", "gap", "infeasibility", "iterations", "oracle_calls", "matvecs"),
    *("seconds", "peak_memory_bytes"),
)
"""Keys of every solving command's JSON object besides ``seed`` and ``version``; null when unknown."""
COLOURS = {"pass": "green", "fail": "bold red", "note": "yellow", "skip": "dim"}


def stream_for(json_to: str | None) -> IO[str]:
    """Return the stream for tables: standard output, unless ``--json -`` uses it."""
    return sys.stderr if json_to == "-" else sys.stdout


def print_table(rows: Sequence[tuple[str, ...]], stream: IO[str], title: str | None = None) -> None:
    """Print rows of cells under a title; standard error may be full or closed.

    >>> print_table([("gap", "1e-3"), ("seconds", "2")], sys.stdout)
    gap      1e-3
    seconds  2
    """
    rows = [tuple(map(clean_line, row)) for row in rows]
    title = None if title is None else clean_line(title)
    with contextlib.suppress(*(() if stream is sys.stdout else (OSError,))):
        if stream.isatty():
            _print_rich(rows, stream, title)
            return
        text = plain_table(rows)
        print(f"{title}\n{text}" if title else text, file=stream, flush=True)


def _print_rich(rows: Sequence[tuple[str, ...]], stream: IO[str], title: str | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=box.SIMPLE)
    for row in rows:
        table.add_row(Text(row[0], style=COLOURS.get(row[0], "bold")), *map(Text, row[1:]))
    Console(file=stream).print(table)


def to_jsonable(value: Any) -> Any:
    """Convert a value for JSON: NaN and infinity become null, arrays lists, enums their values.

    >>> to_jsonable({"gap": float("inf"), "path": Path("a.npz")})
    {'gap': None, 'path': 'a.npz'}
    """
    if isinstance(value, Enum):
        value = value.value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # no negative zero
    if isinstance(value, complex):
        return {"re": to_jsonable(value.real), "im": to_jsonable(value.imag)}
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_jsonable(part) for part in value]
    return str(value)


def write_json(content: Mapping[str, Any], to: str) -> None:
    """Write a JSON object to a file or, with "-", to standard output."""
    text = json.dumps(to_jsonable(content), allow_nan=False, indent=2, ensure_ascii=False)
    if to == STANDARD_OUTPUT:
        if isinstance(sys.stdout, LostStream):
            raise OSError(errno.EBADF, "closed, so that the JSON object is lost", "standard output")
        sys.stdout.write(_UNPRINTABLE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text) + "\n")
        sys.stdout.flush()
    else:
        write_text(Path(to), text + "\n")


class OutputWriter:
    """Writes the outputs of a command; reports those that could not be written at the end.

    >>> writer = OutputWriter(Options())
    >>> writer.write(Path("a.txt"), lambda path: None)
    >>> writer.finish([("wrote", path) for path in writer.paths], {}, 0)
    wrote  a.txt
    0
    """

    def __init__(self, options: Options) -> None:
        self.paths: list[str] = []
        """Files written so far."""
        self._options = options
        self._errors: list[Exception] = []

    def write(self, path: Path, writer: Callable[[Path], Any]) -> None:
        """Write a file with ``writer``; keep any error for the end."""
        try:
            writer(path)
        except Exception as error:
            self._errors.append(error)
        else:
            self.paths.append(str(path))

    def finish(
        self, rows: Sequence[tuple[str, ...]], content: Mapping[str, Any], code: int, title: str | None = None
    ) -> int:
        """Print the table, write the JSON object, name files that could not be written, and return the exit code.

        That of the run, ``code``, is replaced if a file could not be written.
        """
        options = self._options
        try:
            if not options.quiet:
                print_table(rows, stream_for(options.json), title)
        finally:
            whole = {**content, "exit_code": self._code(code)}
            whole.setdefault("version", __version__)
            if options.json == STANDARD_OUTPUT:
                write_json(whole, options.json)
            elif options.json is not None:
                self.write(Path(options.json), lambda path: write_json(whole, str(path)))
        for error in self._errors:
            LOGGER.error("%s", explain(error)[0], exc_info=error)
            report_error(error, debug=options.debug)
        return self._code(code)

    def _code(self, code: int) -> int:
        for error in self._errors:
            return UNEXPECTED if isinstance(error, OSError) else explain(error)[1]
        return code


def add_limit_to_message(result: Result, options: Options) -> Result:
    """Return the result with the value of the limit that ended the run in its message.

    >>> from unipd.methods import Counts
    >>> from unipd.run import Result
    >>> result = Result(Status.ORACLE_LIMIT, iterations=1, counts=Counts(oracle_calls=9))
    >>> add_limit_to_message(result, Options(max_oracle_calls=2)).message[-59:]
    'The limit was 2, the run used 9 (iterations are completed).'
    """
    detail = ""
    if result.status is Status.ORACLE_LIMIT and options.max_oracle_calls is not None:
        calls, limit = result.counts.oracle_calls, options.max_oracle_calls
        detail = f"The limit was {limit}, the run used {calls}{' (iterations are completed)' if calls > limit else ''}."
    elif result.status is Status.MEMORY_LIMIT and options.memory_limit is not None:
        from unipd.memory import size_text

        peak = result.peak_memory_bytes
        used = "" if peak is None else f", the process used {size_text(peak)}"
        detail = f"The limit was {options.memory_limit}{used}."
    return replace(result, note=f"{result.message} {detail}") if detail else result


def solver_arguments(options: Options) -> dict[str, Any]:
    """Return the arguments of :func:`unipd.solve` that the common options determine."""
    return {
        "method": options.method,
        "accuracy": options.accuracy,
        "stop": stopping_rule(options),
        "verbose": not options.quiet,
        **options.method_options(),
    }


def announce(subject: Any, options: Options) -> None:
    """Print what is about to be solved, with ``--verbose``."""
    if options.verbose:
        say(f"{subject!r}, method {options.method}, accuracy {options.accuracy:g}, seed {options.seed}")


def run_solver(problem: Problem, options: Options, **settings: Any) -> Result:
    """Solve a problem with the common options; ``settings`` are further arguments of :func:`unipd.solve`."""
    from unipd.run import solve

    announce(problem, options)
    return solve(current_communicator().partition(problem), **solver_arguments(options), **settings)


def emit(
    result: Result,
    options: Options,
    *,
    draw: Callable[[str], Any] | None = None,
    files: Mapping[Path, Callable[[Path], Any]] | None = None,
    title: str | None = None,
    unknown: Collection[str] = (),
) -> int:
    """Print and write a result according to the common options, and return the exit code of its status.

    Parameters
    ----------
    result
        The result; its ``extras`` hold the figures and arrays of the command.
    options
        The common options.
    draw
        Called with the path of ``--plot`` instead of ``result.plot``.
    files
        Writers of the command's own files.
    title
        Title of the table.
    unknown
        Further keys of the JSON object, null unless the result has them.
    """
    from unipd.run.result import summary_rows

    result = add_limit_to_message(result.with_extras(**_rank_figures()), options)
    figures = result.summary()
    content: dict[str, Any] = dict.fromkeys((*REQUIRED_KEYS, *unknown))
    content |= {**figures, "seed": options.seed}
    LOGGER.info("%s", content)
    publish_result(title or "result", result)
    writer = OutputWriter(options)
    for path, write in {**_files(result, options, draw), **(files or {})}.items():
        writer.write(path, write)
    rows = [*summary_rows(figures, options.accuracy), *(("wrote", path) for path in writer.paths)]
    return writer.finish(rows, content, exit_code(result.status), title)


def describe_qubits(count: int) -> str:
    """Return the number of qubits in words: "1 qubit", "2 qubits"."""
    return f"{count} qubit{'s' * (count != 1)}"


def note_interruption(result: Result, done: int, replicates: int) -> Result:
    """Return the result, with the status of an interruption where that left a bootstrap incomplete."""
    from unipd.run import downgrade

    if done == replicates:
        return result
    note = f"{result.message} The bootstrap was interrupted after {done} of {replicates} replicates."
    return downgrade(result, Status.INTERRUPTED, note)


def _rank_figures() -> dict[str, Any]:
    """Return the number of MPI ranks and the peak memory of each; nothing for a single process."""
    group = current_communicator()
    if group.size == 1:
        return {}
    from unipd.memory import peak_memory

    peaks = group.allgather([float(peak_memory())])
    return {"ranks": group.size, "peak_memory_bytes_by_rank": tuple(int(peak) for peak in peaks)}


def stopping_rule(options: Options) -> Any:
    """Return the limits of the options as one stopping rule; None without limits."""
    from unipd.run import MaxIterations, MaxOracleCalls, MaxSeconds

    limits: Any = {
        MaxSeconds: options.time_limit,
        MaxIterations: options.max_iterations,
        MaxOracleCalls: options.max_oracle_calls,
    }
    rules = [rule(limit) for rule, limit in limits.items() if limit is not None]
    return functools.reduce(operator.or_, rules) if rules else None


def _files(result: Result, options: Options, draw: Callable[[str], Any] | None) -> dict[Path, Callable[[Path], Any]]:
    """Return the writers of result file and plot."""
    files: dict[Path, Callable[[Path], Any]] = {}
    if options.out is not None:
        from unipd.io.results import save as save_result

        files[options.out] = lambda path: save_result(result, path, seed=options.seed, settings=options.settings())
    if options.plot is not None and draw is None and not len(result.history):
        say(f"no plot written to {options.plot}: the run ended before its first iteration")
    elif options.plot is not None:
        picture = draw or (lambda path: result.plot(path, show_bound=options.weights != "greedy"))
        files[options.plot] = lambda path: picture(str(path))
    return files
