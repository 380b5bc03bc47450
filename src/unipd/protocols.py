"""The nouns of the paper as small protocols: what a sharp oracle, a map, a coupling and a tracker must answer.

The library is written against these. A user-supplied class implements the required members, and declares what it can do
beyond them by defining optional members, in the class or the instance; it then gets the fast paths of the library's
own classes. A class that derives from neither :class:`OracleDefaults`, :class:`MapDefaults`, :class:`TrackerDefaults`
nor :class:`unipd.couplings.ConvexSet` or ``ConvexLoss`` is adapted, with their defaults, in :class:`~unipd.Problem`.

Sharp oracle: required ``__call__``, ``value``, ``objective``, ``support``, ``contains``, ``maximum``, ``shape``,
``exact``, ``degree``, ``linear``.

==========================  ==========================================  =========================
optional                    gives                                       default
==========================  ==========================================  =========================
``call_certified``          the strongest affordable certificate        ``__call__``
``best_vertices``           pricing of many atoms in one pass           None: one atom per call
``factors``                 the factored (Burer-Monteiro) method        None: not factorable
``linear_cost``             C of a linear objective                     None
``coordinates``             coordinate descent                          None: not by coordinates
``equations``               exact masters of large linear programs      None: not polyhedral
``nuclear_slope``           the barrier method                          None: another f or X
``cost_map``                <C, x> and A x together, C + A^* lam        None: one after the other
``quadratic_diagonal``      the curvature of a quadratic objective      None
``is_strictly_convex``      quasi-Newton steps before atoms ("auto")    False
``inner_parts``             the oracles inside this one                 ()
``block_oracles``           one model per block (corrective method)     (): one block
``runs_user_code``          stated bounds, checks of the answers        False
``hermitian``               matrices as factors, Hermitian or not       None: not such a set
``certification``           parameters of certified spectral bounds     None
``atom_entries``            entries of an atom, for memory forecasts    None: all entries of x
``real_only``               complex maps are refused                    False
``takes_operators``         directions may be operators                 True
``has_membership_test``     warm starts at points of other problems     True
``display_value``           the sign and offset of reported values      the value itself
``checkpoint_identity``     what a checkpoint compares                  None: the object
==========================  ==========================================  =========================

Linear map: required ``image``, ``adjoint``, ``domain``, ``codomain``, ``dtype``.

========================  ==========================================  =========================
``negated_adjoint``       -A^* lam without a copy of -lam             ``adjoint`` of -lam
``has_cheap_images``      pricing of many atoms                       False
``columns``               coordinates instead of atoms                None: not known
``has_image_parts``       images in parts for very long dual vectors  False
``image_lines``           the arrays of those parts                   required by the former
``has_adjoint_entries``   smaller certificates (memory forecasts)     False
``has_mixed_products``    bounds of single-precision data in double   False
``diagonals``             diagonal constraints held by construction   None: none known
``row_norms``             row equilibration of maps with many rows    None: not known
``inner_parts``           the maps inside this one                    ()
``block_maps``            one model per block (corrective method)     (): not given by block
``runs_user_code``        stated bounds, a check of the adjoint       False
``nbytes``                memory forecasts                            0
``checkpoint_identity``   what a checkpoint compares                  None: the object
========================  ==========================================  =========================

Coupling: required ``is_loss``, ``conjugate_degree``, ``check``, ``value``, ``distance``, ``prox``, ``conjugate``,
``prox_conjugate``; a loss also ``gradient``, ``curvature``, ``slack``, ``splittable``.

========================  ==========================================  =========================
``prox_jacobian``         Newton steps of the corrective method       finite differences
``has_prox_jacobian``     the same; else steps with the prox alone    ``prox_jacobian`` is given
``prox_curvature``        the same, in the span of a few columns      from ``prox_jacobian``
``gradient_jacobian``     the same, for a smooth loss                 finite differences
``is_separable``          coordinates instead of atoms                False
``rescale``               row equilibration                           None: rows are left alone
``dual_sign``             masters of many blocks                      None: not known
``dual_signs``            quasi-Newton steps on a smooth dual         ``dual_sign`` of a set
``constrained_rows``      sets on some rows and losses on others      None: all of one kind
``penalty``               what such losses add to the objective       the value of a loss
``inner_parts``           the couplings inside this one               ()
``runs_user_code``        stated bounds, a check of the conjugate     False
``is_equality``           a free dual vector (K = {0})                False
``quadratic_weights``     steps in closed form for quadratic losses   None: not quadratic
``slack_radius``          the bounded slack block of the split        None: unbounded
``is_differentiable``     descent on factors without multipliers      ``curvature()`` is finite
``gap_scale``             absolute gaps, e.g. in nats                 None: relative gaps
``cancellation``          rounding errors of the values of a loss     0: those of the value
========================  ==========================================  =========================

Tracker: required ``mix``, ``point``; optional ``nbytes`` (0), ``exact_objective`` (False), ``error`` (None),
``has_shared_atoms`` (False), and ``atoms`` with ``weights`` where xbar is known by its atoms (warm starts,
:func:`unipd.polish`, saved results). Inner products are real throughout: Re <., .>.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from unipd._typing import Array
from unipd._util import validate


@dataclass(frozen=True)
class SharpAnswer:
    """Answer of a sharp oracle at a direction y: a (near-)maximiser of <y, x> - f(x) over X.

    Parameters
    ----------
    atom
        The point x, as an array or a structured atom (see :mod:`unipd.atoms`).
    value
        <y, x> - f(x) at the point returned: a lower bound on the maximum.
    objective
        f(x).
    error
        Certified: the maximum is at most ``value + error``.
    matvecs
        Products with the direction that were spent (0 for oracles that read y as an array).
    bound_kind
        Kind of the certified error, strongest first: "rigorous"; "probabilistic" (wrong with a stated small
        probability); "residual" (spectral oracles: Ritz value plus residual norm, which bounds an eigenvalue, and the
        top one unless the run has missed it). A bound from a user-supplied oracle is "stated" instead of the first
        two, unless the oracle proves its errors: see :func:`unipd.run.consistency.proves_bounds`.

    See Also
    --------
    SharpOracle, unipd.atoms.SparsePoint

    Examples
    --------
    >>> import numpy as np
    >>> SharpAnswer(np.array([0.0, 1.0]), value=3.0, objective=0.0).error
    0.0
    """

    atom: Any
    value: float
    objective: float
    error: float = 0.0
    matvecs: int = 0
    bound_kind: str = "rigorous"


class SharpOracle(Protocol):
    """A set X and an objective f, known through [y]^# = argmax over x in X of <y, x> - f(x).

    See Also
    --------
    SharpAnswer, OracleDefaults, unipd.sharp.Sharp

    Notes
    -----
    In the paper: (2).

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> oracle: SharpOracle = unipd.sharp.L1Ball(3, radius=2.0)
    >>> answer = oracle(np.array([1.0, -4.0, 2.0]))
    >>> answer.value, oracle.objective(answer.atom)
    (8.0, 0.0)
    """

    @property
    def shape(self) -> Any:
        """Shape of x: a tuple of ints, or a tuple of shapes for several blocks."""
        ...

    @property
    def exact(self) -> bool:
        """Whether answers are exact up to rounding (then ``error`` is 0 and ``tolerance`` is ignored)."""
        ...

    @property
    def degree(self) -> float | None:
        """d when the conjugate is positively homogeneous, f^*(t y) = t^d f^*(y) for t > 0; else None."""
        ...

    @property
    def linear(self) -> bool:
        """Whether f is linear (or zero) on X, so that averaging atoms averages f exactly."""
        ...

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser; ``tolerance`` is the absolute error allowed, ``start`` an atom to start from."""
        ...

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum alone: an answer whose ``atom`` may be None when that is cheaper.

        Parameters
        ----------
        direction
            The direction y.
        tolerance
            The absolute error that iterative oracles may leave; exact ones ignore it.
        start
            An atom from which iterative oracles may start.
        """
        ...

    def objective(self, x: Any) -> float:
        """Return f(x) for x in X."""
        ...

    def support(self, direction: Any) -> float:
        """Return the support function of X, sup over x in X of <y, x> (inf when X is unbounded)."""
        ...

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X, up to ``tolerance`` relative to the size of X.

        Parameters
        ----------
        x
            A point, in the form of an atom or dense.
        tolerance
            Relative to the size of X.
        """
        ...

    def maximum(self) -> float:
        """Return an upper bound on f over X (inf when none is known): beyond it a bound proves infeasibility."""
        ...


class LinearMap(Protocol):
    """The map A from the space of x to the space of b, with real adjoint: Re <A x, lam> = Re <x, A^* lam>.

    See Also
    --------
    MapDefaults, unipd.maps.Map, unipd.maps.as_map

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> matrix: LinearMap = unipd.maps.as_map(np.array([[1.0, 2.0]]))
    >>> matrix.image(np.array([3.0, 4.0])), matrix.adjoint(np.array([1.0]))
    (array([11.]), array([1., 2.]))
    """

    @property
    def domain(self) -> Any:
        """Shape of x (a tuple of shapes for several blocks)."""
        ...

    @property
    def codomain(self) -> tuple[int, ...]:
        """Shape of A x."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of A x, hence of the dual vector."""
        ...

    def image(self, atom: Any) -> Array:
        """Return A x for an array or a structured atom."""
        ...

    def adjoint(self, dual: Array) -> Any:
        """Return A^* lam: an array, or for spectral sets an operator known by its products, never formed."""
        ...


@runtime_checkable
class Coupling(Protocol):
    """The set K of the inclusion A x - b in K, or a loss phi(A x - b); sets are losses that are 0 or infinite.

    Derive from :class:`~unipd.couplings.ConvexSet`, which has defaults for all but the projection and the support
    function, or from :class:`~unipd.couplings.ConvexLoss`: value, gradient, curvature, conjugate and prox.

    See Also
    --------
    Loss, unipd.couplings.ConvexSet, unipd.couplings.ConvexLoss

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> ball: Coupling = unipd.couplings.L2Ball(1.0)
    >>> float(ball.distance(np.array([3.0, 4.0])))
    4.0
    """

    @property
    def is_loss(self) -> bool:
        """Whether this is a finite loss (then every x in X is feasible)."""
        ...

    @property
    def conjugate_degree(self) -> float | None:
        """d when h(t lam) = t^d h(lam) for t > 0; else None. Sets have 1."""
        ...

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise :class:`~unipd.errors.InvalidInput` when vectors of this shape and dtype do not fit.

        Parameters
        ----------
        shape, dtype
            Those of b.
        """
        ...

    def value(self, residual: Array) -> float:
        """Return phi(r); for a set 0 when r is in it (up to rounding) and inf otherwise."""
        ...

    def distance(self, residual: Array) -> float:
        """Return dist(r, K); 0 for a loss."""
        ...

    def prox(self, vector: Array, step: float) -> Array:
        """Return argmin_r phi(r) + ||r - v||^2 / (2 step); for a set the projection, whatever the step.

        Parameters
        ----------
        vector
            The point v.
        step
            A positive number.
        """
        ...

    def conjugate(self, dual: Array) -> float:
        """Return h(lam) = sup_r <lam, r> - phi(r): the support function for a set; inf outside its domain."""
        ...

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` at v; by Moreau v - step * prox(v / step, 1 / step).

        Parameters
        ----------
        vector
            The point v.
        step
            A positive number.
        """
        ...


@runtime_checkable
class Loss(Coupling, Protocol):
    """A finite convex loss phi; what the slack split and Frank-Wolfe need beyond :class:`Coupling`.

    See Also
    --------
    Coupling, unipd.couplings.ConvexLoss

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> loss: Loss = unipd.couplings.LeastSquares()
    >>> loss.value(np.array([3.0, 4.0])), loss.curvature()
    (12.5, 1.0)
    """

    @property
    def splittable(self) -> bool:
        """Whether :meth:`slack` has a finite answer everywhere (a slack radius is known where needed)."""
        ...

    def gradient(self, residual: Array) -> Array:
        """Return a (sub)gradient of phi at r."""
        ...

    def curvature(self) -> float:
        """Return a Lipschitz constant of the gradient of phi (inf when nonsmooth)."""
        ...

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return (r, value): the maximiser of <lam, r> - phi(r) over the slack block and the maximum."""
        ...


class Tracker(Protocol):
    """What is kept of the primal average xbar; immutable, ``mix`` returns a new one.

    See Also
    --------
    TrackerDefaults, unipd.trackers.Dense

    Examples
    --------
    >>> import numpy as np
    >>> import unipd
    >>> tracker: Tracker = unipd.trackers.Dense(np.zeros(2))
    >>> tracker.mix(0.25, np.array([4.0, 0.0])).point()
    array([1., 0.])
    """

    def mix(self, gamma: float, atom: Any) -> Tracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom.

        Parameters
        ----------
        gamma
            The weight of the atom, in [0, 1].
        atom
            An atom, as the oracle returns it.
        """
        ...

    def point(self) -> Any:
        """Return xbar in the form kept, or None when only the image is kept."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        ...

    @property
    def exact_objective(self) -> bool:
        """Whether f(xbar) is evaluated at the point kept; otherwise the mean of f over the atoms bounds it."""
        ...

    @property
    def error(self) -> float | None:
        """Bound or estimate of the Frobenius distance between the point kept and xbar; None for xbar itself."""
        ...

    @property
    def has_shared_atoms(self) -> bool:
        """Whether trackers of consecutive iterations share their atoms, so that an earlier one takes no memory."""
        ...


if TYPE_CHECKING:  # the defaults complete the protocols, but at run time must not stand in for a required member
    _Oracle = SharpOracle
    _Map = LinearMap
else:
    _Oracle = _Map = object


class OracleDefaults(_Oracle):
    """What a sharp oracle may offer beyond :class:`SharpOracle`, with the default of an oracle that does not.

    See Also
    --------
    SharpOracle, unipd.sharp.Sharp

    Examples
    --------
    A class with the required members of :class:`SharpOracle` alone, derived from the defaults:

    >>> class Singleton(OracleDefaults):
    ...     shape, exact, degree, linear = (1,), True, 1.0, True
    >>> Singleton().factors() is None
    True
    """

    real_only: bool = False
    """Whether complex directions and points are refused."""
    runs_user_code: bool = False
    """Whether the oracle wraps user-supplied code, whose answers are checked more often."""
    takes_operators: bool = True
    """Whether directions may be operators, known through their products; otherwise they are read as arrays."""
    has_membership_test: bool = True
    """Whether ``contains`` decides membership in X; False when it checks shapes only."""
    is_strictly_convex: bool = False
    """Whether X or f is strictly convex, so that maximisers are unique (X: away from y = 0)."""
    hermitian: bool | None = None
    """For a set of matrices whose atoms are factors: whether its points are Hermitian. None for other sets."""
    certification: Any = None
    """Parameters of the certified spectral bounds (:class:`unipd.spectral.Certification`), None without any."""
    linear_cost: Any = None
    """C where f(x) = <C, x>, plus the objective of the oracle inside if there is one; None for other f."""
    cost_map: Any = None
    """A map that returns <C, x> and A x together and forms C + A^* lam: ``cost_and_image``, ``slack``; or None."""

    @property
    def checkpoint_identity(self) -> Any:
        """The object that a checkpoint compares in place of this one (the whole of which this is a part), or None."""
        return None

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The oracles inside: the blocks of a product, the set under a linear objective."""
        return ()

    @property
    def block_oracles(self) -> tuple[Any, ...]:
        """The oracles of (f_i, X_i) where x = (x_1, ..., x_m) and f(x) = sum_i f_i(x_i); () for one block."""
        return ()

    @property
    def atom_entries(self) -> int | None:
        """Largest number of entries that an atom stores, for memory forecasts; None for as many as x has."""
        return None

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return an answer with the strongest certificate that is affordable, as final certificates need it.

        Parameters
        ----------
        direction, tolerance, start
            As in :meth:`SharpOracle.value`.
        """
        return self(direction, tolerance=tolerance, start=start)

    def best_vertices(self, direction: Array, count: int, above: float) -> list[Any] | None:
        """Return up to ``count`` vertices with the largest <y, x> - f(x) above a value, best first; None if costly.

        Column generation adds them all at one pass over the direction (partial pricing).

        Parameters
        ----------
        direction
            The direction y.
        count
            At most so many.
        above
            The value that they must exceed.
        """
        return None

    def coordinates(self) -> Any:
        """Return X and f by coordinates (:class:`unipd.sharp.Coordinates`), or None when they have no such form."""
        return None

    def equations(self, places: Any) -> Any:
        """Return E and e where {x >= 0 : E x = e} are the points of X that are zero outside some flat entries, or None.

        As (values, (rows, columns), e): the nonzeros of E and their places, with one column for each of the entries.
        """
        return None

    def nuclear_slope(self, size: float) -> float | None:
        """Return F'(size) where f(X) = F(||X||_*), on all matrices or where f is at most its maximum; else None."""
        return None

    def factors(self) -> Any:
        """Return the factored form of X (:class:`unipd.sharp.Factors`), or None when there is none."""
        return None

    def quadratic_diagonal(self) -> Any:
        """Return D with f(x) = <x, D x>/2 + a linear function on X, or None when f is not of this form."""
        return None

    def display_value(self, value: float) -> float:
        """Return an objective value or bound as it is reported: negated for a maximisation, shifted by a constant."""
        return float(value)


class MapDefaults(_Map):
    """What a linear map may offer beyond :class:`LinearMap`, with the default of a map that does not.

    See Also
    --------
    LinearMap, unipd.maps.Map

    Examples
    --------
    >>> class Sum(MapDefaults):
    ...     domain, codomain, dtype = (3,), (1,), float
    >>> Sum().nbytes, Sum().row_norms()
    (0, None)
    """

    runs_user_code: bool = False
    """Whether the map wraps user-supplied products."""
    has_cheap_images: bool = False
    """Whether the image of a sparse atom costs a few columns of a matrix, so that pricing many atoms pays."""
    has_adjoint_entries: bool = False
    """Whether A^* lam knows its entries: certificates then form blocks of its columns only, never all of it."""
    has_mixed_products: bool = False
    """Whether a map in single precision multiplies doubles in double precision, without a copy of A."""

    @property
    def checkpoint_identity(self) -> Any:
        """The object that a checkpoint compares in place of this one (the whole of which this is a part), or None."""
        return None

    @property
    def has_image_parts(self) -> bool:
        """Whether images can be computed a few lines at a time (``image_lines``), for dual vectors too long to copy."""
        return False

    @property
    def nbytes(self) -> int:
        """Bytes held by the map's data, as far as they are known."""
        return 0

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The maps inside: the blocks of a block map, the parts of a stack or of a composition."""
        return ()

    @property
    def block_maps(self) -> tuple[Any, ...]:
        """The maps A_i where A x = sum_i A_i x_i is given block by block; () elsewhere."""
        return ()

    def negated_adjoint(self, dual: Array) -> Any:
        """Return -A^* lam."""
        return self.adjoint(-1.0 * dual)

    def columns(self, places: Any) -> Any:
        """Return the columns A e_j at flat entries j of x, as a dense or CSC matrix; None when they are not known."""
        return None

    def image_lines(self, atom: Any) -> tuple[Array, Array, Array, Array, Array]:
        """Return the arrays from which compiled passes compute the image of a low-rank atom line by line.

        They are (starts, places, line_factors, cross_factors, bounds): the lines divide the image in its order, entry k
        of line i, ``starts[i] <= k < starts[i + 1]``, is <line_factors[i], cross_factors[places[k]]>, and the lines
        from ``bounds[c]`` up to ``bounds[c + 1]`` are part c. Required where :attr:`has_image_parts` is True.
        """
        raise NotImplementedError("a map with has_image_parts defines image_lines")

    def diagonals(self) -> Any:
        """Return the diagonals of the A_i that are diagonal as rows of a CSR matrix, or None when unknown."""
        return None

    def row_norms(self) -> Array | None:
        """Return ||A^* e_i|| for every row i, flat, or None when unknown."""
        return None


class TrackerDefaults:
    """The defaults of a tracker that has only ``mix`` and ``point``.

    See Also
    --------
    Tracker, unipd.trackers.Dense

    Examples
    --------
    >>> class Latest(TrackerDefaults):
    ...     def __init__(self, value): self.value = value
    ...     def mix(self, gamma, atom): return Latest(atom)
    ...     def point(self): return self.value
    >>> Latest(0.0).mix(0.5, 2.0).point()
    2.0
    """

    nbytes: int = 0
    exact_objective: bool = False
    error: float | None = None
    has_shared_atoms: bool = False


def declares(part: Any, name: str) -> bool:
    """Whether a part defines a member, in its class or in the instance, rather than through ``__getattr__``.

    Parameters
    ----------
    part
        An oracle, map, coupling or tracker.
    name
        Name of the member.

    See Also
    --------
    Adapted

    Examples
    --------
    >>> declares("text", "upper"), declares("text", "factors")
    (True, False)
    """
    return hasattr(type(part), name) or name in getattr(part, "__dict__", ())


class Adapted:
    """A user-supplied part with the defaults of the optional members that it does not declare.

    Parameters
    ----------
    part
        The part as the user gave it.

    See Also
    --------
    unwrap, declares

    Examples
    --------
    >>> class AdaptedText(Adapted):
    ...     defaults = TrackerDefaults
    >>> AdaptedText("atoms").upper(), AdaptedText("atoms").nbytes
    ('ATOMS', 0)
    """

    defaults: type
    """The class of the defaults."""

    def __init__(self, part: Any) -> None:
        self.part = part

    @property
    def checkpoint_identity(self) -> Any:
        """The part itself."""
        return self.part

    def __getattr__(self, name: str) -> Any:
        if name == "part":  # not set yet, as when unpickling
            raise AttributeError(name)
        if not hasattr(self.defaults, name) or declares(self.part, name):
            return getattr(self.part, name)
        default = inspect.getattr_static(self.defaults, name)
        return default.__get__(self) if callable(default) or isinstance(default, property) else default

    def __repr__(self) -> str:
        return repr(self.part)


def unwrap(part: Any) -> Any:
    """Return a user-supplied part as it was given, without its adapter.

    Parameters
    ----------
    part
        A part of a problem, with an adapter or without.

    See Also
    --------
    Adapted

    Examples
    --------
    >>> unwrap(Adapted("part")), unwrap("part")
    ('part', 'part')
    """
    return part.part if isinstance(part, Adapted) else part


def is_user_supplied(part: Any) -> bool:
    """Whether an oracle, a map or a coupling, or one inside it, runs code that is not the library's own.

    Parameters
    ----------
    part
        An oracle or a map, as a problem holds it.

    See Also
    --------
    unwrap

    Examples
    --------
    >>> from unipd.sharp import Linear, Simplex
    >>> is_user_supplied(Linear(np.ones(2), Simplex(2)))
    False
    """
    own = validate.is_own(unwrap(part)) and not part.runs_user_code
    return not own or any(map(is_user_supplied, part.inner_parts))
