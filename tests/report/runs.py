"""Results for the tests of pages: small, of every kind."""

import dataclasses

import numpy as np

import unipd
from unipd.io.results import load, save

MATRIX = np.random.default_rng(3).standard_normal((4, 9))
HOSTILE = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>'\"&\u2028<!--{axis}"


def constrained(method="unipdgrad", iterations=60, callback=None):
    sharp = unipd.sharp.Linear(np.arange(9.0) / 9, unipd.sharp.Simplex(9))
    problem = unipd.Problem(sharp, MATRIX, MATRIX @ np.full(9, 1 / 9), "=")
    return unipd.solve(problem, method, stop=unipd.MaxIterations(iterations), callback=callback)


def least_squares(method="accunipdgrad", iterations=60):
    problem = unipd.Problem(unipd.sharp.Simplex(9), MATRIX, np.ones(4), unipd.couplings.LeastSquares())
    return unipd.solve(problem, method, stop=unipd.MaxIterations(iterations))


def infeasible():
    return unipd.solve(unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [3.0, 3.0, 3.0], "="))


def saved(result, folder, name="run", **more):
    return load(save(result, folder / f"{name}.npz", **more))


def hostile(folder):
    """Return a saved result in which every text is an attack."""
    honest = saved(constrained(), folder, seed=1)
    figures = {**honest.figures, "message": HOSTILE, "method": HOSTILE, HOSTILE: HOSTILE}
    texts = {"facts": {**honest.facts, "problem": HOSTILE}, "versions": {HOSTILE: HOSTILE}, "saved": HOSTILE}
    return dataclasses.replace(honest, figures=figures, settings={HOSTILE: HOSTILE}, **texts)
