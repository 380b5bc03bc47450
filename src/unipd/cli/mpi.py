"""The command line on several MPI ranks: rank 0 prints, an error ends all ranks."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Generator, Sequence
from typing import NoReturn

from unipd.cli import runtime
from unipd.cluster.communicator import FAILURE_TIMEOUT, Disagreement, Ranks, require_same
from unipd.cluster.environment import end_all, limit_threads, processes
from unipd.errors import InvalidInput, MissingExtra

DISTRIBUTED_COMMANDS = ("tomography", "complete", "solve", "maxcut", "theta")
"""Commands that run on all ranks; rank 0 runs the others alone."""
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


def main(arguments: Sequence[str]) -> NoReturn:
    """Run a command on all ranks and exit with its code."""
    limit_threads()
    try:
        ranks = Ranks()
        if ranks.size == 1:
            expected = f"{processes()} processes in one communicator (as started by mpirun)"
            raise InvalidInput("MPI", expected, "one: mpirun and mpi4py belong to different MPI libraries")
    except (MissingExtra, InvalidInput) as error:
        line, code = runtime.explain(error)
        rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
        if rank == "0":
            runtime.say(line)
        if isinstance(error, MissingExtra):
            _end_all(line, code, rank)
        sys.exit(code)
    sys.exit(_run(ranks, list(arguments)))


def _end_all(line: str, code: int, rank: str) -> None:
    """End all ranks if the launcher would leave others waiting; rank 0 gets time to print the message first."""
    if rank != "0" and "PMI_FD" in os.environ:
        time.sleep(FAILURE_TIMEOUT)
        runtime.say(f"rank {rank}: {line}")
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    if end_all(code):
        time.sleep(FAILURE_TIMEOUT)  # the launcher ends this process, too


def _run(ranks: Ranks, arguments: list[str]) -> int:
    from unipd._util.context import Communicator, use_communicator
    from unipd.cli.app import command_line
    from unipd.cluster.solve import MpiCommunicator, thread_limits

    command = next((word for word in arguments if not word.startswith("-")), "")
    communicator = MpiCommunicator(ranks.comm)
    with (
        use_communicator(communicator),
        _silence_other_ranks(ranks.rank == 0),
        thread_limits(limit_threads(), ranks.size),
    ):
        try:
            require_same(ranks, "the command line", _words(arguments))
        except InvalidInput as error:
            return runtime.report_error(error, debug="--debug" in arguments)
        is_single = command not in DISTRIBUTED_COMMANDS
        if is_single and ranks.rank != 0:
            return runtime.SOLVED
        with use_communicator(Communicator() if is_single else communicator):
            code = command_line().main(args=arguments, prog_name="unipd", standalone_mode=False)
        if not is_single:
            try:
                ranks.barrier()
            except Disagreement as error:
                return runtime.report_error(error, debug="--debug" in arguments)
    return code if isinstance(code, int) else runtime.SOLVED


@contextlib.contextmanager
def _silence_other_ranks(is_leader: bool) -> Generator[None]:
    """Discard the output of all ranks but 0, except errors (on the process's own standard error)."""
    if is_leader:
        yield
        return
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (closed below)
    with nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def _words(arguments: list[str]) -> dict[str, str]:
    """Return the words of a command line by name: options with their values, others by position.

    >>> _words(["solve", "a.dat-s", "--seed", "3", "--quiet"])
    {'word 1': 'solve', 'word 2': 'a.dat-s', '--seed': '3', '--quiet': ''}
    """
    words: dict[str, str] = {}
    position = 0
    waiting: str | None = None
    for word in arguments:
        if word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            waiting, _, value = word.partition("=")
            words[waiting] = value
        elif waiting is not None:
            words[waiting], waiting = word, None
        else:
            position += 1
            words[f"word {position}"] = word
    return words
