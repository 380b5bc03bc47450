"""Failures that must be refused or end all ranks: ``failures.py NAME``."""

import json
import sys
import time

import numpy as np

import unipd
from unipd.cluster import STALL_SECONDS, Ranks, distribute, distribute_problem, require_same, run, session
from unipd.couplings import LeastSquares
from unipd.errors import UnipdError
from unipd.maps import DenseMatrix, Identity
from unipd.sharp import Simplex

RANKS = Ranks()
LAST = RANKS.size - 1


def small_problem(shift=0.0):
    rng = np.random.default_rng(1)
    return unipd.Problem(Simplex(4), rng.standard_normal((6, 4)), rng.standard_normal(6) + shift, LeastSquares())


def unsplittable():
    distribute(Identity((3,)), RANKS)


def data():
    distribute_problem(small_problem(shift=float(RANKS.rank == LAST)), RANKS)


def thing():
    distribute_problem("a name", RANKS)


def matrix():
    distribute(DenseMatrix(np.full((3, 2), 1.0 + (RANKS.rank == LAST))), RANKS)


def options():
    require_same(RANKS, "the options", {"seed": 1, "accuracy": 1e-3 * (1 + (RANKS.rank == LAST))})


def whole():
    """Different options of ``run``, which ends all ranks."""
    run(small_problem(), accuracy=1e-3 * (1 + (RANKS.rank == LAST)))


def apart():
    """A rank whose dual vector drifts away from the thirteenth product on."""
    divided = distribute(DenseMatrix(np.eye(3)), RANKS)
    for product in range(100):
        divided.adjoint(np.full(3, 1.0 + 1e-15 * (product >= 12 and RANKS.rank == LAST)))


def different():
    """A rank with another dual vector from the beginning."""
    distribute(DenseMatrix(np.eye(3)), RANKS).adjoint(np.full(3, 1.0 + RANKS.rank))


class Breaking(Simplex):
    """An oracle that fails on rank 1, once the run is under way, while the others wait for it."""

    calls = 0

    def __call__(self, direction, **options):
        self.calls += 1
        if RANKS.rank == 1 and self.calls == 12:
            raise ZeroDivisionError("the oracle of this rank is broken")
        return super().__call__(direction, **options)


def breaking():
    broken = small_problem()
    run(unipd.Problem(Breaking(4), broken.map, broken.b, LeastSquares()), "unipdgrad", accuracy=1e-300)


def raising():
    """A callback that fails on rank 1 while the others wait for it."""

    def callback(info):
        if RANKS.rank == 1 and info.state.iteration == 2:
            raise ValueError("the disk of this machine is full")

    run(small_problem(), "unipdgrad", accuracy=1e-300, callback=callback)


def return_early():
    """The last rank is done while the others wait for it."""
    with session() as communicator:
        if RANKS.rank != LAST:
            communicator.allreduce(np.ones(3))


def exit_without_error():
    """The last rank leaves without an error while the others wait for it."""
    with session() as communicator:
        if RANKS.rank == LAST:
            sys.exit(0)
        communicator.allreduce(np.ones(3))


def sum_other_vectors():
    """The last rank sums long vectors while the others join short ones."""
    with session() as communicator:
        communicator.allreduce(np.ones(2))
        if RANKS.rank == LAST:
            communicator.allreduce(np.ones(40_000))
        communicator.allgather(np.ones(3))


def late():
    """Ranks that only wait long are left alone, in the run and at its end."""
    with session() as communicator:
        for product in range(2):
            time.sleep((STALL_SECONDS + 0.5) * (RANKS.rank == product))
            total = communicator.allreduce(np.ones(3))
        time.sleep((STALL_SECONDS + 0.5) * (RANKS.rank == 0))
    if RANKS.rank == 0:
        print(json.dumps({"total": total.tolist()}))


def endless():
    print(f"rank {RANKS.rank} runs", flush=True)
    with session():
        while True:
            RANKS.allreduce(np.ones(3))
            time.sleep(0.01)


def waiting():
    """The last rank waits for an exchange that never comes."""
    with session() as communicator:
        print(f"rank {RANKS.rank} runs", flush=True)
        if RANKS.rank == LAST:
            communicator.allreduce(np.ones(3))
        time.sleep(600)


def exit_with_error():
    """The last rank leaves by itself."""
    with session() as communicator:
        if RANKS.rank == LAST:
            sys.exit(7)
        communicator.allreduce(np.ones(3))


def complaint(case):
    try:
        case()
    except UnipdError as error:
        return str(error)
    return None


def print_refusals():
    """Print the message of every rank for each refusal."""
    messages = {}
    for case in (unsplittable, data, thing, matrix, options, apart, different):
        messages[case.__name__] = RANKS.allgather_objects(complaint(case))
    if RANKS.rank == 0:
        print(json.dumps(messages))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
