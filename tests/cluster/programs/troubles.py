"""What must be refused or end: ``troubles.py NAME``."""

import json
import sys
import time

import numpy as np

import unipd
from unipd.cluster import Ranks, distribute, distribute_problem, run, session
from unipd.cluster.agreement import require_same
from unipd.couplings import LeastSquares
from unipd.errors import UnipdError
from unipd.maps import DenseMatrix, Identity
from unipd.sharp import Simplex

RANKS = Ranks()
LAST = RANKS.size - 1


def made(shift=0.0):
    rng = np.random.default_rng(1)
    return unipd.Problem(Simplex(4), rng.standard_normal((6, 4)), rng.standard_normal(6) + shift, LeastSquares())


def unsplittable():
    distribute(Identity((3,)), RANKS)


def data():
    distribute_problem(made(shift=float(RANKS.rank == LAST)), RANKS)


def thing():
    distribute_problem("a name", RANKS)


def matrix():
    distribute(DenseMatrix(np.full((3, 2), 1.0 + (RANKS.rank == LAST))), RANKS)


def options():
    require_same(RANKS, "the options", {"seed": 1, "accuracy": 1e-3 * (1 + (RANKS.rank == LAST))})


def whole():
    """Different options of ``run``, which ends all ranks."""
    run(made(), accuracy=1e-3 * (1 + (RANKS.rank == LAST)))


def apart():
    """A rank whose dual vector drifts away from the thirteenth product on."""
    divided = distribute(DenseMatrix(np.eye(3)), RANKS)
    for product in range(100):
        divided.adjoint(np.full(3, 1.0 + 1e-15 * (product >= 12 and RANKS.rank == LAST)))


def different():
    """A rank with another dual vector from the beginning."""
    distribute(DenseMatrix(np.eye(3)), RANKS).adjoint(np.full(3, 1.0 + RANKS.rank))


def raising():
    """An oracle that fails on rank 1 while the others wait for it."""

    def oracle(moment):
        if RANKS.rank == 1 and moment.state.iteration == 2:
            raise ValueError("the disk of this machine is full")

    run(made(), "unipdgrad", accuracy=1e-300, callback=oracle)


def endless():
    print(f"rank {RANKS.rank} runs", flush=True)
    with session():
        while True:
            RANKS.summed(np.ones(3))
            time.sleep(0.01)


def waiting():
    """The last rank waits for an exchange that never comes."""
    with session() as team:
        print(f"rank {RANKS.rank} runs", flush=True)
        if RANKS.rank == LAST:
            team.total(np.ones(3))
        time.sleep(600)


def leaving():
    """The last rank leaves by itself."""
    with session() as team:
        if RANKS.rank == LAST:
            sys.exit(7)
        team.total(np.ones(3))


def complaint(case):
    try:
        case()
    except UnipdError as error:
        return str(error)
    return None


def refused():
    """Print what every rank is told of each refusal."""
    told = {}
    for case in (unsplittable, data, thing, matrix, options, apart, different):
        told[case.__name__] = RANKS.objects(complaint(case))
    if RANKS.rank == 0:
        print(json.dumps(told))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
