"""The doctor accepts the library's couplings and names what is wrong with broken ones."""

import numpy as np
import pytest

from couplings.registry import CASES as COUPLINGS
from doctor.broken_parts import failed_checks
from unipd import couplings
from unipd.doctor import check_coupling


@pytest.mark.parametrize("case", COUPLINGS, ids=lambda case: case.name)
def test_every_coupling_is_healthy(case):
    for dtype in case.dtypes:
        assert failed_checks(check_coupling(case.coupling, case.shape, dtype)) == set()


def break_coupling(base, **parts):
    return type("Broken", (type(base),), parts)(*([base.radius] if hasattr(base, "radius") else []))


BALL, SQUARES = couplings.L2Ball(0.5), couplings.LeastSquares()
BROKEN_COUPLINGS = {
    "prox without its step": (break_coupling(SQUARES, prox=lambda self, v, t: v / 2.0), "Moreau"),
    "prox of the conjugate": (break_coupling(SQUARES, prox_conjugate=lambda self, v, t: v / (1.0 + 2.0 * t)), "Moreau"),
    "conjugate": (break_coupling(SQUARES, conjugate=lambda self, lam: float(lam @ lam)), "conjugate"),
    "conjugate too small": (break_coupling(BALL, conjugate=lambda self, lam: 0.4 * np.linalg.norm(lam)), "conjugate"),
    "conjugate infinite": (break_coupling(BALL, conjugate=lambda self, lam: np.inf), "conjugate"),
    "value": (break_coupling(SQUARES, value=lambda self, r: float(r @ r)), "conjugate"),
    "gradient": (break_coupling(SQUARES, gradient=lambda self, r: 2.0 * r), "loss"),
    "curvature": (break_coupling(SQUARES, curvature=lambda self: 0.5), "loss"),
    "slack": (break_coupling(SQUARES, slack=lambda self, lam: (lam, 2.0 * self.conjugate(lam))), "loss"),
    "not the nearest": (
        break_coupling(BALL, project=lambda self, v: v if np.linalg.norm(v) <= 0.5 else np.clip(v, -0.2, 0.2)),
        "projection",
    ),
    "not idempotent": (break_coupling(BALL, project=lambda self, v: 0.5 * v), "projection"),
    "distance": (break_coupling(BALL, distance=lambda self, r: 0.0), "projection"),
    "depends on the step": (break_coupling(BALL, prox=lambda self, v, t: BALL.project(v) / t), "projection"),
    "degree": (break_coupling(SQUARES, conjugate_degree=1.0), "conjugate degree"),
    "doubles": (break_coupling(BALL, project=lambda self, v: BALL.project(v).astype(np.float64)), "coupling shapes"),
    "shape": (break_coupling(BALL, project=lambda self, v: v[:2]), "coupling shapes"),
    "NaN": (break_coupling(BALL, project=lambda self, v: v * np.nan), "coupling shapes"),
}


@pytest.mark.parametrize("name", BROKEN_COUPLINGS)
def test_broken_couplings(name):
    coupling, where = BROKEN_COUPLINGS[name]
    assert where in failed_checks(check_coupling(coupling, (4,), np.float32 if name == "doubles" else np.float64))


def test_a_coupling_that_changes_its_vector():
    class Careless(couplings.AtMost):
        def project(self, vector):
            np.minimum(vector, 0.0, out=vector)
            return vector

    assert "coupling shapes" in failed_checks(check_coupling(Careless(), (3,)))
