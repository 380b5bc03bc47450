"""Explicit SIMD values for Numba: a 32-byte vector type and the operations the Pauli kernels need.

Numba leaves vectorisation to LLVM's loop vectoriser, which gives up on the register tiles used here. So the kernels
hold LLVM vectors themselves: ``<8 x float>`` in single and ``<4 x double>`` in double precision, one AVX register
either way (on other machines LLVM splits or widens them). One source serves both: operands give operations their type.

Products carry the ``contract`` flag, so that LLVM fuses them into FMA instructions where the machine has them.
Numba's cache watches only the file of the outermost function: after an edit here, remove the cached ``*.nbi``.
"""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# Numba calls the bodies below with its own compiler objects; they have no public types.

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import types

BYTES = 32
"""Bytes of a vector."""

# Untyped on purpose: the type checker sees the bodies' signatures, callers pass what Numba makes of them.
_extending: Any = extending
intrinsic: Any = _extending.intrinsic

_FLAGS = ("contract", "nsz")
_INDEX = ir.IntType(32)


class Vector(types.Type):
    """The Numba type of a vector of ``lanes`` scalars."""

    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar
        self.lanes = 8 * BYTES // scalar.bitwidth
        super().__init__(name=f"PauliVector({scalar})")


def _llvm(scalar: Any) -> Any:
    """Return the LLVM vector type that holds ``scalar``."""
    element = ir.FloatType() if scalar == types.float32 else ir.DoubleType()
    return ir.VectorType(element, 8 * BYTES // scalar.bitwidth)


@_extending.register_model(Vector)
class _VectorModel(_extending.models.PrimitiveModel):
    def __init__(self, manager: Any, front_end: Any) -> None:
        super().__init__(manager, front_end, _llvm(front_end.scalar))


def _shuffle(builder: Any, value: Any, lanes: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INDEX, len(lanes)), lanes)
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)


@intrinsic
def lanes(typingctx, address):
    """Return the number of scalars in a vector, a constant to LLVM."""
    count = 8 * BYTES // address.dtype.bitwidth

    def generate(context, builder, signature, args):
        return context.get_constant(types.intp, count)

    return types.intp(address), generate


@intrinsic
def load(typingctx, address, offset):
    """Return the vector that starts ``offset`` scalars after ``address``."""
    scalar = address.dtype

    def generate(context, builder, signature, args):
        place = builder.bitcast(builder.gep(args[0], [args[1]]), _llvm(scalar).as_pointer())
        return builder.load(place, align=scalar.bitwidth // 8)

    return Vector(scalar)(address, types.intp), generate


@intrinsic
def store(typingctx, address, offset, value):
    """Write a vector ``offset`` scalars after ``address``."""
    scalar = address.dtype

    def generate(context, builder, signature, args):
        place = builder.bitcast(builder.gep(args[0], [args[1]]), _llvm(scalar).as_pointer())
        builder.store(args[2], place, align=scalar.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(address, types.intp, value), generate


@intrinsic
def spread(typingctx, address, offset):
    """Return a vector with every lane equal to the scalar ``offset`` after ``address``."""
    scalar = address.dtype

    def generate(context, builder, signature, args):
        kind = _llvm(scalar)
        number = builder.load(builder.gep(args[0], [args[1]]))
        single = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(_INDEX, 0))
        return _shuffle(builder, single, [0] * kind.count)

    return Vector(scalar)(address, types.intp), generate


@intrinsic
def zero(typingctx, address):
    """Return the zero vector of the pointer's type."""
    scalar = address.dtype

    def generate(context, builder, signature, args):
        return ir.Constant(_llvm(scalar), [0.0] * _llvm(scalar).count)

    return Vector(scalar)(address), generate


@intrinsic
def add(typingctx, left, right):
    """Return left + right."""

    def generate(context, builder, signature, args):
        return builder.fadd(args[0], args[1], flags=_FLAGS)

    return left(left, right), generate


@intrinsic
def subtract(typingctx, left, right):
    """Return left - right."""

    def generate(context, builder, signature, args):
        return builder.fsub(args[0], args[1], flags=_FLAGS)

    return left(left, right), generate


@intrinsic
def multiply(typingctx, left, right):
    """Return left * right."""

    def generate(context, builder, signature, args):
        return builder.fmul(args[0], args[1], flags=_FLAGS)

    return left(left, right), generate


@intrinsic
def plus_product(typingctx, total, left, right):
    """Return total + left * right, fused."""

    def generate(context, builder, signature, args):
        return builder.fadd(args[0], builder.fmul(args[1], args[2], flags=_FLAGS), flags=_FLAGS)

    return total(total, left, right), generate


@intrinsic
def minus_product(typingctx, total, left, right):
    """Return total - left * right, fused."""

    def generate(context, builder, signature, args):
        return builder.fsub(args[0], builder.fmul(args[1], args[2], flags=_FLAGS), flags=_FLAGS)

    return total(total, left, right), generate


@intrinsic
def exchange(typingctx, value, mask):
    """Return the vector with lane l moved to lane l XOR mask."""
    count = value.lanes

    def generate(context, builder, signature, args):
        result = args[0]
        for bit in (1 << power for power in range(count.bit_length() - 1)):
            swapped = _shuffle(builder, result, [lane ^ bit for lane in range(count)])
            chosen = builder.and_(args[1], ir.Constant(args[1].type, bit))
            flag = builder.icmp_unsigned("!=", chosen, ir.Constant(args[1].type, 0))
            result = builder.select(flag, swapped, result)
        return result

    return value(value, types.intp), generate


@intrinsic
def total(typingctx, value):
    """Return the sum of the lanes, pairwise, in double precision."""
    count = value.lanes

    def generate(context, builder, signature, args):
        parts = [builder.extract_element(args[0], ir.Constant(_INDEX, lane)) for lane in range(count)]
        if value.scalar == types.float32:
            parts = [builder.fpext(part, ir.DoubleType()) for part in parts]
        while len(parts) > 1:
            halves = parts[: len(parts) // 2], parts[len(parts) // 2 :]
            parts = [builder.fadd(low, high) for low, high in zip(*halves, strict=True)]
        return parts[0]

    return types.float64(value), generate
