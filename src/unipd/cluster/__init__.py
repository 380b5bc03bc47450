"""The same solve on several processes, by MPI (the extra ``cluster``).

Every rank runs the same loop on the same dual vector; only products and images are distributed. ``mpirun -n 4 unipd
...`` does so without further options. In Python :func:`run` solves a problem, :func:`session` makes estimators and
applications use all ranks, and :func:`distribute` distributes a map. In reading order:

- ``environment``: the launcher's variables;
- ``communicator``: deterministic collective operations (:class:`Ranks`); ranks must have the same data, options and
  dual vectors, and fail together;
- ``maps``: maps with their measurements, or also the adjoint's products, on several ranks; what is divided how;
- ``solve``: :func:`session`, :func:`run` and shards of rating files.

Modules are imported on first use.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
