"""Programs without a solution: proofs of infeasibility and improving rays, checked in the units of the data."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.cones import EPS, bound_rounding, make_admissible, measure_margins
from unipd.apps.sdp.data import FREE, PSD, SECOND_ORDER, Block, Columns, SdpData, measure_size, split_blocks
from unipd.atoms import LowRank
from unipd.maps.sdp import Entries
from unipd.memory import peak_memory
from unipd.run import Result
from unipd.run.result import ProblemFacts
from unipd.spectral import CONDITIONAL, RIGOROUS, smallest_eigenpair
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.sdp.program import SDP

EXCLUDED_MULTIPLE = 1e10
"""Multipliers whose matrix is psd up to rounding prove infeasibility if they exclude X of this multiple of the trace
that b requires. Multipliers of programs that X of any size approaches (weakly infeasible ones) grow with the trace that
they exclude, and their rounding stops that near 1e8."""
NEGLIGIBLE_SHARES = (1e-8, 1e-4)
"""Entries on the diagonal of a ray, and changes of inequalities along it, that count as zero, tried in this order."""
NEGLIGIBLE_VIOLATION = 1e-3
"""A point that violates the constraints by at most this, relative to b, counts as nearly feasible."""


class Separation(NamedTuple):
    """Multipliers y with b^T y = -1 whose matrix sum_i y_i A_i is psd, or nearly."""

    dual: Array
    excluded: float
    """No X up to this trace is feasible: inf where the matrix is proved psd."""
    is_conclusive: bool
    """Whether the matrix is psd, or rounding alone can explain that it is not and X of a vast trace are excluded."""


class Ray(NamedTuple):
    """A direction D of size 1 in the cone that keeps feasible X feasible, or nearly."""

    direction: LowRank
    objective: float
    """<C, D>, negative where the objective improves."""
    residual: float
    """How far D is from preserving the constraints, with matrices of unit norm."""


def find_separation(data: SdpData, dual: Array, accuracy: float = 0.0) -> Separation | None:
    """Return what multipliers (in the units of the data) prove, None where b^T y >= 0.

    For every feasible X, margin * size(X) <= <A^*(y), X> <= b^T y < 0: a margin >= 0 excludes every X. Where
    those given exclude X of a vast trace, others near them count too if they exclude every X feasible to the accuracy.

    >>> from unipd.maps.sdp import Entries
    >>> one = Entries.from_matrices([np.eye(2)])
    >>> find_separation(SdpData(2, one, one, np.array([-1.0]), np.array([-1.0])), np.ones(1)).excluded
    inf
    """
    first = _measure_separation(data, dual)
    if first is None or first.is_conclusive or first.excluded <= EXCLUDED_MULTIPLE * data.natural_trace:
        return first
    moved = (_measure_separation(data, _move_to_face(data, first.dual, share)) for share in NEGLIGIBLE_SHARES)
    proofs = (proof for proof in moved if proof is not None and proof.is_conclusive)
    return next((proof for proof in proofs if is_beyond_accuracy(data, proof.dual, accuracy)), first)


def is_beyond_accuracy(data: SdpData, dual: Array, accuracy: float) -> bool:
    """Whether multipliers with b^T y = -1 prove that no X is feasible to the accuracy: ||A(X) - b|| >= 1 / ||y||.

    >>> from unipd.maps.sdp import Entries
    >>> one = Entries.from_matrices([np.eye(1)])
    >>> is_beyond_accuracy(SdpData(1, one, one, np.array([-1.0]), np.array([-1.0])), np.ones(1), 1e-6)
    True
    """
    return accuracy * data.feasibility_scale(data.b) * float(np.linalg.norm(dual * data.norms)) < 1.0


def _measure_separation(data: SdpData, dual: Array) -> Separation | None:
    """Return what multipliers prove as they are, with b^T y = -1; None where b^T y is not negative."""
    value = data.support_of_bounds(dual)
    if not value < 0.0:
        return None
    unit = dual / -value
    linear = data.without_cost()
    margins, rounding = measure_margins(data.blocks, linear.slack(unit)), bound_rounding(linear, unit)
    margin = float((margins - rounding).min())
    if margin >= 0.0:
        return Separation(unit, math.inf, True)
    terms = np.array([1 if block.is_vector else block.size for block in data.blocks])
    is_vast = -1.0 / margin > EXCLUDED_MULTIPLE * data.natural_trace
    return Separation(unit, -1.0 / margin, is_vast and bool((margins >= -terms * rounding).all()))


def _move_to_face(data: SdpData, dual: Array, share: float) -> Array:
    """Return multipliers near others whose matrix is zero where that of those is zero up to ``share`` of its size.

    Some programs have a proof on the boundary only: the matrix is a and -a where a free variable is a difference of
    two, and only a = 0 lies in the cone. Interior points come near it.

    >>> from unipd.apps.sdp.data import Block
    >>> cost, rows = Entries([0], [0], [0], [1.0]), Entries.from_matrices([np.diag([1, 1, -1]), np.diag([0, 1, -1])])
    >>> data = SdpData(3, cost, rows, -np.eye(2)[0], -np.eye(2)[0], (Block(0, 3, "nonnegative"),))
    >>> print(abs(_move_to_face(data, np.array([1.0, 1e-9 - 1.0]), 1e-8).sum()) < 1e-15)
    True
    """
    unit = dual * data.norms
    parts = split_blocks(data.blocks, data.without_cost().slack(dual))
    size = max(float(np.abs(part).max()) for part in parts) or 1.0
    masks = [
        np.zeros(block.size)
        if block.kind == FREE
        else _face_basis(block, part / size, share, False).sum(axis=1).reshape(part.shape)
        for block, part in zip(data.blocks, parts, strict=True)
    ]
    columns = Columns(data)
    is_zero = columns.join(masks) == 0.0
    if not is_zero.any():
        return dual
    table = columns.matrix(data.unit_constraints, data.size)[:, is_zero]
    is_range = np.isfinite(data.lower) & np.isfinite(data.upper)
    weights = np.where(is_range, float(np.abs(unit).max()), np.abs(unit))  # inequalities keep their signs
    weighted = sp.diags_array(weights) @ table
    _, inverse = _invert(weighted, weighted)
    for _ in range(2):  # the second time for the rounding of the first
        unit = unit - weights * (inverse @ (weighted @ (table.T @ unit)))
    return data.clip_signs(unit) / data.norms


def find_ray(data: SdpData, point: LowRank) -> Ray | None:
    """Return a ray near the direction of a point along which the objective improves, if it is proved to exist.

    A direction that changes the constraints a little proves nothing: with X_11 = 0, X_12 = 0 too, but X_12 = t is
    within t^2 of it. So entries near zero become zero, and the rest D is moved onto A(D) = 0 within the face that is
    left. A change of at most r / sigma in D, with the least singular value sigma of A on that face, removes the
    residual r that remains: there is a ray if D lies that far inside the cone, and improves by more than that.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> cost, rows = Entries([0], [0], [1], [1.0]), Entries([0], [0], [0], [1.0])
    >>> data = SdpData(2, cost, rows, np.zeros(1), np.zeros(1))
    >>> find_ray(data, data.point([np.array([[1e-12, -1e-6], [-1e-6, 1.0]])])) is None
    True
    """
    size = measure_size(data, point)
    if not 0.0 < size < math.inf:
        return None
    parts = [data.block(point, index) / size for index in range(len(data.blocks))]
    edges = (False, True) if any(block.kind == SECOND_ORDER for block in data.blocks) else (False,)
    rays = (_project_on_face(data, parts, share, has_edges) for share in NEGLIGIBLE_SHARES for has_edges in edges)
    return next((ray for ray in rays if ray is not None), None)


def pose_rays(data: SdpData, point: LowRank | None = None) -> SdpData:
    """Return the program of directions D with <C, D> = -1 that keep feasible X feasible.

    Its cost is the size of the blocks that lie on the boundary of their cones at a point, which others may do without.

    >>> from unipd.maps.sdp import Entries
    >>> one = Entries.from_matrices([np.eye(1)])
    >>> pose_rays(SdpData(1, one, one, np.array([2.0]), np.array([np.inf]))).lower
    array([-1.,  0.])
    """
    rows = data.all_entries
    lower, upper = (np.where(np.isfinite(side), 0.0, side) for side in (data.lower, data.upper))
    cost = rows.select(slice(0, 0))
    if point is not None:
        parts = [data.block(point, index) for index in range(len(data.blocks))]
        margins = [
            _inner_margin(block, part, sp.csc_array(sp.eye_array(part.size)))
            for block, part in zip(data.blocks, parts, strict=True)
        ]
        is_costly = np.array(margins) <= NEGLIGIBLE_SHARES[1] * measure_size(data, point)
        chosen = [block for block, costly in zip(data.blocks, is_costly, strict=True) if costly]
        heads = [[block.start] if block.kind == SECOND_ORDER else range(data.order)[block.rows] for block in chosen]
        places = np.array([place for part in heads for place in part], np.int64)
        cost = Entries(np.zeros_like(places), places, places, np.ones(places.size))
    return SdpData(data.order, cost, rows, np.append(-1.0, lower), np.append(-1.0, upper), data.blocks)


def measure_ray(data: SdpData, direction: LowRank) -> Ray:
    """Return a direction with what it does to the objective and, at most, to the constraints."""
    both = data.cost_and_constraints.image(direction)
    return Ray(direction, float(both[0]), data.relative_norm(np.maximum(_growth(data, both[1:]), 0.0)))


def _growth(data: SdpData, image: Array) -> Array:
    """Return how far each constraint moves towards its bounds along a direction; -inf where it has none."""
    above, below = np.where(np.isfinite(data.upper), image, -np.inf), np.where(np.isfinite(data.lower), -image, -np.inf)
    return np.maximum(above, below)


def _project_on_face(data: SdpData, parts: list[Array], share: float, has_edges: bool) -> Ray | None:
    """Return the ray near D on the face where D is not zero up to ``share``, or None where none is proved.

    With ``has_edges`` D stays a multiple of itself in second-order cones on whose boundary it lies.
    """
    columns = Columns(data)
    whole = columns.matrix(data.unit_constraints, data.size)
    bases = [_face_basis(*each, share, has_edges) for each in zip(data.blocks, parts, strict=True)]
    basis: Any = sp.csc_array(sp.block_diag([bases[index] for index in np.argsort(columns.start, kind="stable")]))
    kinds = [np.full_like(part, block.kind == FREE) for block, part in zip(data.blocks, parts, strict=True)]
    is_alone = _is_alone(whole[data.equal], abs(basis).sum(axis=1) > 0.0)
    basis = basis[:, basis.T @ ((columns.join(kinds) > 0.0) & is_alone) == 0.0]
    vector = basis @ (basis.T @ columns.join(parts))
    over_face = sp.csr_array(whole @ basis)
    over_face.eliminate_zeros()
    is_active = (_growth(data, whole @ vector) >= -share) & (np.diff(over_face.indptr) > 0)
    rows, free = whole[is_active], over_face[is_active]
    distinct = _list_distinct(free)
    rows, free = rows[distinct], free[distinct]
    sigma, inverse = _invert(free, rows)
    for _ in range(2):  # the second time for the rounding of the first
        vector -= basis @ (free.T @ (inverse @ (rows @ vector)))
    point = data.point(columns.parts(vector))
    size = measure_size(data, point)
    if size == 0.0:
        return None
    ray = measure_ray(data, LowRank(point.left, point.left, point.weights / size))
    movement = max(ray.residual, EPS) / sigma if sigma else math.inf
    inside = (_inner_margin(*each) for each in zip(data.blocks, columns.parts(vector), bases, strict=True))
    rate = -ray.objective / (float(np.linalg.norm(data.cost.value)) or 1.0)
    keeps_others = _growth(data, whole @ vector)[~is_active].max(initial=-math.inf) <= 0.0
    return ray if keeps_others and 2.0 * movement < rate and movement <= min(inside) else None


def _is_alone(table: Any, is_free: Array) -> Array:
    """Return which columns are the only ones among those chosen with an entry in some row: zero where it is."""
    kept = sp.coo_array(table[:, is_free])
    is_single = np.bincount(kept.row, minlength=table.shape[0]) == 1
    return np.bincount(np.flatnonzero(is_free)[kept.col[is_single[kept.row]]], minlength=is_free.size) > 0


def _list_distinct(table: Any) -> list[int]:
    """Return the rows of a sparse array without empty rows but those that are multiples of others before them."""
    ratios = table.data / np.repeat(table.data[table.indptr[:-1]], np.diff(table.indptr))
    places = [slice(*ends) for ends in pairwise(table.indptr)]
    keys = [(table.indices[place].tobytes(), ratios[place].tobytes()) for place in places]
    return sorted({key: row for row, key in reversed([*enumerate(keys)])}.values())


def _face_basis(block: Block, part: Array, share: float, has_edges: bool) -> Any:
    """Return an orthonormal basis of the face of D in a block, as sparse columns."""
    is_kept = np.ones(block.size, bool)
    if block.kind == SECOND_ORDER:
        tail = np.where(np.abs(part[1:]) > share * part[0], part[1:], 0.0)
        if has_edges and part[0] > share and part[0] - np.linalg.norm(part[1:]) <= share * part[0]:
            edge = np.concatenate([[1.0], tail / np.linalg.norm(tail)])
            return sp.csc_array(math.sqrt(0.5) * edge[:, None])
        is_kept[:] = part[0] > share
    elif block.kind != FREE:
        is_kept = (part if block.is_vector else part.diagonal()) > share
    chosen = is_kept if block.is_vector else np.outer(is_kept, is_kept).ravel()
    return sp.csc_array(sp.eye_array(chosen.size))[:, chosen]


def _inner_margin(block: Block, part: Array, basis: Any) -> float:
    """Return how far a block of D lies inside the face with this basis."""
    if block.kind == FREE or basis.shape[1] == 0:
        return math.inf
    if block.kind == PSD:
        is_kept = np.unique(basis.indices // block.size)
        return float(np.linalg.eigvalsh(part[np.ix_(is_kept, is_kept)])[0])
    if block.kind == SECOND_ORDER:
        return float(part[0] - (np.linalg.norm(part[1:]) if basis.shape[1] > 1 else 0.0))
    return float(part[basis.indices].min())


def _invert(free: Any, rows: Any) -> tuple[float, Array]:
    """Return the least singular value of rows restricted to a face, and the inverse of their Gram matrix.

    Combinations of rows that vanish on the whole space are left out. Where others vanish on the face the value is 0.
    """
    values, vectors = np.linalg.eigh((free @ free.T).toarray())
    is_zero = values <= EPS * values.size * values.max(initial=0.0)
    inverse = (vectors[:, ~is_zero] / values[~is_zero]) @ vectors[:, ~is_zero].T
    if is_zero.any():
        others = np.linalg.eigvalsh((rows @ rows.T).toarray())
        if np.count_nonzero(others <= EPS * others.size * others.max()) < np.count_nonzero(is_zero):
            return 0.0, inverse
    return math.sqrt(values[~is_zero].min(initial=math.inf)), inverse


def find_alternative(program: SDP, dual: Array, x: LowRank | None, accuracy: float, started: float) -> Result | None:
    """Return the result of a program that multipliers of either sign prove infeasible, or X as a ray; else None."""
    data = program.data
    for candidate in (dual, -dual):
        admissible = make_admissible(data, candidate * data.norms, is_ray=True) / data.norms
        proof = find_separation(data, admissible, accuracy)
        if proof is not None and proof.is_conclusive:
            return separated_result(program, proof, accuracy, started)
    size = 0.0 if x is None else measure_size(data, x)
    if x is None or not 0.0 < size < math.inf:
        return None
    given = measure_ray(data, LowRank(x.left, x.left, x.weights / size))
    if not (given.objective < 0.0 and given.residual <= NEGLIGIBLE_SHARES[-1]):
        return None
    ray = find_ray(data, x)
    return None if ray is None else unbounded_result(program, ray, describe_feasible(data, math.inf), accuracy, started)


def find_unused_ray(data: SdpData) -> Ray | None:
    """Return a ray in a psd block that no constraint has entries in, where C has a negative eigenvalue; or None.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> cost, rows = Entries([0], [1], [1], [-2.0]), Entries([0], [0], [0], [1.0])
    >>> find_unused_ray(SdpData(2, cost, rows, np.ones(1), np.ones(1), (Block(0, 1), Block(1, 1)))).objective
    -2.0
    """
    if data.is_used.all():
        return None
    parts = split_blocks(data.blocks, data.slack(np.zeros(data.size)))
    for block, part, is_used in zip(data.blocks, parts, data.is_used, strict=True):
        if block.kind == PSD and not is_used and part.any():
            left = np.zeros((data.order, 1))
            left[block.rows, 0] = smallest_eigenpair(part).vector
            ray = find_ray(data, LowRank(left, left, np.ones(1)))
            if ray is not None:
                return ray
    return None


def infeasible_result(
    program: SDP, message: str, accuracy: float, started: float, dual: Array, excluded: float = math.inf
) -> Result:
    """Return the result of a program without feasible X, which ``dual`` proves up to a trace."""
    kind = RIGOROUS if math.isinf(excluded) else CONDITIONAL
    if program.sdpa:
        message += " In SDPA's terms the dual problem, max <F0, Y>, is infeasible."
    return Result(
        status=Status.INFEASIBLE,
        note=message,
        image=np.full(program.data.size, math.nan),
        dual=dual,
        dual_bound=-math.inf if program.maximise else math.inf,
        bound_kind=kind,
        extras={**_extras(), "trace_bound": excluded if kind == CONDITIONAL else None},
        **_common_fields(program, accuracy, started),
    )


def describe_excluded(trace: float, digits: int = 4) -> str:
    """Return that no X up to a trace is feasible; an X of exactly this trace may be, so the trace is rounded down.

    >>> describe_excluded(1.9999999)
    'No X of trace at most 1.999 is feasible'
    """
    unit = 10.0 ** (math.floor(math.log10(trace)) + 1 - digits)
    return f"No X of trace at most {math.floor(trace / unit) * unit:.{digits}g} is feasible"


def separated_result(program: SDP, proof: Separation, accuracy: float, started: float) -> Result:
    """Return the result of a program that multipliers prove infeasible."""
    member = "psd" if program.data.is_psd else "lie in the dual cones"
    message = (
        f"No X is feasible: the dual vector returned makes sum y_i A_i {member} (proved by Cholesky factorisations) "
        "and b^T y negative."
        if math.isinf(proof.excluded)
        else f"{describe_excluded(proof.excluded, 2)}: the dual vector returned makes b^T y = -1, and "
        f"no eigenvalue of sum y_i A_i is below {-1.0 / proof.excluded:.0e} (proved by Cholesky factorisations)."
    )
    return infeasible_result(program, message, accuracy, started, proof.dual, proof.excluded)


def unbounded_result(program: SDP, ray: Ray, feasible: str, accuracy: float, started: float) -> Result:
    """Return the result of a program whose objective improves forever along a ray; ``feasible``: from where."""
    sign = -1.0 if program.maximise else 1.0
    kind = "psd direction" if program.data.is_psd else "direction in the cones"
    message = (
        f"The objective is unbounded and the dual problem is infeasible: along the {kind} X returned, of trace "
        f"1, the constraints change by {ray.residual:.0e} (matrices of unit norm) and the objective by "
        f"{sign * ray.objective:.3g}. {feasible}"
    )
    if program.sdpa:
        message += " In SDPA's terms the primal problem, min c'x, is infeasible and its dual, max <F0, Y>, unbounded."
    figures = {"ray_objective": sign * ray.objective, "ray_residual": ray.residual}
    return Result(
        status=Status.UNBOUNDED,
        note=message,
        x=ray.direction,
        image=program.data.cost_and_constraints.image(ray.direction)[1:],
        dual=np.zeros(program.data.size),
        dual_bound=-sign * math.inf,
        extras={**_extras(), **figures},
        **_common_fields(program, accuracy, started),
    )


def describe_direction(data: SdpData, direction: LowRank) -> str:
    """Return what a direction D that is no ray proves of multipliers, where that is more than their natural size.

    A slack S = C + A^*(y) in the dual cone has 0 <= <S, D> <= <C, D> + ||y|| r, with the residual r of D.
    """
    ray = measure_ray(data, direction)
    least = -ray.objective / (ray.residual or EPS)
    if not least > float(np.linalg.norm(data.cost.value)):
        return ""
    return (
        f" No multipliers of norm below {least:.1e} (with matrices of unit norm) have a psd slack: the program may be "
        "unbounded, but no ray was proved, or its dual problem has a very large solution or none."
    )


def describe_feasible(data: SdpData, infeasibility: float) -> str:
    """Return what is known of feasible points, from which a ray starts."""
    if not data.violation(np.zeros(data.size)).any():
        return "X = 0 is feasible."
    if infeasibility <= NEGLIGIBLE_VIOLATION:
        return f"An X that meets the constraints up to {infeasibility:.0e} is known."
    return "Whether any X is feasible was not decided: if none is, the program is infeasible as well."


def _extras() -> dict[str, Any]:
    return {"rank": 0, "dimacs_errors": (math.nan,) * 6, "trace_bound": None, "trace_bound_reason": None}


def _common_fields(program: SDP, accuracy: float, started: float) -> dict[str, Any]:
    """Return the fields of a result whose point is none."""
    return {
        "accuracy": accuracy,
        "method": "alternative",
        "seconds": time.perf_counter() - started,
        "peak_memory_bytes": peak_memory(),
        "facts": ProblemFacts(problem=repr(program), maximise=program.maximise),
    }
