"""A run with a checkpoint: ``checkpoint.py FILE ITERATIONS PAUSE``; rank 0 prints every iteration, then the result."""

import json
import sys
import time

import unipd
from unipd.apps.tomography import Paulis, pauli_map, simulate, tomography_problem
from unipd.cluster import Ranks, run

if __name__ == "__main__":
    path, iterations, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    data = simulate("random", 8, seed=2).data
    problem = tomography_problem(pauli_map(Paulis(8, data.x, data.z), threads=1), data)
    leads = Ranks().rank == 0

    def tell(info):
        if leads:
            print(info.state.iteration, flush=True)
        time.sleep(pause)

    result = run(
        problem,
        "accunipdgrad",
        accuracy=1e-8,
        stop=unipd.MaxIterations(iterations),
        callback=tell,
        checkpoint=path,
        every="1it",
        resume=True,
    )
    if leads:
        print(json.dumps({"objective": result.objective, "rows": len(result.history), "image": result.image.sum()}))
