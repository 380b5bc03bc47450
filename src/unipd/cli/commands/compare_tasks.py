"""What ``unipd compare`` solves, and which methods can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unipd.cli.demos import DEMOS
from unipd.cli.options import METHODS
from unipd.cli.outputs import check_program_name
from unipd.cli.python_objects import load_problem
from unipd.errors import InvalidInput

LOSSES = ("frank-wolfe", "away-step", "pairwise")
"""Methods that need a smooth loss."""


@dataclass(frozen=True)
class Task:
    """What is solved, and how."""

    title: str
    known: str
    """The problem in words."""
    fitting: Sequence[str]
    """The methods that it can be solved by."""
    solve: Callable[..., Any]
    """Solve by a method: name, accuracy, and keywords."""

    def check(self, asked: Sequence[str] | None) -> Sequence[str]:
        """Return the methods to run, or raise when one asked for does not fit."""
        for name in asked or ():
            if name not in ("auto", *self.fitting):
                raise InvalidInput("--methods", f"methods for this problem ({', '.join(self.fitting)})", repr(name))
        return asked or self.fitting


def parse_methods(text: str) -> list[str]:
    """Return the methods that a list with commas names.

    >>> parse_methods("unipdgrad, corrective")
    ['unipdgrad', 'corrective']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    for place, name in enumerate(names):
        if name not in METHODS:
            raise InvalidInput("--methods", f"some of {', '.join(METHODS)}, with commas between", repr(name))
        if name in names[:place]:
            raise InvalidInput("--methods", "each method once", repr(text))
    if not names:
        raise InvalidInput("--methods", f"some of {', '.join(METHODS)}, with commas between", repr(text))
    return names


def task_for(problem: str | None, demo: str | None, size: int | None, seed: int) -> Task:
    """Return the task of a problem that the user names, or of a generated one."""
    if (problem is None) == (demo is None):
        got = "neither" if problem is None else "both"
        raise InvalidInput("PROBLEM", "either a problem or --demo NAME", got)
    if demo is not None:
        if demo not in DEMOS:
            raise InvalidInput("--demo", f"one of {', '.join(DEMOS)}", repr(demo))
        make, usual, words = DEMOS[demo]
        return _task_of(make(size or usual, seed), words)
    if size is not None:
        raise InvalidInput("--size", "--demo NAME beside it", "a problem of its own size")
    assert problem is not None
    if ":" in problem and not Path(problem).exists():
        return _task_of(load_problem(problem), problem)
    from unipd.apps.sdp import SDP

    check_program_name(problem)
    return _task_of(SDP.from_file(Path(problem)), Path(problem).name)


def _task_of(subject: Any, title: str) -> Task:
    """Return the task of a problem of the template or of a semidefinite program."""
    from unipd.apps.sdp import SDP
    from unipd.methods.choose import METHODS as EVERY
    from unipd.methods.choose import is_factorable
    from unipd.run import compare

    if isinstance(subject, SDP):
        fitting = [name for name in EVERY if name not in LOSSES]

        def solve_program(name: str, accuracy: float, **settings: Any) -> Any:
            return subject.solve(accuracy, name, **settings)

        return Task(title, repr(subject), fitting, solve_program)
    fitting = [name for name in EVERY if subject.loss is not None or name not in LOSSES]
    fitting = [name for name in fitting if name != "factored" or is_factorable(subject.sharp)]

    def solve(name: str, accuracy: float, **settings: Any) -> Any:
        return compare(subject, [name], accuracy=accuracy, truth=None, **settings)[name]

    return Task(title, repr(subject), fitting, solve)
