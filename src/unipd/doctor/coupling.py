"""Checks of a coupling: Moreau's identity, Fenchel-Young at the prox, and what follows for sets and losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.doctor.probes import random_array, tolerance
from unipd.doctor.report import FAIL, PASS, SKIP, Check, guarded
from unipd.protocols import Coupling, Loss, inner, norm

PROBES = 6
STEPS = (0.3, 1.0, 4.0)


def check_coupling(
    coupling: Coupling, shape: tuple[int, ...], dtype: Any = np.float64, *, seed: int = 0, scale: float = 1.0
) -> tuple[Check, ...]:
    """Check a set K or a loss phi at random vectors of this shape, dtype and size.

    For every v and t: v = t prox_{phi/t}(v/t) + prox_{t h}(v) (Moreau); with r = prox_phi(v) and lam = v - r the
    Fenchel-Young inequality is an equality, phi(r) + h(lam) = <r, lam>; and at all other pairs it holds.

    >>> from unipd.couplings import AtMost
    >>> all(check.ok for check in check_coupling(AtMost(), (5,)))
    True
    """
    generator = np.random.default_rng(seed)
    sizes = np.geomspace(0.1, 10.0, PROBES) * scale
    vectors = [(size * random_array(generator, shape, dtype)).astype(dtype) for size in sizes]
    checks = (
        *guarded("coupling shapes", lambda: _check_forms(coupling, vectors)),
        *guarded("Moreau", lambda: _check_moreau(coupling, vectors)),
        *guarded("conjugate", lambda: _check_conjugate(coupling, vectors)),
    )
    if isinstance(coupling, Loss) and coupling.is_loss:
        checks += guarded("loss", lambda: _check_loss(coupling, vectors))
    elif not coupling.is_loss:
        checks += guarded("projection", lambda: _check_projection(coupling, vectors))
    return (*checks, *guarded("conjugate degree", lambda: _check_degree(coupling, vectors)))


def _check_forms(coupling: Coupling, vectors: Sequence[Array]) -> Check:
    name = "coupling shapes"
    coupling.check(vectors[0].shape, vectors[0].dtype)
    for vector in vectors:
        given = vector.copy()
        for label, out in (
            ("prox", coupling.prox(vector, 1.0)),
            ("prox_conjugate", coupling.prox_conjugate(vector, 1.0)),
        ):
            if not isinstance(out, np.ndarray) or out.shape != vector.shape:
                return Check(name, FAIL, f"{label} returns shape {np.shape(out)} for {vector.shape}")
            if out.dtype != vector.dtype:
                return Check(name, FAIL, f"{label} returns {out.dtype} for {vector.dtype}")
            if not np.isfinite(out).all():
                return Check(name, FAIL, f"{label} returns NaN or infinity")
        if not np.array_equal(given, vector):
            return Check(name, FAIL, "prox or prox_conjugate changes the vector it is given")
    return Check(name, PASS, f"prox and prox_conjugate keep shape {vectors[0].shape} and {vectors[0].dtype}")


def _check_moreau(coupling: Coupling, vectors: Sequence[Array]) -> Check:
    worst = 0.0
    for vector in vectors:
        for step in STEPS:
            parts = step * coupling.prox(vector / step, 1.0 / step) + coupling.prox_conjugate(vector, step)
            worst = max(worst, _relative(norm(vector - parts), norm(vector)))
    if not worst <= tolerance(vectors[0].dtype):
        return Check(
            "Moreau", FAIL, f"v differs from t prox(v/t, 1/t) + prox_conjugate(v, t) by {worst:.1e} (relative)"
        )
    return Check("Moreau", PASS, f"v = t prox(v/t, 1/t) + prox_conjugate(v, t) to {worst:.0e}")


def _check_conjugate(coupling: Coupling, vectors: Sequence[Array]) -> Check:
    """Check phi(r) + h(lam) >= <r, lam>, with equality for r = prox(v, 1) and lam = v - r."""
    name = "conjugate"
    points = [coupling.prox(vector, 1.0) for vector in vectors]
    duals = [coupling.prox_conjugate(vector, 1.0) for vector in vectors]
    for place, (point, dual) in enumerate(zip(points, duals, strict=True)):
        total = coupling.value(point) + coupling.conjugate(dual)
        allowed = _allowed(point, dual, total)
        if not math.isfinite(total):
            what = "value(prox(v))" if not math.isfinite(coupling.value(point)) else "conjugate(prox_conjugate(v))"
            return Check(name, FAIL, f"{what} is {total}: the prox leaves the domain")
        if abs(total - inner(point, dual)) > allowed:
            lack = total - inner(point, dual)
            return Check(name, FAIL, f"value(r) + conjugate(lam) - <r, lam> = {lack:.2e} at r = prox(v), expected 0")
        for other in (*points[:place], *points[place + 1 :]):
            total = coupling.value(other) + coupling.conjugate(dual)
            if total < inner(other, dual) - _allowed(other, dual, total):
                return Check(name, FAIL, "value(r) + conjugate(lam) is below <r, lam>: not a conjugate pair")
    return Check(name, PASS, "value(r) + conjugate(lam) >= <r, lam>, equal at r = prox(v)")


def _check_projection(coupling: Coupling, vectors: Sequence[Array]) -> Check:
    """Check that P is a projection: idempotent, at the right distance, and <v - P v, z - P v> <= 0 for z in K."""
    name = "projection"
    points = [coupling.prox(vector, 1.0) for vector in vectors]
    for vector, point in zip(vectors, points, strict=True):
        size = tolerance(vector.dtype) * (norm(vector) + norm(point) + 1e-300)
        if norm(coupling.prox(point, 1.0) - point) > size:
            return Check(name, FAIL, "projecting twice differs from projecting once")
        if abs(coupling.distance(vector) - norm(vector - point)) > size:
            return Check(name, FAIL, "distance(v) is not ||v - prox(v)||")
        if any(norm(coupling.prox(vector, step) - point) > size for step in STEPS):
            return Check(name, FAIL, "the projection depends on the step")
        gains = [inner(vector - point, other - point) for other in points]
        if max(gains) > size * max(norm(other) + norm(vector) for other in points):
            return Check(name, FAIL, "another point of K is nearer: prox is not the projection")
    return Check(name, PASS, "idempotent, nearest, at the distance that distance() gives")


def _check_loss(loss: Loss, vectors: Sequence[Array]) -> Check:
    """Check the subgradient inequality, the curvature, and the slack block where there is one."""
    name, curvature = "loss", loss.curvature()
    for first in vectors:
        slope, value = loss.gradient(first), loss.value(first)
        for second in vectors:
            other, linear = loss.value(second), inner(slope, second - first)
            allowed = tolerance(first.dtype) * (abs(value) + abs(other) + abs(linear))
            excess = other - value - linear
            if excess < -allowed:
                return Check(
                    name, FAIL, "value(s) is below value(r) + <gradient(r), s - r>: wrong gradient or not convex"
                )
            if excess > 0.5 * curvature * norm(second - first) ** 2 + allowed:
                return Check(name, FAIL, f"the gradient changes faster than curvature() = {curvature:.3g} allows")
        if loss.splittable:
            point, best = loss.slack(first)
            total = inner(first, point) - loss.value(point)
            allowed = _allowed(point, first, abs(best) + abs(loss.value(point)))
            if abs(best - total) > allowed or best > loss.conjugate(first) + allowed:
                return Check(name, FAIL, f"slack(lam) gives {best:.6g}, but <lam, r> - value(r) = {total:.6g}")
    return Check(name, PASS, "gradient, curvature and slack agree with the values")


def _check_degree(coupling: Coupling, vectors: Sequence[Array]) -> Check:
    name, degree = "conjugate degree", coupling.conjugate_degree
    if degree is None:
        return Check(name, SKIP, "no degree of homogeneity claimed")
    for vector in vectors:
        dual = coupling.prox_conjugate(vector, 1.0)
        once, twice = coupling.conjugate(dual), coupling.conjugate(2.0 * dual)
        if not abs(twice - 2.0**degree * once) <= tolerance(vector.dtype) * (abs(twice) + norm(dual) ** 2):
            return Check(name, FAIL, f"h(2 lam) = {twice:.6g}, but 2^{degree:g} h(lam) = {2.0**degree * once:.6g}")
    return Check(name, PASS, f"h(2 lam) = 2^{degree:g} h(lam)")


def _allowed(point: Array, dual: Array, total: float) -> float:
    size = norm(point) * norm(dual) + norm(dual) ** 2 + (abs(total) if math.isfinite(total) else 0.0)
    return tolerance(dual.dtype) * size


def _relative(error: float, size: float) -> float:
    return error / size if size > 0.0 else error
