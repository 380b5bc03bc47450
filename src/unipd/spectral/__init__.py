"""Top eigenpairs and singular triples of operators known by their products, with certified upper bounds.

Linear minimization oracles over sets of matrices need the top of a spectrum. Read :mod:`~unipd.spectral.engine` (which
solver, how a run starts), :mod:`~unipd.spectral.lanczos` and :mod:`~unipd.spectral.golub_kahan` (thick-restart Krylov
runs for eigenpairs and singular triples), :mod:`~unipd.spectral.stopping` (when a run may stop), then
:mod:`~unipd.spectral.certify`: Krylov runs give lower bounds, and upper bounds with a certificate come from there.
:mod:`~unipd.spectral.symmetric` has sparse symmetric matrices with bounds of their own.
:mod:`~unipd.spectral.operators` counts products, :mod:`~unipd.spectral.dense` hands small matrices to LAPACK, and the
compiled kernels of single-vector runs are in ``golub_kahan_kernels`` and ``ritz_kernels``.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.spectral.certify.probabilistic import Certification, Certified, certified_norm, certified_upper
    from unipd.spectral.certify.rigorous import (
        gershgorin_upper,
        gram_norm_upper,
        is_psd_shifted,
        norm_bound,
        rigorous_upper,
    )
    from unipd.spectral.certify.vectors import block_upper_bound, certify_eigenvalues, certify_singular_value
    from unipd.spectral.engine import (
        PRECISION,
        SOLVERS,
        Engine,
        FixedToleranceEngine,
        fixed_tolerance_engine,
        top_eigenpairs,
        top_singular_triples,
    )
    from unipd.spectral.golub_kahan import Bidiagonal, CompiledBidiagonalization
    from unipd.spectral.lanczos import Basis, starting_block
    from unipd.spectral.operators import Operator, OperatorDefaults, Products
    from unipd.spectral.results import (
        BOUND_KINDS,
        CLAIMED,
        PROBABILISTIC,
        RESIDUAL,
        RIGOROUS,
        STATED,
        EigenPairs,
        SingularTriples,
        weakest_bound,
    )
    from unipd.spectral.stopping import Stop, value_error
    from unipd.spectral.symmetric import (
        SymmetricOperator,
        cholesky_bound,
        has_compiled_lanczos,
        smallest_eigenpair,
        top_eigenvalue,
    )

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "certify.probabilistic": ("Certification", "Certified", "certified_norm", "certified_upper"),
        "certify.rigorous": ("gershgorin_upper", "gram_norm_upper", "is_psd_shifted", "norm_bound", "rigorous_upper"),
        "certify.vectors": ("block_upper_bound", "certify_eigenvalues", "certify_singular_value"),
        "engine": (
            "PRECISION",
            "SOLVERS",
            "Engine",
            "FixedToleranceEngine",
            "fixed_tolerance_engine",
            "top_eigenpairs",
            "top_singular_triples",
        ),
        "golub_kahan": ("Bidiagonal", "CompiledBidiagonalization"),
        "lanczos": ("Basis", "starting_block"),
        "operators": ("Operator", "OperatorDefaults", "Products"),
        "results": (
            "BOUND_KINDS",
            "CLAIMED",
            "PROBABILISTIC",
            "RESIDUAL",
            "RIGOROUS",
            "STATED",
            "EigenPairs",
            "SingularTriples",
            "weakest_bound",
        ),
        "stopping": ("Stop", "value_error"),
        "symmetric": (
            "SymmetricOperator",
            "cholesky_bound",
            "has_compiled_lanczos",
            "smallest_eigenpair",
            "top_eigenvalue",
        ),
    },
)

__all__ = [
    "BOUND_KINDS",
    "CLAIMED",
    "PRECISION",
    "PROBABILISTIC",
    "RESIDUAL",
    "RIGOROUS",
    "SOLVERS",
    "STATED",
    "Basis",
    "Bidiagonal",
    "Certification",
    "Certified",
    "CompiledBidiagonalization",
    "EigenPairs",
    "Engine",
    "FixedToleranceEngine",
    "Operator",
    "OperatorDefaults",
    "Products",
    "SingularTriples",
    "Stop",
    "SymmetricOperator",
    "block_upper_bound",
    "certified_norm",
    "certified_upper",
    "certify_eigenvalues",
    "certify_singular_value",
    "cholesky_bound",
    "fixed_tolerance_engine",
    "gershgorin_upper",
    "gram_norm_upper",
    "has_compiled_lanczos",
    "is_psd_shifted",
    "norm_bound",
    "rigorous_upper",
    "smallest_eigenpair",
    "starting_block",
    "top_eigenpairs",
    "top_eigenvalue",
    "top_singular_triples",
    "value_error",
    "weakest_bound",
]
