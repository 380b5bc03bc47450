"""Pointers for Numba kernels, and the scalar operations on them.

Pointers instead of arrays keep reference counting and index arithmetic out of the inner loops. A pointer does not
keep its array alive, and Numba frees an array after its last mention: take pointers only of arrays that arrived as
arguments, so that the caller holds them.
"""
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
# Numba calls the bodies below with its own compiler objects; they have no public types.

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import types

# Untyped on purpose: the type checker sees the bodies' signatures, callers pass what Numba makes of them.
_extending: Any = extending
intrinsic: Any = _extending.intrinsic


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
        return builder.gep(args[0], [args[1]])

    return address(address, types.intp), generate


@intrinsic
def read(typingctx, address, offset):
    """Return the scalar ``offset`` places after ``address``."""

    def generate(context, builder, signature, args):
        return builder.load(builder.gep(args[0], [args[1]]))

    return address.dtype(address, types.intp), generate


@intrinsic
def write(typingctx, address, offset, value):
    """Write a scalar ``offset`` places after ``address``."""

    def generate(context, builder, signature, args):
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(address, types.intp, address.dtype), generate


@intrinsic
def take(typingctx, address):
    """Return the 64-bit integer at ``address`` and increment it, atomically."""

    def generate(context, builder, signature, args):
        return builder.atomic_rmw("add", args[0], ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(address), generate
