"""When a compiled run may stop: the rule itself, its less frequent evaluation, and the eigenvalues it needs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import bands_of
from unipd.spectral import Stop, all_at_most, chase, find_next_eigenvalue, may_stop, may_stop_if_due


@settings(max_examples=80)
@given(
    size=st.integers(1, 25),
    value=st.sampled_from([None, 1e-9, 1e-3, 1e-2]),
    missed_eigenvalue_guard=st.sampled_from([None, 0.1, 0.5]),
    decay=st.sampled_from([1.0, 0.7]),
    seed=st.integers(0, 999),
)
def test_compiled_stopping_rule_is_that_of_stop(size, value, missed_eigenvalue_guard, decay, seed) -> None:
    """The same verdict as on the singular values of the small matrix, column after column."""
    generator = np.random.default_rng(seed)
    projected = np.diag(generator.uniform(0.1, 1.0, size + 1)) + np.diag(generator.uniform(0.01, 1.0, size), 1)
    projected *= decay ** np.arange(size + 1)
    projected[0, 0] += 3.0
    stop = Stop(0.0, 0.05, value, missed_eigenvalue_guard, 1e-3)
    goals = stop.goals(0.0)
    for known in range(1, size + 1):
        outer, values, _ = np.linalg.svd(projected[:known, :known])
        residuals = np.abs(projected[known - 1, known] * outer[-1])
        links = [float(projected[i, i] * projected[i, i + 1]) for i in range(known)]
        horizon = stop.guard_level(float(values[0]), float(values[0]))
        verdict = stop.is_reached(values, residuals, 1, float(values[0]), 0.0) and not stop.may_miss_eigenvalue(
            values**2, links, horizon**2
        )
        assert may_stop(bands_of(projected, known), known, goals) == verdict


@settings(max_examples=40)
@given(
    size=st.integers(20, 60),
    value=st.sampled_from([None, 1e-9, 1e-5, 1e-2]),
    decay=st.sampled_from([1.0, 0.97, 0.9]),
    seed=st.integers(0, 999),
)
def test_a_run_that_asks_less_often_ends_little_later(size, value, decay, seed) -> None:
    """Never where the rule says no, and at most an eighth of its steps after the rule has said yes for good."""
    generator = np.random.default_rng(seed)
    projected = np.diag(generator.uniform(0.4, 1.0, size + 1)) + np.diag(generator.uniform(0.1, 0.8, size), 1)
    projected *= decay ** np.arange(size + 1)
    rule = Stop(0.0, 0.01, value, None, 1.0)
    bands = bands_of(projected, size)
    verdicts = [may_stop(bands, known, rule.goals(0.0)) for known in range(1, size + 1)]
    goals, asked = rule.goals(0.0), [False]
    while not asked[-1] and len(asked) <= size:
        asked.append(may_stop_if_due(bands, len(asked), goals))
    end = len(asked) - 1
    assert verdicts[end - 1] or not asked[-1]
    since = next((known for known in range(1, size + 1) if all(verdicts[known - 1 :])), size + 1)
    assert end <= since + max(1, since // 8)


@settings(max_examples=60)
@given(
    size=st.integers(1, 30),
    known=st.integers(1, 30),
    start=st.sampled_from([None, 0.5, 1.0]),
    split=st.booleans(),
    seed=st.integers(0, 999),
)
def test_eigenvalues_one_after_the_other_are_those_of_lapack(size, known, start, split, seed) -> None:
    """Those found are sorted, come with the row's share in their vectors, and what is left is bounded rightly."""
    known, generator = min(known, size), np.random.default_rng(seed)
    diagonal, links = generator.uniform(0.0, 1.0, size), generator.uniform(0.1, 1.0, size)
    links[: size // 2] *= 0.0 if split else 1.0
    row = generator.standard_normal(size)
    truth, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(links[:-1], 1) + np.diag(links[:-1], -1))
    shares = np.abs(row @ vectors)
    if start is not None:
        chase(diagonal, links, row, 0, size - 1, start * truth[-1])
    for place in range(known):
        assert find_next_eigenvalue(diagonal, links, row, place)
    found = [int(np.argmin(np.abs(truth - value))) for value in diagonal[:known]]
    assert len(set(found)) == known
    assert found == sorted(found, reverse=True)
    np.testing.assert_allclose(diagonal[:known], truth[found], atol=1e-13 * size)
    np.testing.assert_allclose(np.abs(row[:known]), shares[found], atol=1e-8)
    rest = np.delete(truth, found)
    for bound in (-3.0, 0.0, 0.7, 1.1, 3.1):
        assert all_at_most(diagonal, links, known, bound) == bool((rest < bound).all())
