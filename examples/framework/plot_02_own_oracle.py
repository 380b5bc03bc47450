r"""
A user-supplied oracle
======================

Any set over which you can maximise a linear function will do. Decreasing sequences in :math:`[0, 1]` form a polytope
whose vertices are the prefixes of ones, so that maximising is a cumulative sum: twelve lines of code give a certified
fit of a monotone survival curve, with every map, coupling and method of the library.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd


class Decreasing(unipd.sharp.Sharp):
    """Sequences 1 >= x_1 >= ... >= x_n >= 0; the maximiser is the prefix of ones with the largest sum."""

    real_only = True

    def maximiser(self, direction):
        """Return the best prefix."""
        sums = np.concatenate([[0.0], np.cumsum(direction)])
        return (np.arange(self.size) < np.argmax(sums)).astype(direction.dtype)

    def contains(self, x, tolerance=1e-9):
        """Whether x decreases from 1 to 0."""
        return bool(np.all(np.diff(np.concatenate([[1.0], x, [0.0]])) <= tolerance))


# %%
# The doctor compares the oracle with the Fenchel-Young inequality and the protocol before anything is solved.

days = 120
oracle = Decreasing(days)
for check in unipd.doctor.check_sharp(oracle):
    print(check)

# %%
# Two fits of the same noisy curve: least squares, and the sum of absolute deviations, which ignores the outliers. The
# oracle is the same; only the coupling changes.

rng = np.random.default_rng(2)
curve = 0.15 + 0.85 / (1.0 + (np.arange(days) / 45.0) ** 3)
noisy = curve + 0.06 * rng.standard_normal(days)
noisy[rng.choice(days, 12, replace=False)] += 0.6
identity = unipd.maps.Identity((days,))
squares = unipd.solve(
    unipd.Problem(oracle, identity, noisy, unipd.couplings.LeastSquares()),
    accuracy=1e-6,
)
absolute = unipd.solve(
    unipd.Problem(oracle, identity, noisy, unipd.couplings.Absolute()), accuracy=1e-6
)
for name, result in (("least squares", squares), ("absolute deviations", absolute)):
    error = np.abs(result.x - curve).mean()
    print(
        f"{name}: {result.status.value}, gap {result.gap:.0e} ({result.bound_kind}), mean error {error:.3f}"
    )

# %%
# The bound is called *stated*: it rests on the word of a user-supplied oracle, which no run can prove.

figure, axis = plt.subplots()
axis.plot(noisy, ".", color="0.6", label="data with outliers")
axis.plot(curve, color="0.3", linestyle=":", label="truth")
axis.step(range(days), squares.x, where="mid", color="C0", label="least squares")
axis.step(range(days), absolute.x, where="mid", color="C1", label="absolute deviations")
axis.set(
    xlabel="day", ylabel="survival", title="Monotone fits with a twelve-line oracle"
)
axis.legend()
plt.show()
