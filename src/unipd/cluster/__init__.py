"""The same solve on several processes, by MPI (the extra ``cluster``).

Every rank runs the same loop on the same dual vector; only products and images are distributed. ``mpirun -n 4 unipd
...`` does so without further options. In Python :func:`run` solves a problem, :func:`session` makes estimators and
applications use all ranks, and :func:`distribute` distributes a map. In reading order:

- ``environment``: the launcher's variables; ``communicator``: deterministic collective operations (:class:`Ranks`);
- ``consistency``: ranks must have the same data, options and dual vectors, and fail together;
- ``maps``: maps with their measurements, or also the adjoint's products, on several ranks;
- ``partition``: which map is distributed how; ``solve``: :func:`session`, :func:`run` and shards of rating files.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.cluster.communicator import Disagreement, Ranks, SingleProcess, assign_evenly, contiguous_bounds
    from unipd.cluster.consistency import file_fingerprint, require_same
    from unipd.cluster.environment import limit_threads, processes, threads_for
    from unipd.cluster.maps import DistributedRows, SummedOperator, partition_strings
    from unipd.cluster.partition import distribute, distribute_problem, idle_ranks
    from unipd.cluster.solve import read_shard, run, session

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "communicator": ("Disagreement", "Ranks", "SingleProcess", "assign_evenly", "contiguous_bounds"),
        "consistency": ("file_fingerprint", "require_same"),
        "environment": ("limit_threads", "processes", "threads_for"),
        "maps": ("DistributedRows", "SummedOperator", "partition_strings"),
        "partition": ("distribute", "distribute_problem", "idle_ranks"),
        "solve": ("read_shard", "run", "session"),
    },
)


__all__ = [
    "Disagreement",
    "DistributedRows",
    "Ranks",
    "SingleProcess",
    "SummedOperator",
    "assign_evenly",
    "contiguous_bounds",
    "distribute",
    "distribute_problem",
    "file_fingerprint",
    "idle_ranks",
    "limit_threads",
    "partition_strings",
    "processes",
    "read_shard",
    "require_same",
    "run",
    "session",
    "threads_for",
]
