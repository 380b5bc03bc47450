"""Small results of every kind for the tests of reports."""

import dataclasses

import numpy as np

import unipd
from unipd.io import load, save

MATRIX = np.random.default_rng(3).standard_normal((4, 9))
HOSTILE = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>'\"&\u2028<!--{axis}"


def solve_constrained(method="unipdgrad", iterations=60, callback=None):
    sharp = unipd.sharp.Linear(np.arange(9.0) / 9, unipd.sharp.Simplex(9))
    problem = unipd.Problem(sharp, MATRIX, MATRIX @ np.full(9, 1 / 9), "=")
    return unipd.solve(problem, method, stop=unipd.MaxIterations(iterations), callback=callback)


def solve_least_squares(method="accunipdgrad", iterations=60):
    problem = unipd.Problem(unipd.sharp.Simplex(9), MATRIX, np.ones(4), unipd.couplings.LeastSquares())
    return unipd.solve(problem, method, stop=unipd.MaxIterations(iterations))


def solve_infeasible():
    return unipd.solve(unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [3.0, 3.0, 3.0], "="))


def save_and_load(result, folder, name="run", **more):
    return load(save(result, folder / f"{name}.npz", **more))


def hostile(folder):
    """Return a saved result in which every text is an attack."""
    honest = save_and_load(solve_constrained(), folder, seed=1)
    facts = dataclasses.replace(honest.facts, problem=HOSTILE)
    texts = {"note": HOSTILE, "method": HOSTILE, "versions": {HOSTILE: HOSTILE}, "saved": HOSTILE}
    return dataclasses.replace(honest, facts=facts, extras={HOSTILE: HOSTILE}, settings={HOSTILE: HOSTILE}, **texts)
