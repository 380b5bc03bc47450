"""Compare products of distributed maps with those of one process; rank 0 prints the errors as JSON."""

import json

import numpy as np
import scipy.sparse as sp

from unipd.atoms import LowRank, SparsePoint
from unipd.cluster import Ranks, distribute, idle_ranks
from unipd.maps import (
    BlockMap,
    DenseMatrix,
    Entries,
    RankOneMeasurements,
    Sampling,
    SdpMap,
    SparseMatrix,
    Stacked,
    TwoSidedMap,
)
from unipd.maps.pauli import PauliMap, random_paulis
from unipd.sharp import L2Ball, Product, Simplex

RANKS = Ranks()
RNG = np.random.default_rng(1)


def point(domain, dtype=np.float64):
    values = RNG.standard_normal(domain)
    return (values + 1j * RNG.standard_normal(domain) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def low_rank(shape, rank, dtype=np.float64, hermitian=False):
    left = point((shape[0], rank), dtype)
    return LowRank(left, left if hermitian else point((shape[1], rank), dtype), RNG.random(rank) + 0.5)


def error(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return float(np.max(np.abs(found - expected), initial=0.0) / max(1e-300, np.max(np.abs(expected), initial=0.0)))


def same_on_all(array):
    everyone = RANKS.allgather(np.ascontiguousarray(array).reshape(1, -1))
    return bool((everyone == everyone[0]).all())


def compare(whole, atoms, block=np.float64):
    """Return the largest error of images, of products of the adjoint, and of the adjoint identity."""
    divided = distribute(whole, RANKS)
    assert divided.domain == whole.domain
    assert divided.codomain == whole.codomain
    assert divided.dtype == whole.dtype
    dual = point(whole.codomain, whole.dtype)
    images = [divided.image(atom) for atom in atoms]
    worst = max(error(image, whole.image(atom)) for image, atom in zip(images, atoms, strict=True))
    ours, theirs = divided.adjoint(dual), whole.adjoint(dual)
    alike = all(same_on_all(image) for image in images)
    if isinstance(theirs, np.ndarray):
        return {"error": max(worst, error(ours, theirs)), "alike": alike and same_on_all(ours)}
    right, left = point(ours.shape[1], block), point(ours.shape[0], block)
    products = [
        (ours.matvec(right), theirs.matvec(right)),
        (ours.rmatvec(left), theirs.rmatvec(left)),
        (ours.matmat(np.stack([right, 2 * right], 1)), np.stack([theirs.matvec(right), 2 * theirs.matvec(right)], 1)),
        (ours.toarray(), theirs.toarray()),
    ]
    atom = atoms[0]
    pairing = float(np.vdot(images[0], dual).real), float(atom.inner(ours))
    products.append((np.array(pairing[1]), np.array(pairing[0])))
    worst = max(worst, *(error(mine, known) for mine, known in products))
    return {"error": worst, "alike": alike and all(same_on_all(mine) for mine, _ in products)}


def pauli(qubits, precision, method="auto"):
    x, z = random_paulis(qubits, min(4**qubits // 2, 500), seed=3)
    x, z = np.concatenate([x, x[:5]]), np.concatenate([z, z[:5]])
    order = np.random.default_rng(5).permutation(x.size)
    whole = PauliMap(qubits, x[order], z[order], precision, 1, method=method)
    size = 1 << qubits
    atoms = [low_rank((size, size), 2, np.complex128, True), low_rank((size, size), 2, np.complex128)]
    found = compare(whole, atoms, np.complex128)
    bounds = [one.adjoint(np.arange(1.0, whole.x.size + 1)) for one in (distribute(whole, RANKS), whole)]
    if method != "dense" and qubits > 7:
        found["error"] = max(found["error"], error(np.array(bounds[0].norm_bound()), np.array(bounds[1].norm_bound())))
    return found


def sampling(dtype=np.float64, *, ordered=True):
    rows, cols = RNG.integers(0, 9, 40), RNG.integers(0, 7, 40)
    if ordered:
        rows = np.sort(rows)
    sparse = SparsePoint((9, 7), np.array([9, 40]), np.array([2.0, -1.0]))
    atoms = [low_rank((9, 7), 3, dtype), low_rank((9, 7), 1, dtype)]
    return compare(
        Sampling(rows, cols, (9, 7), dtype), [*atoms, *([] if np.dtype(dtype).kind == "c" else [sparse])], dtype
    )


def semidefinite():
    matrices = [sp.random(8, 8, 0.3, random_state=seed) for seed in range(6)]
    dense = [np.asarray((part + part.T).toarray()) for part in matrices] + [np.ones((8, 8)), np.eye(8)]
    return compare(
        SdpMap((8, 8), Entries.from_matrices(dense), 8), [low_rank((8, 8), 2, hermitian=True), low_rank((8, 8), 2)]
    )


def blocks():
    whole = BlockMap([DenseMatrix(RNG.standard_normal((3, size))) for size in (4, 2, 5, 3, 1)])
    atom = tuple(RNG.standard_normal(size) for size in (4, 2, 5, 3, 1))
    divided, dual = distribute(whole, RANKS), RNG.standard_normal(3)
    pairs = zip(divided.adjoint(dual), whole.adjoint(dual), strict=True)
    worst = max(error(divided.image(atom), whole.image(atom)), *(error(mine, known) for mine, known in pairs))
    return {"error": worst, "alike": same_on_all(divided.image(atom))}


def product():
    whole = Product([Simplex(4), L2Ball(3, 2.0), Simplex(2), L2Ball(3, 1.0), Simplex(5)])
    divided = distribute(whole, RANKS)
    worst, alike = 0.0, True
    for _ in range(20):  # long enough for the blocks to be redistributed
        direction = tuple(RNG.standard_normal(shape) for shape in whole.shape)
        ours, theirs = divided(direction), whole(direction)
        assert ours.value == theirs.value
        atoms = zip(ours.atom.parts, theirs.atom.parts, strict=True)
        dense = [np.asarray(part.dense() if hasattr(part, "dense") else part) for pair in atoms for part in pair]
        worst = max(worst, *(error(dense[i], dense[i + 1]) for i in range(0, len(dense), 2)))
        alike = alike and same_on_all(np.array([ours.value, ours.objective, ours.error]))
    return {"error": worst, "alike": alike}


def plain():
    """Matrices of NumPy and SciPy."""
    matrix, point, dual = RNG.standard_normal((7, 4)), RNG.standard_normal(4), RNG.standard_normal(7)
    worst, alike = 0.0, True
    for given in (matrix, sp.csr_array(matrix)):
        divided = distribute(given, RANKS)
        image, product = divided.image(point), np.asarray(divided.adjoint(dual))
        worst = max(worst, error(image, matrix @ point), error(product, matrix.T @ dual))
        alike = alike and same_on_all(image)
    return {"error": worst, "alike": alike}


def idle():
    """Two strings for any number of ranks."""
    whole = PauliMap(8, [1, 2], [3, 4], "double", 1)
    found = compare(whole, [low_rank((256, 256), 1, np.complex128, True)], np.complex128)
    heavy = [np.ones((8, 8)) - np.eye(8), *(np.diag(row) for row in np.eye(8))]  # one constraint has most of the work
    busy = SdpMap((8, 8), Entries.from_matrices(heavy), len(heavy))
    counted = {"idle": idle_ranks(distribute(whole, RANKS)), "busy": idle_ranks(distribute(busy, RANKS))}
    return {**found, **counted}


def few_rows():
    found = compare(DenseMatrix(RNG.standard_normal((1, 3))), [RNG.standard_normal(3)])
    one = compare(Sampling([2], [1], (4, 3)), [low_rank((4, 3), 1)])
    return {"error": max(found["error"], one["error"]), "alike": found["alike"] and one["alike"]}


def sums():
    """Sums are those of the ranks' arrays in the order of the ranks, for short and long arrays."""
    worst, alike = 0.0, True
    for size in (3, 40_001):
        parts = np.random.default_rng(7).standard_normal((RANKS.size, size))
        expected = parts[0].copy()
        for row in parts[1:]:
            expected += row
        found = RANKS.allreduce(parts[RANKS.rank])
        worst, alike = max(worst, float(np.abs(found - expected).max())), alike and same_on_all(found)
    joined = RANKS.allgather(np.full((RANKS.rank + 1, 2), float(RANKS.rank)))
    expected = np.repeat(np.arange(RANKS.size), np.arange(1, RANKS.size + 1))
    worst = max(worst, float(np.abs(joined - expected[:, None]).max()))
    given = RANKS.alltoall([np.array([RANKS.rank, other]) for other in range(RANKS.size)])
    assert [part.tolist() for part in given] == [[other, RANKS.rank] for other in range(RANKS.size)]
    values = RANKS.allgather_objects({"rank": RANKS.rank, "array": np.arange(3) + RANKS.rank})
    assert [value["rank"] for value in values] == list(range(RANKS.size))
    assert values[-1]["array"].tolist() == [RANKS.size - 1, RANKS.size, RANKS.size + 1]
    return {"error": worst, "alike": alike}


CASES = {
    "pauli-dense": lambda: pauli(5, "double"),
    "pauli-single": lambda: pauli(8, "single"),
    "pauli-double": lambda: pauli(8, "double"),
    "sampling": sampling,
    "sampling-unordered": lambda: sampling(ordered=False),
    "sampling-complex": lambda: sampling(np.complex128),
    "sdp": semidefinite,
    "dense": lambda: compare(DenseMatrix(RNG.standard_normal((7, 4))), [RNG.standard_normal(4)]),
    "sparse": lambda: compare(SparseMatrix(sp.random(7, 4, 0.5, random_state=1)), [RNG.standard_normal(4)]),
    "rank-one": lambda: compare(
        RankOneMeasurements(point((6, 5), np.complex128)), [low_rank((5, 5), 2, np.complex128, True)], np.complex128
    ),
    "two sided": lambda: compare(
        TwoSidedMap(Sampling([0, 1, 3], [1, 0, 2], (4, 3)), np.arange(1.0, 5.0)), [low_rank((4, 3), 2)]
    ),
    "stacked": lambda: compare(
        Stacked([Sampling([0, 1, 3], [1, 0, 2], (4, 3)), Sampling([2, 2], [0, 2], (4, 3))]), [low_rank((4, 3), 2)]
    ),
    "plain": plain,
    "blocks": blocks,
    "product": product,
    "idle": idle,
    "few-rows": few_rows,
    "sums": sums,
}

if __name__ == "__main__":
    found = {name: case() for name, case in CASES.items()}
    if RANKS.rank == 0:
        print(json.dumps(found))
