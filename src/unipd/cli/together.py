"""The command line on several processes: detected, checked, and one voice to the user."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Generator, Sequence
from typing import NoReturn

from unipd.cli import exits
from unipd.cluster.agreement import require_same
from unipd.cluster.environment import end_all, limit_threads, processes
from unipd.cluster.failure import PATIENCE
from unipd.cluster.journal import Disagreement
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput, MissingExtra

TOGETHER = ("tomography", "complete", "solve", "maxcut", "theta")
"""Commands whose products are divided; of the others rank 0 does the work."""
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


def main(arguments: Sequence[str]) -> NoReturn:
    """Run a command on all processes and leave with its exit code."""
    limit_threads()
    try:
        ranks = Ranks()
        if ranks.size == 1:
            expected = f"{processes()} processes that see each other (mpirun started so many)"
            raise InvalidInput("MPI", expected, "one: mpirun and mpi4py belong to different MPI libraries")
    except (MissingExtra, InvalidInput) as error:
        line, code = exits.explain(error)
        rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
        if rank == "0":
            exits.say(line)
        if isinstance(error, MissingExtra):
            _end_all(line, code, rank)
        sys.exit(code)
    sys.exit(_run(ranks, list(arguments)))


def _end_all(line: str, code: int, rank: str) -> None:
    """End all processes where the launcher would leave others waiting; rank 0 is given the time to speak for all."""
    if rank != "0" and "PMI_FD" in os.environ:
        time.sleep(PATIENCE)
        exits.say(f"rank {rank}: {line}")
    sys.stderr.flush()
    if end_all(code):
        time.sleep(PATIENCE)  # the launcher ends this process too


def _run(ranks: Ranks, arguments: list[str]) -> int:
    from unipd.cli.app import command_line
    from unipd.cluster.together import MpiTeam, limited
    from unipd.team import Team, working_in

    command = next((word for word in arguments if not word.startswith("-")), "")
    together = MpiTeam(ranks)
    with working_in(together), _voice(ranks.rank == 0), limited(limit_threads(), ranks.size):
        try:
            require_same(ranks, "the command line", _words(arguments))
        except InvalidInput as error:
            return exits.complain(error, debug="--debug" in arguments)
        alone = command not in TOGETHER
        if alone and ranks.rank != 0:
            return exits.SOLVED
        with working_in(Team() if alone else together):
            code = command_line().main(args=arguments, prog_name="unipd", standalone_mode=False)
        if not alone:
            try:
                ranks.part()
            except Disagreement as error:
                return exits.complain(error, debug="--debug" in arguments)
    return code if isinstance(code, int) else exits.SOLVED


@contextlib.contextmanager
def _voice(leads: bool) -> Generator[None]:
    """Let rank 0 speak; what others say is dropped, but for errors (which go to the process's own standard error)."""
    if leads:
        yield
        return
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (closed below)
    with nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def _words(arguments: list[str]) -> dict[str, str]:
    """Return the words of a command line by name: options with what follows them, others by their place.

    >>> _words(["solve", "a.dat-s", "--seed", "3", "--quiet"])
    {'word 1': 'solve', 'word 2': 'a.dat-s', '--seed': '3', '--quiet': ''}
    """
    words: dict[str, str] = {}
    place = 0
    waiting: str | None = None
    for word in arguments:
        if word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            waiting, _, value = word.partition("=")
            words[waiting] = value
        elif waiting is not None:
            words[waiting], waiting = word, None
        else:
            place += 1
            words[f"word {place}"] = word
    return words
