"""Bridges to other packages, which are imported only when a bridge is used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unipd.interop import cvxpy_models, qiskit

__all__ = ["cvxpy_models", "qiskit"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'unipd.interop' has no attribute {name!r}")
    return import_module(f"unipd.interop.{name}")
