"""Comparison of methods on one problem, measured against the optimal value where it is known."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd._util import validate
from unipd._util.lazy import import_extra
from unipd._util.printing import format_value, html_table, plain_table
from unipd.errors import InvalidInput, UnipdError
from unipd.methods import Method
from unipd.methods.base import HasLabel
from unipd.problem import Problem
from unipd.run.checkpoint import Checkpoint
from unipd.run.history import COLUMNS
from unipd.run.loop import solve
from unipd.run.result import Result, problem_facts

METHODS = ("unipdgrad", "accunipdgrad", "auto")
"""Default methods."""


@dataclass(frozen=True)
class Truth:
    """The optimal value that objectives are measured against."""

    value: float
    source: str
    """Its source, in words."""


@dataclass(frozen=True)
class Comparison(Mapping[str, Result]):
    """Results by name of method; prints as a table, and draws every curve in one picture.

    Parameters
    ----------
    results
        Results by name of method.
    truth
        The reference value: CVXPY's, the caller's, or the best bound that a run has certified.
    note
        Why CVXPY gave no reference value, if it did not.

    See Also
    --------
    unipd.compare, unipd.report.plot_comparison

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> runs = unipd.compare(problem, ["corrective", "frank-wolfe"], accuracy=1e-3)
    >>> sorted(runs)
    ['corrective', 'frank-wolfe']
    >>> runs["corrective"].status.success
    True
    """

    results: dict[str, Result]
    truth: Truth
    note: str = ""

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def scale(self) -> float:
        """What the residuals and gaps of all runs are relative to: the problem's scale at the reference value."""
        problem = next(iter(self.results.values())).problem
        return float(problem.scale(self.truth.value)) or 1.0

    def residual(self, name: str) -> FloatArray:
        """Return |objective - truth| / scale of a run, one entry per iteration."""
        return np.abs(self.results[name].history["objective"] - self.truth.value) / self.scale

    def to_dataframe(self) -> Any:
        """Return the histories of all methods as one pandas DataFrame, with columns "method" and "residual"."""
        pd = import_extra("pandas", "data", "a DataFrame")
        frames = [
            pd.DataFrame(result.history.table, columns=list(COLUMNS)).assign(method=name, residual=self.residual(name))
            for name, result in self.results.items()
        ]
        return pd.concat(frames, ignore_index=True).astype({"iteration": int})

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draw the runs as :func:`unipd.report.plot_comparison` does, with its options.

        Without ``axis="seconds"`` (or another) every quantity is drawn against every measure of work, on a page.

        Parameters
        ----------
        path
            File for the picture (.png, .svg or .pdf); without one the figure is only returned.
        options
            Options of :func:`unipd.report.plot_comparison`.
        """
        import unipd

        page = {} if "axis" in options else {"axis": "all", "width": "page", "xscale": "log"}
        options = {"scale": self.scale, "truth": self.truth.value, **page, **options}
        return unipd.report.plot_comparison(self.results, path, **options)

    def __str__(self) -> str:
        foot = f"residual: |objective - {self.truth.value:.9g}| / {self.scale:.4g}, the value of {self.truth.source}"
        return "\n".join([plain_table(self._rows()), foot, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        truth = self.truth.value
        errors = (abs(each.objective - truth) / self.scale for each in self.results.values())
        residuals = ("residual", *(format_value(error, 2) for error in errors))
        rows = comparison_rows(self.results, self.scale)
        return [(*row, cell) for row, cell in zip(rows, residuals, strict=True)]


_WORK = {"iterations": 6, "oracle_calls": 6, "matvecs": 6, "seconds": 3}
"""What the methods have spent, with the digits in a table."""


def comparison_rows(results: Mapping[str, Result], scale: float | None = None) -> list[tuple[str, ...]]:
    """Return the table of several results of one problem by name: a head, and a row of figures for each.

    All gaps are relative to one scale, by default :func:`common_scale`, and all infeasibilities to the smallest that
    one of the results has (each to its own where one is not known); the head shows both.

    >>> import unipd
    >>> comparison_rows({"auto": Result(unipd.Status.STOPPED, objective=2.0, dual_bound=1.5)})[1][:5]
    ('auto', 'stopped', '2', '1.5', '0.25')
    """
    gap_scale = scale or common_scale(results)
    sizes = [result.feasibility_scale for result in results.values()]
    least = min((size or 0.0 for size in sizes), default=0.0)  # 0 where one is not known
    relative = f"infeasibility / {least:.4g}" if least else "infeasibility"
    names = ("objective", "dual bound", f"gap / {gap_scale:.4g}", relative)
    rows: list[tuple[str, ...]] = [("method", "status", *names, *(name.replace("_", " ") for name in _WORK))]
    for (name, result), size in zip(results.items(), sizes, strict=True):
        known = result.summary()
        values = (
            (known["objective"], known["dual_bound"]),
            (known["absolute_gap"] / gap_scale, result.infeasibility * (size / least if size and least else 1.0)),
        )
        texts = (format_value(value, digits) for pair, digits in zip(values, (9, 2), strict=True) for value in pair)
        work = (format_value(known[key], digits) for key, digits in _WORK.items())
        rows.append((name, known["status"], *texts, *work))
    return rows


def common_scale(results: Mapping[str, Result]) -> float:
    """Return the one scale of gaps by which several results of one problem are compared: the most accurate one's."""
    best = min(results.values(), key=lambda result: result.relative_error)
    return problem_facts(best).scale or abs(best.objective) or 1.0


def compare(
    problem: Problem,
    methods: Sequence[Method | str] = METHODS,
    *,
    truth: float | str | None = "auto",
    path: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Comparison:
    """Solve one problem by several methods and return their results, with a picture of all of them.

    Every method records the same columns, so that objective residual, feasibility and certified gap can be drawn
    against iterations, oracle calls, matrix-vector products and seconds.

    Parameters
    ----------
    problem
        The problem.
    methods
        Names or method objects; objects of the same kind are numbered.
    truth
        The optimal value to measure objectives against: a number; "auto" for the value of CVXPY if it is installed
        and the problem is small and has a model (otherwise ``note`` says why not); None for the best certified bound
        of all runs, which also replaces a missing value of CVXPY.
    path
        Where to write the picture (.png, .svg or .pdf); :meth:`Comparison.plot` draws it later.
    settings
        Passed to :func:`unipd.solve`: ``accuracy``, ``stop``, ``tracker``, ...

    Returns
    -------
    Comparison
        Results by name, which print as a table and draw a picture.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem; ``methods``: expected a list of methods; ``path``: expected a path.

    See Also
    --------
    solve, unipd.run.Comparison, unipd.report.plot_comparison

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> outcome = unipd.compare(problem, ["pairwise", "corrective"], accuracy=1e-6, truth=0.0)
    >>> [result.status.value for result in outcome.values()]
    ['solved', 'solved']
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    if not isinstance(methods, (list, tuple)) or not methods:
        raise InvalidInput("methods", "a list of methods", repr(methods))
    if path is not None:
        validate.path("path", path)
        import unipd

        unipd.report.check_path(path)
    known, note = _given_truth(problem, truth)
    results: dict[str, Result] = {}
    settings = _one_checkpoint(settings)
    for method in methods:
        result = solve(problem, method, **settings)
        name = method if isinstance(method, str) else method.label if isinstance(method, HasLabel) else result.method
        twins = sum(other.split(" #")[0] == name for other in results)
        results[name if twins == 0 else f"{name} #{twins + 1}"] = result
    if settings.get("checkpoint") is not None:
        settings["checkpoint"].flush()
    comparison = Comparison(results, known or _best_bound(results), note)
    if path is not None:
        comparison.plot(path)
    return comparison


def _given_truth(problem: Problem, truth: float | str | None) -> tuple[Truth | None, str]:
    """Return the reference value, or the reason why there is none."""
    if truth is None:
        return None, ""
    if not (isinstance(truth, str) and truth == "auto"):
        return Truth(validate.number("truth", truth), "the caller"), ""
    import unipd

    try:
        found = unipd.interop.cvxpy_models.reference(problem)
    except UnipdError as error:
        return None, f"no reference value from CVXPY: {error}"
    return Truth(found.value, f"CVXPY with {found.solver} ({found.seconds:.2f} s)"), ""


def _best_bound(results: Mapping[str, Result]) -> Truth:
    name = max(results, key=lambda name: results[name].dual_bound)
    return Truth(results[name].dual_bound, f"the best certified bound ({name})")


def _one_checkpoint(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with one checkpoint for all runs in place of a file name."""
    path = settings.get("checkpoint")
    if path is None or isinstance(path, Checkpoint):
        return settings
    rest = {name: value for name, value in settings.items() if name not in ("checkpoint", "every", "resume")}
    shared = Checkpoint(path, settings.get("every", "60s"), resume=settings.get("resume", False))
    return {**rest, "checkpoint": shared}
