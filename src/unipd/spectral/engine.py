"""The front door: choose a solver, prepare the start, and return top eigenpairs or singular triples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput
from unipd.spectral.brief_triple import brief_triple
from unipd.spectral.dense import always_dense, dense_eigenpairs, dense_singular_triples
from unipd.spectral.goal import Goal
from unipd.spectral.golub_kahan import golub_kahan
from unipd.spectral.lanczos import Limits, Ritz, lanczos
from unipd.spectral.products import Multiplier, Products
from unipd.spectral.results import RESIDUAL, EigenPairs, SingularTriples
from unipd.spectral.scaled import OutOfRange, in_range, scaled_run
from unipd.spectral.start import starting_block
from unipd.spectral.stopping import Stop
from unipd.spectral.transposed import Transposed

SOLVERS = ("auto", "lanczos", "dense", "arpack", "lobpcg", "propack")
"""Names that ``Engine.solver`` takes."""


@dataclass(frozen=True)
class Engine:
    """How top eigenpairs and singular triples are computed.

    Examples
    --------
    >>> import numpy as np
    >>> Engine(solver="lanczos").eigenpairs(np.diag([1.0, 4.0, 2.0])).value.__round__(10)
    4.0
    """

    solver: str = "auto"
    """"auto" (dense when small, else our Lanczos), "lanczos", "dense", or SciPy's "arpack", "lobpcg", "propack"
    (singular values only). Where SciPy's do not reach the tolerance, ours answers."""
    block: int | None = None
    """Block size of Lanczos, at least the number of pairs wanted, the default; more serves degenerate tops."""
    subspace: int | None = None
    """Columns of the basis before a restart; by default max(40, count + 8 * block). One singular triple of a small
    sampled matrix has 80, and before the first restart as many as 32 MB hold, up to 640."""
    max_products: int = 4000
    """Products after which a run returns what it has."""
    seed: int = 0
    """Seed of every random vector."""
    mix: float = 0.2
    """Share of a random direction mixed into a warm start, so that no start is orthogonal to the answer."""
    lookout: float | None = 0.1
    """Go on until eigenvalues that exceed the answer by this share of the spread would have shown, so that a warm
    start near a lower eigenvector is left; None trusts the start (saves products when it is known to be good). Used
    with block size 1."""
    operator_limit: int = 64
    """"auto" makes operators dense when their smaller side is at most this."""
    array_limit: int = 256
    """"auto" treats arrays and sparse matrices as dense when their smaller side is at most this."""

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise InvalidInput("solver", f"one of {', '.join(SOLVERS)}", repr(self.solver))
        validate.positive("mix", self.mix)
        validate.integer("max_products", self.max_products, minimum=1)
        for name in ("block", "subspace"):
            if getattr(self, name) is not None:
                validate.integer(name, getattr(self, name), minimum=1)

    def eigenpairs(
        self,
        operator: Any,
        count: int = 1,
        *,
        start: Any = None,
        tolerance: float = 1e-8,
        relative: bool = True,
        value_tolerance: float | Callable[[float], float] | None = None,
    ) -> EigenPairs:
        """Return the ``count`` algebraically largest eigenpairs of a Hermitian operator.

        Parameters
        ----------
        operator
            The Hermitian matrix: an array, a sparse matrix or anything with ``matvec``.
        count
            Number of pairs (at most the size of the matrix).
        start
            Vector or block to start from, such as a recent eigenvector.
        tolerance
            Largest residual norm allowed, relative to the spread of the spectrum seen or absolute.
        relative
            Whether ``tolerance`` is relative.
        value_tolerance
            Asks in addition that the sum of the values fall short by at most this much, as estimated from
            residuals and gaps; may be a function of the top value.
        """
        goal = Goal(tolerance, relative, value_tolerance)

        def solve(products: Products, unit: float) -> EigenPairs:
            return self._eigenpairs(products, _wanted(count, products), start, goal.scaled(unit))

        return in_range(solve, operator, hermitian=True)

    def singular_triples(
        self,
        operator: Any,
        count: int = 1,
        *,
        start: tuple[Any, Any] | None = None,
        tolerance: float = 1e-8,
        relative: bool = True,
        value_tolerance: float | Callable[[float], float] | None = None,
    ) -> SingularTriples:
        """Return the ``count`` largest singular triples; ``start`` is a pair (left, right) of vectors or blocks.

        The other parameters are those of :meth:`eigenpairs`; a relative tolerance is relative to the largest
        singular value. A wide operator is run through its adjoint, so that the bases start on the shorter side.
        """
        far = None
        if count == 1 and getattr(operator, "sweeps", False):
            try:
                found = brief_triple(self, operator, start, tolerance, relative, value_tolerance)
                if found is not None:
                    return found
            except OutOfRange as error:
                far = error
        goal = Goal(tolerance, relative, value_tolerance)

        def solve(products: Products, unit: float) -> SingularTriples:
            return self._singular_triples(products, _wanted(count, products), start, goal.scaled(unit))

        if far is not None:
            return scaled_run(solve, operator, far, hermitian=False)
        return in_range(solve, operator, hermitian=False)

    def _eigenpairs(self, products: Products, wanted: int, start: Any, goal: Goal) -> EigenPairs:
        if self.makes_dense(products):
            return dense_eigenpairs(products, wanted)
        if self.solver in ("arpack", "lobpcg"):
            from unipd.spectral.scipy_solvers import scipy_eigenpairs

            found = scipy_eigenpairs(self, products, wanted, start, goal)
            if found is not None:
                return found
        rule = self.rule(goal, start is not None, products.shape[1])
        run = self._run(lanczos, products, start, wanted, rule)
        upper = float(run.values[0] + run.residuals[0])
        return EigenPairs(
            run.values, run.vectors, run.residuals, products.count, upper, RESIDUAL, run.converged, "lanczos"
        )

    def _singular_triples(self, products: Products, wanted: int, start: Any, goal: Goal) -> SingularTriples:
        if self.makes_dense(products):
            return dense_singular_triples(products, wanted)
        if self.solver in ("arpack", "lobpcg", "propack"):
            from unipd.spectral.scipy_solvers import scipy_singular_triples

            found = scipy_singular_triples(self, products, wanted, start, goal)
            if found is not None:
                return found
        wide = products.shape[0] < products.shape[1]
        side = None if start is None else start[0 if wide else 1]
        tall = Transposed(products) if wide else products
        rule = self.rule(goal, start is not None, tall.shape[1])
        run = self._run(golub_kahan, tall, side, wanted, rule)
        left, right = (run.vectors, run.left) if wide else (run.left, run.vectors)
        upper = float(run.values[0] + run.residuals[0])
        return SingularTriples(
            run.values, left, right, run.residuals, products.count, upper, RESIDUAL, run.converged, "lanczos"
        )

    def makes_dense(self, products: Products) -> bool:
        """Whether this engine makes the operator dense."""
        limit = self.array_limit if products.explicit else self.operator_limit
        return self.solver == "dense" or (self.solver == "auto" and always_dense(products.shape, limit))

    def limits(self, count: int, block: int, spent: int = 0) -> Limits:
        """Return the sizes of a run for so many pairs with this block size, after products that were in vain."""
        subspace = max(self.subspace, count + 2 * block + 2) if self.subspace else max(40, count + 8 * block)
        return Limits(subspace, self.max_products + spent)

    def _run(self, method: Any, products: Multiplier, start: Any, count: int, stop: Stop) -> Ritz:
        rows = products.shape[1]
        block = min(rows, max(self.block or 1, count))
        first = starting_block(start, rows, block, products.dtype, self.seed, self.mix)
        limits = self.limits(count, block, products.count)
        return method(products, first, count, stop, limits, self.seed + 1)

    def rule(self, goal: Goal, warm: bool, rows: int) -> Stop:
        """Return the stopping rule for vectors of so many rows, which start from given ones or from random ones."""
        allowed = validate.nonnegative("tolerance", goal.tolerance)
        if goal.value is not None and not callable(goal.value):
            validate.nonnegative("value_tolerance", goal.value)
        weight = _TYPICAL_WEIGHT / rows * ((self.mix / (1.0 + self.mix)) ** 2 if warm else 1.0)
        absolute, share = (0.0, allowed) if goal.relative else (allowed, 0.0)
        return Stop(absolute, share, None, self.lookout, weight).allowing(goal.value)


_TYPICAL_WEIGHT = 0.1
"""A random unit vector of length n has at least this / n of its weight on a given vector, three times in four."""


def _wanted(count: int, products: Products) -> int:
    wanted = validate.integer("count", count, minimum=1)
    if wanted > min(products.shape):
        raise InvalidInput("count", f"at most {min(products.shape)}, the rank possible", f"{count}")
    return wanted
