"""The linear map of the measurements."""

from __future__ import annotations

from unipd.apps.tomography.paulis import Paulis
from unipd.maps.pauli import PauliMap
from unipd.team import team


def pauli_map(paulis: Paulis, *, precision: str = "single", threads: int | None = None) -> PauliMap:
    """Return the map X -> tr(P_k X)_k for the strings, divided among the members of a team.

    >>> from unipd.apps.tomography.paulis import as_paulis
    >>> pauli_map(as_paulis(["X", "Z"])).codomain
    (2,)
    """
    return team().distribute(PauliMap(paulis.qubits, paulis.x, paulis.z, precision, threads))
