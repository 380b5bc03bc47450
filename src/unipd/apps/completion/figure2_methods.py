"""The methods that the paper's Figure 2 compares."""

from __future__ import annotations

from dataclasses import dataclass

from unipd.methods import AccUniPDGrad, FrankWolfe, Method, UniPDGrad

EPS = 1e-3
"""The paper's accuracy."""
NORM_EPS_SHARE = 1.0
"""Accuracy for formulation (b) as a share of its optimum: with the paper's 1e-3 the methods hardly move."""
BALL, NORM = "ball", "norm"


@dataclass(frozen=True)
class Contestant:
    """A method of the comparison."""

    name: str
    """Name in the legend."""
    family: str
    """Runs of one family share a colour."""
    searched: bool
    """Whether weights (or step sizes) are found by line search."""
    formulation: str
    """"ball" (a) or "norm" (b)."""
    method: Method


def contestants(norm_eps: float) -> tuple[Contestant, ...]:
    """Return the curves of the figure; ``norm_eps`` is the accuracy of formulation (b)."""
    return (
        Contestant("Frank-Wolfe", "fw", False, BALL, FrankWolfe("open-loop")),
        Contestant("Frank-Wolfe, line search", "fw", True, BALL, FrankWolfe("line-search")),
        Contestant("UniPDGrad", "uni", False, BALL, UniPDGrad(eps=EPS)),
        Contestant("AccUniPDGrad", "acc", False, BALL, AccUniPDGrad(eps=EPS)),
        Contestant("AccUniPDGrad, greedy weights", "acc", True, BALL, AccUniPDGrad(eps=EPS, weights="greedy")),
        Contestant("UniPDGrad", "uni", False, NORM, UniPDGrad(eps=norm_eps)),
        Contestant("AccUniPDGrad", "acc", False, NORM, AccUniPDGrad(eps=norm_eps)),
        Contestant("AccUniPDGrad, greedy weights", "acc", True, NORM, AccUniPDGrad(eps=norm_eps, weights="greedy")),
    )
