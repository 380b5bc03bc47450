"""A radius to begin with, from the ratings."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd.apps.completion.biases import fit_biases
from unipd.apps.completion.design import Design
from unipd.team import team

EXPLAINED = 0.25
"""Share of the loss of biases alone that radius times multiplier is guessed to have at the best radius."""
PROBES = 8
"""Random vectors that measure a norm where it has no formula."""


def guessed_radius(design: Design) -> float:
    """Return a radius of the right order: at it, multiplier times radius is a share of the loss of biases alone.

    The multiplier is guessed as the root mean square of the singular values of A^* (residual of biases alone).
    """
    residual = design.target
    if design.settings.biases:
        residual = residual - design.biases_at_ratings(*fit_biases(design))
    loss = 0.5 * design.settings.scale * float(residual @ residual)
    multiplier = _frobenius(design, design.settings.scale * residual) / math.sqrt(min(design.shape))
    return EXPLAINED * loss / multiplier if multiplier > 0.0 and loss > 0.0 else 1.0


def _frobenius(design: Design, dual: Array) -> float:
    """Return the Frobenius norm of A^* dual = L_u^T S L_v, by probes where features couple the entries of S."""
    if design.left.diagonal and design.right.diagonal:
        scales = design.left.scales[design.users] * design.right.scales[design.items]
        entries = scales * team().own(dual, scales.size)
        return math.sqrt(float(team().total(np.array([entries @ entries]))[0]))
    slope = design.sampled.adjoint(dual)
    probes = np.random.default_rng(0).standard_normal((design.inner_shape[1], PROBES))
    return float(np.linalg.norm(slope.matmat(probes))) / math.sqrt(PROBES)
