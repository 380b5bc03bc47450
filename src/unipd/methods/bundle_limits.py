"""Bounded memory for one model of the whole x: idle atoms leave, light ones are merged."""

from __future__ import annotations

import math

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.dual import DualPoint
from unipd.methods.bundle import Bundle


def limited(bundle: Bundle, limit: int, dual: Array) -> Bundle:
    """Return the bundle with at most ``limit`` atoms and the same point.

    Of the atoms without weight the dearest at lam leave first; then the lightest are merged into their weighted mean.
    """
    excess = len(bundle.vertices) - limit
    if excess <= 0:
        return bundle
    idle = np.flatnonzero(bundle.weights <= 0.0)
    dearest = idle[np.argsort(-bundle.prices(dual)[idle], kind="stable")][:excess]
    kept = bundle.kept(np.setdiff1d(np.arange(len(bundle.vertices)), dearest))
    return kept if len(kept.vertices) <= limit else _merged(kept, len(kept.vertices) - limit + 1)


def _merged(bundle: Bundle, count: int) -> Bundle:
    """Replace the ``count`` lightest atoms by their weighted mean (aggregation)."""
    order = np.argsort(bundle.weights, kind="stable")
    light, rest = bundle.kept(order[:count]), bundle.kept(np.sort(order[count:]))
    total = float(light.weights.sum())
    shares = light.weights / total
    atom = atoms.combination([float(share) for share in shares], [vertex.atom for vertex in light.vertices])
    image = np.asarray(sum(s * vertex.image for s, vertex in zip(shares, light.vertices, strict=True)))
    cost = light.cost_at(shares)
    point = DualPoint(image, 0.0, image, atom, image, cost, 0.0, 0, "rigorous")
    joined, key = rest.joined(point), bundle.entering(point).key
    place = next(i for i, other in enumerate(joined.vertices) if other.key == key)
    weights = joined.weights.copy()
    weights[place] += total * (math.sqrt(cost) if bundle.conic else 1.0)
    return joined.at(weights)
