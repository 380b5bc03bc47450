"""The thread pool: chunks of work on several threads."""

import functools
import threading
import weakref

import numba
import numpy as np
import pytest

from unipd._util import threads
from unipd._util.threads import available_threads, run_chunks, run_on_threads, single_thread_blas


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("chunks", [0, 1, 3, 40])
def test_every_chunk_is_done_once(chunks, threads):
    done = []
    run_chunks(done.append, chunks, threads)
    assert sorted(done) == list(range(chunks))


def test_two_threads_work_at_once():
    meeting = threading.Barrier(2)
    run_chunks(lambda _: meeting.wait(timeout=10) and None, 2, threads=2)
    assert not meeting.broken


@pytest.mark.parametrize("bad", [0, 3])
def test_failures_reach_the_caller(bad):
    def work(chunk):
        if chunk == bad:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_chunks(work, 4, threads=2)


def test_threads_follow_numba():
    assert available_threads(None) == numba.get_num_threads()
    assert available_threads(7) == 7


def test_work_that_a_busy_thread_has_not_begun_is_not_held():
    """A cancelled helper stays in the queue; the arrays of the work do not."""
    free, begun = threading.Event(), threading.Event()

    def busy():
        begun.set()
        free.wait(timeout=10)

    blocked = threads._pool(1).submit(busy)
    begun.wait(timeout=10)
    array = np.ones(3)
    run_on_threads(functools.partial(np.sum, array), 2)
    gone = weakref.ref(array)
    del array
    assert gone() is None
    free.set()
    blocked.result()


def test_the_threads_of_blas_return_when_the_last_run_has_ended():
    """Runs that overlap without one being inside the other: a second limit must not keep the first one's."""
    controllers = pytest.importorskip("threadpoolctl")

    def count():
        pools = controllers.ThreadpoolController().select(user_api="blas").info()
        return {pool["filepath"]: pool["num_threads"] for pool in pools}

    with controllers.threadpool_limits(2, "blas"):
        before = count()
        first, second = single_thread_blas(), single_thread_blas()
        first.__enter__()
        assert set(count().values()) == {1}
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(count().values()) == {1}
        second.__exit__(None, None, None)
        assert {path: count()[path] for path in before} == before
        with single_thread_blas(False):
            assert {path: count()[path] for path in before} == before
