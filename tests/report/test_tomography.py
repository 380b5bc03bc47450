"""Pictures of estimated states."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from unipd.apps.tomography import Noise, PauliTomography, QuantumState, ghz, simulate
from unipd.errors import InvalidInput
from unipd.report import largest_indices, matrix_entries, plot_tomography, power_of_ten


@pytest.mark.parametrize(("name", "qubits"), [("ghz", 2), ("random", 5)])
def test_four_panels_are_drawn(name, qubits, tmp_path):
    experiment = simulate(name, qubits, noise=Noise(shots=500), seed=1)
    estimate = PauliTomography().fit_data(experiment.data)
    figure = plot_tomography(
        estimate.fit_, tmp_path / "fit.png", target=experiment.state, title="a title", theme="dark"
    )
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    panels = {panel.get_label(): panel for panel in figure.axes}
    assert set(panels) == {"convergence", "state", "spectrum", "data", "phase"}
    assert panels["convergence"].lines[-1].get_label() == "requested accuracy"
    assert len(panels["state"].collections) == 1
    drawn, values = panels["spectrum"], estimate.state_.eigenvalues[:30]
    heights = [bar.get_height() for bar in drawn.patches] or drawn.lines[0].get_ydata()
    np.testing.assert_allclose(heights, values)
    scale = 10.0 ** -power_of_ten(np.abs(experiment.data.expectations).max())
    points = panels["data"].lines[1]
    np.testing.assert_allclose(points.get_ydata(), scale * experiment.data.expectations)
    np.testing.assert_allclose(points.get_xdata(), scale * estimate.fitted_)


def test_few_eigenvalues_are_bars_and_many_a_curve():
    few = PauliTomography(accuracy=1e-8).fit_data(simulate("random", 3, seed=1).data).plot()
    spectrum = few.axes[2]
    assert spectrum.get_yscale() == "linear"
    assert len(spectrum.patches) == 1
    noisy = simulate("mixed", 4, rank=3, noise=Noise(shots=50), seed=1)
    many = PauliTomography(rank=12).fit_data(noisy.data).plot(target=noisy.state).axes[2]
    assert many.get_yscale() == "log"
    assert len(many.lines) == 2


@pytest.mark.parametrize("qubits", [2, 8, 12])
def test_tick_labels_do_not_overlap(qubits):
    figure = PauliTomography(accuracy=1e-6).fit_data(simulate("random", qubits, seed=2).data).plot()
    figure.draw_without_rendering()
    renderer = figure._get_renderer()
    for panel in (figure.axes[0], figure.axes[2], figure.axes[3]):
        boxes = [label.get_window_extent(renderer) for label in panel.get_xticklabels() if label.get_text()]
        boxes = sorted((box for box in boxes if box.width > 0), key=lambda box: box.x0)
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_target_in_any_form_is_drawn():
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    for target in (np.array([1.0, 1.0]), [1.0, 1.0], np.full((2, 2), 0.5), QuantumState([1, 1])):
        np.testing.assert_allclose(estimate.plot(target=target).axes[2].lines[-1].get_ydata(), [1.0])
    with pytest.raises(InvalidInput, match="make_state"):
        estimate.plot(target="ghz")


def test_a_target_of_qiskit_is_drawn():
    information = pytest.importorskip("qiskit.quantum_info")
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    vector, mixed = information.Statevector([1, 0]), information.DensityMatrix(np.eye(2) / 2)
    for target, values in ((vector, [1.0]), (mixed, [0.5, 0.5])):
        np.testing.assert_allclose(estimate.plot(target=target).axes[2].lines[-1].get_ydata(), values)


def test_small_numbers_are_drawn_in_powers_of_ten():
    assert [power_of_ten(value) for value in (1.0, 0.2, 4e-3, 9.9e-6, 0.0)] == [0, 0, -3, -6, 0]


def test_the_estimator_draws_itself():
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    assert len(estimate.plot().axes) == 5


def test_the_block_drawn_is_that_of_the_density_matrix():
    state = QuantumState(np.array([[1.0, 0.0], [2j, 1.0], [0.0, 0.1], [3.0, 0.0]]))
    places = largest_indices(state, 2)
    assert places.tolist() == [1, 3]
    np.testing.assert_allclose(matrix_entries(state, places), state.density_matrix()[np.ix_(places, places)])
    assert largest_indices(ghz(6), 2).tolist() == [0, 63]
