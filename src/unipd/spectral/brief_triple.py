"""The engine's way to one top singular triple of an operator that does Golub-Kahan steps by itself.

Between the products of a method everything here has left the processor's cache, so that lines of Python cost ten times
what they seem to: whatever does not depend on the direction is prepared once, in a :class:`Plan`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.records import made
from unipd.spectral.brief import Brief
from unipd.spectral.dense import always_dense
from unipd.spectral.goal import Goal
from unipd.spectral.golub_kahan import taken_over
from unipd.spectral.lanczos import Limits
from unipd.spectral.powers import farthest
from unipd.spectral.products import Products
from unipd.spectral.results import RESIDUAL, SingularTriples
from unipd.spectral.scaled import OutOfRange, Watched
from unipd.spectral.start import random_columns
from unipd.spectral.stopping import ALLOWED, Stop
from unipd.spectral.transposed import Transposed

if TYPE_CHECKING:
    from unipd.spectral.engine import Engine

_SUBSPACE = 80
"""Columns before a restart, by default."""
_MOST_STEPS = 640
"""Steps before the first restart, by default: a run that has lost nothing yet needs the fewest products."""
_MOST_BYTES = 1 << 25
"""Bytes of both bases beyond which those of a restart have to do."""


class Plan(NamedTuple):
    """What an engine does with all operators of a shape and a dtype, for starts that are warm or not."""

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
    far: float
    """Sizes from this on, and below its inverse, are run scaled."""


def brief_triple(
    engine: Engine,
    operator: Any,
    start: Any,
    tolerance: float,
    relative: bool,
    value: float | Callable[[float], float] | None,
) -> SingularTriples | None:
    """Return the top singular triple as :meth:`~unipd.spectral.engine.Engine.singular_triples` does.

    None for what is not done here: by engines that use blocks or other solvers, for operators that are to be made
    dense, and for starts that :func:`~unipd.spectral.start.starting_block` must judge. Raises
    :class:`~unipd.spectral.scaled.OutOfRange` for operators that are to be scaled.
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
    run = Brief(operator, plan.wide, plan.steps)
    found = run.triple((first, plan.random, plan.mix), plan.limits.products, goals, value if callable(value) else None)
    if run.unfit:
        return None
    if run.known and not 1.0 / plan.far < run.small[0, 0] < plan.far:
        raise OutOfRange(float(run.small[0, 0]), run.made)
    if found is None:
        return _gone_on(engine, run, plan, value)
    top, residual, others, vectors = found
    residual += plan.precision * top
    left, right = (vectors, others) if plan.wide else (others, vectors)
    numbers = np.array((top, residual))
    return made(
        SingularTriples,
        values=numbers[:1],
        left=left[:, None],
        right=right[:, None],
        residuals=numbers[1:],
        matvecs=run.made,
        upper=top + residual,
        bound=RESIDUAL,
        converged=True,
        solver="lanczos",
    )


@lru_cache(maxsize=64)
def _plan(
    engine: Engine, shape: tuple[int, int], dtype: np.dtype[Any], warm: bool, tolerance: float, relative: bool
) -> Plan | None:
    small = engine.solver == "auto" and always_dense(shape, engine.operator_limit)
    if engine.solver not in ("auto", "lanczos") or small or engine.block not in (None, 1):
        return None
    rows, precision = min(shape), 8.0 * float(np.finfo(dtype).eps)
    stop = engine.rule(Goal(tolerance, relative, None), warm, rows)
    random = random_columns(rows, 1, np.dtype(np.float64), engine.seed)[:, 0]
    mix = engine.mix if warm else 0.0
    limits = Limits(_SUBSPACE, engine.max_products) if engine.subspace is None else engine.limits(1, 1)
    steps = limits.subspace
    if engine.subspace is None:
        steps = max(steps, min(_MOST_STEPS, _MOST_BYTES // (sum(shape) * dtype.itemsize)))
    goals = stop.goals(0.0, precision)
    return Plan(shape[0] < shape[1], random, mix, stop, goals, precision, limits, steps, farthest(dtype))


def _vector(start: Any, plan: Plan, dtype: np.dtype[Any]) -> Array | None:
    """Return a copy of the first of the starting vectors, or None where they are not columns of real numbers."""
    if start is None:
        return plan.random.astype(dtype)
    side = start[0 if plan.wide else 1]
    fits = isinstance(side, np.ndarray) and side.ndim == 2 and side.shape[0] == plan.random.size and side.shape[1] > 0
    return np.array(side[:, 0], dtype) if fits and side.dtype.kind == "f" else None


def _gone_on(engine: Engine, run: Brief, plan: Plan, value: float | Callable[[float], float] | None) -> SingularTriples:
    """Return the triple of a run that needs restarts, or meets a vector that vanishes."""
    products = Products(run.operator) if run.known else Watched(run.operator)
    products.count = run.made
    rule = plan.stop.allowing(value)
    tall = Transposed(products) if plan.wide else products
    ritz = taken_over(run, tall, rule, plan.limits, engine.seed + 1)
    left, right = (ritz.vectors, ritz.left) if plan.wide else (ritz.left, ritz.vectors)
    upper = float(ritz.values[0] + ritz.residuals[0])
    return SingularTriples(
        ritz.values, left, right, ritz.residuals, products.count, upper, RESIDUAL, ritz.converged, "lanczos"
    )
