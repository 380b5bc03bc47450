import numpy as np
import pytest

pytest.importorskip("matplotlib")

from unipd.apps.tomography import Noise, PauliTomography, QuantumState, ghz, simulate
from unipd.report.tomography import entries, largest_indices, plot_tomography


@pytest.mark.parametrize(("name", "qubits"), [("ghz", 2), ("random", 5)])
def test_four_panels_are_drawn(name, qubits, tmp_path):
    experiment = simulate(name, qubits, noise=Noise(shots=500), seed=1)
    estimate = PauliTomography().fit_data(experiment.data)
    figure = plot_tomography(
        estimate.fit_, tmp_path / "fit.png", target=experiment.state, title="a title", theme="dark"
    )
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    assert len(figure.axes) == 4
    convergence, city, spectrum, data = figure.axes
    assert len(convergence.lines) == 3
    assert len(city.collections) == 1
    np.testing.assert_allclose(spectrum.lines[0].get_ydata(), estimate.state_.eigenvalues[:30])
    np.testing.assert_allclose(data.lines[1].get_ydata(), experiment.data.expectations)
    np.testing.assert_allclose(data.lines[1].get_xdata(), estimate.fitted_)


def test_the_estimator_draws_itself():
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    assert len(estimate.plot().axes) == 4


def test_the_block_drawn_is_that_of_the_density_matrix():
    state = QuantumState(np.array([[1.0, 0.0], [2j, 1.0], [0.0, 0.1], [3.0, 0.0]]))
    places = largest_indices(state, 2)
    assert places.tolist() == [1, 3]
    np.testing.assert_allclose(entries(state, places), state.density_matrix()[np.ix_(places, places)])
    assert largest_indices(ghz(6), 2).tolist() == [0, 63]
