"""Couplings: the doctor finds nothing wrong with ours, and names what was broken on purpose."""

import numpy as np
import pytest

from couplings.registry import CASES as COUPLINGS
from doctor.broken import failed
from unipd import couplings
from unipd.doctor import check_coupling


@pytest.mark.parametrize("case", COUPLINGS, ids=lambda case: case.name)
def test_every_coupling_is_healthy(case):
    for dtype in case.dtypes:
        assert failed(check_coupling(case.coupling, case.shape, dtype)) == set()


def coupled(base, **parts):
    return type("Broken", (type(base),), parts)(*([base.radius] if hasattr(base, "radius") else []))


BALL, SQUARES = couplings.L2Ball(0.5), couplings.LeastSquares()
BROKEN_COUPLINGS = {
    "prox without its step": (coupled(SQUARES, prox=lambda self, v, t: v / 2.0), "Moreau"),
    "prox of the conjugate": (coupled(SQUARES, prox_conjugate=lambda self, v, t: v / (1.0 + 2.0 * t)), "Moreau"),
    "conjugate": (coupled(SQUARES, conjugate=lambda self, lam: float(lam @ lam)), "conjugate"),
    "conjugate too small": (coupled(BALL, conjugate=lambda self, lam: 0.4 * np.linalg.norm(lam)), "conjugate"),
    "conjugate infinite": (coupled(BALL, conjugate=lambda self, lam: np.inf), "conjugate"),
    "value": (coupled(SQUARES, value=lambda self, r: float(r @ r)), "conjugate"),
    "gradient": (coupled(SQUARES, gradient=lambda self, r: 2.0 * r), "loss"),
    "curvature": (coupled(SQUARES, curvature=lambda self: 0.5), "loss"),
    "slack": (coupled(SQUARES, slack=lambda self, lam: (lam, 2.0 * self.conjugate(lam))), "loss"),
    "not the nearest": (
        coupled(BALL, project=lambda self, v: v if np.linalg.norm(v) <= 0.5 else np.clip(v, -0.2, 0.2)),
        "projection",
    ),
    "not idempotent": (coupled(BALL, project=lambda self, v: 0.5 * v), "projection"),
    "distance": (coupled(BALL, distance=lambda self, r: 0.0), "projection"),
    "depends on the step": (coupled(BALL, prox=lambda self, v, t: BALL.project(v) / t), "projection"),
    "degree": (coupled(SQUARES, conjugate_degree=1.0), "conjugate degree"),
    "doubles": (coupled(BALL, project=lambda self, v: BALL.project(v).astype(np.float64)), "coupling shapes"),
    "shape": (coupled(BALL, project=lambda self, v: v[:2]), "coupling shapes"),
    "NaN": (coupled(BALL, project=lambda self, v: v * np.nan), "coupling shapes"),
}


@pytest.mark.parametrize("name", BROKEN_COUPLINGS)
def test_broken_couplings(name):
    coupling, where = BROKEN_COUPLINGS[name]
    assert where in failed(check_coupling(coupling, (4,), np.float32 if name == "doubles" else np.float64))


def test_a_coupling_that_changes_its_vector():
    class Careless(couplings.AtMost):
        def project(self, vector):
            np.minimum(vector, 0.0, out=vector)
            return vector

    assert "coupling shapes" in failed(check_coupling(Careless(), (3,)))
