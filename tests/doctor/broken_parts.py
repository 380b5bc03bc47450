"""Shared by the doctor's tests: data, broken oracles and maps, and the names of failed checks."""

import numpy as np

from support.oracles import Wrapped
from unipd import atoms
from unipd.maps import Map

GENERATOR = np.random.default_rng(5)
REAL = GENERATOR.standard_normal((4, 6))
COMPLEX = REAL + 1j * GENERATOR.standard_normal((4, 6))


def failed_checks(checks):
    return {one.name for one in checks if not one.ok}


class MatrixMap(Map):
    """A x by a matrix, with an adjoint of any kind."""

    def __init__(self, matrix, image=None, adjoint=None):
        super().__init__((matrix.shape[1],), (matrix.shape[0],), matrix.dtype)
        self.matrix = matrix
        self.other_image = image
        self.other_adjoint = adjoint

    def image(self, atom):
        return self.other_image(atom) if self.other_image else self.matrix @ atoms.dense(atom)

    def adjoint(self, dual):
        return self.other_adjoint(dual) if self.other_adjoint else self.matrix.conj().T @ dual


def change_oracle(oracle, **parts):
    """An oracle with some of its answers' parts or its methods replaced."""

    class Changed(Wrapped):
        pass

    for name, value in parts.items():
        if name != "answer":
            setattr(Changed, name, value)
    return Changed(oracle, lambda call, answer, y: parts.get("answer", lambda c, a, y: a)(call, answer, y))
