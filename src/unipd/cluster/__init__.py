"""The same solve on several processes, by MPI (the extra ``cluster``).

Every rank runs the same loop on the same dual vector; only products and images are divided. ``mpirun -n 4 unipd ...``
does it by itself. In Python :func:`run` solves a problem, :func:`session` lets estimators work together, and
:func:`distribute` divides a map. Nothing here is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unipd.cluster.dividing import distribute, distribute_problem, idle_ranks
    from unipd.cluster.journal import Disagreement
    from unipd.cluster.ranks import Ranks
    from unipd.cluster.solving import run
    from unipd.cluster.together import session

_PLACES = {
    "Disagreement": "journal",
    "Ranks": "ranks",
    "distribute": "dividing",
    "distribute_problem": "dividing",
    "idle_ranks": "dividing",
    "run": "solving",
    "session": "together",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'unipd.cluster' has no attribute {name!r}")
    return getattr(import_module(f"unipd.cluster.{_PLACES[name]}"), name)


__all__ = ["Disagreement", "Ranks", "distribute", "distribute_problem", "idle_ranks", "run", "session"]
