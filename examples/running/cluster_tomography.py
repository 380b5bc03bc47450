"""Tomography of 10 qubits on several processes: the estimator inside a session.

    mpirun -n 4 python examples/running/cluster_tomography.py

Every rank runs this script; products with the Pauli strings are distributed. Without mpirun it runs on one process.
"""

from unipd.apps.tomography import PauliTomography, simulate
from unipd.cluster import session


def main() -> None:
    with session() as communicator:
        experiment = simulate("random", 10, seed=1)
        estimate = PauliTomography(
            accuracy=1e-6, verbose=communicator.is_leader
        ).fit_data(experiment.data)
        if communicator.is_leader:
            fidelity = estimate.fidelity(experiment.state)
            print(
                f"{communicator.size} ranks: residual {estimate.relative_residual_:.1e}, fidelity {fidelity:.6f}"
            )


if __name__ == "__main__":
    main()
