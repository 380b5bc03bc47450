"""The front door: build a semidefinite program from a file, matrices or CVXPY, solve it, and certify any solution."""

from __future__ import annotations

import inspect
import math
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from unipd import io, run
from unipd._typing import Array
from unipd._util import validate
from unipd._util.context import change_context
from unipd.apps.sdp.cliques import solve_by_cliques
from unipd.apps.sdp.cones import EPS, Prover, choose_size, has_dense_blocks, measure_margin, move_into_cone
from unipd.apps.sdp.data import (
    FREE,
    SdpData,
    data_from_cbf,
    data_from_sdpa,
    data_from_sedumi,
    list_blocks,
    sdpa_from_data,
    sedumi_from_data,
)
from unipd.apps.sdp.formulation import WarmStart, analyse, find_contradiction
from unipd.apps.sdp.infeasibility import find_alternative, infeasible_result
from unipd.apps.sdp.solver import (
    CONIC_METHODS,
    QUICK_SECONDS,
    Solver,
    certified_fields,
    describe_point,
    estimate_seconds,
    measure_point,
)
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem, read_sdpa, write_sdpa
from unipd.maps.sdp import Entries
from unipd.memory import peak_memory
from unipd.methods import METHODS
from unipd.problem import Problem
from unipd.run import Result, recheck
from unipd.run.checkpoint.checkpoint import checkpoint_for
from unipd.run.result import ProblemFacts
from unipd.run.stopping import StopFunction, as_rule
from unipd.spectral import RIGOROUS, SymmetricOperator
from unipd.status import Status

SEDUMI, CBF = ".mat", ".cbf"
"""Endings of the files of these formats; others are SDPA's."""
_SENSES = ("=", "==", "<=", ">=")
_OPTIONS = ("trace_bound", "rank", "seed", "stop", "callback", "verbose", "start", "checkpoint", "every", "resume")
"""Options of :meth:`SDP.solve` besides accuracy and method, as listed in messages."""


@dataclass(frozen=True, eq=False)
class SDP:
    """A semidefinite program: min or max <C, X> subject to linear constraints, X psd.

    Built by :meth:`from_file`, :meth:`from_matrices` or :meth:`from_cvxpy`, solved by :meth:`solve`.

    Parameters
    ----------
    data
        The program as a minimisation.
    maximise
        Whether results are those of the maximisation of minus that cost.
    constant
        Constant added to objective and bound in results.
    sdpa
        Whether messages also refer to SDPA's pair of problems, (P) min c'x and (D) max <F_0, Y>.

    Raises
    ------
    InvalidInput
        If ``data`` is not an ``SdpData``, which these methods build.

    See Also
    --------
    certify, unipd.io.read_sdpa, unipd.cvxpy.Solver, unipd.maps.SdpMap

    Examples
    --------
    The smallest eigenvalue of a matrix:

    >>> program = SDP.from_matrices(np.diag([3.0, 1.0, 2.0]), [np.eye(3)], [1.0])
    >>> result = program.solve(accuracy=1e-6)
    >>> result.status.value, round(result.objective, 5)
    ('solved', 1.0)
    """

    data: SdpData
    maximise: bool = False
    constant: float = 0.0
    sdpa: bool = False

    def __post_init__(self) -> None:
        """Refuse matrices, which :meth:`from_matrices` takes."""
        if not isinstance(self.data, SdpData):  # pyright: ignore[reportUnnecessaryIsInstance]
            expected = "SdpData (matrices are given by SDP.from_matrices(C, A, b), files by SDP.from_file(path))"
            raise InvalidInput("data", expected, type(self.data).__name__)

    @classmethod
    def from_file(cls, source: str | os.PathLike[str] | BinaryIO) -> SDP:
        """Read a file of SDPA (``.dat-s``), SeDuMi (``.mat``) or CBF (``.cbf``), compressed (``.gz``) or not.

        SDPA: max <F_0, Y> subject to <F_i, Y> = b_i; the objective reported is <F_0, Y>, the value that SDPLIB
        publishes. SeDuMi: min c^T x subject to A x = b, x in K. CBF: the objective is that of the file. A stream is
        read as SDPA.
        """
        suffix = find_suffix(source) if isinstance(source, (str, os.PathLike)) else ""
        if suffix == SEDUMI:
            return cls.from_sedumi(io.read_sedumi(source))
        return cls.from_cbf(io.read_cbf(source)) if suffix == CBF else cls.from_sdpa(read_sdpa(source))

    @classmethod
    def from_sdpa(cls, problem: SdpaProblem) -> SDP:
        """Return the program of an SDPA problem.

        >>> problem = SdpaProblem([1.0], (2,), [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1.0, 1.0, 1.0])
        >>> SDP.from_sdpa(problem).maximise
        True
        """
        return cls(data_from_sdpa(problem), maximise=True, sdpa=True)

    @classmethod
    def from_sedumi(cls, problem: io.SedumiProblem) -> SDP:
        """Return the program of a SeDuMi problem; its multipliers are minus SeDuMi's y.

        >>> SDP.from_sedumi(io.SedumiProblem([[1.0, 1.0]], [1.0], [1.0, 2.0], nonnegative=2))
        SDP(min, order=2, constraints=1, blocks=1)
        """
        return cls(data_from_sedumi(problem))

    @classmethod
    def from_cbf(cls, problem: io.CbfProblem) -> SDP:
        """Return the program of a problem of the Conic Benchmark Format.

        >>> problem = io.CbfProblem((("psd", 2),), *[Entries([0], [0], [0], [1.0])] * 2, np.ones(1), np.ones(1))
        >>> SDP.from_cbf(problem)
        SDP(min, order=2, constraints=1, blocks=1)
        """
        return cls(data_from_cbf(problem), problem.maximise, problem.constant)

    def to_sdpa(self) -> SdpaProblem:
        """Return the program in SDPA's convention, whose objective is that of the maximisation without the constant.

        Inequalities get slack variables, free variables become differences; second-order cones are refused.
        """
        return sdpa_from_data(self.data)

    def to_sedumi(self) -> io.SedumiProblem:
        """Return the program in SeDuMi's convention, whose objective is that of the minimisation without the constant.

        Inequalities get slack variables.
        """
        return sedumi_from_data(self.data)

    def to_cbf(self) -> io.CbfProblem:
        """Return the program in the Conic Benchmark Format, whose objective is that of the program."""
        data = self.data
        cost = replace(data.cost, value=-data.cost.value) if self.maximise else data.cost
        blocks = tuple((block.kind, block.size) for block in data.blocks)
        return io.CbfProblem(blocks, cost, data.constraints, data.lower, data.upper, self.maximise, self.constant)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the program as a file of SeDuMi (``.mat``), CBF (``.cbf``) or else SDPA; ``.gz`` compresses it."""
        suffix = find_suffix(path)
        if suffix in (SEDUMI, CBF):
            (io.write_sedumi if suffix == SEDUMI else io.write_cbf)(self, path)
            return
        sign = "" if self.maximise else "-"
        note = "" if self.maximise and not self.constant else f"objective = {sign}<F0, Y> + {self.constant!r}"
        write_sdpa(self, path, comment=note)

    @classmethod
    def from_matrices(
        cls,
        C: Any,
        A: Sequence[Any],
        b: Any,
        senses: str | Sequence[str] = "=",
        *,
        lower: Any = None,
        maximise: bool = False,
        blocks: Sequence[int] = (),
    ) -> SDP:
        """Return min (or max) <C, X> subject to <A_i, X> = b_i (or <=, >=), X psd.

        Parameters
        ----------
        C
            Symmetric matrix, an array, nested lists or SciPy sparse.
        A
            Symmetric matrices of the order of C, one per constraint, at least one.
        b
            Right-hand sides.
        senses
            "=", "<=" or ">=", one for all or one per constraint.
        lower
            Lower bounds in addition to ``b``, for constraints with the sense "<=" (-inf for none).
        maximise
            Whether to maximise.
        blocks
            Orders of X's diagonal blocks, by default a single one; -k for k nonnegative entries on the diagonal.

        Examples
        --------
        >>> program = SDP.from_matrices(np.eye(2), [np.diag([1.0, 0.0])], [1.0], ">=")
        >>> program.data.lower, program.data.upper
        (array([1.]), array([inf]))
        """
        if sp.issparse(A) or np.isscalar(A):
            raise InvalidInput("A", "a list of symmetric matrices, one per constraint", type(A).__name__)
        if len(A) == 0:
            expected = 'at least one constraint (tr X <= a alone is A=[np.eye(n)], b=[a], senses="<=")'
            raise InvalidInput("A", expected, "none")
        objective = _matrix("C", C)
        order = int(objective.shape[0])
        matrices = [_matrix(f"A[{index}]", matrix, order) for index, matrix in enumerate(A)]
        cost, constraints = Entries.from_matrices([objective], "C"), Entries.from_matrices(matrices, "A")
        right = validate.real_array("b", b, shape=(len(matrices),)).astype(np.float64)
        below, above = _bounds(right, senses, lower)
        if maximise:
            cost = replace(cost, value=-cost.value)
        sizes = [validate.integer("blocks", size, minimum=-order) for size in blocks]
        return cls(SdpData(order, cost, constraints, below, above, list_blocks(sizes)), maximise)

    @classmethod
    def from_cvxpy(cls, problem: Any) -> SDP:
        """Return the program of a CVXPY problem with linear, second-order and PSD constraints.

        Blocks are the cones of the model: the variables without bounds that remain, nonnegative ones, second-order
        cones and psd matrices. :meth:`solve` also fills ``value`` of the model's variables, ``dual_value`` of its
        constraints and its status, as :class:`unipd.cvxpy.Solver` does inside CVXPY.

        >>> import cvxpy
        >>> X, t = cvxpy.Variable((2, 2), PSD=True), cvxpy.Variable(nonneg=True)
        >>> SDP.from_cvxpy(cvxpy.Problem(cvxpy.Minimize(X[0, 0] + t), [cvxpy.trace(X) == 1, X[0, 1] + t >= 0.25]))
        SDP(min, order=3, constraints=2, blocks=2)
        """
        import unipd

        return unipd.cvxpy.convert_sdp(problem)

    @property
    def order(self) -> int:
        """Order of X, all blocks together."""
        return self.data.order

    def problem(self, trace_bound: float | None = None) -> Problem:
        """Return the program as a template for any method of the library (constraints scaled to unit norm)."""
        analysis = analyse(self.data)
        trace = analysis.trace_bound(trace_bound)
        if trace is None:
            raise InvalidInput("trace_bound", "an upper bound on the trace (the constraints imply none)", "None")
        return analysis.problem(trace)

    def solve(
        self,
        accuracy: float = 1e-6,
        method: Any = "auto",
        *,
        trace_bound: float | None = None,
        rank: int | None = None,
        seed: int = 0,
        stop: run.StoppingRule | StopFunction | None = None,
        **options: Any,
    ) -> Result:
        """Solve the program.

        In the result, ``x`` is X = R R^T as factors (``x.left`` is R) and ``dual`` holds the multipliers y, for an SDPA
        file the vector x of the format's primal problem. :class:`unipd.Result` lists the ``extras``.

        Parameters
        ----------
        accuracy
            Relative accuracy of gap and feasibility.
        method
            "auto" (cliques, interior points, splitting, the factored method, or two, by estimated cost), "interior",
            "splitting", the name of any method of the library, or a method.
        trace_bound
            An upper bound on the trace of X, for programs whose constraints imply none.
        rank
            Initial columns of R in the factored method.
        seed
            Seed of its random start.
        stop, options
            ``stop``, ``callback``, ``verbose``, ``atol``, ``start``, ``checkpoint``, ``every``, ``resume`` and the
            options of a method, as in :func:`unipd.solve`. The checkpoint holds all runs: those that look for a trace
            bound, the factored method's, and that of interior points.
        """
        accuracy = validate.positive("accuracy", accuracy)
        if trace_bound is not None:
            validate.positive("trace_bound", trace_bound)
        rank = None if rank is None else validate.integer("rank", rank, minimum=1)
        stop = None if stop is None else as_rule(stop)
        if isinstance(method, str) and method not in ("auto", *CONIC_METHODS, *METHODS):
            raise InvalidInput("method", f"one of {', '.join(('auto', *CONIC_METHODS, *METHODS))}", repr(method))
        if method in ("auto", "factored", *CONIC_METHODS):
            _check_options(options)
        started = time.perf_counter()
        with _open_checkpoint(options) as remaining:
            contradiction = find_contradiction(self.data, accuracy)
            if contradiction is not None:
                return infeasible_result(self, contradiction.message, accuracy, started, contradiction.dual)
            given = remaining.pop("start", None)
            start = None if given is None else WarmStart.read(self.data, given)
            if method == "auto" and start is trace_bound is rank is None:
                known = self._certify_by_cliques(accuracy)
                if known is not None:
                    return known
            return Solver(self, accuracy, method, trace_bound, rank, seed, stop, start, remaining).solve()

    def _certify_by_cliques(self, accuracy: float) -> Result | None:
        """Return the result of a theta program that cliques solve, None for others and for those of a second."""
        if estimate_seconds(self.data) <= QUICK_SECONDS:
            return None
        started, found = time.perf_counter(), solve_by_cliques(self.data)
        if found is None:
            return None
        result = certify(self, found.dual, found.x, accuracy=accuracy)
        seconds = time.perf_counter() - started
        note = "Solved by an independent set and a cover by cliques of the same size, and certified."
        return replace(result, method="cliques", seconds=seconds, note=note) if result.status.success else None

    def block(self, x: Any, index: int) -> Array:
        """Return one block of X = R R^T: a matrix, or a vector.

        Parameters
        ----------
        x
            The variable of the problem, such as ``result.x``.
        index
            The block, counted from 0.

        Returns
        -------
        numpy.ndarray
            A matrix; of a diagonal block the vector of its diagonal.
        """
        return self.data.block(x, index)

    def slack(self, dual: Any) -> SymmetricOperator:
        """Return S = C + sum y_i A_i (-C for a maximisation) as an operator with matvec, matmat, toarray and tocsr.

        S is psd up to the gap for the dual vector of a solution.
        """
        return self.data.slack(dual)

    def adjoint(self, dual: Any) -> SymmetricOperator:
        """Return sum y_i A_i as an operator: psd, or zero, for the dual vector of an infeasible program."""
        return self.data.cost_and_constraints.adjoint(np.concatenate([np.zeros(1), dual]))

    def __repr__(self) -> str:
        goal = "max" if self.maximise else "min"
        return f"SDP({goal}, order={self.order}, constraints={self.data.size}, blocks={len(self.data.blocks)})"


def find_suffix(path: str | os.PathLike[str]) -> str:
    """Return the file extension, which determines the format.

    >>> find_suffix("torusg3-8.MAT.gz"), find_suffix("mcp100.dat-s")
    ('.mat', '.dat-s')
    """
    return os.path.splitext(os.fspath(path).lower().removesuffix(".gz"))[1]


def _check_options(options: dict[str, Any]) -> None:
    """Raise for an option that neither :meth:`SDP.solve` nor :func:`unipd.solve` has."""
    known = {*inspect.signature(run.solve).parameters, "scaling"}
    for name in options:
        if name not in known:
            expected = f"accuracy, method or one of {', '.join(_OPTIONS)}; those of another method require its name"
            raise InvalidInput(name, expected, "an option that the factored method does not have")


@contextmanager
def _open_checkpoint(options: dict[str, Any]) -> Generator[dict[str, Any]]:
    """Let one checkpoint serve every run inside; yield the options without those of the checkpoint."""
    if options.get("checkpoint") is None:  # resume without a checkpoint is refused by the run
        yield options
        return
    path, settings = (
        options.pop("checkpoint"),
        {name: options.pop(name) for name in ("every", "resume") if name in options},
    )
    with checkpoint_for(path, **settings) as checkpoint, change_context(checkpoint=checkpoint):
        yield options


def _matrix(name: str, given: Any, order: int | None = None) -> Any:
    """Return a square matrix, of this order if it is given, as an array or SciPy sparse."""
    found: Any = given if sp.issparse(given) else validate.real_array(name, given)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.shape[0] == 0:
        raise InvalidInput(name, "a symmetric matrix", f"shape {found.shape}")
    if order is not None and found.shape[0] != order:
        raise InvalidInput(name, f"shape {(order, order)}, that of C", f"shape {found.shape}")
    return found


def _bounds(b: Any, senses: str | Sequence[str], lower: Any) -> tuple[Any, Any]:
    given = [senses] * b.size if isinstance(senses, str) else list(senses)
    if len(given) != b.size or any(sense not in _SENSES for sense in given):
        raise InvalidInput("senses", f'"=", "<=" or ">=", or {b.size} of them', repr(senses))
    kinds = np.array(given)
    below = np.where(kinds == "<=", -np.inf, b)
    above = np.where(kinds == ">=", np.inf, b)
    if lower is not None:
        extra = np.asarray(lower, np.float64)
        if extra.shape != b.shape or np.isnan(extra).any() or np.any(extra > b):
            raise InvalidInput("lower", f"{b.size} numbers not above b", repr(lower))
        below = np.where(kinds == "<=", extra, below)
    return below, above


def certify(problem: Any, dual: Any, x: Any = None, *, accuracy: float = 1e-6, rigorous: bool = False) -> Result:
    """Return what a solution of a semidefinite program proves, whichever solver it comes from.

    In the result, ``dual_bound`` is a proved bound on the optimal value, ``gap`` and ``infeasibility`` are those of X,
    and the status is solved if both are within the accuracy. Any multipliers prove a bound: those with a slack that is
    not psd are shifted along a positive definite combination of the matrices first, and where there is none the bound
    holds for X of bounded size only, as the message says. X is projected onto the cones before it is measured; how far
    it was outside is the second of the ``dimacs_errors``. Multipliers that prove that there is no feasible X, and an X
    along which the objective improves forever, have the status infeasible or unbounded.

    Parameters
    ----------
    problem
        An :class:`SDP`, a problem of :mod:`unipd.io` (:class:`~unipd.io.SdpaProblem` and others), or a file.
    dual
        One multiplier per constraint (of either sign convention: the better bound counts), a result, or a file that
        :func:`unipd.io.read_solution` reads.
    x
        X as factors, as an array, or as a list of blocks; by default that of the result or the file.
    accuracy
        Relative accuracy of gap and feasibility.
    rigorous
        Whether to count the rounding of C + sum y_i A_i and of b^T y too; positive definiteness is proved by a
        factorisation that counts its rounding in any case, up to order 3,000.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero.

    See Also
    --------
    SDP, unipd.io.read_solution

    Examples
    --------
    >>> program = SDP.from_matrices(np.diag([3.0, 1.0]), [np.eye(2)], [1.0])
    >>> result = certify(program, [-1.0], np.diag([0.0, 1.0]), rigorous=True)
    >>> result.status.value, round(result.dual_bound, 6), result.bound_kind
    ('solved', 1.0, 'rigorous')
    """
    started, program = time.perf_counter(), as_program(problem)
    data, accuracy = program.data, validate.positive("accuracy", accuracy)
    multipliers, given = _read_dual(data, dual)
    projected, outside = _project(data, given if x is None else x)
    point = measure_point(data, projected)
    prover = Prover(data, rigorous, math.nan if projected is None else choose_size(data, projected))
    slack = 0.0 if projected is None else accuracy * data.gap_scale(point.objective)
    proof = prover.prove(multipliers, slack)
    if not point.objective - proof.value <= slack:
        proof = max(proof, prover.prove(-multipliers, slack), key=lambda found: found.value)
    rounding = EPS * (abs(proof.value) + abs(program.constant)) if rigorous and program.constant else 0.0
    proved = "All rounding is counted." if rigorous else "Rounding is counted in the factorisation of the slack."
    kind, condition = proof.trace.condition(proof.kind)
    note = f" {proved}{condition}" if proof.kind == RIGOROUS else condition
    extras = describe_point(data, point, proof.dual, proof.margin, proof.trace, outside)
    result = Result(
        status=Status.SOLVED,
        **certified_fields(program, point, proof.value - rounding, ProblemFacts(problem=repr(program))),
        note="Certified to the requested accuracy: feasibility and duality gap were recomputed." + note,
        dual=proof.dual,
        bound_kind=kind,
        accuracy=accuracy,
        method="certify",
        seconds=time.perf_counter() - started,
        peak_memory_bytes=peak_memory(),
        extras=extras | {"rounding_counted": rigorous},
    )
    missing = f"Not certified to the requested accuracy of {accuracy:g}."
    if projected is None:
        missing = "The bound is proved, but without X there is no gap to certify."
    final = recheck(result, Status.STALLED, missing + note)
    if final.status.success or not has_dense_blocks(data):
        return final
    other = find_alternative(program, multipliers, projected, accuracy, started)
    return final if other is None else replace(other, method="certify")


def as_program(problem: Any) -> SDP:
    """Return the program of a problem in any of its forms."""
    if isinstance(problem, SDP):
        return problem
    if isinstance(problem, SdpaProblem):
        return SDP.from_sdpa(problem)
    if isinstance(problem, io.SedumiProblem):
        return SDP.from_sedumi(problem)
    if isinstance(problem, io.CbfProblem):
        return SDP.from_cbf(problem)
    if isinstance(problem, (str, os.PathLike)):
        return SDP.from_file(problem)  # pyright: ignore[reportUnknownArgumentType]
    raise InvalidInput("problem", "an SDP, or a file that holds one", validate.describe_type(problem))


def _read_dual(data: SdpData, dual: Any) -> tuple[Array, Any]:
    """Return the multipliers, and X where it comes with them."""
    if isinstance(dual, (str, os.PathLike)):
        sizes = [-block.size if block.is_vector else block.size for block in data.blocks]
        return io.read_solution(dual, data.size, sizes)  # pyright: ignore[reportUnknownArgumentType]
    x = dual.x if isinstance(dual, Result) else None
    values = dual.dual if isinstance(dual, Result) else dual
    return validate.real_array("dual", values, shape=(data.size,)).astype(np.float64), x


def _split_point(data: SdpData, x: Any) -> list[Array]:
    """Return the blocks of X: matrices, and vectors."""
    blocks = data.blocks
    if isinstance(x, LowRank):
        if x.shape != (data.order, data.order) or not x.hermitian:
            raise InvalidInput("x", f"factors R of X = R R^T with {data.order} rows", f"shape {x.shape}")
        return [data.block(x, index) for index in range(len(blocks))]
    if isinstance(x, (list, tuple)) and len(x) == len(blocks) and np.ndim(x[0]) > 0:  # pyright: ignore[reportUnknownArgumentType]
        given: Sequence[Any] = x  # pyright: ignore[reportUnknownVariableType]
        parts: list[Array] = []
        for index, (block, part) in enumerate(zip(blocks, given, strict=True)):
            shape = (block.size,) if block.is_vector else (block.size, block.size)
            is_flat = block.is_vector and np.shape(part) == (block.size, block.size)
            parts.append(validate.real_array(f"x[{index}]", np.diag(part) if is_flat else part, shape=shape))
        return parts
    whole = validate.real_array("x", x, shape=(data.order, data.order)).astype(np.float64)
    return [whole.diagonal()[block.rows] if block.is_vector else whole[block.rows, block.rows] for block in blocks]


def _project(data: SdpData, x: Any) -> tuple[LowRank | None, float]:
    """Return X projected onto the cones (raised into second-order ones), and how far outside it was, at most.

    X = R R^T is psd as it is, and stays in factors.
    """
    if x is None:
        return None, math.nan
    is_psd = isinstance(x, LowRank) and x.hermitian and data.is_psd and bool((x.weights >= 0.0).all())
    if is_psd and x.shape == (data.order, data.order):
        return x, 0.0
    parts = list(zip(data.blocks, _split_point(data, x), strict=True))
    margins = [measure_margin(block, 0.5 * (part + part.T)) for block, part in parts if block.kind != FREE]
    return data.point([move_into_cone(block, part) for block, part in parts]), max(0.0, -min(margins, default=0.0))
