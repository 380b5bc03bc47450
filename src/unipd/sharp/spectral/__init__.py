"""Sharp oracles over sets of matrices: the top of the spectrum of a direction known by its products.

Read :mod:`~unipd.sharp.spectral.base` (directions, certified errors, oracles that need one top pair), then one set per
file: nuclear, weighted_nuclear, group_nuclear, spectrahedron (trace given, bounded or squared), fantope, spectral_ball.
:mod:`~unipd.sharp.spectral.sdp` is the cost of a semidefinite program over a trace given or bounded, with its own
certificates; :mod:`~unipd.sharp.spectral.factors` has the sets in factored form, and
:mod:`~unipd.sharp.spectral.operators` the directions that are never formed.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.sharp.spectral.base import HermitianSharp, RankOneSharp, SingularSharp, SpectralSharp, SquaredSharp
    from unipd.sharp.spectral.fantope import Fantope
    from unipd.sharp.spectral.group_nuclear import GroupNuclearBall
    from unipd.sharp.spectral.nuclear import BalancedNuclearNormSquared, NuclearBall, NuclearNormSquared
    from unipd.sharp.spectral.operators import LazyDifference, difference, pairing
    from unipd.sharp.spectral.spectrahedron import Spectrahedron, TraceBall, TraceSquared
    from unipd.sharp.spectral.spectral_ball import SpectralBall
    from unipd.sharp.spectral.weighted_nuclear import WeightedNuclearBall

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base": ("HermitianSharp", "RankOneSharp", "SingularSharp", "SpectralSharp", "SquaredSharp"),
        "fantope": ("Fantope",),
        "group_nuclear": ("GroupNuclearBall",),
        "nuclear": ("BalancedNuclearNormSquared", "NuclearBall", "NuclearNormSquared"),
        "operators": ("LazyDifference", "difference", "pairing"),
        "spectrahedron": ("Spectrahedron", "TraceBall", "TraceSquared"),
        "spectral_ball": ("SpectralBall",),
        "weighted_nuclear": ("WeightedNuclearBall",),
    },
)

__all__ = [
    "BalancedNuclearNormSquared",
    "Fantope",
    "GroupNuclearBall",
    "HermitianSharp",
    "LazyDifference",
    "NuclearBall",
    "NuclearNormSquared",
    "RankOneSharp",
    "SingularSharp",
    "Spectrahedron",
    "SpectralBall",
    "SpectralSharp",
    "SquaredSharp",
    "TraceBall",
    "TraceSquared",
    "WeightedNuclearBall",
    "difference",
    "pairing",
]
