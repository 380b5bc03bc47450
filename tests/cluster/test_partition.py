"""Partitioning work, detecting launchers, and shards of files, on one process."""

import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd import Problem
from unipd.cluster import (
    FILE_BLOCK_BYTES,
    FILE_BLOCKS,
    Ranks,
    SingleProcess,
    SummedOperator,
    assign_evenly,
    contiguous_bounds,
    digest,
    distribute_problem,
    file_fingerprint,
    limit_threads,
    partition_strings,
    processes,
    read_shard,
    shares,
    threads_for,
)
from unipd.couplings import LeastSquares
from unipd.dual import call_oracle_along
from unipd.errors import FileFormatError
from unipd.io import read_ratings
from unipd.maps import Sampling, checksum
from unipd.sharp import NuclearBall

WORKS = st.lists(st.integers(0, 9), min_size=1, max_size=30)


class Part(Ranks):
    """A rank of several that reads alone: only its own bytes are read."""

    def __init__(self, rank, size):
        super().__init__(SingleProcess())
        self.rank, self.size = rank, size

    def allreduce(self, array):
        return array


@given(work=WORKS, parts=st.integers(1, 8))
def test_contiguous_covers_everything_in_order(work, parts):
    bounds = contiguous_bounds(work, parts)
    assert bounds[0] == 0
    assert bounds[-1] == len(work)
    assert (np.diff(bounds) >= 0).all()
    loads = [sum(work[low:high]) for low, high in itertools.pairwise(bounds)]
    assert max(loads) <= sum(work) / parts + 2 * max(work)


@given(work=WORKS, parts=st.integers(1, 8))
def test_scattered_is_balanced_to_one_thing(work, parts):
    owners = assign_evenly(work, parts)
    loads = np.bincount(owners, work, minlength=parts)
    assert owners.min() >= 0
    assert owners.max() < parts
    assert loads.max() <= sum(work) / parts + max(work)


@given(count=st.integers(0, 50), parts=st.integers(1, 9))
def test_shares_add_up(count, parts):
    sizes = shares(count, parts)
    assert sizes.sum() == count
    assert sizes.max() - sizes.min() <= 1


@given(seed=st.integers(0, 99), count=st.integers(1, 200), parts=st.integers(1, 6), qubits=st.integers(1, 9))
def test_strings_of_one_mask_stay_together(seed, count, parts, qubits):
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 1 << qubits, (2, count))
    owners = partition_strings(qubits, x, z, parts)
    assert sorted(np.concatenate(owners)) == list(range(count))
    masks = [set(x[part] & ~32) for part in owners]
    assert all(not first & second for first, second in itertools.combinations(masks, 2))


@given(values=st.lists(st.integers(0, 2**40), max_size=20), cut=st.integers(0, 20))
def test_checksums_of_parts_add_up(values, cut):
    cut = min(cut, len(values))
    whole = checksum(np.array(values, np.int64))
    assert checksum(np.array(values[:cut], np.int64)) + checksum(np.array(values[cut:], np.int64), cut) == whole
    if values:
        changed = [values[0] + 1, *values[1:]]
        assert checksum(np.array(changed, np.int64)) != whole


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({}, 1),
        ({"PMI_SIZE": "1"}, 1),
        ({"PMI_SIZE": "4"}, 4),
        ({"OMPI_COMM_WORLD_SIZE": "3"}, 3),
        ({"SLURM_STEP_NUM_TASKS": "16"}, 16),
        ({"SLURM_NTASKS": "16"}, 1),
        ({"PMI_SIZE": "many"}, 1),
    ],
)
def test_launchers_are_detected(environment, count):
    assert processes(environment) == count


@pytest.mark.parametrize("function", [processes, threads_for, limit_threads])
def test_help_does_not_show_the_environment(function):
    assert "=None" in str(inspect.signature(function)).replace(" ", "")


def test_threads_of_a_rank():
    assert threads_for({"MPI_LOCALNRANKS": "2", "PMI_SIZE": "8"}, cores=16) == 8
    assert threads_for({"PMI_SIZE": "64"}, cores=16) == 1
    assert threads_for({"SLURM_CPUS_PER_TASK": "6", "SLURM_STEP_NUM_TASKS": "2"}, cores=64) == 6
    chosen = {"MPI_LOCALNRANKS": "1000000", "OMP_NUM_THREADS": "3"}
    assert limit_threads(chosen) == 1
    assert chosen["OMP_NUM_THREADS"] == "3"
    assert chosen["NUMBA_NUM_THREADS"] == "1"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "text", ["user,item,rating\n1,2,3\n4,5,1.5\n6,7,2\n", "1::2::3\n4::5::1\n\n6::7::2", "1 2 3\n"]
)
def test_every_line_is_read_by_one_rank(tmp_path, monkeypatch, size, text):
    path = tmp_path / "ratings.txt"
    path.write_text(text)
    monkeypatch.setattr("unipd.cluster.solve.redistribute_ratings", lambda ratings, ranks: ratings)
    parts = [read_shard(path, Part(rank, size)) for rank in range(size)]
    whole = read_ratings(path)
    for name in ("users", "items", "values"):
        assert np.concatenate([getattr(part, name) for part in parts]).tolist() == getattr(whole, name).tolist()


def test_names_that_are_texts_are_read_by_all(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("ann,apple,3\nbob,pear,4\n")
    shard = read_shard(path, Ranks(SingleProcess()))
    assert shard.users.tolist() == ["ann", "bob"]
    assert shard.items.tolist() == ["apple", "pear"]


def test_wrong_files(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("1,2,3\n1,x,4\n")
    with pytest.raises(FileFormatError, match="line 2"):
        read_shard(path, Ranks(SingleProcess()))


def test_digests_tell_dtypes_and_shapes_apart():
    values = [np.zeros(4), np.zeros(8, np.float32), np.zeros((2, 2)), np.zeros(4, np.int64), 0.0, "0"]
    assert len({digest(value) for value in values}) == len(values)


@pytest.mark.parametrize(
    ("size", "place"),
    [
        (1, 0),
        (FILE_BLOCK_BYTES + 1, FILE_BLOCK_BYTES),
        (FILE_BLOCKS * FILE_BLOCK_BYTES, FILE_BLOCKS * FILE_BLOCK_BYTES - 1),
        (40 * FILE_BLOCK_BYTES, 40 * FILE_BLOCK_BYTES - 1),
        (40 * FILE_BLOCK_BYTES, 0),
    ],
)
def test_marks_tell_files_apart(tmp_path, size, place):
    path = tmp_path / "data"
    content = bytearray(size)
    path.write_bytes(content)
    before = file_fingerprint(path)
    content[place] = 1
    path.write_bytes(content)
    after = file_fingerprint(path)
    assert before[0] == after[0] == size
    assert before[1] != after[1]


def direction_of(problem, dual):
    return call_oracle_along(problem, dual, None, problem.sharp, 0.0, None)[0]


def test_directions_of_a_divided_problem_come_from_the_divided_map():
    """The map of one process has its own shortcut to -A^* lam, which the copy of the problem must not keep."""
    problem = Problem(NuclearBall((3, 2)), Sampling([0, 1, 2], [1, 0, 1], (3, 2)), [1.0, 2.0, 3.0], LeastSquares())
    divided_problem = distribute_problem(problem, Ranks(SingleProcess()))
    direction = direction_of(divided_problem, problem.b)
    assert isinstance(direction, SummedOperator)
    assert not isinstance(direction_of(problem, problem.b), SummedOperator)
    for found in (direction, direction_of(problem, problem.b)):
        np.testing.assert_array_equal(found.matvec(np.ones(2)), [-1.0, -2.0, -3.0])
