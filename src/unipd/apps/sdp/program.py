"""Semidefinite programs from files and matrices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd.apps.sdp.data import Block, SdpData, from_sdpa
from unipd.apps.sdp.formulate import analyse, formulate
from unipd.apps.sdp.result import SdpResult
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem, read_sdpa
from unipd.maps.sdp import Entries
from unipd.problem import Problem

_SENSES = ("=", "==", "<=", ">=")


@dataclass(frozen=True, eq=False)
class SDP:
    """A semidefinite program: min or max <C, X> subject to linear constraints, X psd.

    Made by :meth:`from_file`, :meth:`from_matrices` or :meth:`from_cvxpy`, solved by :meth:`solve`.

    Examples
    --------
    The smallest eigenvalue of a matrix:

    >>> program = SDP.from_matrices(np.diag([3.0, 1.0, 2.0]), [np.eye(3)], [1.0])
    >>> result = program.solve(accuracy=1e-6)
    >>> result.status.value, round(result.objective, 5)
    ('solved', 1.0)
    """

    data: SdpData
    """The program as a minimisation."""
    maximise: bool = False
    """Whether results are reported for the maximum of minus that cost."""
    constant: float = 0.0
    """What is added to objective and bound in results."""
    sdpa: bool = False
    """Whether messages speak of SDPA's pair of problems, (P) min c'x and (D) max <F_0, Y>, besides."""

    @classmethod
    def from_file(cls, source: str | os.PathLike[str] | BinaryIO) -> SDP:
        """Read an SDPA sparse file (``.dat-s``, ``.dat-s.gz``): max <F_0, Y> subject to <F_i, Y> = b_i.

        The objective reported is <F_0, Y>, the value that SDPLIB publishes.
        """
        return cls.from_sdpa(read_sdpa(source))

    @classmethod
    def from_sdpa(cls, problem: SdpaProblem) -> SDP:
        """Return the program of an SDPA problem.

        >>> problem = SdpaProblem([1.0], (2,), [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1.0, 1.0, 1.0])
        >>> SDP.from_sdpa(problem).maximise
        True
        """
        return cls(from_sdpa(problem), maximise=True, sdpa=True)

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
    ) -> SDP:
        """Return min (or max) <C, X> subject to <A_i, X> = b_i (or <=, >=), X psd.

        Parameters
        ----------
        C
            Symmetric matrix, an array, nested lists or SciPy sparse.
        A
            Symmetric matrices of the order of C, one a constraint, at least one.
        b
            Right-hand sides.
        senses
            "=", "<=" or ">=", one for all or one a constraint.
        lower
            Lower bounds besides ``b``, for constraints with the sense "<=" (-inf for none).
        maximise
            Whether to maximise.

        Examples
        --------
        >>> program = SDP.from_matrices(np.eye(2), [np.diag([1.0, 0.0])], [1.0], ">=")
        >>> program.data.lower, program.data.upper
        (array([1.]), array([inf]))
        """
        objective, matrices = _matrix("C", C), _matrices(A)
        order = int(objective.shape[0])
        for index, matrix in enumerate(matrices):
            if matrix.shape != (order, order):
                raise InvalidInput(f"A[{index}]", f"shape {(order, order)}, that of C", f"shape {matrix.shape}")
        cost, constraints = Entries.from_matrices([objective], "C"), Entries.from_matrices(matrices, "A")
        right = validate.real_array("b", b, shape=(len(matrices),)).astype(np.float64)
        below, above = _bounds(right, senses, lower)
        if maximise:
            cost = Entries(cost.constraint, cost.block, cost.row, cost.col, -cost.value)
        return cls(SdpData(order, cost, constraints, below, above, (Block(0, order, False),)), maximise)

    @classmethod
    def from_cvxpy(cls, problem: Any) -> SDP:
        """Return the program of a CVXPY problem with psd and nonnegative variables and affine constraints."""
        from unipd.apps.sdp.from_cvxpy import convert

        return convert(problem)

    @property
    def order(self) -> int:
        """Order of X, all blocks together."""
        return self.data.order

    def problem(self, trace_bound: float | None = None) -> Problem:
        """Return the program as a template for any method of the library (constraints scaled to unit norm)."""
        from unipd.apps.sdp.solving import trace_of

        analysis = analyse(self.data)
        trace = trace_of(analysis, trace_bound)
        if trace is None:
            raise InvalidInput("trace_bound", "a bound of the trace (the constraints imply none)", "None")
        return formulate(analysis, trace).problem

    def solve(self, accuracy: float = 1e-6, method: Any = "auto", **options: Any) -> SdpResult:
        """Solve the program; see :func:`unipd.apps.sdp.solving.solve_program` for the options."""
        from unipd.apps.sdp.solving import solve_program

        return solve_program(self, accuracy, method, **options)

    def __repr__(self) -> str:
        goal = "max" if self.maximise else "min"
        return f"SDP({goal}, order={self.order}, constraints={self.data.size}, blocks={len(self.data.blocks)})"


def _matrix(name: str, given: Any) -> Any:
    """Return a symmetric matrix as an array or SciPy sparse."""
    found: Any = given if sp.issparse(given) else validate.real_array(name, given)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.shape[0] == 0:
        raise InvalidInput(name, "a symmetric matrix", f"shape {found.shape}")
    return found


def _matrices(A: Any) -> list[Any]:
    """Return the matrices of the constraints, at least one."""
    if sp.issparse(A) or np.isscalar(A):
        raise InvalidInput("A", "a list of symmetric matrices, one a constraint", type(A).__name__)
    found = [_matrix(f"A[{index}]", matrix) for index, matrix in enumerate(A)]
    if not found:
        expected = 'at least one constraint (tr X <= a alone is A=[np.eye(n)], b=[a], senses="<=")'
        raise InvalidInput("A", expected, "none")
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
