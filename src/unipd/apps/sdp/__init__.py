"""Semidefinite programs: from files and matrices to certified solutions.

A program passes through a pipeline, one file per stage, each importing only from those before it:

1. ``data``: the program as sparse data, min <C, X> subject to lower <= A(X) <= upper, X in a product of cones;
   ``formats``: to and from the conventions of file formats.
2. ``presolve``: proofs that constraints contradict each other, a change of variables for relaxations of binary
   variables, and facial reduction: a constraint <v v^T, X> = 0 removes a dimension.
3. ``formulation``: the template min <C, X> over psd X of bounded trace, with constraints scaled to unit norm, and the
   form of the factored method that suits them; its sharp oracle is in :mod:`unipd.sharp.spectral.sdp`.
4. ``cones`` and ``interior_point``: any product of psd, nonnegative, second-order and free blocks, by the steps of QICS
   and certificates of our own.
5. ``infeasibility``: proofs that there is no feasible X, and rays along which the objective improves forever.
6. ``solver``: the routes, chosen by estimated cost; results are in the units of the data.
7. ``program``: the front door, :class:`SDP`.
8. ``certificate``: what a solution of any solver proves.
9. ``cone_program``: min <c, x> subject to A x + s = b, s in K, the form of SCS and CVXPY, as one of these programs;
   ``template``: those that are the template itself, with squares or absolute values over a simplex, a box or a ball.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
