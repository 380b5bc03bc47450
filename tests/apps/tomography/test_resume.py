"""Interrupted fits resume to the same result, bit for bit, wherever they stop."""

import numpy as np
import pytest

from unipd.apps.tomography import Noise, PauliTomography, all_bases, random_mixed, simulate, simulate_counts
from unipd.run.checkpoint import Checkpoint


class Killed(BaseException):
    """What ends a run at once."""


def run(fit, path, *, last=None, resume=False):
    """Return the estimate of ``fit(estimator)`` and its iterations in this process; it dies after ``last`` of them."""
    seen = []

    def callback(info):
        seen.append(info.iteration)
        if len(seen) == last:
            raise Killed

    with Checkpoint(path, "1it", resume=resume):
        estimate = fit(PauliTomography(accuracy=1e-6, threads=1, callback=callback))
    return estimate, len(seen)


def counts_fit(estimator):
    counts = simulate_counts(random_mixed(2, 2, 1), all_bases(2), 500, seed=1)
    return estimator.fit_counts(counts)


def noisy_fit(estimator):
    return estimator.fit_data(simulate("mixed", 3, rank=2, noise=Noise(shots=500), seed=1).data)


@pytest.mark.parametrize("fit", [counts_fit, noisy_fit])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(fit, place, tmp_path):
    """Counts are fitted twice: early breaks are in the first fit, late ones in the second."""
    whole, iterations = run(fit, tmp_path / "whole.ckpt")
    last = max(1, round(place * iterations))
    with pytest.raises(Killed):
        run(fit, tmp_path / "broken.ckpt", last=last)
    again, rest = run(fit, tmp_path / "broken.ckpt", resume=True)
    assert rest <= iterations - last + 2
    np.testing.assert_array_equal(again.state_.eigenvectors, whole.state_.eigenvectors)
    np.testing.assert_array_equal(again.state_.eigenvalues, whole.state_.eigenvalues)
    assert again.objective_ == whole.objective_
    assert again.dual_bound_ == whole.dual_bound_
    assert (again.result_.iterations, again.result_.counts) == (whole.result_.iterations, whole.result_.counts)
