"""A separable problem on several processes: run() instead of solve(), with an explicit communicator.

    mpirun -n 4 python examples/running/cluster_problem.py

The blocks and their oracles are distributed over the ranks: a point in each of 32 simplices, images summing to b.
"""

import numpy as np
from mpi4py import MPI  # pip install "unipd[cluster]"

import unipd
from unipd.cluster import run


def main() -> None:
    rng = np.random.default_rng(0)
    sets = [unipd.sharp.Simplex(20) for _ in range(32)]
    maps = [rng.standard_normal((10, 20)) for _ in sets]
    target = sum(part @ rng.dirichlet(np.ones(20)) for part in maps)
    problem = unipd.Problem(sets, maps, target, unipd.couplings.LeastSquares())
    comm = MPI.COMM_WORLD.Dup()
    result = run(problem, accuracy=1e-6, comm=comm)
    if comm.Get_rank() == 0:
        print(
            f"{comm.Get_size()} ranks: {result.status.value}, gap {result.gap:.1e} after {result.iterations} iterations"
        )


if __name__ == "__main__":
    main()
