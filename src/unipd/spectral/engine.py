"""The entry point: choose a solver, prepare the start, and return top eigenpairs or singular triples.

One top singular triple of a sampled matrix is a single compiled call (:func:`compiled_singular_triple`). Between the
products of a method its data has left the processor's cache, and a line of Python costs ten times what it seems to:
whatever does not depend on the direction is prepared once, in a :class:`Plan`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.spectral.dense import dense_eigenpairs, dense_singular_triples, is_small
from unipd.spectral.golub_kahan import CompiledBidiagonalization, golub_kahan, resume_compiled
from unipd.spectral.lanczos import Limits, Ritz, lanczos, random_columns, starting_block
from unipd.spectral.operators import Multiplier, Products, Transposed, as_operator
from unipd.spectral.results import RESIDUAL, EigenPairs, SingularTriples
from unipd.spectral.stopping import ALLOWED, ROUNDING, Stop

ValueTolerance = float | Callable[[float], float] | None
"""Error allowed in the sum of the values: a number, a function of the top value, or no limit."""

_SUBSPACE = 80
"""Columns before a restart, by default."""
_MOST_STEPS = 640
"""Steps before the first restart, by default: a run that has lost nothing yet needs the fewest products."""
_MOST_BYTES = 1 << 25
"""Bytes of both bases up to which a first run may exceed the subspace of a restart."""


class Plan(NamedTuple):
    """What an engine prepares for all operators of one shape and dtype, with a warm or a random start."""

    wide: bool
    """Whether steps are done with the adjoint."""
    random: FloatArray
    """Random unit vector on the shorter side."""
    mix: float
    """Share of it in a start."""
    stop: Stop
    """Stopping rule, but for the error allowed in the value."""
    goals: FloatArray
    """Its numbers."""
    precision: float
    """Rounding relative to the top value."""
    limits: Limits
    """Sizes of a run that is restarted."""
    steps: int
    """Steps before the first restart."""


def compiled_singular_triple(
    engine: Engine,
    operator: Any,
    start: Any,
    tolerance: float,
    relative: bool,
    value: ValueTolerance,
) -> SingularTriples | None:
    """Return the top singular triple as :meth:`~unipd.spectral.engine.Engine.singular_triples` does.

    Returns None for engines that use blocks, for operators that are to be made dense, and for starts that
    :func:`~unipd.spectral.lanczos.starting_block` must validate.
    """
    allowed = tolerance if type(tolerance) is float else validate.nonnegative("tolerance", tolerance)
    plan = _plan(engine, operator.shape, operator.dtype, start is not None, allowed, relative)
    if plan is None:
        return None
    first = _vector(start, plan, operator.dtype)
    if first is None:
        return None
    goals = plan.goals.copy()
    if value is not None and not callable(value):
        goals[ALLOWED] = validate.nonnegative("value_tolerance", value)
    run = CompiledBidiagonalization(operator, plan.wide, plan.steps)
    found = run.triple((first, plan.random, plan.mix), plan.limits.products, goals, value if callable(value) else None)
    if run.unfit:
        return None
    if found is None:
        return _continue_run(engine, run, plan, value)
    top, residual, others, vectors = found
    residual += plan.precision * top
    left, right = (vectors, others) if plan.wide else (others, vectors)
    numbers = np.array((top, residual))
    return SingularTriples(
        values=numbers[:1],
        left=left[:, None],
        right=right[:, None],
        residuals=numbers[1:],
        matvecs=run.made,
        upper=top + residual,
        bound_kind=RESIDUAL,
        converged=True,
        solver="lanczos",
    )


@lru_cache(maxsize=64)
def _plan(
    engine: Engine, shape: tuple[int, int], dtype: np.dtype[Any], warm: bool, tolerance: float, relative: bool
) -> Plan | None:
    small = engine.solver == "auto" and is_small(shape, engine.operator_limit)
    if engine.solver == "dense" or small or engine.block not in (None, 1):
        return None
    rows, precision = min(shape), ROUNDING * float(np.finfo(dtype).eps)
    stop = engine.rule(tolerance, relative, None, warm, rows)
    random = random_columns(rows, 1, np.dtype(np.float64), engine.seed)[:, 0]
    mix = engine.mix if warm else 0.0
    limits = Limits(_SUBSPACE, engine.max_products) if engine.subspace is None else engine.limits(1, 1)
    steps = limits.subspace
    if engine.subspace is None:
        steps = max(steps, min(_MOST_STEPS, _MOST_BYTES // (sum(shape) * dtype.itemsize)))
    goals = stop.goals(0.0, precision)
    return Plan(shape[0] < shape[1], random, mix, stop, goals, precision, limits, steps)


def _vector(start: Any, plan: Plan, dtype: np.dtype[Any]) -> Array | None:
    """Return a copy of the first of the starting vectors, or None where they are not columns of real numbers."""
    if start is None:
        return plan.random.astype(dtype)
    side = start[0 if plan.wide else 1]
    fits = isinstance(side, np.ndarray) and side.ndim == 2 and side.shape[0] == plan.random.size and side.shape[1] > 0
    return np.array(side[:, 0], dtype) if fits and side.dtype.kind == "f" else None


def _continue_run(engine: Engine, run: CompiledBidiagonalization, plan: Plan, value: ValueTolerance) -> SingularTriples:
    """Return the triple of a run that needs restarts, or meets a vector that vanishes."""
    products = Products(run.operator)
    products.count = run.made
    rule = plan.stop.with_value_tolerance(value)
    tall = Transposed(products) if plan.wide else products
    ritz = resume_compiled(run, tall, rule, plan.limits, engine.seed + 1)
    left, right = (ritz.vectors, ritz.left) if plan.wide else (ritz.left, ritz.vectors)
    upper = float(ritz.values[0] + ritz.residuals[0])
    return SingularTriples(
        ritz.values, left, right, ritz.residuals, products.count, upper, RESIDUAL, ritz.converged, "lanczos"
    )


SOLVERS = ("auto", "lanczos", "dense")
"""Names that ``Engine.solver`` takes."""


@dataclass(frozen=True)
class Engine:
    """How top eigenpairs and singular triples are computed.

    Parameters
    ----------
    solver
        "auto" (dense when small, else Lanczos), "lanczos" or "dense".
    block
        Block size of Lanczos, at least the number of pairs wanted, the default; more serves degenerate tops.
    subspace
        Columns of the basis before a restart; by default max(40, count + 8 * block). One singular triple of a small
        sampled matrix has 80, and before the first restart as many as 32 MB hold, up to 640.
    max_products
        Products after which a run returns what it has.
    seed
        Seed of every random vector.
    mix
        Share of a random direction mixed into a warm start, so that no start is orthogonal to the answer.
    missed_eigenvalue_guard
        Continue until eigenvalues that exceed the answer by this share of the spread would have shown, so that a
        warm start near a lower eigenvector is left; None trusts the start (saves products when it is known to be
        good). Used with block size 1.
    operator_limit
        "auto" makes operators dense when their smaller side is at most this.
    array_limit
        "auto" treats arrays and sparse matrices as dense when their smaller side is at most this.

    Raises
    ------
    InvalidInput
        If a setting is out of range.

    See Also
    --------
    fixed_tolerance_engine, Certification

    Examples
    --------
    >>> import numpy as np
    >>> Engine(solver="lanczos").eigenpairs(np.diag([1.0, 4.0, 2.0])).value.__round__(10)
    4.0
    """

    solver: str = "auto"
    block: int | None = None
    subspace: int | None = None
    max_products: int = 4000
    seed: int = 0
    mix: float = 0.2
    missed_eigenvalue_guard: float | None = 0.1
    operator_limit: int = 64
    array_limit: int = 256

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
        value_tolerance: ValueTolerance = None,
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
            Also requires that the sum of the values fall short by at most this much, as estimated from
            residuals and gaps; may be a function of the top value.
        """
        products = Products(operator, hermitian=True)
        wanted = _validate_count(count, products)
        if self.makes_dense(products):
            return dense_eigenpairs(products, wanted)
        rule = self.rule(tolerance, relative, value_tolerance, start is not None, products.shape[1])
        run = self._run(lanczos, products, start, wanted, rule)
        upper = float(run.values[0] + run.residuals[0])
        return EigenPairs(
            run.values, run.vectors, run.residuals, products.count, upper, RESIDUAL, run.converged, "lanczos"
        )

    def singular_triples(
        self,
        operator: Any,
        count: int = 1,
        *,
        start: tuple[Any, Any] | None = None,
        tolerance: float = 1e-8,
        relative: bool = True,
        value_tolerance: ValueTolerance = None,
    ) -> SingularTriples:
        """Return the ``count`` largest singular triples; ``start`` is a pair (left, right) of vectors or blocks.

        The other parameters are those of :meth:`eigenpairs`; a relative tolerance is relative to the largest
        singular value. A wide operator is run through its adjoint, so that the bases start on the shorter side.
        """
        if count == 1 and as_operator(operator).has_compiled_run:
            found = compiled_singular_triple(self, operator, start, tolerance, relative, value_tolerance)
            if found is not None:
                return found
        products = Products(operator)
        wanted = _validate_count(count, products)
        if self.makes_dense(products):
            return dense_singular_triples(products, wanted)
        wide = products.shape[0] < products.shape[1]
        side = None if start is None else start[0 if wide else 1]
        tall = Transposed(products) if wide else products
        rule = self.rule(tolerance, relative, value_tolerance, start is not None, tall.shape[1])
        run = self._run(golub_kahan, tall, side, wanted, rule)
        left, right = (run.vectors, run.left) if wide else (run.left, run.vectors)
        upper = float(run.values[0] + run.residuals[0])
        return SingularTriples(
            run.values, left, right, run.residuals, products.count, upper, RESIDUAL, run.converged, "lanczos"
        )

    def makes_dense(self, products: Products) -> bool:
        """Whether this engine makes the operator dense."""
        limit = self.array_limit if products.explicit else self.operator_limit
        return self.solver == "dense" or (self.solver == "auto" and is_small(products.shape, limit))

    def limits(self, count: int, block: int) -> Limits:
        """Return the sizes of a run for ``count`` pairs with this block size."""
        subspace = max(self.subspace, count + 2 * block + 2) if self.subspace else max(40, count + 8 * block)
        return Limits(subspace, self.max_products)

    def _run(self, method: Any, products: Multiplier, start: Any, count: int, stop: Stop) -> Ritz:
        rows = products.shape[1]
        block = min(rows, max(self.block or 1, count))
        first = starting_block(start, rows, block, products.dtype, self.seed, self.mix)
        return method(products, first, count, stop, self.limits(count, block), self.seed + 1)

    def rule(self, tolerance: float, relative: bool, value: ValueTolerance, warm: bool, rows: int) -> Stop:
        """Return the stopping rule for vectors of length ``rows``, from a warm or a random start."""
        allowed = validate.nonnegative("tolerance", tolerance)
        if value is not None and not callable(value):
            validate.nonnegative("value_tolerance", value)
        weight = _TYPICAL_WEIGHT / rows * ((self.mix / (1.0 + self.mix)) ** 2 if warm else 1.0)
        absolute, share = (0.0, allowed) if relative else (allowed, 0.0)
        return Stop(absolute, share, None, self.missed_eigenvalue_guard, weight).with_value_tolerance(value)


_TYPICAL_WEIGHT = 0.1
"""A random unit vector of length n has at least this / n of its weight on a given vector, three times in four."""


def _validate_count(count: int, products: Products) -> int:
    wanted = validate.integer("count", count, minimum=1)
    if wanted > min(products.shape):
        raise InvalidInput("count", f"at most {min(products.shape)}, the rank possible", f"{count}")
    return wanted


PRECISION = 1e-6
"""Relative residual at which early iterates agree with those of an exact oracle to five digits."""


@dataclass(frozen=True)
class FixedToleranceEngine(Engine):
    """An engine whose singular vectors have at most a given residual, however loose the tolerance of a method.

    Methods request values to within a share of eps. In the first iterations from lam = 0 the values of g are of the
    order of eps themselves, so that vectors far from the singular ones suffice: the method is as good, but its iterates
    depend on them. Precise vectors make iterates comparable with those of an exact oracle.

    Examples
    --------
    >>> import numpy as np
    >>> FixedToleranceEngine(precision=1e-6).singular_triples(np.diag([3.0, 1.0]), tolerance=1.0).value.__round__(6)
    3.0
    """

    precision: float = PRECISION
    """Largest residual, relative to the singular value."""

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.positive("precision", self.precision)

    def singular_triples(
        self, operator: Any, count: int = 1, *, tolerance: float = 1e-8, relative: bool = True, **options: Any
    ) -> SingularTriples:
        """Return the largest singular triples; a relative tolerance is at most the precision."""
        allowed = min(tolerance, self.precision) if relative else tolerance
        return super().singular_triples(operator, count, tolerance=allowed, relative=relative, **options)


def fixed_tolerance_engine(precision: float | None) -> Engine | None:
    """Return the engine of a precision; None leaves the choice to the oracle.

    Parameters
    ----------
    precision
        Relative residual of every run, whatever the oracle asks for; None for no engine.

    See Also
    --------
    Engine

    Examples
    --------
    >>> fixed_tolerance_engine(None) is None, fixed_tolerance_engine(1e-6).precision
    (True, 1e-06)
    """
    return None if precision is None else FixedToleranceEngine(precision=precision)


def top_eigenpairs(operator: Any, count: int = 1, **options: Any) -> EigenPairs:
    """Return the algebraically largest eigenpairs with the default :class:`Engine`; options as there.

    >>> import numpy as np
    >>> top_eigenpairs(np.array([[2.0, 1.0], [1.0, 2.0]])).value.__round__(10)
    3.0
    """
    return Engine().eigenpairs(operator, count, **options)


def top_singular_triples(operator: Any, count: int = 1, **options: Any) -> SingularTriples:
    """Return the largest singular triples with the default :class:`Engine`; options as there.

    >>> import numpy as np
    >>> top_singular_triples(np.array([[3.0, 0.0, 4.0]])).value
    5.0
    """
    return Engine().singular_triples(operator, count, **options)
