"""Methods around a method.

Read base (what wrappers share), restarts (restarts and continuation in eps), fallback (two alternating methods) and
rescaling (equilibrated rows).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.methods.wrappers.base import Wrapper, WrapperState
    from unipd.methods.wrappers.fallback import Fallback, FallbackState
    from unipd.methods.wrappers.rescaling import Rescaling, RescalingState, Scaling, equilibrate
    from unipd.methods.wrappers.restarts import Restarts, RestartsState

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base": ("Wrapper", "WrapperState"),
        "fallback": ("Fallback", "FallbackState"),
        "rescaling": ("Rescaling", "RescalingState", "Scaling", "equilibrate"),
        "restarts": ("Restarts", "RestartsState"),
    },
)

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
