"""A radius to begin with, from the ratings."""

from __future__ import annotations

import math

import numpy as np

from unipd.apps.completion.biases import fit_biases
from unipd.apps.completion.design import Design

EXPLAINED = 0.25
"""Share of the loss of biases alone that radius times multiplier is guessed to have at the best radius."""
PROBES = 8
"""Random vectors that measure a norm."""


def guessed_radius(design: Design) -> float:
    """Return a radius of the right order: at it, multiplier times radius is a share of the loss of biases alone.

    The multiplier is guessed as the root mean square of the singular values of A^* (residual of biases alone).
    """
    residual = design.target
    if design.settings.biases:
        residual = residual - design.biases_at_ratings(*fit_biases(design))
    loss = 0.5 * design.settings.scale * float(residual @ residual)
    slope = design.sampled.adjoint(design.settings.scale * residual)
    probes = np.random.default_rng(0).standard_normal((design.inner_shape[1], PROBES))
    frobenius = float(np.linalg.norm(slope.matmat(probes))) / math.sqrt(PROBES)
    multiplier = frobenius / math.sqrt(min(design.shape))
    return EXPLAINED * loss / multiplier if multiplier > 0.0 and loss > 0.0 else 1.0
