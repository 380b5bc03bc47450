"""The result of a run, whether fresh, still running, or loaded from a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import norm
from unipd._util.printing import format_value, html_table, plain_table
from unipd.dual import dual_space
from unipd.memory import size_text
from unipd.methods import Certificate, Counts
from unipd.methods.base import measure_point
from unipd.problem import Problem
from unipd.run.history import History
from unipd.spectral import STATED
from unipd.status import Status
from unipd.trackers.atoms import HasAtoms

_RUNAWAY_GAP = 1e3
"""Multiple of the objective by which a dual bound exceeds it where the problem is probably infeasible."""


@dataclass(frozen=True)
class ProblemFacts:
    """What a report needs to know about the problem; a result keeps it where the problem itself is not available."""

    problem: str | None = None
    """``repr`` of the problem."""
    loss: bool = False
    """Whether the coupling is a loss, so that there are no constraints to violate."""
    maximise: bool = False
    """Whether the problem is a maximisation: bounds are upper bounds, in the result and in its history."""
    scale: float | None = None
    """The scale of gaps."""
    gap_unit: str = "relative"
    """"nats" where the loss has them as the unit of its gaps."""
    feasibility_scale: float | None = None
    """s with infeasibility <= violation / s; None for a loss, and where it is not known."""
    curvature: float | None = None
    """c with ||grad phi(r)||^2 <= 2 c (f + phi(r)), for smooth nonnegative losses."""
    eps: float | None = None
    """The accuracy with which a universal method works."""
    dual_norm: float | None = None
    """Norm of the dual vector in the units of the history."""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Outcome of a run: the point, what is proven about it, and how it was reached.

    Every entry point returns or holds a ``Result``, and :func:`unipd.load` returns one, in which ``problem`` is None
    and ``state`` has the point and its certificate only. ``repr`` is one line, ``print`` shows a table, notebooks show
    the table as HTML.

    Two numbers are compared with the accuracy, and mean the same wherever they are printed, saved or returned:

    - ``infeasibility`` = dist(D (A x - b), D K) / ||s||, where D brings the rows of A to unit norm and s is what the
      rows of A x have to agree with (:meth:`unipd.Problem.equilibrated_scale`): D b for A x = b; 0 for a loss;
    - ``gap`` = (objective - dual_bound) / max(|objective|, phi(-b), 1e-4 of the size of f); it can be negative where x
      is infeasible. For a loss with a unit of its own (a likelihood: nats) it is the difference in that unit.

    Neither depends on the units of f, of A and b together, of a row of both, or of x. Their absolute counterparts are
    ``absolute_gap`` and ``violation``, and what they are relative to ``gap_scale`` and ``feasibility_scale`` (where
    rows of A differ in norm: infeasibility <= violation / feasibility_scale).

    For a maximisation (a semidefinite program) ``dual_bound`` is an upper bound, and the sign of the gap is reversed.
    Objectives and bounds in ``history`` are in the same sense; its ``infeasibility`` and ``gap`` are those of the
    template that the method worked on (for a semidefinite program, with constraints of unit norm).

    ``extras`` holds what an application adds. Its numbers and strings, and tuples and dictionaries of them, are
    figures: they appear in ``summary()``, in the table and in JSON. Everything that :func:`unipd.save` can store is
    saved, so that a file shows the figures that its command printed.

    - Unbounded problems: ``x`` is a ray, ``ray_objective`` the change of the objective per unit of it (its length, for
      a semidefinite program its trace), ``ray_residual`` that of the constraints, relative to the size of A,
      ``is_feasible_point_known`` whether a point is known from which the ray starts.
    - Semidefinite programs: ``rank`` (eigenvalues of X above 1e-6 of the largest), ``dimacs_errors`` (the six error
      measures of the DIMACS challenge), ``trace_bound`` and ``trace_bound_reason`` (on which the bound rests),
      ``slack_eigenvalues`` (an array, up to order 300).
    - MaxCut: ``cut_value``, ``sdp_bound`` (no cut is larger), ``ratio`` of the two, ``sides`` (an array), ``nodes`` and
      ``edges``. Bisection: the same without ``ratio``; no bisection is smaller than the bound. Theta: ``theta``,
      ``theta_bound`` and ``independence_bound``.
    - Clustering: ``cost``, ``sdp_bound`` (no clustering costs less), ``labels`` (an array).
    - Tomography: ``qubits``, ``measurements``, ``outcomes`` (of counts), ``objective_name`` (what was fitted),
      ``guarantee`` and ``rank_choice`` (what is proven, over which ranks), ``relative_residual`` =
      ||A(X) - b||^2 / ||b||^2, ``chi_square``, ``degrees_of_freedom``, ``chi_square_per_dof`` (errors being known),
      ``rank`` (eigenvalues above 1e-6), ``purity``, ``entropy`` and ``line_search_trials_per_iteration``.
    - Process tomography: ``qubits``, ``measurements``, ``objective_name``, ``guarantee``, ``rank`` (the number of Kraus
      operators), ``purity``, ``unitarity`` and, for counts, ``chi_square_per_dof``.
    - Phase retrieval: ``relative_residual``, as in tomography, of the signal.
    - Matrix completion: ``users``, ``items``, ``ratings``, ``radius``, ``rank``, ``rmse_train``; ``search_iterations``,
      ``search_oracle_calls``, ``search_matvecs``, ``search_seconds`` (work of the search for the radius, which the
      counts of the result exclude) and ``total_seconds``.
    - Submodular minimisation: ``value`` of the set found, ``bound`` (no set has a smaller value), ``members`` (an
      array) and ``is_certified`` (whether the two agree up to the accuracy).
    - The command line adds what its options request: ``fidelity`` with a simulated state, error bars such as
      ``purity_stderr``, ``purity_low`` and ``purity_high``, ``rmse_test``, ``recommended``, the number of ``ranks``,
      and for use by other commands ``eigenvalues``, ``eigenvectors`` and ``completion`` (the model).

    Parameters
    ----------
    status
        How the run ended, explained by ``message``; ``Status.RUNNING`` for a live or unfinished run.
    x
        The primal point in the form of the tracker; None with ``tracker="image"``.
    image
        A x, an array.
    dual
        The dual vector that attains ``dual_bound``, an array.
    objective
        f(x) + phi(A x - b).
    infeasibility
        Relative distance from the constraints, as defined above.
    violation
        dist(A x - b, K), absolute, in the units of b (of a semidefinite program: with matrices of unit norm).
    dual_bound
        Certified lower bound on the optimal value.
    gap
        Relative duality gap, as defined above.
    bound_kind
        How certain the bound is: "rigorous", "probabilistic" (wrong with probability 1e-9), "stated" (by a
        user-supplied oracle, map or coupling, which does not prove it), "conditional" (it holds for points up to a size
        only: of a semidefinite program for X of trace at most ``extras["trace_bound"]``) or "residual".
    tracker_error
        Frobenius norm of the part of x that an approximate tracker lost ("lowrank": a bound, "sketch": an estimate).
    accuracy
        The requested accuracy.
    atol
        The absolute tolerance that was allowed as well, in the units of the data.
    method
        Name of the method.
    settings
        Options of the method and the tracker as the run used them, and those given to :func:`unipd.save`. Options
        left to the method have the values that it chose: ``eps`` (absolute), ``smoothness`` (M_{-1}, 0 without a
        proximal term), ``rank`` (the first). ``memory`` is the most atoms kept, or pairs of the quasi-Newton
        directions.
    iterations
        Number of iterations.
    counts
        Oracle calls, line-search trials and matrix-vector products.
    seconds
        Wall time.
    peak_memory_bytes
        Peak resident size of the process.
    history
        One row per iteration.
    problem
        The :class:`unipd.Problem`; None in a loaded result.
    state
        The method's last state, with the returned point in it; None where an application has changed that point.
    note
        Replaces the message of the status where an application has more to say.
    extras
        What an application adds, as listed above.
    facts
        What :func:`problem_facts` returns where the problem is not available.
    seed
        Seed of the run, as given to :func:`unipd.save`.
    versions
        Versions of unipd, Python and the packages that wrote the file; empty for a fresh result.
    saved
        When the file was written (UTC); empty for a fresh result.

    See Also
    --------
    Status, solve, save, load

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.Equality())
    >>> result = unipd.solve(problem)
    >>> result.status.success, result.infeasibility <= result.accuracy
    (True, True)
    >>> [round(float(entry), 6) for entry in result.x]
    [0.5, 0.5]
    """

    status: Status
    x: Any = None
    image: Any = None
    dual: Any = None
    objective: float = math.nan
    infeasibility: float = math.nan
    violation: float = math.nan
    dual_bound: float = math.nan
    gap: float = math.nan
    bound_kind: str = ""
    tracker_error: float | None = None
    accuracy: float = math.nan
    atol: float = 0.0
    method: str = ""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    iterations: int = 0
    counts: Counts = field(default_factory=Counts)
    seconds: float = math.nan
    peak_memory_bytes: int | None = None
    history: History = field(default_factory=History)
    problem: Any = None
    state: Any = None
    note: str = ""
    extras: dict[str, Any] = field(default_factory=dict[str, Any])
    facts: ProblemFacts | None = None
    seed: int | None = None
    versions: dict[str, str] = field(default_factory=dict[str, str])
    saved: str = ""

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the process until the last iteration, all threads together; NaN without a history."""
        return self.history.first_and_last("cpu_seconds")[1] if len(self.history) else math.nan

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        if self.note:
            return self.note
        hints = self._tracker_hint(), self._maximum_hint(), self._stated_hint()
        return " ".join(filter(None, (self.status.message, *hints)))

    def _tracker_hint(self) -> str:
        if self.status is not Status.STALLED or not self.tracker_error or self.state is None:
            return ""
        return (
            f"The point is the approximation kept by {type(self.state.primal).__name__}, with an error of about "
            f'{self.tracker_error:.1e}: tracker="atoms" keeps the exact average, a higher rank a better approximation.'
        )

    def _maximum_hint(self) -> str:
        """Return what a proof of infeasibility lacks, where the bound suggests it."""
        problem = self.problem
        if self.status.is_conclusive or problem is None or not self.gap < -_RUNAWAY_GAP:
            return ""
        if problem.is_mixed:
            return (
                "The dual bound grows far beyond the objective, as it does for infeasible problems: solve the rows of "
                "the constraints without the losses, for a proof."
            )
        if not problem.has_user_oracle or problem.has_penalty or math.isfinite(problem.sharp.maximum()):
            return ""
        return (
            "The dual bound grows far beyond the objective, as it does for infeasible problems: state the oracle's "
            "maximum of f on X (maximum=), with which the bound would be a proof."
        )

    def _stated_hint(self) -> str:
        """Return what a solution rests on whose bound only user-supplied parts state."""
        if not self.status.success or self.bound_kind != STATED or self.problem is None:
            return ""
        premises = " and ".join(_PREMISES[part] for part in self.problem.user_supplied)
        return f"The dual bound holds if {premises}: none of the answers contradicts it, but they do not prove it."

    @property
    def relative_error(self) -> float:
        """The larger of infeasibility and |gap|, which is compared with the accuracy; inf where one is unknown."""
        error = max(abs(self.gap), self.infeasibility)
        return math.inf if math.isnan(error) else error

    @property
    def absolute_gap(self) -> float:
        """Objective minus dual bound, absolute; for a maximisation with the sign reversed."""
        return (-1.0 if problem_facts(self).maximise else 1.0) * (self.objective - self.dual_bound)

    @property
    def gap_scale(self) -> float | None:
        """What the gap is relative to: gap = absolute_gap / gap_scale; None where it is not known."""
        return problem_facts(self).scale

    @property
    def gap_unit(self) -> str:
        """Unit of gap and accuracy: "nats" for likelihoods, else "relative"."""
        return problem_facts(self).gap_unit

    @property
    def feasibility_scale(self) -> float | None:
        """s with infeasibility <= violation / s, and equality where rows are not equilibrated; None for a loss."""
        facts = problem_facts(self)
        return None if facts.loss else facts.feasibility_scale

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings (what ``--json`` prints), then those of extras."""
        lost = {} if self.tracker_error is None else {"tracker_error": self.tracker_error}
        return {
            "status": self.status.value,
            "message": self.message,
            "method": self.method,
            "objective": self.objective,
            "dual_bound": self.dual_bound,
            "gap": self.gap,
            "infeasibility": self.infeasibility,
            "accuracy": self.accuracy,
            "atol": self.atol,
            "absolute_gap": self.absolute_gap,
            "gap_scale": self.gap_scale,
            "gap_unit": self.gap_unit,
            "violation": self.violation,
            "feasibility_scale": self.feasibility_scale,
            "bound_kind": self.bound_kind,
            **lost,
            "iterations": self.iterations,
            "oracle_calls": self.counts.oracle_calls,
            "line_search_trials": self.counts.trials,
            "matvecs": self.counts.matvecs,
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
            **_extra_figures(self.extras),
        }

    def with_extras(self, **extras: Any) -> Result:
        """Return the result with these extras in addition to its own.

        >>> Result(Status.SOLVED, extras={"rank": 1}).with_extras(purity=0.5).extras
        {'rank': 1, 'purity': 0.5}
        """
        return replace(self, extras={**self.extras, **extras})

    def plot(self, path: str | None = None, **options: Any) -> Any:
        """Draw the convergence curves; see :func:`unipd.report.plot_convergence`."""
        import unipd

        return unipd.report.plot_convergence(self, path, **options)

    def save(self, path: Any, **options: Any) -> Any:
        """Write the result to a file that :func:`unipd.load` reads; see :func:`unipd.save`."""
        import unipd

        return unipd.save(self, path, **options)

    def _rows(self) -> list[tuple[str, str]]:
        rows = summary_rows(self.summary(), self.accuracy)
        if self.seed is not None:
            rows.append(("seed", str(self.seed)))
        return [*rows, ("saved", self.saved)] if self.saved else rows

    def __repr__(self) -> str:
        return (
            f"Result({self.status.value}, objective={self.objective + 0.0:.6g}, "
            f"gap={self.gap:.1e}, infeasibility={self.infeasibility:.1e}, method={self.method!r}, "
            f"iterations={self.iterations}, seconds={self.seconds:.3g})"
        )

    def __str__(self) -> str:
        return plain_table(self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._rows())


def _extra_figures(extras: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers and strings among the extras, dictionaries of them, and tuples of them as lists."""

    def is_figure(value: Any) -> bool:
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        return all(isinstance(part, (str, bool, int, float, type(None))) for part in cast("Iterable[Any]", parts))

    return {
        name: list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value
        for name, value in extras.items()
        if is_figure(value)
    }


_HEADLINE = (
    *("status", "message", "objective", "dual_bound", "bound_kind", "gap", "infeasibility", "tracker_error", "method"),
    *("iterations", "oracle_calls", "line_search_trials", "matvecs", "seconds", "peak_memory_bytes"),
    *("accuracy", "atol", "absolute_gap", "gap_scale", "gap_unit", "violation", "feasibility_scale"),
)
"""Figures that have a row of their own, or a part of one, in the table."""


_PREMISES = {
    "oracle": "the user-supplied oracle maximises",
    "map": "the user-supplied map has the right adjoint",
    "coupling": "the user-supplied coupling has the right conjugate",
}
"""What a bound rests on, by the part that is user-supplied."""
_KIND_TEXT = {"stated": "as stated by user-supplied parts", "conditional": "for points up to a size"}
"""Kinds of bounds whose identifiers do not explain themselves."""


def summary_rows(figures: Mapping[str, Any], accuracy: float = math.nan) -> list[tuple[str, str]]:
    """Return the rows of the table of a result, from its summary: headline figures first; missing ones have no row.

    >>> summary_rows({"status": "solved", "objective": 1.5, "gap": 1e-4, "rank": 2}, 1e-3)[1:]
    [('objective', '1.5'), ('gap', '0.0001 (relative, requested 0.001)'), ('rank', '2')]
    >>> summary_rows({"status": "solved", "gap": 1e-4, "gap_scale": 1.5}, 1e-3)[1:]
    [('gap', '0.0001 (relative to 1.5, requested 0.001)')]
    >>> summary_rows({"status": "solved", "gap": 1e-2, "absolute_gap": 0.1, "atol": 0.5}, 1e-3)[1:]
    [('gap', '0.01 (relative, requested 0.001; absolute 0.1, allowed 0.5)')]
    >>> summary_rows({"status": "solved", "gap": 1e-3, "gap_unit": "nats"}, 1e-2)[1]
    ('gap', '0.001 nats, requested 0.01')
    """
    known = {**dict.fromkeys(_HEADLINE), **figures}
    status = Status(known["status"])
    kind = f" ({_KIND_TEXT.get(known['bound_kind'], known['bound_kind'])})" if known["bound_kind"] else ""
    if known["bound_kind"] == "conditional" and known.get("trace_bound") is not None:
        kind = f" (for X of trace at most {format_value(known['trace_bound'], 6)})"
    requested = f", requested {accuracy:g}" if math.isfinite(accuracy) else ""
    steps = f"{known['iterations']} iteration{'' if known['iterations'] == 1 else 's'}"
    gap = _relative_text(known, "gap", "absolute_gap", "gap_scale", requested)
    if known["gap_unit"] == "nats":
        gap = f"{format_value(known['gap'], 3)} nats{requested}"
    infeasibility = _relative_text(known, "infeasibility", "violation", "feasibility_scale")
    if known["feasibility_scale"] is None and known["infeasibility"] == 0.0:
        infeasibility = "0"  # of a loss, which has no constraints
    rows = [
        ("status", "status", f"{status.value}: {known['message'] or status.message}"),
        ("objective", "objective", format_value(known["objective"], 10)),
        ("dual bound", "dual_bound", format_value(known["dual_bound"], 10) + kind),
        ("gap", "gap", gap),
        ("infeasibility", "infeasibility", infeasibility),
        ("tracker error", "tracker_error", format_value(known["tracker_error"], 3)),
        ("method", "method", f"{known['method']}, {steps}" if known["method"] else steps),
        ("oracle calls", "oracle_calls", f"{known['oracle_calls']} ({known['matvecs']} matrix-vector products)"),
        ("seconds", "seconds", format_value(known["seconds"], 3)),
        ("peak memory", "peak_memory_bytes", size_text(known["peak_memory_bytes"] or 0)),
    ]
    return [
        *((name, text) for name, key, text in rows if key == "status" or known[key] is not None),
        *((key.replace("_", " "), format_value(value)) for key, value in figures.items() if key not in _HEADLINE),
    ]


def _relative_text(known: Mapping[str, Any], name: str, absolute: str, scale: str, requested: str = "") -> str:
    """Return a relative figure with what it is relative to, and its absolute counterpart where ``atol`` allows some."""
    size, figure, counterpart = known[scale], known[name], known[absolute]
    if None in (size, figure, counterpart):
        to = "" if size is None else f" to {format_value(float(size), 4)}"
    elif math.isclose(figure * size, counterpart, rel_tol=1e-3) or not math.isfinite(figure * size):
        to = f" to {format_value(float(size), 4)}"
    else:
        to = ", with rows of A at unit norm"
    allowed = f"; absolute {format_value(counterpart, 3)}, allowed {known['atol']:g}" if known["atol"] else ""
    return f"{format_value(figure, 3)} (relative{to}{requested}{allowed})"


def problem_facts(result: Result) -> ProblemFacts:
    """Return what a report needs to know about a result's problem."""
    problem, dual = result.problem, result.dual
    if result.facts is not None or problem is None:
        return result.facts or ProblemFacts()
    return ProblemFacts(
        problem=repr(problem),
        loss=problem.loss is not None,
        scale=float(problem.scale(result.objective)),
        gap_unit="nats" if problem.coupling.gap_scale == 1.0 else "relative",
        feasibility_scale=_violation_scale(problem, result.image),
        curvature=_loss_curvature(problem),
        eps=None if result.state is None else result.state.absolute_accuracy,
        dual_norm=None if dual is None else norm(dual),
    )


def reduce_result(result: Result) -> Result:
    """Return a result for a model to keep: without the problem, the solver's state and A x, often far larger."""
    return replace(result, problem=None, state=None, image=None, facts=problem_facts(result))


def add_work(*results: Result) -> Result:
    """Return the last of some results with the iterations, counts and seconds of all."""
    iterations, seconds = sum(result.iterations for result in results), sum(result.seconds for result in results)
    counts = sum((result.counts for result in results), Counts())
    return replace(results[-1], iterations=iterations, counts=counts, seconds=seconds)


def _violation_scale(problem: Problem, image: Any) -> float | None:
    """Return a scale s > 0 with infeasibility <= violation / s at a point with this image; None without one."""
    stretch = 1.0 if problem.rows is None else float(problem.rows.factors.max())
    scale = problem.least_scale if image is None else problem.equilibrated_scale(image - problem.b)
    return float(scale) / stretch or None


def _loss_curvature(problem: Problem) -> float | None:
    """Return the curvature of a smooth loss whose minimum is 0 where f >= 0, else None.

    The minimum of f is -f^*(0), which is zero for homogeneous conjugates.
    """
    loss = problem.loss
    if loss is None or problem.sharp.degree is None:
        return None
    curvature = float(loss.curvature())
    least = -float(loss.conjugate(np.zeros(problem.dual_shape, problem.dtype)))
    return curvature if math.isfinite(curvature) and least >= 0.0 else None


def remeasure(problem: Problem, x: Any, certificate: Certificate) -> tuple[Array, Certificate]:
    """Return A x and the certificate with objective and violation recomputed from x."""
    image = np.asarray(problem.map.image(x)).astype(problem.dtype, copy=False)
    cost = problem.sharp.objective(x)
    squared = None if problem.conjugate_curvature is None else dual_space(problem).distance(image, problem.b) ** 2
    return image, certificate.update_point(measure_point(problem, None, image, cost, squared))


def tracker_error(primal: Any) -> float | None:
    """Return the error that an approximate tracker reports; None for an exact one."""
    error = primal.error
    return None if error is None else float(error)


def lies_in_set(problem: Problem, primal: Any, x: Any, accuracy: float) -> bool:
    """Whether an approximate point lies in X up to the accuracy (relative, as ``contains`` takes it).

    Exact averages of atoms lie in X and need no check, except those of a user-supplied oracle: its atoms, where they
    are kept, are checked one by one.
    """
    is_doubtful = problem.has_user_oracle and problem.sharp.has_membership_test and not isinstance(primal, HasAtoms)
    return x is None or not (tracker_error(primal) or is_doubtful) or bool(problem.sharp.contains(x, accuracy))


def certificate_figures(problem: Problem, certificate: Certificate) -> dict[str, Any]:
    """Return the fields of a result that a certificate determines."""
    return {
        "dual": certificate.dual,
        "objective": certificate.objective,
        "infeasibility": certificate.infeasibility,
        "violation": certificate.violation,
        "dual_bound": certificate.dual_bound,
        "gap": certificate.gap(problem),
        "bound_kind": certificate.bound_kind,
    }
