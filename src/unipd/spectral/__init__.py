"""Top eigenpairs and singular triples of operators known by their products, with certified upper bounds."""

from unipd.spectral.bounds import norm_bound
from unipd.spectral.certificates import certify_eigenvalues, certify_singular_value
from unipd.spectral.certify import Certification, Certified, certified_norm, certified_upper
from unipd.spectral.definite import gershgorin_upper, is_psd_shifted, rigorous_upper
from unipd.spectral.engine import SOLVERS, Engine
from unipd.spectral.results import PROBABILISTIC, RESIDUAL, RIGOROUS, EigenPairs, SingularTriples
from unipd.spectral.top import top_eigenpairs, top_singular_triples

__all__ = [
    "PROBABILISTIC",
    "RESIDUAL",
    "RIGOROUS",
    "SOLVERS",
    "Certification",
    "Certified",
    "EigenPairs",
    "Engine",
    "SingularTriples",
    "certified_norm",
    "certified_upper",
    "certify_eigenvalues",
    "certify_singular_value",
    "gershgorin_upper",
    "is_psd_shifted",
    "norm_bound",
    "rigorous_upper",
    "top_eigenpairs",
    "top_singular_triples",
]
