"""Pointers and SIMD vectors for Numba: the LLVM intrinsics of the compiled kernels.

Pointers instead of arrays keep reference counting and index arithmetic out of the inner loops. A pointer does not keep
its array alive, and Numba frees an array after its last use: take pointers only of arrays that arrived as arguments, so
that the caller holds them.

Numba leaves vectorisation to LLVM's loop vectoriser, which gives up on the register tiles used here. So the kernels
hold LLVM vectors themselves: ``<8 x float>`` in single and ``<4 x double>`` in double precision, one AVX register
either way (on other machines LLVM splits or widens them). One source serves both: operations take their type from the
operands. The operators +, - and * carry the ``contract`` flag, so that LLVM fuses a + b * c into an FMA instruction
where the machine has one.

LLVM's pointers are opaque: every address computation, load and store names the type at the address itself.

Numba's cache watches only the file of the outermost function: after an edit here, delete the cached ``*.nbi`` files.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import types

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# Numba calls the bodies below with its own compiler objects, which have no public types; the decorator is untyped
# because callers do not pass what the signatures of the bodies say.
_extending: Any = extending
intrinsic: Any = _extending.intrinsic


def _element(context: Any, address: Any) -> Any:
    """Return the LLVM type of the scalars at an address."""
    return context.get_data_type(address.dtype)


def _locate(context: Any, builder: Any, address: Any, args: Any, kind: Any = None) -> Any:
    """Return the place ``args[1]`` scalars after the address ``args[0]``, as that of a value of LLVM type ``kind``."""
    place = builder.gep(args[0], [args[1]], source_etype=_element(context, address))
    return place if kind is None else builder.bitcast(place, kind.as_pointer())  # no change to opaque pointers


@intrinsic
def pointer(typingctx, array):
    """Return the address of an array's first entry."""

    def generate(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def advance(typingctx, address, count):
    """Return the address ``count`` scalars further on."""

    def generate(context, builder, signature, args):
        return _locate(context, builder, address, args)

    return address(address, types.intp), generate


@intrinsic
def read(typingctx, address, offset):
    """Return the scalar ``offset`` places after ``address``."""

    def generate(context, builder, signature, args):
        return builder.load(_locate(context, builder, address, args), typ=_element(context, address))

    return address.dtype(address, types.intp), generate


@intrinsic
def write(typingctx, address, offset, value):
    """Write a scalar ``offset`` places after ``address``."""

    def generate(context, builder, signature, args):
        builder.store(args[2], _locate(context, builder, address, args))
        return context.get_dummy_value()

    return types.void(address, types.intp, address.dtype), generate


@intrinsic
def fetch_and_increment(typingctx, address):
    """Return the 64-bit integer at ``address`` and increment it, atomically."""

    def generate(context, builder, signature, args):
        return builder.atomic_rmw("add", args[0], ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(address), generate


BYTES = 32
"""Bytes of a vector."""
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
        place = _locate(context, builder, address, args, _llvm(scalar))
        return builder.load(place, align=scalar.bitwidth // 8, typ=_llvm(scalar))

    return Vector(scalar)(address, types.intp), generate


@intrinsic
def store(typingctx, address, offset, value):
    """Write a vector ``offset`` scalars after ``address``."""
    scalar = address.dtype

    def generate(context, builder, signature, args):
        place = _locate(context, builder, address, args, _llvm(scalar))
        builder.store(args[2], place, align=scalar.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(address, types.intp, value), generate


@intrinsic
def broadcast_scalar(typingctx, address, offset):
    """Return a vector with every lane equal to the scalar ``offset`` after ``address``."""
    scalar = address.dtype

    def generate(context, builder, signature, args):
        kind = _llvm(scalar)
        number = builder.load(_locate(context, builder, address, args), typ=_element(context, address))
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


def _define_operator(operation: Any, instruction: str) -> None:
    """Define one of the operators +, -, * for vectors."""

    @intrinsic
    def apply(typingctx, left, right):
        def generate(context, builder, signature, args):
            return getattr(builder, instruction)(args[0], args[1], flags=_FLAGS)

        return left(left, right), generate

    @_extending.overload(operation)
    def overload(left, right):
        return (lambda left, right: apply(left, right)) if isinstance(left, Vector) else None


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")


@intrinsic
def xor_lanes(typingctx, value, mask):
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
def sum_lanes(typingctx, value):
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
