"""The exceptions of unipd, all derived from :class:`UnipdError`."""

from typing import Any


class UnipdError(Exception):
    """Base of all errors raised by unipd."""


class InvalidInput(UnipdError, ValueError):
    """An argument is invalid; the message names it, what was expected, and what was given."""

    def __init__(self, argument: str, expected: str, got: str | None = None) -> None:
        self.argument = argument
        self.expected = expected
        self.got = got
        tail = "" if got is None else f", got {got}"
        super().__init__(f"{argument}: expected {expected}{tail}")


class OracleError(UnipdError, RuntimeError):
    """A sharp oracle or a linear map failed or returned an invalid answer (NaN, wrong shape)."""

    result: object = None
    """The result up to the failure, a :class:`unipd.Result`; None before the first iteration."""


class UnboundedOracle(OracleError):
    """The sharp operator has no maximiser: <y, x> - f(x) is unbounded above over X.

    ``atom`` is the point at infinity, if the oracle gave one: x + t d for every large t, where d has the signs of its
    infinite entries and x its finite ones. A run that finds d to improve the objective without end is ``unbounded``.
    """

    def __init__(self, message: str, atom: Any = None) -> None:
        super().__init__(message)
        self.atom = atom


class FileFormatError(UnipdError, ValueError):
    """A file is malformed; the message names the place."""

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        place = path if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")


class MemoryForecastError(UnipdError, MemoryError):
    """The run would not fit in memory; the message names alternatives."""


class MissingExtra(UnipdError, ImportError):
    """An optional package is missing; the message names the extra to install."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs {package}: pip install "unipd[{extra}]"')


class CheckpointMismatch(UnipdError):
    """A checkpoint belongs to another run; the message names the differences."""

    def __init__(self, path: str, differences: list[str]) -> None:
        self.path = path
        self.differences = differences
        verb = "differs" if len(differences) == 1 else "differ"
        found = f"this checkpoint was made for another run: {', '.join(differences)} {verb}"
        super().__init__(f"{path}: {found}; use the data and settings of that run, or another file")
