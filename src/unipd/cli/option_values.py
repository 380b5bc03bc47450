"""The values of the options that commands share, and what contradicts what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unipd.cli.lasting import check_lasting
from unipd.cli.outputs import check_distinct, check_outputs
from unipd.errors import InvalidInput
from unipd.methods.weights import WEIGHTS

SOLVING = ("accuracy", "method", "weights", "seed", "threads", "time_limit", "max_iterations", "max_oracle_calls")
LASTING = ("memory_limit", "checkpoint", "every", "resume")
WRITING = ("out", "plot", "json", "quiet", "verbose", "log_file", "debug")
WATCHING = ("live", "live_port")
ALWAYS = ("quiet", "verbose", "log_file", "debug")
"""Options that every command has."""


_AVERAGING = ("unipdgrad", "accunipdgrad")
"""Methods that average the oracle's answers with weights of a choice."""


@dataclass(frozen=True)
class Options:
    """Values of the common options; a command without one of them sees its default."""

    accuracy: float = 1e-3
    method: str = "auto"
    weights: str | None = None
    seed: int = 0
    threads: int | None = None
    time_limit: float | None = None
    max_iterations: int | None = None
    max_oracle_calls: int | None = None
    memory_limit: str | None = None
    checkpoint: Path | None = None
    every: str | None = None
    resume: bool = False
    out: Path | None = None
    plot: Path | None = None
    json: str | None = None
    quiet: bool = False
    verbose: bool = False
    log_file: Path | None = None
    debug: bool = False
    live: bool = False
    live_port: int | None = None

    def check(self) -> None:
        """Raise when the options contradict each other or an output cannot be written."""
        if self.quiet and self.verbose:
            raise InvalidInput("--quiet", "either --quiet or --verbose", "both")
        if not 0.0 < self.accuracy < float("inf"):
            raise InvalidInput("--accuracy", "a number above zero", repr(self.accuracy))
        if self.weights is not None and self.weights not in WEIGHTS:
            raise InvalidInput("--weights", f"one of {', '.join(WEIGHTS)}", repr(self.weights))
        check_outputs(self.out, self.plot, self.json, self.log_file)
        check_distinct(self.written())
        check_lasting(self)

    def check_averaging(self) -> None:
        """Raise when the method chosen has no average that ``--weights`` could be about."""
        if self.weights is not None and self.method not in _AVERAGING:
            raise InvalidInput("--weights", f"--method {' or '.join(_AVERAGING)} beside it", f"--method {self.method}")

    def written(self) -> dict[str, Any]:
        """Return the files to write, by the options that name them."""
        files = {"--out": self.out, "--plot": self.plot, "--json": self.json, "--log-file": self.log_file}
        return {**files, "--checkpoint": self.checkpoint}

    def silent(self) -> Options:
        """Return the options of a process that prints and writes nothing."""
        outputs = {"out": None, "plot": None, "json": None, "log_file": None}
        return replace(self, quiet=True, verbose=False, live=False, live_port=None, **outputs)

    def settings(self) -> dict[str, Any]:
        """Return the options that decide the result, for the record."""
        return {name: getattr(self, name) for name in SOLVING if getattr(self, name) is not None}
