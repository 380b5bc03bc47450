"""The paper's theorems as functions of plain numbers, with the errata of the paper corrected; bounds for CGAL.

``nu`` is the Hölder exponent of grad g and ``holder`` its constant M_nu (paper, (8)); ``eps`` is the accuracy
given to the method; ``k`` counts iterations from 0 as the paper does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.errors import InvalidInput


def smoothness_bound(nu: float, holder: float, eps: float) -> float:
    """Return M_bar = [(1 - nu) / ((1 + nu) eps)]^((1 - nu)/(1 + nu)) M_nu^(2/(1 + nu)) (paper, (10)).

    The line search of UniPDGrad accepts at the latest when M exceeds it; 0^0 = 1 at nu = 1.

    Parameters
    ----------
    nu
        The Hölder exponent, between 0 and 1.
    holder
        The Hölder constant M_nu of grad g.
    eps
        The absolute accuracy given to the method.

    Raises
    ------
    InvalidInput
        ``holder``: expected a number of at least zero; ``eps``: expected a number above zero.

    See Also
    --------
    quadratic_smoothness_bound, uniform_convexity_constant, unipd.UniPDGrad

    Examples
    --------
    >>> smoothness_bound(1.0, 3.0, 1e-3)
    3.0
    """
    _check_exponent(nu)
    validate.nonnegative("holder", holder)
    exponent = (1.0 - nu) / (1.0 + nu)
    base = (1.0 - nu) / ((1.0 + nu) * validate.positive("eps", eps))
    return (base**exponent if exponent > 0 else 1.0) * holder ** (2.0 / (1.0 + nu))


def quadratic_smoothness_bound(curvature: float, diameter: float, delta: float) -> float:
    """Return M_bar = 1/c + D^2/delta for the loss (c/2)||A x - b||^2 in the slack split, D = diam A(X).

    The dual there is a quadratic plus a support function, which is Hölder for no single nu, yet the line
    search still ends.

    Parameters
    ----------
    curvature
        The constant c of the loss.
    diameter
        D, the diameter of A(X).
    delta
        The slack of the line search: eps for UniPDGrad, eps / t_k for AccUniPDGrad.

    See Also
    --------
    smoothness_bound, unipd.couplings.LeastSquares

    Notes
    -----
    In the paper: (10).

    Examples
    --------
    >>> quadratic_smoothness_bound(curvature=2.0, diameter=1.0, delta=0.1)
    10.5
    """
    return 1.0 / curvature + diameter**2 / delta


def unipdgrad_objective_bound(k: int, m_bar: float, eps: float, start_norm: float) -> float:
    """Return the upper bound on f(xbar_k) - f^* in Theorem 4.1.

    Parameters
    ----------
    k, m_bar, eps, start_norm
        The iteration, from 0; M_bar of :func:`smoothness_bound`; the accuracy given to the method; ||lam_0||.

    See Also
    --------
    unipdgrad_feasibility_bound, accunipdgrad_objective_bound, unipdgrad_iterations

    Examples
    --------
    >>> m_bar = smoothness_bound(1.0, 3.0, 1e-3)
    >>> round(unipdgrad_objective_bound(99, m_bar, 1e-3, start_norm=2.0), 6)
    0.1205
    """
    return m_bar * start_norm**2 / (k + 1) + 0.5 * eps


def unipdgrad_feasibility_bound(k: int, m_bar: float, eps: float, distance: float) -> float:
    """Return the bound on dist(A xbar_k - b, K) in Theorem 4.1; ``distance`` = ||lam_0 - lam^*||.

    Parameters
    ----------
    k, m_bar, eps, distance
        As in :func:`unipdgrad_objective_bound`; ||lam_0 - lam^*||.

    See Also
    --------
    unipdgrad_objective_bound, accunipdgrad_feasibility_bound

    Examples
    --------
    >>> round(unipdgrad_feasibility_bound(99, 3.0, 1e-3, distance=2.0), 6)
    0.247746
    """
    return 4.0 * m_bar * distance / (k + 1) + math.sqrt(2.0 * m_bar * eps / (k + 1))


def unipdgrad_dual_bound(k: int, m_bar: float, eps: float, distance: float) -> float:
    """Return the bound on G_bar_k - G^* in the supplement's theorem on the averaged dual sequence.

    Parameters
    ----------
    k, m_bar, eps, distance
        As in :func:`unipdgrad_objective_bound`; ||lam_0 - lam^*||.

    See Also
    --------
    unipdgrad_objective_bound, unipdgrad_feasibility_bound

    Examples
    --------
    >>> round(unipdgrad_dual_bound(99, 3.0, 1e-3, distance=2.0), 6)
    0.1205
    """
    return m_bar * distance**2 / (k + 1) + 0.5 * eps


def _accelerated_growth(k: int, nu: float) -> float:
    return float((k + 2) ** ((1.0 + 3.0 * nu) / (1.0 + nu)))


def accunipdgrad_objective_bound(k: int, nu: float, m_bar: float, eps: float, start_norm: float) -> float:
    """Return the upper bound on f(xbar_k) - f^* in Theorem 4.2.

    Parameters
    ----------
    k, nu, m_bar, eps, start_norm
        As in :func:`unipdgrad_objective_bound`, with the Hölder exponent nu.

    See Also
    --------
    accunipdgrad_feasibility_bound, unipdgrad_objective_bound, accunipdgrad_iterations

    Examples
    --------
    At nu = 1 the bound decreases like 1/k^2:

    >>> bounds = [accunipdgrad_objective_bound(k, 1.0, 3.0, 0.0, start_norm=2.0) for k in (98, 198)]
    >>> round(bounds[0] / bounds[1], 6)
    4.0
    """
    return 0.5 * eps + 4.0 * m_bar * start_norm**2 / _accelerated_growth(k, nu)


def accunipdgrad_feasibility_bound(k: int, nu: float, m_bar: float, eps: float, distance: float) -> float:
    """Return the bound on dist(A xbar_k - b, K) in Theorem 4.2; ``distance`` = ||lam_0 - lam^*||.

    Parameters
    ----------
    k, nu, m_bar, eps, distance
        As in :func:`accunipdgrad_objective_bound`; ||lam_0 - lam^*||.

    See Also
    --------
    accunipdgrad_objective_bound, unipdgrad_feasibility_bound

    Examples
    --------
    >>> round(accunipdgrad_feasibility_bound(98, 1.0, 3.0, 1e-3, distance=2.0), 6)
    0.011149
    """
    growth = _accelerated_growth(k, nu)
    return 16.0 * m_bar * distance / growth + math.sqrt(8.0 * m_bar * eps / growth)


def blended_pairwise_bound(k: int, curvature: float, diameter: float) -> float:
    """Return the bound 4 L D^2 / k on the error of the objective after k >= 1 blended pairwise steps.

    For a linear f and an L-smooth loss of A x, where D is the diameter of A X. Every step that drops no vertex lowers
    the error h by at least h^2 / (2 L D^2), and no more than half of the steps drop one (Tsuji, Tanaka and Pokutta
    2022, Theorem 3.1). Lazy steps have a larger constant.

    Parameters
    ----------
    k
        Iterations.
    curvature
        L, the Lipschitz constant of the gradient of the loss.
    diameter
        D, the largest ||A x - A y|| over X.

    See Also
    --------
    unipd.BlendedPairwise

    Examples
    --------
    >>> blended_pairwise_bound(8, 1.0, 2.0)
    2.0
    """
    return 4.0 * curvature * diameter**2 / k


def cgal_objective_bound(k: int, penalty: float, diameter: float, dual_norm: float) -> float:
    """Return the upper bound on f(x_{k+1}) - f^* after k >= 1 iterations of CGAL, for K = {0} and exact oracles.

    With Delta_i = f(x_i) + <y_i, u_i> + (beta_{i-1}/2) ||u_i||^2 - f^* and u_i = A x_i - b, the two step rules give
    Delta_{i+1} <= (1 - eta_i) Delta_i + eta_i^2 beta_{i+1} D^2, hence Delta_{k+1} <= 4 beta_0 D^2 / sqrt(k + 1); the
    least value of the terms in u_{k+1} is -||y_{k+1}||^2 / (2 beta_k). From below f(x) - f^* >= -||y^*|| ||u||.

    Parameters
    ----------
    k
        Iterations.
    penalty
        beta_0.
    diameter
        D_k of the dual steps.
    dual_norm
        ||y_{k+1}||.

    See Also
    --------
    cgal_feasibility_bound, unipd.CGAL

    Examples
    --------
    >>> cgal_objective_bound(3, 1.0, 1.0, 2.0)
    3.0
    """
    return (4.0 * penalty * diameter**2 + 0.5 * dual_norm**2 / penalty) / math.sqrt(k + 1)


def cgal_feasibility_bound(k: int, penalty: float, diameter: float, dual_norm: float, solution_norm: float) -> float:
    """Return the bound on ||A x_{k+1} - b|| that goes with :func:`cgal_objective_bound`.

    Parameters
    ----------
    k
        Iterations.
    penalty
        beta_0.
    diameter
        D_k of the dual steps.
    dual_norm
        ||y_{k+1}||.
    solution_norm
        ||y^*||.

    See Also
    --------
    cgal_objective_bound, unipd.CGAL

    Examples
    --------
    >>> round(cgal_feasibility_bound(7, 1.0, 1.0, 0.0, 0.0), 12)
    1.0
    """
    return (2.0 * (dual_norm + solution_norm) / penalty + math.sqrt(8.0) * diameter) / math.sqrt(k + 1)


def _dual_norm_factor(dual_norm: float, constant: float) -> float:
    """Return constant ||lam^*|| / (sqrt(1 + 8 ||lam^*||/max(||lam^*||, 1)) - 1), written so that 0 gives its limit."""
    longest = max(validate.nonnegative("dual_norm", dual_norm), 1.0)
    return constant * longest * (math.sqrt(1.0 + 8.0 * dual_norm / longest) + 1.0) / 8.0


def _ratios(eps: float, holder: Mapping[float, float]) -> list[tuple[float, float]]:
    """Return (nu, M_nu / eps) for the known pairs."""
    if not holder:
        raise InvalidInput("holder", "known constants {nu: M_nu}", repr(holder))
    for nu in holder:
        _check_exponent(nu)
    accuracy = validate.positive("eps", eps)
    return [(nu, validate.nonnegative("holder", m) / accuracy) for nu, m in holder.items()]


def unipdgrad_iterations(eps: float, dual_norm: float, holder: Mapping[float, float]) -> int:
    """Return k_max of UniPDGrad (paper, (13)): the least over the known pairs nu -> M_nu.

    Parameters
    ----------
    eps
        The absolute accuracy given to the method.
    dual_norm
        ||lam^*||, the norm of a dual solution.
    holder
        The known constants {nu: M_nu}.

    See Also
    --------
    accunipdgrad_iterations, unipdgrad_oracle_bound

    Examples
    --------
    >>> unipdgrad_iterations(0.1, 0.0, {1.0: 1.0})
    20
    """
    factor = _dual_norm_factor(dual_norm, 4.0 * math.sqrt(2.0)) ** 2
    counts = [factor * ratio ** (2.0 / (1.0 + nu)) for nu, ratio in _ratios(eps, holder)]
    return math.floor(round(min(counts), 9))


def accunipdgrad_iterations(eps: float, dual_norm: float, holder: Mapping[float, float]) -> int:
    """Return k_max of AccUniPDGrad (paper, (17)), the prefactor inside the infimum over nu.

    Parameters
    ----------
    eps
        The absolute accuracy given to the method.
    dual_norm
        ||lam^*||, the norm of a dual solution.
    holder
        The known constants {nu: M_nu}.

    See Also
    --------
    unipdgrad_iterations, accunipdgrad_oracle_bound

    Examples
    --------
    The accelerated method needs O(1/sqrt(eps)) iterations for a smooth dual, the plain one O(1/eps):

    >>> [accunipdgrad_iterations(eps, 1.0, {1.0: 1.0}) for eps in (1e-2, 1e-4, 1e-6)]
    [56, 565, 5656]
    """
    factor = _dual_norm_factor(dual_norm, 8.0 * math.sqrt(2.0))
    counts = [
        factor ** ((2.0 + 2.0 * nu) / (1.0 + 3.0 * nu)) * ratio ** (2.0 / (1.0 + 3.0 * nu))
        for nu, ratio in _ratios(eps, holder)
    ]
    return math.floor(round(min(counts), 9))


def unipdgrad_trials(k: int, smoothness: float, initial_smoothness: float) -> float:
    """Return the line-search trials of k + 1 iterations: 2(k + 1) + log2(M_k / M_{-1}), an equality.

    Parameters
    ----------
    k, smoothness, initial_smoothness
        The iteration, from 0; M_k, accepted by the last line search; M_{-1}, from which the first one starts.

    See Also
    --------
    accunipdgrad_trials, unipdgrad_oracle_calls

    Examples
    --------
    >>> unipdgrad_trials(99, smoothness=4.0, initial_smoothness=1.0)
    202.0
    """
    return 2 * (k + 1) + math.log2(smoothness / initial_smoothness)


def accunipdgrad_trials(k: int, smoothness: float, initial_smoothness: float) -> float:
    """Return the line-search trials of k + 1 iterations: (k + 1) + log2(M_k / M_{-1}), an equality.

    Parameters
    ----------
    k, smoothness, initial_smoothness
        The iteration, from 0; M_k, accepted by the last line search; M_{-1}, from which the first one starts.

    See Also
    --------
    unipdgrad_trials, accunipdgrad_oracle_calls

    Examples
    --------
    >>> accunipdgrad_trials(99, smoothness=4.0, initial_smoothness=1.0)
    102.0
    """
    return (k + 1) + math.log2(smoothness / initial_smoothness)


def unipdgrad_oracle_calls(k: int, smoothness: float, initial_smoothness: float) -> float:
    """Return trials + 1: the accepted trial is the next iteration's oracle answer.

    An equality with exact oracles and M_{-1} given. With inexact ones the trials from lam = 0 may share one call, so
    that there are fewer; a trial that is repeated from a better value of g is one trial and one call more.

    Parameters
    ----------
    k, smoothness, initial_smoothness
        The iteration, from 0; M_k, accepted by the last line search; M_{-1}, from which the first one starts.

    See Also
    --------
    unipdgrad_trials, accunipdgrad_oracle_calls, unipdgrad_oracle_bound

    Examples
    --------
    >>> unipdgrad_oracle_calls(99, smoothness=4.0, initial_smoothness=1.0)
    203.0
    """
    return unipdgrad_trials(k, smoothness, initial_smoothness) + 1


def accunipdgrad_oracle_calls(k: int, smoothness: float, initial_smoothness: float) -> float:
    """Return trials + (k + 1): one call at the extrapolated point of every iteration.

    An equality with exact oracles and M_{-1} given. With inexact ones the trials from lam = 0 may share one call, so
    that there are fewer; a trial that is repeated from a better value of g is one trial and one call more.

    Parameters
    ----------
    k, smoothness, initial_smoothness
        The iteration, from 0; M_k, accepted by the last line search; M_{-1}, from which the first one starts.

    See Also
    --------
    accunipdgrad_trials, unipdgrad_oracle_calls, accunipdgrad_oracle_bound

    Examples
    --------
    >>> accunipdgrad_oracle_calls(99, smoothness=4.0, initial_smoothness=1.0)
    202.0
    """
    return accunipdgrad_trials(k, smoothness, initial_smoothness) + (k + 1)


def unipdgrad_oracle_bound(k: int, eps: float, initial_smoothness: float, holder: Mapping[float, float]) -> float:
    """Return the bound N_1(k) on the trials of UniPDGrad (paper, (14)).

    Parameters
    ----------
    k
        The iteration, counted from 0.
    eps
        The absolute accuracy given to the method.
    initial_smoothness
        M_{-1}, the smoothness with which the first line search starts.
    holder
        The known constants {nu: M_nu}.

    See Also
    --------
    accunipdgrad_oracle_bound, unipdgrad_oracle_calls

    Examples
    --------
    >>> unipdgrad_oracle_bound(99, 1e-3, initial_smoothness=1.0, holder={1.0: 3.0}) >= unipdgrad_trials(99, 3.0, 1.0)
    True
    """
    logs = [math.log2(smoothness_bound(nu, m, eps)) for nu, m in holder.items()]
    return 2 * (k + 1) + 1 - math.log2(initial_smoothness) + min(logs)


def accunipdgrad_oracle_bound(k: int, eps: float, initial_smoothness: float, nu: float, holder: float) -> float:
    """Return the bound N_2(k) on the oracle calls of AccUniPDGrad (paper, (18)).

    Parameters
    ----------
    k
        The iteration, counted from 0.
    eps
        The absolute accuracy given to the method.
    initial_smoothness
        M_{-1}, the smoothness with which the first line search starts.
    nu
        The Hölder exponent, between 0 and 1.
    holder
        The Hölder constant M_nu of grad g.

    See Also
    --------
    unipdgrad_oracle_bound, accunipdgrad_oracle_calls

    Examples
    --------
    >>> bound = accunipdgrad_oracle_bound(99, 1e-3, initial_smoothness=1.0, nu=1.0, holder=3.0)
    >>> bound >= accunipdgrad_oracle_calls(99, 3.0, 1.0)
    True
    """
    growth = (1.0 - nu) / (1.0 + nu) * (math.log2(k + 1) - math.log2(eps))
    return 2 * (k + 1) + 1 + growth + 2.0 / (1.0 + nu) * math.log2(holder) - math.log2(initial_smoothness)


def uniform_convexity_constant(q: float, modulus: float, map_norm: float) -> tuple[float, float]:
    """Return (nu, M_nu) of the dual when f is uniformly convex of degree q: nu = 1/(q - 1).

    M_nu = (||A||^q / mu)^(1/(q - 1)), which for q = 2 is the familiar ||A||^2 / mu.

    Parameters
    ----------
    q
        The degree of uniform convexity, at least 2.
    modulus
        The modulus of uniform convexity.
    map_norm
        The operator norm of A.

    Raises
    ------
    InvalidInput
        ``q``: expected a degree >= 2.

    See Also
    --------
    smoothness_bound, holder_exponent, unipd.sharp.PowerNorm

    Examples
    --------
    >>> uniform_convexity_constant(2.0, 4.0, 2.0)
    (1.0, 1.0)
    """
    if q < 2:
        raise InvalidInput("q", "a degree >= 2", repr(q))
    return 1.0 / (q - 1.0), (map_norm**q / modulus) ** (1.0 / (q - 1.0))


def holder_exponent(steps: Array, changes: Array) -> float:
    """Estimate nu from dual steps ||lam - lam'|| and gradient changes ||grad g(lam) - grad g(lam')||.

    The slope of a least-squares line through their logarithms, clipped to [0, 1]; nan when the steps
    span less than a factor two.

    Parameters
    ----------
    steps
        Dual steps ||lam - lam'||, one per iteration.
    changes
        Gradient changes ||grad g(lam) - grad g(lam')|| over these steps.

    Returns
    -------
    float
        The estimate, between 0 and 1; NaN without two usable pairs.

    See Also
    --------
    running_exponents, smoothness_bound

    Notes
    -----
    In the paper: (8).

    Examples
    --------
    >>> sizes = np.array([1.0, 0.1, 0.01])
    >>> round(holder_exponent(sizes, 3 * sizes**0.5), 6)
    0.5
    """
    step, change = np.asarray(steps, float), np.asarray(changes, float)
    kept = (step > 0) & (change > 0) & np.isfinite(step) & np.isfinite(change)
    x, y = np.log(step[kept]), np.log(change[kept])
    if x.size < 2 or np.ptp(x) < math.log(2.0):
        return math.nan
    centred = x - x.mean()
    return float(np.clip(np.dot(centred, y) / np.dot(centred, centred), 0.0, 1.0))


def running_exponents(steps: FloatArray, changes: FloatArray) -> FloatArray:
    """Return :func:`holder_exponent` of the first k pairs, for every k, in one pass.

    Parameters
    ----------
    steps
        Dual steps ||lam - lam'||, one per iteration.
    changes
        Gradient changes ||grad g(lam) - grad g(lam')|| over these steps.

    See Also
    --------
    holder_exponent, unipd.report.plot_convergence

    Notes
    -----
    In the paper: (8).

    Examples
    --------
    >>> running_exponents(np.array([1.0, 0.1, 0.01]), np.array([3.0, 0.3, 0.03])).round(6)
    array([nan,  1.,  1.])
    """
    kept = (steps > 0) & (changes > 0) & np.isfinite(steps) & np.isfinite(changes)
    x, y = np.zeros(steps.size), np.zeros(steps.size)
    x[kept], y[kept] = np.log(steps[kept]), np.log(changes[kept])
    if not kept.any():
        return np.full(steps.size, math.nan)
    x[kept] -= x[kept].mean()
    y[kept] -= y[kept].mean()
    count = np.maximum(np.cumsum(kept), 1)
    spread = np.cumsum(x * x) - np.cumsum(x) ** 2 / count
    shared = np.cumsum(x * y) - np.cumsum(x) * np.cumsum(y) / count
    high = np.maximum.accumulate(np.where(kept, x, -math.inf))
    low = np.minimum.accumulate(np.where(kept, x, math.inf))
    wide = np.zeros(steps.size, bool)
    wide[np.flatnonzero(kept)[0] :] = (high - low)[np.flatnonzero(kept)[0] :] >= math.log(2.0)
    slopes = np.full(steps.size, math.nan)
    slopes[wide] = np.clip(shared[wide] / spread[wide], 0.0, 1.0)
    return slopes


def _check_exponent(nu: float) -> None:
    if not 0.0 <= validate.number("nu", nu) <= 1.0:
        raise InvalidInput("nu", "a number in [0, 1]", repr(nu))
