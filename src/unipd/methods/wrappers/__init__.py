"""Methods around a method.

Read base (what wrappers share), restarts (restarts and continuation in eps), fallback (two alternating methods) and
rescaling (equilibrated rows).
"""

from unipd.methods.wrappers.base import Wrapper, WrapperState
from unipd.methods.wrappers.fallback import Fallback, FallbackState
from unipd.methods.wrappers.rescaling import Rescaling, RescalingState, Scaling, equilibrate
from unipd.methods.wrappers.restarts import Restarts, RestartsState

__all__ = [
    "Fallback",
    "FallbackState",
    "Rescaling",
    "RescalingState",
    "Restarts",
    "RestartsState",
    "Scaling",
    "Wrapper",
    "WrapperState",
    "equilibrate",
]
