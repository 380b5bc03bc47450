"""A team that talks by MPI, and the time during which this process works in it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from unipd.cluster.agreement import require_same_file
from unipd.cluster.dividing import as_ranks, distribute, distribute_problem, idle_ranks
from unipd.cluster.environment import threads_for
from unipd.cluster.failure import Failure
from unipd.cluster.ranks import Ranks
from unipd.cluster.rows import DistributedRows
from unipd.cluster.sampling import DistributedSampling
from unipd.maps import Sampling
from unipd.team import Team, working_in


class MpiTeam(Team):
    """The ranks of a communicator as a team."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.rank, self.size = ranks.rank, ranks.size
        self._idle: set[int] = set()
        self._failure = Failure(ranks.comm) if ranks.size > 1 else None

    def distribute(self, map: Any) -> Any:
        """Return the map divided among the ranks."""
        return self.told_of_idle(distribute(map, self.ranks)) if self.size > 1 else map

    def divided(self, problem: Any) -> Any:
        """Return the problem with its map and oracles divided among the ranks."""
        if self.size == 1:
            return problem
        problem = distribute_problem(problem, self.ranks)
        self.told_of_idle(problem.map)
        return problem

    def stacked(self, kind: Callable[..., Any], *arguments: Any) -> Any:
        """Return the map of all ranks' measurements; ``kind(*arguments)`` has this rank's, unless it has none."""
        if self.size == 1:
            return kind(*arguments)
        if kind is Sampling:
            return self.told_of_idle(DistributedSampling.of_shards(*arguments, ranks=self.ranks))
        return DistributedRows(kind(*arguments) if len(arguments[0]) else None, self.ranks)

    def told_of_idle(self, map: Any) -> Any:
        """Return the map; rank 0 says, once for each number, that some ranks have no part of it."""
        idle = idle_ranks(map)
        if idle and self.leads and idle not in self._idle:
            self._idle.add(idle)
            print(f"unipd: {idle} of {self.size} ranks have no part of the map: they only follow", file=sys.stderr)
        return map

    def total(self, array: Any) -> Any:
        """Return the sum of the ranks' arrays."""
        return self.ranks.summed(np.asarray(array))

    def joined(self, array: Any) -> Any:
        """Return the ranks' arrays one after the other."""
        return self.ranks.joined(np.asarray(array))

    def own(self, array: Any, count: int) -> Any:
        """Return this rank's part of an array that all ranks have."""
        counts = self.ranks.joined(np.array([count], np.int64))
        first = int(counts[: self.rank].sum())
        return array[first : first + count]

    def read(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return what ``reader`` makes of a file; all ranks must see the same one."""
        require_same_file(self.ranks, path)
        return reader(path)

    def shard(self, reader: Callable[[Any], Any], path: Any) -> Any:
        """Return the ratings of this rank's users; all ranks must see the same file."""
        from unipd.cluster.shards import read_shard

        return self.read(reader if self.size == 1 else lambda file: read_shard(file, self.ranks), path)

    def first(self, make: Callable[[], Any]) -> Any:
        """Return what ``make`` returns, or raise what it raises, on rank 0."""
        made: Any = None
        if self.leads:
            try:
                made = (True, make())
            except Exception as error:
                made = (False, _taken_apart(error))
        fine, value = self.ranks.objects(made)[0]
        if fine:
            return value
        raise _put_together(*value)

    def now(self) -> float:
        """Return the clock of rank 0."""
        return self.ranks.of_first(time.perf_counter())

    def fail(self, line: str, code: int) -> None:
        """End all ranks unless all have failed alike."""
        if self._failure is not None:
            self._failure.ends(line, code)


def _taken_apart(error: Exception) -> tuple[type, tuple[Any, ...], dict[str, Any]]:
    """Return an error in a form that travels, whatever its constructor wants."""
    if isinstance(error, OSError) and error.errno is not None:
        return type(error), (error.errno, error.strerror, error.filename), {}
    return type(error), (str(error),), dict(vars(error))


def _put_together(kind: Any, arguments: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    error: Exception = kind.__new__(kind, *arguments)
    vars(error).update(attributes)
    return error


@contextlib.contextmanager
def session(comm: Any = None, *, threads: int | None = None) -> Generator[MpiTeam]:
    """Solve together with the other ranks while this lasts: estimators and applications divide their maps.

    Every rank runs the same statements. An exception on one rank (or an interruption, or ``sys.exit`` with a code that
    is not 0) is printed with the rank's number and ends all ranks.

    Parameters
    ----------
    comm
        An mpi4py communicator; default: all processes.
    threads
        Threads of each rank; default: the cores of a machine by the ranks on it.
    """
    team = MpiTeam(as_ranks(comm))
    try:
        count = threads if threads is not None else threads_for()
        with working_in(team), limited(count, team.size), _to_the_end(team.ranks):
            yield team
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        if team.size > 1 and not (isinstance(error, SystemExit) and not error.code):
            _told(error, team)
        raise


@contextlib.contextmanager
def _to_the_end(ranks: Ranks) -> Generator[None]:
    """Wait for the others at the end, also when this rank leaves early and pleased (``sys.exit(0)``)."""
    try:
        yield
    except SystemExit as end:
        if end.code:
            raise
        ranks.part()
        raise
    ranks.part()


@contextlib.contextmanager
def limited(threads: int, size: int) -> Generator[None]:
    """Let Numba, and BLAS where threadpoolctl is installed, use so many threads; one process is left as it is."""
    if size == 1:
        yield
        return
    import numba
    from numba.core import config

    most: Any = vars(config)["NUMBA_NUM_THREADS"]
    before = numba.get_num_threads()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(limits=threads))
        numba.set_num_threads(max(1, min(threads, int(most))))
        stack.callback(numba.set_num_threads, before)
        yield


def _told(error: BaseException, team: MpiTeam) -> None:
    """Say which rank has failed and end all ranks, unless it is everybody's error: then rank 0 tells."""
    code = 130 if isinstance(error, KeyboardInterrupt) else 1
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        code = error.code
    team.fail(f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": "), code)
    if not team.leads:
        sys.exit(code)
