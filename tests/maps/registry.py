"""Every linear map once, small and random, with its definition in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from unipd import maps


@dataclass(frozen=True)
class Case:
    """A map, its definition on an array (a tuple of arrays for blocks), and the dtype of its variable."""

    map: Any
    naive: Callable[[Any], Any]
    dtype: Any


def normal(rng: np.random.Generator, shape: Any, dtype: Any) -> Any:
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def sparse(rng: np.random.Generator, shape: tuple[int, int], dtype: Any) -> Any:
    return sp.coo_array(np.where(rng.random(shape) < 0.4, normal(rng, shape, dtype), 0))


def places(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Any, Any]:
    count = int(rng.integers(1, 40))
    rows, cols = rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)
    order = {0: np.argsort(rows), 1: np.argsort(cols), 2: np.arange(count)}[int(rng.integers(3))]
    return rows[order].astype(rng.choice([np.int32, np.int64])), cols[order].astype(np.int32)


def size(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(1, 7)), int(rng.integers(1, 7))


def dense_matrix(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    matrix = normal(rng, (4, shape[0] * shape[1]), dtype)
    return Case(maps.DenseMatrix(matrix, shape), lambda x: matrix @ x.reshape(-1), dtype)


def sparse_matrix(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    matrix = sparse(rng, (5, shape[0] * shape[1]), dtype)
    return Case(maps.SparseMatrix(matrix, shape), lambda x: matrix.toarray() @ x.reshape(-1), dtype)


def operator(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    matrix = normal(rng, (4, shape[0] * shape[1]), dtype)
    return Case(maps.OperatorMap(aslinearoperator(matrix), shape), lambda x: matrix @ x.reshape(-1), dtype)


def identity(rng: np.random.Generator, dtype: Any) -> Case:
    return Case(maps.Identity(size(rng), dtype), lambda x: x, dtype)


def blocks(rng: np.random.Generator, dtype: Any) -> Case:
    first, second = normal(rng, (3, 4), dtype), sparse(rng, (3, 5), dtype)
    whole = maps.BlockMap([maps.DenseMatrix(first), maps.SparseMatrix(second)])
    return Case(whole, lambda x: first @ x[0] + second.toarray() @ x[1], dtype)


def sampling(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    rows, cols = places(rng, shape)
    return Case(maps.Sampling(rows, cols, shape, dtype), lambda x: x[rows, cols], dtype)


def rank_one(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    left, right = normal(rng, (5, shape[0]), dtype), normal(rng, (5, shape[1]), dtype)
    pairs = list(zip(left, right, strict=True))
    return Case(
        maps.RankOneMeasurements(left, right),
        lambda x: np.array([(u.conj() @ x @ v).real for u, v in pairs]),
        dtype,
    )


def hermitian_rank_one(rng: np.random.Generator, dtype: Any) -> Case:
    left = normal(rng, (5, size(rng)[0]), dtype)
    return Case(
        maps.RankOneMeasurements(left),
        lambda x: np.array([(u.conj() @ x @ u).real for u in left]),
        dtype,
    )


def inner_products(rng: np.random.Generator, dtype: Any) -> Case:
    stack = normal(rng, (3, *size(rng)), dtype)
    return Case(maps.InnerProducts(stack), lambda x: np.array([np.vdot(m, x).real for m in stack]), dtype)


def sparse_inner_products(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    parts = [sparse(rng, shape, dtype) for _ in range(3)] + [sp.csr_array(np.ones(shape, dtype))]
    return Case(
        maps.InnerProducts(parts),
        lambda x: np.array([np.vdot(m.toarray(), x).real for m in parts]),
        dtype,
    )


def composition(rng: np.random.Generator, dtype: Any) -> Case:
    inner = sampling(rng, dtype)
    outer = normal(rng, (3, *inner.map.codomain), dtype)
    return Case(maps.Composed(maps.DenseMatrix(outer), inner.map), lambda x: outer @ inner.naive(x), dtype)


def vertical_stack(rng: np.random.Generator, dtype: Any) -> Case:
    first = sampling(rng, dtype)
    shape = first.map.domain
    left, right = normal(rng, (4, shape[0]), dtype), normal(rng, (4, shape[1]), dtype)
    second = maps.RankOneMeasurements(left, right)
    pairs = list(zip(left, right, strict=True))
    return Case(
        maps.Stacked([first.map, second]),
        lambda x: np.concatenate([first.naive(x), [(u.conj() @ x @ v).real for u, v in pairs]]),
        dtype,
    )


def array_stack(rng: np.random.Generator, dtype: Any) -> Case:
    shape = size(rng)
    matrix = normal(rng, (2, shape[0] * shape[1]), dtype)
    whole = maps.Stacked([maps.Identity(shape, dtype), maps.DenseMatrix(matrix, shape)])
    return Case(whole, lambda x: np.concatenate([x.reshape(-1), matrix @ x.reshape(-1)]), dtype)


def two_sided(rng: np.random.Generator, dtype: Any) -> Case:
    """Return a two-sided map with a random kind of factor on each side."""
    inner = sampling(rng, dtype)
    (left, dense_left), (right, dense_right) = (factor(rng, rows, dtype) for rows in inner.map.domain)
    return Case(
        maps.TwoSidedMap(inner.map, left, right),
        lambda z: inner.naive(dense_left @ z @ dense_right.conj().T),
        dtype,
    )


def hermitian_matrices(rng: np.random.Generator, count: int, order: int) -> Any:
    half = normal(rng, (count, order, order), np.complex128)
    return half + half.conj().transpose(0, 2, 1)


def channel_measurements(rng: np.random.Generator, dtype: Any) -> Case:
    """Return measurements of some pairs; the variable is Hermitian, as Choi matrices are."""
    inputs, outputs = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    states, effects = hermitian_matrices(rng, 3, inputs), hermitian_matrices(rng, 4, outputs)
    pairs = rng.integers(0, 3, 6), rng.integers(0, 4, 6)
    operators = [np.kron(states[i].T, effects[k]) for i, k in zip(*pairs, strict=True)]
    return Case(
        maps.ChannelMeasurements(states, effects, pairs),
        lambda x: np.array([np.trace(operator @ hermitian_part(x)).real for operator in operators]),
        np.complex128,
    )


def partial_trace(rng: np.random.Generator, dtype: Any) -> Case:
    inputs, outputs = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    basis = [maps.channel.unpack(row) for row in np.eye(inputs * inputs)]
    return Case(
        maps.PartialTrace(inputs, outputs),
        lambda x: np.array([np.vdot(np.kron(y, np.eye(outputs)), hermitian_part(x)).real for y in basis]),
        np.complex128,
    )


def hermitian_part(x: Any) -> Any:
    return 0.5 * (x + x.conj().T)


def factor(rng: np.random.Generator, rows: int, dtype: Any) -> tuple[Any, Any]:
    columns = int(rng.integers(1, 6))
    dense = normal(rng, (rows, columns), dtype)
    kind = int(rng.integers(5))
    if kind == 0:
        return None, np.eye(rows, dtype=dtype)
    if kind == 1:
        return dense[:, 0], np.diag(dense[:, 0])
    if kind == 2:
        return sp.csr_array(dense), dense
    return (aslinearoperator(dense) if kind == 3 else dense), dense


REGISTRY = {
    build.__name__: build
    for build in (
        dense_matrix,
        sparse_matrix,
        operator,
        identity,
        blocks,
        sampling,
        rank_one,
        hermitian_rank_one,
        inner_products,
        sparse_inner_products,
        composition,
        vertical_stack,
        array_stack,
        two_sided,
        channel_measurements,
        partial_trace,
    )
}
