r"""
Adapting to an unknown Hölder exponent
======================================

The dual gradient satisfies :math:`\lVert \nabla g(u) - \nabla g(v) \rVert \le M_\nu \lVert u - v \rVert^\nu` for some
:math:`\nu \in [0, 1]`. For :math:`f(x) = \lVert x \rVert^q / q` it is :math:`\nu = 1/(q - 1)`, for a linear
:math:`f` on a bounded set :math:`\nu = 0`. The methods do not know it; their line search adapts. Theorem 4.2
bounds the infeasibility of AccUniPDGrad by

.. math:: \operatorname{dist}(A \bar{x}_k - b, \mathcal{K}) =
          O\big(\bar{M} \lVert \lambda^\star \rVert / k^{(1 + 3 \nu)/(1 + \nu)}\big) + \text{a term in } \varepsilon,

which is drawn beside the measured values on problems whose solution is known.
"""

from itertools import islice

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from scipy.optimize import linprog
from scipy.spatial.distance import pdist

import unipd
from unipd import sharp, theory

rng = np.random.default_rng(2)
rows, size, eps, iterations = 5, 40, 1e-2, 400

# %%
# For powers of the norm we choose the dual solution first: then :math:`x^\star = [-A^* \lambda^\star]^\sharp` and
# :math:`b = A x^\star`. For the linear program SciPy's HiGHS provides the dual solution.


def power_problem(power):
    """Return a problem with a known dual solution, nu and M_nu."""
    oracle = sharp.EuclideanPower(size, power)
    A = rng.standard_normal((rows, size)) / np.sqrt(size)
    dual = rng.standard_normal(rows)
    modulus = 2.0 ** (
        2.0 - power
    )  # <grad f(x) - grad f(y), x - y> >= modulus ||x - y||^q
    nu, holder = theory.uniform_convexity_constant(
        power, modulus, float(np.linalg.norm(A, 2))
    )
    return unipd.Problem(oracle, A, A @ oracle(-A.T @ dual).atom, "="), dual, nu, holder


def linear_problem():
    """Return a linear program over the simplex, for which nu = 0 and M_0 is the diameter of A(X)."""
    A, cost = rng.standard_normal((rows, size)), rng.standard_normal(size)
    b = A @ rng.dirichlet(np.ones(size))
    solution = linprog(cost, A_eq=np.vstack([A, np.ones(size)]), b_eq=[*b, 1.0])
    problem = unipd.Problem(sharp.Linear(cost, sharp.Simplex(size)), A, b, "=")
    return problem, -solution.eqlin.marginals[:rows], 0.0, float(pdist(A.T).max())


cases = {
    "0": linear_problem(),
    "1/3": power_problem(4.0),
    "1/2": power_problem(3.0),
    "1": power_problem(2.0),
}

# %%
# Every point of every curve lies below its theorem (the test suite asserts the same at every iteration).

figure, axes = plt.subplots(1, 4, figsize=(10.0, 3.2), sharey=True)
k = np.arange(iterations)
for axis, (label, (problem, dual, nu, holder)) in zip(axes, cases.items(), strict=True):
    m_bar, distance = (
        theory.smoothness_bound(nu, holder, eps),
        float(np.linalg.norm(dual)),
    )
    for name, method, colour in (
        ("UniPDGrad", unipd.UniPDGrad, "C0"),
        ("AccUniPDGrad", unipd.AccUniPDGrad, "C1"),
    ):
        states = islice(unipd.iterate(problem, method(eps=eps)), iterations)
        measured = np.array(
            [np.linalg.norm(state.image - problem.b) for state in states]
        )
        if method is unipd.UniPDGrad:
            bound = [
                theory.unipdgrad_feasibility_bound(i, m_bar, eps, distance) for i in k
            ]
        else:
            bound = [
                theory.accunipdgrad_feasibility_bound(i, nu, m_bar, eps, distance)
                for i in k
            ]
        assert np.all(measured <= np.array(bound) + 1e-9)
        axis.loglog(k + 1, np.maximum(measured, 1e-12), color=colour, label=name)
        axis.loglog(k + 1, bound, color=colour, linestyle="--", linewidth=1.0)
    axis.set(title=rf"$\nu = {label}$", xlabel="iteration", ylim=(1e-6, 1e5))
axes[0].set_ylabel(r"$\|A \bar x_k - b\|$")
axes[0].legend(loc="lower left", title="dashed: theorem")
plt.show()
