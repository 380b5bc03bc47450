"""The nouns of the paper as small protocols: what a sharp oracle, a map, a coupling and a tracker must answer.

Everything else in the library is written against these, so a user's own class needs to match a
protocol's methods and nothing more. Inner products are real throughout: Re <., .>.
"""

from unipd.protocols.coupling import Coupling, Loss
from unipd.protocols.linear_map import LinearMap, Operator
from unipd.protocols.oracle import SharpAnswer, SharpOracle
from unipd.protocols.real_products import inner, norm
from unipd.protocols.tracker import Tracker

__all__ = [
    "Coupling",
    "LinearMap",
    "Loss",
    "Operator",
    "SharpAnswer",
    "SharpOracle",
    "Tracker",
    "inner",
    "norm",
]
