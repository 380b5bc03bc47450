"""mpi4py, imported on first use, and the communicator of all processes."""

from __future__ import annotations

from typing import Any

from unipd.cluster.environment import processes
from unipd.errors import MissingExtra


def mpi() -> Any:
    """Return mpi4py's MPI module, imported on first use."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise MissingExtra("mpi4py", "cluster", "running under MPI") from error
    return MPI


class Single:
    """The communicator of one process, without MPI."""

    def Get_rank(self) -> int:  # noqa: N802  (mpi4py's name)
        """Return 0."""
        return 0

    def Get_size(self) -> int:  # noqa: N802
        """Return 1."""
        return 1


def everybody() -> Any:
    """Return the communicator of all processes; of one process that no launcher started also without mpi4py."""
    try:
        return mpi().COMM_WORLD
    except MissingExtra:
        if processes() > 1:
            raise
        return Single()


def neighbours(comm: Any) -> int:
    """Return the number of processes of a communicator on this machine, this one included."""
    local = comm.Split_type(mpi().COMM_TYPE_SHARED)
    count = int(local.Get_size())
    local.Free()
    return count
