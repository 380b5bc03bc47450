"""Files of Pauli data."""

import base64
import json
import pickle
import re
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.apps.tomography import as_counts
from unipd.errors import FileFormatError, InvalidInput, MemoryForecastError
from unipd.io import Limits, PauliData, read_pauli_data, write_pauli_data


@st.composite
def measurements(draw):
    qubits, size = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    masks = st.lists(st.integers(0, 2**qubits - 1), min_size=size, max_size=size)
    values = draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size))
    shots = draw(st.none() | st.lists(st.integers(1, 10**6), min_size=size, max_size=size))
    stderr = draw(st.none() | st.lists(st.floats(0, 0.1), min_size=size, max_size=size))
    arrays = [np.array(draw(masks)), np.array(draw(masks)), np.array(values, float)]
    noise = [None if part is None else np.array(part, float) for part in (shots, stderr)]
    return PauliData(qubits, *arrays, *noise)


def same(one, two):
    return one is two is None or np.array_equal(one, two)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npz"])
@given(data=measurements())
@settings(max_examples=25)
def test_what_is_written_is_read_back(data, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / f"data{suffix}"
    write_pauli_data(data, path)
    back = read_pauli_data(path)
    assert isinstance(back, PauliData)
    assert back.qubits == data.qubits
    for name in ("x", "z", "expectations", "shots", "stderr"):
        assert same(getattr(data, name), getattr(back, name)), name


def test_labels_have_qubit_0_at_the_right(tmp_path):
    (tmp_path / "a.csv").write_text("pauli,expectation\nXYZ,0.5\n")
    data = read_pauli_data(tmp_path / "a.csv")
    assert (data.x.tolist(), data.z.tolist()) == ([6], [3])


@pytest.mark.parametrize("separator", [";", "\t", " , "])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_semicolons_and_tabs_separate_too(separator, mark, tmp_path):
    path = tmp_path / "data.csv"
    lines = [["pauli", "expectation", "shots"], ["XI", "0.5", "100"], ["ZZ", "-0.25", "200"]]
    path.write_text(mark + "\n".join(separator.join(line) for line in lines), encoding="utf-8")
    data = read_pauli_data(path)
    assert data.labels() == ["XI", "ZZ"]
    np.testing.assert_array_equal(data.expectations, [0.5, -0.25])
    np.testing.assert_array_equal(data.shots, [100, 200])


def test_decimal_commas_are_refused_with_their_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("pauli;expectation\nX;0.5\nZ;0,25\n")
    with pytest.raises(FileFormatError, match="line 3: expected a number for expectation, got '0,25'"):
        read_pauli_data(path)


def test_blank_lines_spaces_and_column_order_do_not_matter(tmp_path):
    (tmp_path / "a.csv").write_text(
        "\ufeff\r\n \r\nExpectation, Pauli , shots\r\n0.5, XX, 100\r\n\r\n -0.25 ,ZI,20\r\n", "utf-8"
    )
    data = read_pauli_data(tmp_path / "a.csv")
    assert data.labels() == ["XX", "ZI"]
    assert data.expectations.tolist() == [0.5, -0.25]
    assert data.shots.tolist() == [100, 20]


def test_json_as_records_and_counts(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"pauli": "X", "expectation": 1, "stderr": 0.1}, {"pauli": "Z", "expectation": 0, "stderr": 0}])
    )
    data = read_pauli_data(path)
    assert data.stderr.tolist() == [0.1, 0.0]
    counts = {"XZ": {"00": 3, "11": 4}}
    path.write_text(json.dumps({"counts": counts}))
    assert read_pauli_data(path) == counts


def test_a_column_of_another_name_is_refused_rather_than_lost(tmp_path):
    columns = {"pauli": ["X", "Z"], "expectation": [1.0, 0.0]}
    (tmp_path / "a.json").write_text(json.dumps({**columns, "note": "of Monday"}))
    assert read_pauli_data(tmp_path / "a.json").size == 2
    (tmp_path / "a.json").write_text(json.dumps({**columns, "std_err": [0.1, 0.1]}))
    np.savez(tmp_path / "a.npz", **columns, std_err=np.array([0.1, 0.1]))
    for kind in (".json", ".npz"):
        with pytest.raises(FileFormatError, match="std_err"):
            read_pauli_data(tmp_path / f"a{kind}")


def test_archives_of_labels(tmp_path):
    np.savez(tmp_path / "a.npz", pauli=np.array(["XX", "ZI"]), expectation=np.array([0.5, 1.0]), shots=np.array([3, 4]))
    data = read_pauli_data(tmp_path / "a.npz")
    assert data.labels() == ["XX", "ZI"]
    assert data.shots.dtype == np.float64


HEAD = "pauli,expectation\n"
WRONG_CSV = {
    "": "is empty",
    "\n": "is empty|columns",
    HEAD: "no measurements",
    "pauli\nXX\n": "line 1: expected the columns",
    "pauli,value\nXX,1\n": "line 1.*'value'",
    "pauli,expectation,expectation\nXX,1,1\n": "line 1",
    HEAD + "XXI,0.5\nXZ,0.1\n": "line 3: expected a Pauli string of 3 letters as in line 2, got 'XZ'",
    HEAD + "XQ,0.5\n": "line 2: .*letters I, X, Y, Z, got 'XQ'",
    HEAD + "xx,0.5\n": "line 2",
    HEAD + ",0.5\n": "line 2",
    HEAD + "XX,0.5\n\nXX\n": "line 4: expected 2 cells, got 1",
    HEAD + "XX,0.5,3\n": "line 2: expected 2 cells, got 3",
    HEAD + "XX,half\n": "line 2: expected a number for expectation, got 'half'",
    HEAD + "XX,0.5\nXX,nan\n": "line 3: .*nan is not a finite",
    HEAD + "XX,inf\n": "line 2",
    HEAD + "XX,0.5\nZZ,1.7\n": "line 3: .*1.7 lies outside",
    "pauli,expectation,shots\nXX,0.5,0\n": "line 2: the number of shots 0",
    "pauli,expectation,stderr\nXX,0.5,-1\n": "line 2: the standard error -1",
    "pauli,expectation,stderr\nXX,1.5,0.01\n": "line 2: .*1.5 lies outside",
    "pauli,expectation,shots\nXX,-1,9\nZZ,-1.01,100\n": "line 3: .*-1.01, a mean of outcomes .*, lies outside",
    HEAD + '"XX,0.5\n': "not a text file with columns",
    "\n\n" + HEAD + "XX,0.5\nXQ,0.5\n": "line 5: expected a Pauli string",
    "\n\npauli,value\nXX,1\n": "line 3.*'value'",
}


@pytest.mark.parametrize("text", WRONG_CSV)
def test_malformed_rows_are_named(text, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileFormatError, match=WRONG_CSV[text]) as caught:
        read_pauli_data(tmp_path / "a.csv")
    assert str(tmp_path / "a.csv") in str(caught.value)


WRONG_JSON = [
    "", "{", "3", "[]", "{}", "[3]", '{"pauli": ["X"], "expectation": [1, 2]}', '{"pauli": "X", "expectation": 1}',
    '[{"pauli": "X"}]', '[{"pauli": "X", "expectation": null}]', '[{"pauli": 3, "expectation": 1}]',
    '[{"pauli": "X", "expectation": true}]', '[{"pauli": "X", "expectation": 1}, {"expectation": 1}]',
    '[{"pauli": "X", "expectation": NaN}]', '{"counts": []}', '{"counts": {}}', '{"counts": {"X": 3}}',
    '{"counts": {"X": {"0": "5"}}}', '{"counts": {"X": {"0": true}}}', "[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG_JSON)
def test_malformed_json_is_refused(text, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FileFormatError):
        read_pauli_data(tmp_path / "a.json")


def test_a_record_is_named(tmp_path):
    (tmp_path / "a.json").write_text('[{"pauli": "X", "expectation": 1}, {"pauli": "XX", "expectation": 1}]')
    with pytest.raises(FileFormatError, match="record 2: expected a Pauli string of 1 letters as in record 1"):
        read_pauli_data(tmp_path / "a.json")


class Trap:
    """Writes a file when unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_archives_are_read_without_pickle(tmp_path):
    trap, mark = tmp_path / "a.npz", tmp_path / "mark"
    np.savez(trap, pauli=np.array([Trap(mark)], object), expectation=np.array([1.0]))
    with pytest.raises(FileFormatError):
        read_pauli_data(trap)
    trap.write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(FileFormatError, match="not a NumPy archive"):
        read_pauli_data(trap)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({}, "x, z and qubits"),
        ({"pauli": np.array(["X"])}, "expectation"),
        ({"pauli": np.array([1]), "expectation": np.array([1.0])}, "letters I, X, Y, Z, got 1"),
        ({"pauli": np.array(["X"]), "expectation": np.array([1.0, 2.0])}, "columns of one length"),
        ({"pauli": np.array(["X"]), "expectation": np.array([1j])}, "row index 0: expected a number for expectation"),
        ({"pauli": np.array(["X", "Z"]), "expectation": np.array([0.0, 7.0])}, "row index 1: .*7 lies outside"),
        ({"pauli": np.array(["Q"]), "expectation": np.array([0.0])}, "letters"),
        ({"x": np.array([1]), "z": np.array([0]), "qubits": np.array(0), "expectation": np.array([0.0])}, "qubits"),
        ({"x": np.array([1]), "z": np.array([0, 1]), "qubits": np.array(2), "expectation": np.array([0.0])}, "masks"),
        ({"x": np.array([9]), "z": np.array([0]), "qubits": np.array(2), "expectation": np.array([0.0])}, "masks"),
        ({"x": np.array([1.0]), "z": np.array([0]), "qubits": np.array(2), "expectation": np.array([0.0])}, "masks"),
    ],
)
def test_malformed_archives_are_refused(arrays, words, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileFormatError, match=words):
        read_pauli_data(tmp_path / "a.npz")


def test_damaged_archives_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, pauli=np.array(["X"] * 100), expectation=np.zeros(100))
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + bytes(50) + whole[250:])
    with pytest.raises(FileFormatError):
        read_pauli_data(path)
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(FileFormatError):
        read_pauli_data(path)
    path.write_bytes(whole[:26] + b"\x00\x02" + whole[28:])  # a name of 512 bytes, which zipfile would quote
    with pytest.raises(FileFormatError) as caught:
        read_pauli_data(path)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(InvalidInput, match="ending in"):
        read_pauli_data(tmp_path / "a.txt")
    with pytest.raises(InvalidInput, match="ending in"):
        write_pauli_data(PauliData(1, np.array([1]), np.array([0]), np.array([0.0])), tmp_path / "a.txt")
    for suffix in (".csv", ".json", ".npz"):
        with pytest.raises(FileNotFoundError):
            read_pauli_data(tmp_path / f"missing{suffix}")
    (tmp_path / "b.csv").write_bytes(b"pauli,expectation\n\xff\xfe,1\n")
    with pytest.raises(FileFormatError, match="not a text file"):
        read_pauli_data(tmp_path / "b.csv")


@pytest.mark.parametrize(
    "arrays",
    [
        {"z": np.array([0, 1])},
        {"expectations": np.array([0.0, 1.0])},
        {"shots": np.array([1.0, 2.0])},
        {"expectations": np.array([np.nan])},
        {"expectations": np.array([1.2])},
        {"shots": np.array([-1.0])},
        {"stderr": np.array([np.inf])},
    ],
)
def test_wrong_data_are_refused(arrays):
    whole = {"x": np.array([1]), "z": np.array([0]), "expectations": np.array([0.5])}
    with pytest.raises(InvalidInput):
        PauliData(1, **{**whole, **arrays})


def test_corrected_values_may_exceed_one_within_their_errors():
    given = {"expectations": np.array([1.2]), "shots": np.array([100.0]), "stderr": np.array([0.1])}
    assert PauliData(1, np.array([1]), np.array([0]), **given).expectations == 1.2
    rounded = PauliData(1, np.array([1]), np.array([0]), np.array([1.0 + 1e-7]), np.array([100.0]))
    assert rounded.size == 1
    with pytest.raises(InvalidInput, match=r"row 0: the expectation value 1\.2, a mean of outcomes"):
        PauliData(1, np.array([1]), np.array([0]), np.array([1.2]), np.array([100.0]))


def test_labels_of_too_many_qubits_get_a_forecast(tmp_path):
    (tmp_path / "a.csv").write_text(f"pauli,expectation\n{'X' * 40},0.5\n")
    with pytest.raises(MemoryForecastError, match="a state of 40 qubits needs about"):
        read_pauli_data(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text(f"pauli,expectation\n{'X' * 300},0.5\n")
    with pytest.raises(InvalidInput, match="at most 28"):
        read_pauli_data(tmp_path / "b.csv")


def test_results_of_qiskit_are_read(tmp_path):
    def entry(counts, **header):
        return {"shots": 10, "success": True, "data": {"counts": counts}, "header": {"name": "circuit-7", **header}}

    results = [
        entry({"0x0": 6, "0x3": 4}, name="ghz_XZ"),
        entry({"0x1": 10}, metadata={"m_idx": [0, 2], "clbits": [0, 1]}),
        entry({"00": 3, "11": 7}, metadata={"basis": "ZZ"}),
        entry({"0x3": 5}, name="XZ"),
    ]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"backend_name": "simulator", "results": results}))
    expected = {"XZ": {"00": 6, "11": 9}, "YZ": {"01": 10}, "ZZ": {"00": 3, "11": 7}}
    assert read_pauli_data(path) == expected
    for wrong in (entry({"0x0": 6}), {"data": {}}, entry({"0x0": "many"}, name="XZ"), entry([1], name="XZ"), 5):
        path.write_text(json.dumps({"results": [results[0], wrong]}))
        with pytest.raises(FileFormatError, match="result 2: expected header and data"):
            read_pauli_data(path)


def test_a_result_of_qiskit_makes_the_round_trip(tmp_path):
    result = pytest.importorskip("qiskit.result").Result
    header, data = {"name": "bell_XX", "memory_slots": 2}, {"counts": {"0x0": 6, "0x3": 4}}
    names = dict.fromkeys(("backend_name", "backend_version", "qobj_id", "job_id"), "simulator")
    part = {"shots": 10, "success": True, "data": data, "header": header}
    whole = result.from_dict({**names, "success": True, "results": [part]})
    (tmp_path / "bell.json").write_text(json.dumps(whole.to_dict(), default=str))
    assert read_pauli_data(tmp_path / "bell.json") == {"XX": {"00": 6, "11": 4}}
    assert [part.by_outcome() for part in as_counts(whole)] == [{"00": 6, "11": 4}]
    part["header"] = {"name": "nothing", "memory_slots": 2}
    with pytest.raises(InvalidInput, match="counts: expected the basis of every circuit"):
        as_counts(result.from_dict({**names, "success": True, "results": [part]}))


def sample_bell(bases, shots, qubits=2):
    """Return the result of a ``SamplerV2`` for a Bell state (with idle qubits), measured in these bases."""
    qiskit, sampler = pytest.importorskip("qiskit"), pytest.importorskip("qiskit.primitives").StatevectorSampler
    circuits = []
    for basis in bases:
        circuit = qiskit.QuantumCircuit(qubits, metadata={"basis": basis})
        circuit.h(0)
        circuit.cx(0, 1)
        for qubit, letter in enumerate(reversed(basis)):
            if letter == "Y":
                circuit.sdg(qubit)
            if letter in "XY":
                circuit.h(qubit)
        circuit.measure_all()
        circuits.append(circuit)
    return sampler(seed=1).run(circuits, shots=shots).result()


def test_results_of_samplers_are_read_as_objects_and_as_files(tmp_path):
    runtime = pytest.importorskip("qiskit_ibm_runtime")
    bases = ["XX", "ZZ", "XY"]
    result, path = sample_bell(bases, 200), tmp_path / "job-result.json"
    path.write_text(json.dumps(result, cls=runtime.RuntimeEncoder))
    expected = {basis: part.data.meas.get_counts() for basis, part in zip(bases, result, strict=True)}
    assert read_pauli_data(path) == expected
    assert set(expected["ZZ"]) == {"00", "11"}
    assert {part.basis: part.by_outcome() for part in as_counts(result)} == expected
    wide = sample_bell(["XXZZZZZZZZ"], 300, qubits=10)  # two bytes a shot
    path.write_text(json.dumps(wide, cls=runtime.RuntimeEncoder))
    assert read_pauli_data(path) == {"XXZZZZZZZZ": wide[0].data.meas.get_counts()}


def test_damaged_results_of_samplers_are_refused(tmp_path):
    runtime = pytest.importorskip("qiskit_ibm_runtime")
    result, path = sample_bell(["XX", "ZZ"], 20), tmp_path / "job-result.json"
    text = json.dumps(result, cls=runtime.RuntimeEncoder)
    packed = re.findall(r'"ndarray", "__value__": "([^"]+)"', text)[1]
    bomb = base64.b64encode(zlib.compress(bytes(1 << 20))).decode()
    for wrong, message in [
        (text.replace('"basis": "ZZ"', '"note": "ZZ"'), "result 2: expected header"),
        (text.replace('"circuit_metadata"', '"circuit"'), "result 1: expected shots of one register"),
        (text.replace(packed, packed[:20]), "result 1: expected shots of one register"),
        (text.replace(packed, base64.b64encode(b"numbers").decode()), "result 1: expected shots of one register"),
        (text.replace(packed, bomb), "times longer than the compressed file"),
        (json.dumps({"__type__": "PrimitiveResult"}), "result 1: expected shots of one register"),
    ]:
        path.write_text(wrong)
        with pytest.raises(FileFormatError, match=message):
            read_pauli_data(path, limits=Limits(compression_from=1 << 10))
