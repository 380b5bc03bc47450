"""Applications: each builds a :class:`unipd.Problem`, solves it, and returns or holds a :class:`unipd.Result`.

sdp/ (semidefinite programs), graphs/ (MaxCut, theta, bisection), tomography/ (quantum states), process_tomography/
(quantum channels), completion/, learning/ (sparse and norm-constrained models, support vector machines, clustering,
imputation, submodular functions), phase_retrieval.
"""
