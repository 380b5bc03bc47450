"""The launcher's environment: how many processes it started and the threads of each, without importing MPI."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, MutableMapping

SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
"""Variables with the number of processes: MPICH and Intel MPI, Open MPI, MVAPICH, Slurm's srun."""
LOCAL_SIZES = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE")
"""Variables with the number of processes on this machine."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def processes(environment: Mapping[str, str] | None = None) -> int:
    """Return the number of processes that the launcher started; 1 without a launcher.

    A Slurm batch script has ``SLURM_NTASKS`` without being one of the tasks, so only the variable of a step counts.

    Parameters
    ----------
    environment
        The environment variables; those of the process by default.

    See Also
    --------
    threads_for, Ranks

    Examples
    --------
    >>> processes({"PMI_SIZE": "4"}), processes({"SLURM_NTASKS": "8"})
    (4, 1)
    """
    known = os.environ if environment is None else environment
    return max(1, *(_number(known, name) for name in SIZES))


def threads_for(environment: Mapping[str, str] | None = None, cores: int | None = None) -> int:
    """Return the threads of one process: the cores of this machine divided by its processes, at least one.

    Parameters
    ----------
    environment
        The environment variables; those of the process by default.
    cores
        Cores of this machine; counted by default.

    See Also
    --------
    limit_threads, processes

    Examples
    --------
    >>> threads_for({"MPI_LOCALNRANKS": "4"}, cores=16), threads_for({"PMI_SIZE": "8"}, cores=2)
    (4, 1)
    """
    known = os.environ if environment is None else environment
    given = known.get("SLURM_CPUS_PER_TASK", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    local = max(0, *(_number(known, name) for name in LOCAL_SIZES)) or processes(known)
    return max(1, (available_cores() if cores is None else cores) // local)


def available_cores() -> int:
    """Return the cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_threads(environment: MutableMapping[str, str] | None = None) -> int:
    """Set the variables that limit threads, unless they are set, and return the number.

    Parameters
    ----------
    environment
        The environment variables; those of the process by default.

    Returns
    -------
    int
        The number of threads.

    See Also
    --------
    threads_for

    Examples
    --------
    >>> limit_threads({"MPI_LOCALNRANKS": "1000000"})
    1
    """
    known = os.environ if environment is None else environment
    count = threads_for(known)
    for name in THREADS:
        known.setdefault(name, str(count))
    return count


def end_all(code: int) -> bool:
    """Request MPICH's launcher to abort all processes, from one that cannot start MPI; return whether it is there.

    Others may wait for this process as they start MPI, and this launcher does not end them when one has left.

    >>> end_all(2)
    False
    """
    line = os.environ.get("PMI_FD", "")
    if not line.isdigit():
        return False
    with contextlib.suppress(OSError):
        os.write(int(line), b"cmd=init pmi_version=1 pmi_subversion=1\n")
        os.read(int(line), 1024)
        os.write(int(line), f"cmd=abort exitcode={code}\n".encode())
    return True


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    return int(text) if text.isdigit() else 0
