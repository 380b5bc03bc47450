"""Threads of the Pauli kernels: the same bits on any number, concurrent callers, a forked child."""

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from unipd._util.threads import available_threads, share
from unipd.atoms import LowRank
from unipd.maps.pauli import PauliMap, kernel_threads, random_paulis

from .test_naive import complex_normal


def results(threads, seed=0):
    """Return a product and an image; the set is large enough for threads, and has one heavy group."""
    rng = np.random.default_rng(seed)
    x, z = random_paulis(11, 4000, seed=1)
    x, z = np.append(x, np.full(500, 1027)), np.append(z, rng.integers(0, 2048, 500))
    measure = PauliMap(11, x, z, threads=threads)
    assert kernel_threads(measure.layout, 2048, threads) == threads
    v = complex_normal(rng, 2048)
    atom = LowRank(v[:, None], v[:, None], np.ones(1))
    return measure.adjoint(rng.standard_normal(4500)).matvec(v), measure.image(atom)


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_results_are_the_same_to_the_last_bit(threads):
    for one, several in zip(results(1), results(threads), strict=True):
        np.testing.assert_array_equal(several, one)


def test_callers_in_parallel():
    expected = [results(2, seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as callers:
        found = list(callers.map(lambda seed: results(2, seed), range(3)))
    for first, second in zip(expected, found, strict=True):
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])


def test_small_work_stays_on_one_thread():
    measure = PauliMap(8, *random_paulis(8, 10), method="matrix-free")
    assert kernel_threads(measure.layout, 256, 8) == 1


def test_default_number_is_numbas():
    import numba

    assert available_threads(None) == numba.get_num_threads()


def test_a_failure_in_a_thread_is_raised():
    calls = []

    def work(counter):
        calls.append(counter)
        if len(calls) == 2:
            raise ZeroDivisionError
        while len(calls) < 2:
            pass

    with pytest.raises(ZeroDivisionError):
        share(2, work)
    assert calls[0] is calls[1]


def _child(queue):
    queue.put(results(2)[0][:3])


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    expected = results(2)[0][:3]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    np.testing.assert_array_equal(queue.get(timeout=60), expected)
    child.join(timeout=60)
    assert child.exitcode == 0
