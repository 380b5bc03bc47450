"""Semidefinite programs: from files and matrices to certified solutions.

A program passes through a pipeline, one file per stage, each importing only from those before it:

1. ``data``: the program as sparse data, min <C, X> subject to lower <= A(X) <= upper, X in a product of cones; to and
   from the conventions of file formats.
2. ``formulation``: presolve, which proves that constraints contradict each other, changes variables in relaxations of
   binary ones and removes a dimension for a constraint <v v^T, X> = 0; then the template min <C, X> over psd X of
   bounded trace, with constraints scaled to unit norm, and the form of the factored method that suits them. Its sharp
   oracle is in :mod:`unipd.sharp.spectral.sdp`.
3. ``cones``, ``embedding`` and ``interior_point``: any product of psd, nonnegative, second-order and free blocks, by
   the steps of QICS and certificates of our own; ``splitting``: the same certificates for projections onto the cones.
4. ``infeasibility``: proofs that there is no feasible X, and rays along which the objective improves forever.
5. ``cliques``: theta programs whose solution a linear program gives; ``solver``: the routes for all others, chosen by
   estimated cost; results are in the units of the data.
6. ``program``: the front door, :class:`SDP`, and what a solution of any solver proves.
7. ``cone_program``: min <c, x> subject to A x + s = b, s in K, the form of SCS and CVXPY, as one of these programs;
   ``template``: those that are the template itself, with squares or absolute values over a simplex, a box or a ball.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
