"""The exceptions of unipd, all derived from :class:`UnipdError`."""

from typing import Any


class UnipdError(Exception):
    """Base of all errors raised by unipd.

    See Also
    --------
    InvalidInput, OracleError, FileFormatError

    Examples
    --------
    >>> import unipd
    >>> try:
    ...     unipd.sharp.L1Ball(3, radius=-1.0)
    ... except UnipdError as error:
    ...     print(error)
    radius: expected a number above zero, got -1.0
    """


class InvalidInput(UnipdError, ValueError):
    """An argument is invalid; the message names it, what was expected, and what was given.

    Parameters
    ----------
    argument
        Name of the argument.
    expected
        What was expected, as a noun.
    got
        What was given.

    See Also
    --------
    UnipdError, FileFormatError

    Examples
    --------
    >>> print(InvalidInput("radius", "a positive number", "-1.0"))
    radius: expected a positive number, got -1.0
    """

    def __init__(self, argument: str, expected: str, got: str | None = None) -> None:
        self.argument = argument
        self.expected = expected
        self.got = got
        tail = "" if got is None else f", got {got}"
        super().__init__(f"{argument}: expected {expected}{tail}")


class OracleError(UnipdError, RuntimeError):
    """A sharp oracle or a linear map failed or returned an invalid answer (NaN, wrong shape).

    See Also
    --------
    UnboundedOracle, unipd.doctor.check_sharp

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> broken = unipd.sharp.from_callable(lambda y: np.full(2, np.nan), 2)
    >>> problem = unipd.Problem(broken, [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> try:
    ...     unipd.solve(problem)
    ... except OracleError as error:
    ...     print("the oracle failed")
    the oracle failed
    """

    result: object = None
    """The result up to the failure, a :class:`unipd.Result`; None before the first iteration."""


class UnboundedOracle(OracleError):
    """The sharp operator has no maximiser: <y, x> - f(x) is unbounded above over X.

    ``atom`` is the point at infinity, if the oracle gave one: x + t d for every large t, where d has the signs of its
    infinite entries and x its finite ones. A run that finds d to improve the objective without end is ``unbounded``.

    Parameters
    ----------
    message
        What is wrong.
    atom
        The point at infinity, with infinite entries; None if it is not known.

    See Also
    --------
    OracleError, unipd.Status

    Examples
    --------
    The nonnegative orthant has no maximiser in a direction with a positive entry:

    >>> import numpy as np
    >>> def maximise_over_orthant(y):
    ...     if np.any(y > 0):
    ...         raise UnboundedOracle("the orthant is unbounded", np.where(y > 0, np.inf, 0.0))
    ...     return np.zeros(y.size)
    """

    def __init__(self, message: str, atom: Any = None) -> None:
        super().__init__(message)
        self.atom = atom


class FileFormatError(UnipdError, ValueError):
    """A file is malformed; the message names the place.

    Parameters
    ----------
    path
        Path of the file.
    problem
        What is wrong.
    line
        Number of the line, from 1.

    See Also
    --------
    InvalidInput, unipd.io.Limits

    Examples
    --------
    >>> print(FileFormatError("graph.txt", "an edge has two nodes", line=7))
    graph.txt, line 7: an edge has two nodes
    """

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        place = path if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")


class MemoryForecastError(UnipdError, MemoryError):
    """The run would not fit in memory; the message names alternatives.

    See Also
    --------
    unipd.memory.forecast, unipd.memory.limited_memory

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> A, b = np.ones((1, 10**6)), np.ones(1)
    >>> problem = unipd.Problem(unipd.sharp.Simplex(10**6), A, b, unipd.couplings.LeastSquares())
    >>> with unipd.memory.limited_memory(10**6):
    ...     try:
    ...         unipd.solve(problem)
    ...     except MemoryForecastError as error:
    ...         print("too large")
    too large
    """


class MissingExtra(UnipdError, ImportError):
    """An optional package is missing; the message names the extra to install.

    Parameters
    ----------
    package
        The package that is missing.
    extra
        The extra of unipd that installs it.
    purpose
        What it is needed for, as the subject of the message.

    See Also
    --------
    UnipdError

    Examples
    --------
    >>> print(MissingExtra("matplotlib", "plot", "a picture"))
    a picture needs matplotlib: pip install "unipd[plot]"
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs {package}: pip install "unipd[{extra}]"')


class CheckpointMismatch(UnipdError):
    """A checkpoint belongs to another run; the message names the differences.

    Parameters
    ----------
    path
        Path of the checkpoint.
    differences
        Names of the data and settings that differ.

    See Also
    --------
    unipd.Checkpoint

    Examples
    --------
    >>> print(CheckpointMismatch("run.ckpt", ["b", "method"]))  # doctest: +ELLIPSIS
    run.ckpt: this checkpoint was made for another run: b, method differ; ...
    """

    def __init__(self, path: str, differences: list[str]) -> None:
        self.path = path
        self.differences = differences
        verb = "differs" if len(differences) == 1 else "differ"
        found = f"this checkpoint was made for another run: {', '.join(differences)} {verb}"
        super().__init__(f"{path}: {found}; use the data and settings of that run, or another file")
