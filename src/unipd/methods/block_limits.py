"""Bounded memory for a model a block: idle atoms leave, light ones are merged."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.methods.block_bundle import BlockBundle
from unipd.primal.active_set import vertex_key


def limited(bundle: BlockBundle, limit: int, dual: Array) -> BlockBundle:
    """Return the bundle with at most ``limit`` atoms in every block and the same point.

    Of the atoms without weight the dearest at lam leave first; then the lightest are merged into their weighted mean,
    which keeps the block's point and the value of its model there (aggregation).
    """
    if int(np.diff(bundle.starts).max()) <= limit:
        return bundle
    prices, stay = bundle.prices(dual), np.ones(bundle.blocks.size, bool)
    for first, last in pairwise(bundle.starts):
        if last - first > limit:
            idle = first + np.flatnonzero(bundle.weights[first:last] <= 0.0)
            dearest = idle[np.argsort(-prices[idle], kind="stable")]
            stay[dearest[: last - first - limit]] = False
    kept = _taken(bundle, np.flatnonzero(stay))
    for block in np.flatnonzero(np.diff(kept.starts) > limit):
        kept = _merged(kept, int(block), limit)
    return kept


def _taken(bundle: BlockBundle, places: Array) -> BlockBundle:
    return replace(
        bundle,
        blocks=bundle.blocks[places],
        atoms=tuple(bundle.atoms[place] for place in places),
        keys=tuple(bundle.keys[place] for place in places),
        costs=bundle.costs[places],
        columns=bundle.columns.taken(places),
        weights=bundle.weights[places],
    )


def _merged(bundle: BlockBundle, block: int, limit: int) -> BlockBundle:
    """Replace the lightest atoms of a block by their weighted mean."""
    first, last = int(bundle.starts[block]), int(bundle.starts[block + 1])
    order = first + np.argsort(bundle.weights[first:last], kind="stable")
    light = np.sort(order[: last - first - limit + 1])
    total = float(bundle.weights[light].sum())
    shares = bundle.weights[light] / total
    atom = atoms.combination([float(share) for share in shares], [bundle.atoms[place] for place in light])
    image = bundle.columns.taken(light).matrix() @ shares
    cost = float(bundle.costs[light] @ shares)
    rest = np.setdiff1d(np.arange(bundle.blocks.size), light[1:])
    kept = _taken(bundle, rest)
    place = int(np.searchsorted(rest, light[0]))
    columns = kept.columns.with_more([image])
    order = np.arange(rest.size)
    order[place] = rest.size
    costs, weights = kept.costs.copy(), kept.weights.copy()
    costs[place], weights[place] = cost, total
    return replace(
        kept,
        atoms=(*kept.atoms[:place], atom, *kept.atoms[place + 1 :]),
        keys=(*kept.keys[:place], vertex_key(atom), *kept.keys[place + 1 :]),
        costs=costs,
        columns=columns.taken(order),
        weights=weights,
    )
