"""What must be refused or end: ``troubles.py NAME``."""

import json
import sys
import time

import numpy as np

import unipd
from unipd.cluster import Ranks, distribute, distribute_problem, run, session
from unipd.cluster.agreement import require_same
from unipd.cluster.ranks import STALLED
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


class Breaking(Simplex):
    """An oracle that fails on rank 1, once the run is under way, while the others wait for it."""

    calls = 0

    def __call__(self, direction, **options):
        self.calls += 1
        if RANKS.rank == 1 and self.calls == 12:
            raise ZeroDivisionError("the oracle of this rank is broken")
        return super().__call__(direction, **options)


def breaking():
    broken = made()
    run(unipd.Problem(Breaking(4), broken.map, broken.b, LeastSquares()), "unipdgrad", accuracy=1e-300)


def raising():
    """A callback that fails on rank 1 while the others wait for it."""

    def callback(moment):
        if RANKS.rank == 1 and moment.state.iteration == 2:
            raise ValueError("the disk of this machine is full")

    run(made(), "unipdgrad", accuracy=1e-300, callback=callback)


def finished():
    """The last rank is done while the others wait for it."""
    with session() as team:
        if RANKS.rank != LAST:
            team.total(np.ones(3))


def pleased():
    """The last rank leaves without an error while the others wait for it."""
    with session() as team:
        if RANKS.rank == LAST:
            sys.exit(0)
        team.total(np.ones(3))


def elsewhere():
    """The last rank sums long vectors while the others join short ones."""
    with session() as team:
        team.total(np.ones(2))
        if RANKS.rank == LAST:
            team.total(np.ones(40_000))
        team.joined(np.ones(3))


def late():
    """Ranks that only wait long are left alone, in the run and at its end."""
    with session() as team:
        for product in range(2):
            time.sleep((STALLED + 0.5) * (RANKS.rank == product))
            total = team.total(np.ones(3))
        time.sleep((STALLED + 0.5) * (RANKS.rank == 0))
    if RANKS.rank == 0:
        print(json.dumps({"total": total.tolist()}))


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
