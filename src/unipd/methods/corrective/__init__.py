"""The fully corrective (proximal bundle) method.

It collects atoms of X in a bundle, which models the dual function g from below, and alternates:

1. master: the best point over the atoms, and its multiplier lam, near the dual centre;
2. pricing: the oracle at lam gives a new atom, the dual value G(lam) and a bound;
3. a serious step moves the centre to lam, a null step keeps it; the prox parameter M is updated;
4. the bundle is pruned to its memory, and the new atoms enter.

Read corrective (the method), model (the bundle), master (Newton steps on the weights, or splitting where the prox of
the coupling has no known derivative), dual_master (the master of many blocks, by semismooth Newton steps on lam),
linear_master (linear programs with many rows, exactly).
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
