"""Fits of limited rank: prescribed, chosen by the data, and by default for noisy data with few strings."""

import numpy as np
import pytest

import unipd
from unipd import Status
from unipd.apps.tomography import (
    FixedRank,
    Noise,
    PauliTomography,
    UndeterminedState,
    all_bases,
    parameter_count,
    random_bases,
    random_mixed,
    random_pure,
    simulate,
    simulate_counts,
)
from unipd.errors import InvalidInput


def noisy(qubits, rank, seed, shots=10_000):
    state = "random" if rank == 1 else "mixed"
    return simulate(state, qubits, rank=None if rank == 1 else rank, noise=Noise(shots=shots), seed=seed)


def test_parameters_are_counted():
    """Rank one: a vector up to length and phase; full rank: a Hermitian matrix of given trace."""
    assert [parameter_count(2, rank) for rank in (1, 4)] == [2 * 4 - 2, 16 - 1]


@pytest.mark.parametrize("rank", [1, 3])
def test_the_default_for_noisy_data_is_as_good_as_the_rank_known(rank):
    experiment = noisy(7, rank, seed=1)
    usual = PauliTomography(threads=1).fit_data(experiment.data)
    known = PauliTomography(threads=1, rank=rank).fit_data(experiment.data)
    with pytest.warns(UndeterminedState, match="prescribe a smaller rank"):
        convex = PauliTomography(threads=1, objective="weighted").fit_data(experiment.data)
    assert usual.rank_ == known.rank_ == rank
    assert usual.fidelity(experiment.state) == pytest.approx(known.fidelity(experiment.state), abs=1e-3)
    assert usual.fidelity(experiment.state) > convex.fidelity(experiment.state) + 0.05
    assert usual.result_.status is Status.LOCAL
    assert usual.summary()["rank_choice"] == f"at most {rank} (the smallest that explains the data)"
    assert usual.chi_square_per_dof_ == pytest.approx(1.0, abs=0.15)
    assert usual.dual_bound_ <= convex.objective_ <= usual.objective_


def test_eight_qubits_of_rank_three():
    fidelities = [
        PauliTomography(threads=1).fit_data(experiment.data).fidelity(experiment.state)
        for experiment in (noisy(8, 3, seed) for seed in range(2))
    ]
    assert min(fidelities) >= 0.985


def test_full_rank_is_fitted_where_no_low_rank_explains_the_data():
    experiment = simulate("mixed", 4, rank=16, measurements=120, noise=Noise(shots=2000), seed=3)
    with pytest.warns(UndeterminedState):
        estimate = PauliTomography(threads=1).fit_data(experiment.data)
    assert estimate.summary()["rank_choice"] == "any rank (no low rank explains the data)"
    assert estimate.result_.status is Status.SOLVED


@pytest.mark.parametrize("rank", [1, 2])
def test_counts_choose_their_rank(rank):
    truth = random_pure(4, 1) if rank == 1 else random_mixed(4, 2, 1)
    counts = simulate_counts(truth, all_bases(4), 200, seed=2)
    chosen, plain = (PauliTomography(threads=1, rank=r).fit_counts(counts) for r in ("auto", None))
    assert chosen.rank_ == rank
    assert plain.rank_ > rank
    assert 1 - chosen.fidelity(truth) < 0.5 * (1 - plain.fidelity(truth))
    assert plain.objective_ < chosen.objective_ < plain.objective_ + parameter_count(4, rank)


def test_few_bases_of_many_outcomes_are_fitted_at_low_rank_by_default():
    truth = random_pure(6, 1)
    counts = simulate_counts(truth, random_bases(6, 40, seed=3), 300, seed=4)
    estimate = PauliTomography(threads=1).fit_counts(counts)
    assert (estimate.rank_, estimate.objective_name_) == (1, "likelihood")
    assert estimate.fidelity(truth) > 0.98


def test_the_criterion_chooses_where_nothing_explains_the_data():
    """Standard errors that are too small by a quarter: no chi-square is near its mean."""
    data = noisy(6, 2, seed=3).data
    optimistic = unipd.io.PauliData(data.qubits, data.x, data.z, data.expectations, stderr=np.full(data.size, 0.0075))
    estimate = PauliTomography(threads=1, rank="auto").fit_data(optimistic)
    assert estimate.summary()["rank_choice"] == "at most 2 (least information criterion)"
    assert estimate.rank_ == 2
    assert estimate.chi_square_per_dof_ > 1.4
    assert estimate.result_.iterations > PauliTomography(threads=1, rank=2).fit_data(optimistic).result_.iterations


def test_exact_data_are_certified_at_their_rank():
    experiment = simulate("mixed", 5, rank=2, seed=4)
    for rank in (2, "auto"):
        estimate = PauliTomography(accuracy=1e-8, rank=rank, threads=1).fit_data(experiment.data)
        assert estimate.result_.status is Status.SOLVED
        assert estimate.summary()["guarantee"] == "optimal over all states"
        assert estimate.rank_ == 2
        assert estimate.fidelity(experiment.state) > 1 - 1e-6


def test_bootstraps_keep_the_rank_that_was_chosen():
    experiment = noisy(6, 2, seed=5)
    estimate = PauliTomography(threads=1).fit_data(experiment.data)
    assert estimate.fit_.refit_settings.rank == estimate.rank_ == 2
    errors = estimate.bootstrap(3, target=experiment.state, seed=1)
    assert errors.samples["fidelity"].min() > 0.9


def test_checkpoints_are_those_of_the_rank_that_was_chosen(tmp_path):
    data = noisy(5, 2, seed=6).data
    found = [
        PauliTomography(threads=1, rank="auto", solver_options=options).fit_data(data).objective_
        for options in ({}, {"checkpoint": tmp_path / "a"}, {"checkpoint": tmp_path / "a", "resume": True})
    ]
    assert found == [found[0]] * 3


@pytest.mark.parametrize("rank", [0, -1, 1.5, "low"])
def test_wrong_ranks_are_refused(rank):
    with pytest.raises(InvalidInput, match="rank"):
        PauliTomography(rank=rank)


def test_ranks_are_not_chosen_under_a_noise_level():
    with pytest.raises(InvalidInput, match="rank"):
        PauliTomography(rank="auto", objective="trace").fit_data(noisy(3, 1, 1).data)


def test_a_local_optimum_is_stationary():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((6, 6))
    target = matrix @ matrix.T
    identity = unipd.maps.DenseMatrix(np.eye(36), domain=(6, 6))
    loss = unipd.couplings.LeastSquares()
    problem = unipd.Problem(unipd.sharp.Spectrahedron(6), identity, (target / np.trace(target)).ravel(), loss)
    result = unipd.solve(problem, FixedRank(rank=2), accuracy=1e-9)
    assert result.status is Status.LOCAL
    values, vectors = np.linalg.eigh(target / np.trace(target))
    kept = values[-2:] + (1.0 - values[-2:].sum()) / 2
    np.testing.assert_allclose(result.x.dense(), vectors[:, -2:] * kept @ vectors[:, -2:].T, atol=1e-4)
    assert result.dual_bound <= 1e-12


def test_a_search_for_a_rank_that_a_time_limit_cuts_leaves_a_bound():
    """The residual at a point of too small a rank proves nothing: projected steps over all states make the bound."""
    experiment = noisy(7, 3, seed=1)
    cut = PauliTomography(threads=1, stop=unipd.MaxSeconds(1e-3)).fit_data(experiment.data)
    assert cut.result_.status is Status.TIME_LIMIT
    assert cut.summary()["rank_choice"] == "at most 1 (the search was cut short)"
    with pytest.warns(UndeterminedState):
        convex = PauliTomography(threads=1, objective="weighted").fit_data(experiment.data)
    assert 0.0 < cut.dual_bound_ <= convex.objective_ < cut.objective_


def test_a_cut_fit_is_bounded_at_least_as_well_as_by_the_residual_of_nothing():
    """Over many qubits the residual at X = 0 proves more than that of a rank that is too small."""
    experiment = noisy(9, 3, seed=2)
    cut = PauliTomography(threads=1, stop=unipd.MaxSeconds(1e-3)).fit_data(experiment.data)
    problem = cut.fit_.model.problem
    assert problem.loss is not None
    dual = problem.loss.gradient(-problem.b)
    nothing = -unipd.dual.evaluate(problem, dual).value - problem.loss.conjugate(dual)
    assert cut.result_.status is Status.TIME_LIMIT
    assert cut.dual_bound_ >= nothing - 0.02 * cut.objective_


def test_no_state_fits_better_than_the_data():
    """The residual of a state of too small a rank proves less than nothing; losses are nonnegative."""
    counts = simulate_counts(random_mixed(3, 8, seed=1), all_bases(3), 500, seed=1)
    for estimate in (PauliTomography(rank=1), PauliTomography(rank=1, objective="outcomes")):
        estimate.fit_counts(counts)
        assert estimate.result_.status is Status.LOCAL
        assert -1e-6 * estimate.objective_ <= estimate.dual_bound_ < estimate.objective_


def test_the_rank_is_that_of_least_information_criterion():
    """A fit that is optimal among all states is no reason to prefer it to a smaller rank."""
    for seed in range(6):
        truth = random_pure(2, seed=seed)
        counts = simulate_counts(truth, all_bases(2), 1000, seed=seed)
        fits = [PauliTomography(rank=rank).fit_counts(counts) for rank in range(1, 5)]
        criteria = [2.0 * fit.objective_ + 2.0 * parameter_count(2, rank) for rank, fit in enumerate(fits, 1)]
        chosen = PauliTomography(rank="auto").fit_counts(counts)
        assert 2.0 * chosen.objective_ + 2.0 * parameter_count(2, chosen.fit_.rank_limit) <= min(criteria) + 0.05
