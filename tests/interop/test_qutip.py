"""States as QuTiP's objects: by a stand-in that records the call, and by QuTiP where it is installed."""

import ast
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from unipd.apps.tomography import QuantumState, as_state, ghz, product, random_mixed
from unipd.errors import MemoryForecastError, MissingExtra

ROOT = Path(__file__).parents[2]


@pytest.fixture
def recorded(monkeypatch):
    """Replace QuTiP by a module whose ``Qobj`` keeps its arguments."""
    qobj = lambda array, dims: SimpleNamespace(array=array, dims=dims, full=lambda: array)  # noqa: E731
    monkeypatch.setitem(sys.modules, "qutip", SimpleNamespace(Qobj=qobj))


@pytest.mark.usefixtures("recorded")
def test_a_pure_state_becomes_a_ket():
    state = ghz(3)
    ket = state.to_qutip()
    assert (ket.array.shape, ket.dims) == ((8, 1), [[2, 2, 2], [1, 1, 1]])
    np.testing.assert_array_equal(ket.array[:, 0], state.eigenvectors[:, 0])
    ket.array[:] = 0.0
    assert state.fidelity(ghz(3)) == pytest.approx(1.0)  # the ket is a copy
    with pytest.raises(MemoryForecastError, match="max_qubits=3"):
        random_mixed(3, 2, seed=1).to_qutip(max_qubits=2)


@pytest.mark.usefixtures("recorded")
def test_a_mixed_state_becomes_a_density_matrix_and_returns():
    state = random_mixed(2, 3, seed=1)
    matrix = state.to_qutip()
    assert matrix.dims == [[2, 2], [2, 2]]
    np.testing.assert_array_equal(matrix.array, state.density_matrix())
    assert as_state(matrix).fidelity(state) == pytest.approx(1.0)


def test_figures_agree_with_qutip():
    qutip = pytest.importorskip("qutip", reason="QuTiP is not installed (extra qutip)")
    mixed, pure = random_mixed(3, 2, seed=1), QuantumState(np.arange(1.0, 9.0) + 1j)
    assert pure.to_qutip().isket
    assert mixed.to_qutip().isoper
    assert mixed.purity == pytest.approx(mixed.to_qutip().purity())
    assert mixed.fidelity(pure) == pytest.approx(qutip.fidelity(mixed.to_qutip(), pure.to_qutip()) ** 2)
    assert as_state(pure.to_qutip()).fidelity(pure) == pytest.approx(1.0)
    operator = qutip.tensor(qutip.sigmax(), qutip.qeye(2), qutip.sigmaz())  # qubit 0 is the last factor
    assert mixed.expectation("XIZ") == pytest.approx(qutip.expect(operator, mixed.to_qutip()))


def test_without_qutip_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qutip", None)
    with pytest.raises(MissingExtra, match=r'needs qutip: pip install "unipd\[qutip\]"'):
        product(1).to_qutip()


def test_extras_named_in_messages_exist():
    tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    trees = [ast.parse(path.read_text()) for path in (ROOT / "src").rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    makers = ("MissingExtra", "import_extra")  # the extra is the second argument of both
    named = [call.args[1] for call in calls if isinstance(call.func, ast.Name) and call.func.id in makers]
    names = {argument.value for argument in named if isinstance(argument, ast.Constant)}
    assert {"qutip", "quantum"} <= names <= set(extras)
