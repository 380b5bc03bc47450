"""Options that the two universal methods have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unipd import theory, validate
from unipd.errors import InvalidInput
from unipd.methods.smoothness import check_step
from unipd.methods.weights import check_weights


@dataclass(frozen=True)
class UniversalSettings:
    """Options of UniPDGrad and AccUniPDGrad.

    Parameters
    ----------
    eps
        The accuracy eps of the paper, absolute. Default: the relative accuracy times the problem's scale.
    smoothness
        M_{-1}; default: estimated by the analytic step or by probing.
    step_rule
        "search" backtracks (the paper's line search), "analytic" takes the closed-form step of quadratic
        losses, "fixed" uses M_bar of the known Hölder pair ``holder``.
    holder
        Known exponents and constants {nu: M_nu} for ``step_rule="fixed"``.
    weights
        "theory" for the theorems' averages, "greedy" for the line search in the weighting step, which
        improves practice and drops the theorems' bounds.
    max_doublings
        Give up the line search after so many doublings of M.
    """

    eps: float | None = None
    smoothness: float | None = None
    step_rule: str = "search"
    holder: Mapping[float, float] | None = None
    weights: str = "theory"
    max_doublings: int = 60

    def __post_init__(self) -> None:
        check_step(self.step_rule)
        check_weights(self.weights)
        validate.integer("max_doublings", self.max_doublings, minimum=1)
        if self.eps is not None:
            validate.positive("eps", self.eps)
        if self.smoothness is not None:
            validate.positive("smoothness", self.smoothness)
        known = isinstance(self.holder, Mapping) and len(self.holder) > 0
        if (self.step_rule == "fixed") != known or not (known or self.holder is None):
            expected = 'known constants {nu: M_nu}, for step_rule="fixed" and no other'
            raise InvalidInput("holder", expected, f"{self.holder!r} with step_rule={self.step_rule!r}")
        for nu, constant in (self.holder or {}).items():
            theory.smoothness_bound(nu, constant, 1.0)  # raises unless nu and M_nu are what they should be

    def fixed_smoothness(self, delta: float) -> float:
        """Return the least M_bar over the known Hölder pairs."""
        assert self.holder is not None
        return min(theory.smoothness_bound(nu, m, delta) for nu, m in self.holder.items())
