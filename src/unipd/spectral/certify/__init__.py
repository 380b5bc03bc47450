"""Certified upper bounds on top eigenvalues and singular values.

Read :mod:`~unipd.spectral.certify.probabilistic` (a Lanczos run from a random vector, with its proof), then
:mod:`~unipd.spectral.certify.rigorous` (norm bounds, factorisations, the Gram matrix), then
:mod:`~unipd.spectral.certify.vectors` (both, around vectors already computed: an answer becomes a certificate).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.spectral.certify.probabilistic import (
        Certification,
        Certified,
        bracket_of_run,
        certified_norm,
        certified_upper,
        weight_quantile,
    )
    from unipd.spectral.certify.rigorous import (
        affords_rigorous,
        gershgorin_upper,
        is_psd_shifted,
        norm_bound,
        rigorous_upper,
    )
    from unipd.spectral.certify.vectors import certify_eigenvalues, certify_singular_value

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "probabilistic": (
            "Certification",
            "Certified",
            "bracket_of_run",
            "certified_norm",
            "certified_upper",
            "weight_quantile",
        ),
        "rigorous": ("affords_rigorous", "gershgorin_upper", "is_psd_shifted", "norm_bound", "rigorous_upper"),
        "vectors": ("certify_eigenvalues", "certify_singular_value"),
    },
)

__all__ = [
    "Certification",
    "Certified",
    "affords_rigorous",
    "bracket_of_run",
    "certified_norm",
    "certified_upper",
    "certify_eigenvalues",
    "certify_singular_value",
    "gershgorin_upper",
    "is_psd_shifted",
    "norm_bound",
    "rigorous_upper",
    "weight_quantile",
]
