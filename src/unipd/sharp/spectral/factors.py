"""Sets in factored form: spectral sets X = a R R^* / ||R||^2 or a U V^* / ..., and products with quadratic blocks.

A factor is one array R. The point that it represents does not change when R is scaled: the trace (or nuclear norm)
holds by construction, and a minimisation over R is unconstrained. R consists of blocks of rows:

- ``left`` U, and for rectangular X ``right`` V, with X proportional to U V^* (U = V for positive semidefinite X);
- for a ball one ``slack`` row, which takes the part of the trace that X does not use.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from unipd._typing import Array, Shape
from unipd._util.arrays import TINY, draw_normal, inner, norm, real_dtype
from unipd.atoms import Blocks, LowRank, apply, apply_adjoint, dense
from unipd.spectral.operators import hermitian_twice

Preconditioner: TypeAlias = Callable[[Array], Array]

DELTA = 1e-2
"""Default regularisation of the preconditioner, relative to the mean squared length of the columns."""
NEGLIGIBLE_COLUMN = 1e-12
"""Columns with a smaller share of the trace are dropped when the rank grows."""
NEW_SHARE = 3e-3
"""Share of ||R||^2 given to random columns together: enough to grow, too little to disturb the point."""
WEAK_SHARE = 1e-6
"""Columns with a smaller share of ||R||^2 are replaced."""


class Factors(ABC):
    """Base of the factored forms of sets: points, gradients and directions in terms of one array.

    The defaults describe a factor with columns, over a bounded set, f of the point itself, and no constraint of A held
    by construction.

    See Also
    --------
    SpectralFactors, unipd.Factored, unipd.protocols.OracleDefaults

    Examples
    --------
    >>> from unipd.sharp import Spectrahedron
    >>> factors: Factors = Spectrahedron(2).factors()
    >>> factors.point(np.array([[1.0], [0.0]])).dense()
    array([[1., 0.],
           [0., 0.]])
    """

    is_spectral = True
    """Whether the factor has columns, so that the rank can grow."""
    is_unbounded = False
    """Whether X is the whole space, so that the objective alone bounds the factors."""
    penalty: float | None = None
    """First penalty of the constraints; None where the method chooses it."""

    @property
    def rows(self) -> int | None:
        """Rows of a factor that is one matrix, for memory forecasts; None for other factors."""
        return None

    @property
    def fixed_trace(self) -> float | None:
        """Trace of X where X is Hermitian, positive semidefinite and of this trace; None elsewhere."""
        return None

    @abstractmethod
    def start(self, atom: Any, columns: int, seed: int) -> Array:
        """Return a first factor from an atom, with random columns up to the requested rank.

        Parameters
        ----------
        atom
            An atom of the oracle.
        columns
            The columns of the factor.
        seed
            Of the random columns.
        """

    @abstractmethod
    def point(self, factor: Array) -> Any:
        """Return the point x that a factor represents."""

    @abstractmethod
    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in the factor of f(x) + <S, x>, with S as the map's adjoint returns it.

        Parameters
        ----------
        operator
            S = A^* lam.
        factor
            The factor at which to differentiate.
        """

    @abstractmethod
    def mix_atom(self, factor: Array, atom: Any, gamma: float) -> Array:
        """Return a factor of (1 - gamma) x + gamma atom.

        Parameters
        ----------
        factor
            A factor of x.
        atom
            An atom of the oracle.
        gamma
            The weight of the atom, in [0, 1].
        """

    def objective(self, factor: Array) -> float | None:
        """Return the smooth upper bound on f(x) of which ``gradient`` is the gradient; None for f(x) itself."""
        return None

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return a positive definite map that balances the scales of a gradient, by default the identity."""
        return lambda block: block

    def rank(self, factor: Array) -> int:
        """Return the number of columns."""
        return int(factor.shape[1])

    def fixes_all(self, constraints: int) -> bool:
        """Whether all constraints, ``constraints`` in number, hold by construction."""
        return False

    def zero_fixed_multipliers(self, dual: Array) -> Array:
        """Return the dual vector with zeros for constraints that hold by construction."""
        return dual

    def complete_dual(self, dual: Array, descent: Any, factor: Array) -> Array:
        """Return the dual vector with the multipliers of such constraints; ``descent`` is -S without them.

        Parameters
        ----------
        dual
            The multipliers of the other rows.
        descent
            -S without those of such constraints.
        factor
            The factor at which they are determined.
        """
        return dual


@dataclass(frozen=True)
class SpectralFactors(Factors):
    """The factored form of a spectrahedron, a trace ball or a nuclear ball.

    Parameters
    ----------
    left_rows
        Rows of X.
    right_rows
        0 when X is Hermitian positive semidefinite.
    radius
        Trace of X, or bound on the trace or the nuclear norm.
    ball
        Whether the trace may be smaller than the radius.
    regularisation
        delta of the preconditioner: a small value balances the columns of R, a large one leaves steps unchanged.
    weight
        w of the objective w ||X||_* over a nuclear ball; 0 where the set has none.

    See Also
    --------
    Factors, unipd.Factored

    Examples
    --------
    >>> SpectralFactors(2, 0, 2.0, False).point(np.array([[3.0], [0.0]])).dense()
    array([[2., 0.],
           [0., 0.]])
    """

    left_rows: int
    right_rows: int
    radius: float
    ball: bool
    regularisation: float = DELTA
    weight: float = 0.0

    def objective(self, factor: Array) -> float | None:
        """Return w (||U||^2 + ||V||^2) / 2, at least w ||X||_*; None without a weight."""
        if self.weight == 0.0:
            return None
        inside = self._normalize(factor)[: self.left_rows + self.right_rows]
        return 0.5 * self.weight * inner(inside, inside)

    @property
    def rows(self) -> int:
        """Rows of R."""
        return self.left_rows + self.right_rows + (1 if self.ball else 0)

    @property
    def fixed_trace(self) -> float | None:
        """The trace, unless X is rectangular or in a ball."""
        return None if self.ball or self.right_rows else self.radius

    def factor_shape(self, columns: int) -> Shape:
        """Return the shape of a factor of this rank."""
        return (self.rows, columns)

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return the atom's direction with the whole trace, followed by random columns."""
        factor = self._stack_atom(atom, fill=True)
        missing = min(columns, factor.shape[0]) - factor.shape[1]
        return factor if missing <= 0 else np.concatenate([factor, random_block(factor, missing, seed)], axis=1)

    def point(self, factor: Array) -> LowRank:
        """Return X for a factor R of any length."""
        left, right = self._split_rows(self._normalize(factor))
        return LowRank(left, left if right is None else right, np.ones(factor.shape[1]))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in R of <S, X(R)> for a Hermitian (or rectangular) operator S; orthogonal to R."""
        scale = self._length() / norm(factor)
        unit = scale * factor
        left, right = self._split_rows(unit)
        slope = np.zeros_like(unit)
        if right is None:
            slope[: self.left_rows] = hermitian_twice(operator, left)
        else:
            slope[: self.left_rows] = apply(operator, right)
            slope[self.left_rows : self.left_rows + self.right_rows] = apply_adjoint(operator, left)
        slope[: self.left_rows + self.right_rows] += self.weight * unit[: self.left_rows + self.right_rows]
        radial = inner(unit, slope) / inner(unit, unit)
        return scale * (slope - radial * unit)

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return G -> G (R^*R + delta)^(-1).

        It lengthens the steps along short columns, which carry the small eigenvalues of X.
        """
        if factor.shape[1] == 1:
            return lambda block: block
        gram = factor.conj().T @ factor
        mean = float(np.trace(gram).real) / gram.shape[0]
        inverse = np.linalg.inv(gram / mean + self.regularisation * np.eye(gram.shape[0], dtype=gram.dtype))
        return lambda block: block @ inverse

    def mix_atom(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Return a factor of (1 - gamma) X + gamma atom: columns are appended, negligible ones dropped."""
        old = math.sqrt(1.0 - gamma) * self._orthogonalize(factor)
        return np.concatenate([old, math.sqrt(gamma) * self._stack_atom(atom, fill=False)], axis=1)

    def _orthogonalize(self, factor: Array) -> Array:
        """Return the factor with orthogonal columns, without those that carry a negligible share of the trace."""
        unit = self._normalize(factor)
        weights, rotation = np.linalg.eigh(unit.conj().T @ unit)
        chosen = weights > NEGLIGIBLE_COLUMN * self._length() ** 2
        chosen[-1] = True
        return unit @ rotation[:, chosen].astype(unit.dtype, copy=False)

    def _length(self) -> float:
        return math.sqrt(self.radius if self.right_rows == 0 else 2.0 * self.radius)

    def _normalize(self, factor: Array) -> Array:
        return (self._length() / norm(factor)) * factor

    def _split_rows(self, factor: Array) -> tuple[Array, Array | None]:
        left = factor[: self.left_rows]
        if self.right_rows == 0:
            return left, None
        return left, factor[self.left_rows : self.left_rows + self.right_rows]

    def _stack_atom(self, atom: LowRank, *, fill: bool) -> Array:
        """Return the factor of an atom; ``fill`` scales it to the whole trace, else the slack row takes the rest."""
        weights = np.asarray(atom.weights, dtype=np.float64)
        if fill:
            total = float(weights.sum())
            weights = weights * (self.radius / total) if total > 0 else np.full(weights.size, self.radius)
        roots = np.sqrt(weights).astype(real_dtype(atom.left.dtype))
        blocks = [atom.left * roots]
        if self.right_rows:
            blocks.append(atom.right * roots)
        if self.ball:
            spare = max(0.0, self.radius - float(weights.sum())) * (2.0 if self.right_rows else 1.0)
            row = np.zeros((1, weights.size), atom.left.dtype)
            row[0, 0] = math.sqrt(spare)
            blocks.append(row)
        return np.concatenate(blocks, axis=0)


def random_block(factor: Array, columns: int, seed: int) -> Array:
    """Return random columns with the rows, the dtype and the Frobenius norm of a factor."""
    block = draw_normal(np.random.default_rng(seed), (factor.shape[0], columns), factor.dtype)
    return (norm(factor) / norm(block)) * block


def drop_weak_columns(factor: Array) -> Array:
    """Return an equivalent factor (R R^* up to ``WEAK_SHARE``) without columns of negligible length."""
    weights, rotation = np.linalg.eigh(factor.conj().T @ factor)
    return factor @ rotation[:, weights >= WEAK_SHARE * weights.sum()]


def add_random_columns(factor: Array, columns: int, seed: int) -> Array:
    """Return the factor with small random columns appended until it has ``columns`` of them."""
    missing = columns - factor.shape[1]
    if missing <= 0:
        return factor
    return np.concatenate([factor, math.sqrt(NEW_SHARE) * random_block(factor, missing, seed)], axis=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class NuclearNormFactors(SpectralFactors):
    """Factors R = (U, V) of X = U V^* on the whole space; the objective w (||R||^2 / 2)^2 bounds their length.

    It is at least f(X) = w ||X||_*^2, with equality for balanced factors, which minimisers are.
    """

    length: float = 0.0
    """Length of the first factor; 0 until the data suggest one."""
    penalty: float | None = None
    """First penalty of the constraints; None until the data suggest one."""

    is_unbounded = True

    def objective(self, factor: Array) -> float:
        """Return w (||R||^2 / 2)^2."""
        return self.weight * (0.5 * inner(factor, factor)) ** 2

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return the atom's factor, rescaled, and random columns."""
        factor = np.concatenate([atom.left, atom.right], axis=0)
        factor = factor * (self.length / max(norm(factor), TINY))
        return np.concatenate([factor, random_block(factor, max(columns - factor.shape[1], 1), seed)], axis=1)

    def point(self, factor: Array) -> LowRank:
        """Return X = U V^*."""
        return LowRank(factor[: self.left_rows], factor[self.left_rows :], np.ones(factor.shape[1]))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient of w (||R||^2 / 2)^2 + <S, U V^*>."""
        out = self.weight * norm(factor) ** 2 * factor
        out[: self.left_rows] += apply(operator, factor[self.left_rows :])
        out[self.left_rows :] += apply_adjoint(operator, factor[: self.left_rows])
        return out

    def mix_atom(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Return a factor of (1 - gamma) X + gamma atom."""
        roots = np.sqrt(gamma * atom.weights)
        new = np.concatenate([atom.left * roots, atom.right * roots], axis=0)
        return np.concatenate([math.sqrt(1.0 - gamma) * factor, new], axis=1)

    def widen_factor(self, factor: Array, columns: int, seed: int) -> Array:
        """Return the factor with random columns in place of negligible ones, ``columns`` (at most min(p, l)) in all."""
        return add_random_columns(drop_weak_columns(factor), min(columns, self.left_rows, self.right_rows), seed)


@dataclass(frozen=True)
class QuadraticFactors(Factors):
    """A block x with f(x) = w ||x||^2 on the whole space: its own factor, up to a unit.

    Parameters
    ----------
    shape
        Shape of the block.
    weight
        The weight w > 0.
    unit
        What the factor is multiplied by: beside factors of a matrix, which grow with its square root, it makes norms
        of the packed factor and of its gradient independent of the unit of the data.

    See Also
    --------
    ProductFactors, L2NormSquared

    Examples
    --------
    >>> QuadraticFactors((2,), 1.0).point(np.array([3.0, 4.0]))
    array([3., 4.])
    """

    shape: Shape
    weight: float
    unit: float = 1.0

    is_spectral = False

    def factor_shape(self, columns: int) -> Shape:
        """Return the shape of x."""
        return self.shape

    def start(self, atom: Any, columns: int, seed: int) -> Array:
        """Return zero, the minimiser of f."""
        return np.zeros(self.shape, atom.dtype)

    def point(self, factor: Array) -> Array:
        """Return x."""
        return self.unit * factor

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the unit times 2 w x + S."""
        return self.unit * (2.0 * self.weight * self.unit * factor + operator)

    def mix_atom(self, factor: Array, atom: Any, gamma: float) -> Array:
        """Return the factor of (1 - gamma) x + gamma atom."""
        return (1.0 - gamma) * factor + (gamma / self.unit) * dense(atom)

    def rank(self, factor: Array) -> int:
        """Return 0: a vector has no rank."""
        return 0


@dataclass(frozen=True)
class ProductFactors(Factors):
    """One spectral block and any number of quadratic ones, packed into one vector.

    The rank follows from the length of the vector.

    Parameters
    ----------
    parts
        The factored forms of the blocks, in order.

    See Also
    --------
    SpectralFactors, QuadraticFactors, Product

    Examples
    --------
    >>> pair = ProductFactors((SpectralFactors(2, 0, 1.0, False), QuadraticFactors((1,), 1.0)))
    >>> point = pair.point(np.array([1.0, 0.0, 5.0]))
    >>> [part.shape for part in point]
    [(2, 2), (1,)]
    """

    parts: tuple[SpectralFactors | QuadraticFactors, ...]

    def start(self, atom: Blocks, columns: int, seed: int) -> Array:
        """Return the parts' first factors."""
        pairs = zip(self.parts, atom.parts, strict=True)
        return _pack([part.start(piece, columns, seed) for part, piece in pairs])  # type: ignore[arg-type]

    def point(self, factor: Array) -> Blocks:
        """Return the blocks."""
        pairs = zip(self.parts, self._unpack(factor), strict=True)
        return Blocks(tuple(part.point(piece) for part, piece in pairs))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the parts' gradients."""
        triples = zip(self.parts, operator, self._unpack(factor), strict=True)
        return _pack([part.gradient(slope, piece) for part, slope, piece in triples])

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return the block diagonal of the parts' preconditioners."""
        pairs = zip(self.parts, self._unpack(factor), strict=True)
        maps = [part.preconditioner(piece) for part, piece in pairs]
        return lambda vector: _pack([m(piece) for m, piece in zip(maps, self._unpack(vector), strict=True)])

    def mix_atom(self, factor: Array, atom: Blocks, gamma: float) -> Array:
        """Return the parts' mixtures."""
        triples = zip(self.parts, self._unpack(factor), atom.parts, strict=True)
        return _pack([part.mix_atom(piece, new, gamma) for part, piece, new in triples])  # type: ignore[arg-type]

    def rank(self, factor: Array) -> int:
        """Return the spectral block's number of columns."""
        fixed, one_column = (sum(map(math.prod, self._shapes(columns))) for columns in (0, 1))
        return (factor.size - fixed) // (one_column - fixed)

    def _shapes(self, columns: int) -> list[Shape]:
        return [part.factor_shape(columns) for part in self.parts]

    def _unpack(self, factor: Array) -> list[Array]:
        shapes = self._shapes(self.rank(factor))
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        return [piece.reshape(shape) for piece, shape in zip(np.split(factor, ends[:-1]), shapes, strict=True)]


def _pack(pieces: Sequence[Array]) -> Array:
    return np.concatenate([piece.reshape(-1) for piece in pieces])
