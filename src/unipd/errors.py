"""Every exception that unipd raises on purpose.

All derive from :class:`UnipdError`, so a caller can catch the library's own complaints and nothing else.
"""


class UnipdError(Exception):
    """Base of every error raised by unipd on purpose."""


class InvalidInput(UnipdError, ValueError):
    """An argument is not what it must be; the message names it and says what was expected."""

    def __init__(self, argument: str, expected: str, got: str | None = None) -> None:
        self.argument = argument
        self.expected = expected
        self.got = got
        tail = "" if got is None else f", got {got}"
        super().__init__(f"{argument}: expected {expected}{tail}")


class OracleError(UnipdError, RuntimeError):
    """A sharp oracle or a linear map answered with something it must not (NaN, wrong shape, a failure)."""

    result: object = None
    """What a run had reached when the oracle failed: a :class:`unipd.Result`, None before the first iteration."""


class UnboundedOracle(OracleError):
    """The sharp operator has no maximiser: <y, x> - f(x) is unbounded above over X."""


class FileFormatError(UnipdError, ValueError):
    """A file is malformed; the message says where."""

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        place = path if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")


class MemoryForecastError(UnipdError, MemoryError):
    """The run would not fit in memory; the message names what to choose instead."""


class MissingExtra(UnipdError, ImportError):
    """An optional package is needed; the message names the extra to install."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs {package}: pip install "unipd[{extra}]"')


class CheckpointMismatch(UnipdError):
    """A checkpoint was made for another run; the message names what differs."""

    def __init__(self, path: str, differences: list[str]) -> None:
        self.path = path
        self.differences = differences
        verb = "differs" if len(differences) == 1 else "differ"
        found = f"this checkpoint was made for another run: {', '.join(differences)} {verb}"
        super().__init__(f"{path}: {found}; give the data and settings of that run, or another file to begin afresh")
