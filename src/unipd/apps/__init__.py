"""Applications: each builds a :class:`unipd.Problem`, solves it, and returns or holds a :class:`unipd.Result`.

sdp/ (semidefinite programs), graphs/ (MaxCut, theta, bisection), tomography/, completion/, learning/ (sparse and
norm-constrained models, support vector machines, clustering, submodular functions), phase_retrieval.
"""
