"""The dual function: g, its gradient, the bound -G that certifies, and the space of its vectors.

With the Lagrangian of the template (paper, (5)-(7)):

    g(lam) = max over x in X of { <-A^* lam, x> - f(x) } + <lam, b>,   grad g(lam) = b - A x^*(lam),
    h(lam) = sup over r in K of <lam, r>,   G = g + h,   -G(lam) <= f^* for every lam.

In the slack split of a loss, phi^*(lam) joins g, r^*(lam) joins the gradient, and h = 0.

Read evaluate (oracle calls and the bound), then space (the passes of an iteration); the kernels serve long vectors.
"""

from unipd.dual.evaluate import (
    DualPoint,
    DualValue,
    LowerBound,
    call_oracle,
    call_oracle_along,
    double_direction,
    dual_value,
    image_of,
    lower_bound,
    oracle_errors,
    proximal_step,
    value_only,
)
from unipd.dual.space import (
    ChunkedSpace,
    DualSpace,
    FusedSpace,
    Workspace,
    dual_point,
    dual_space,
    evaluate,
    is_chunked,
    release_workspace,
    workspace_like,
    workspace_scope,
)

__all__ = [
    "ChunkedSpace",
    "DualPoint",
    "DualSpace",
    "DualValue",
    "FusedSpace",
    "LowerBound",
    "Workspace",
    "call_oracle",
    "call_oracle_along",
    "double_direction",
    "dual_point",
    "dual_space",
    "dual_value",
    "evaluate",
    "image_of",
    "is_chunked",
    "lower_bound",
    "oracle_errors",
    "proximal_step",
    "release_workspace",
    "value_only",
    "workspace_like",
    "workspace_scope",
]
