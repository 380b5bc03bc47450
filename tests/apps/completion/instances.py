"""Small instances and naive references: dense arrays, textbook formulas, LAPACK."""

import numpy as np

from unipd.reproduce import generate_ratings

SHAPE = (24, 18)


def small(seed=0, count=160, shape=SHAPE, rank=2, noise=0.3):
    made = generate_ratings(shape, count, rank=rank, noise=noise, seed=seed)
    return made.users.astype(np.int64), made.items.astype(np.int64), made.values


def dense_side(side):
    """L written out."""
    parts = [np.diag(side.scales)]
    if side.features is not None:
        parts.append(np.asarray(side.features.todense() if hasattr(side.features, "todense") else side.features))
    return np.hstack(parts)


def naive_objective(completion, matrix, users, items):
    """1/2 sum (r - mean - b - c - X)^2 + ridges, entry by entry."""
    x = dense_side(completion.left) @ matrix @ dense_side(completion.right).T
    total = 0.0
    for u, i, r in zip(completion.users, completion.items, completion.target, strict=True):
        total += 0.5 * (r - users[u] - items[i] - x[u, i]) ** 2
    ridges = completion.settings.user_ridge * users @ users + completion.settings.item_ridge * items @ items
    return total + 0.5 * ridges


class NaiveBall:
    """Formulation (a) by dense linear algebra: g, its gradient and the atom."""

    def __init__(self, users, items, values, shape, radius):
        self.users, self.items, self.b, self.shape, self.radius = users, items, values, shape, radius
        self.c = 2.0 / values.size

    def adjoint(self, lam):
        out = np.zeros(self.shape)
        np.add.at(out, (self.users, self.items), lam)
        return out

    def atom(self, lam):
        u, s, vt = np.linalg.svd(-self.adjoint(lam))
        return (self.radius * np.outer(u[:, 0], vt[0]) if s[0] > 0 else np.zeros(self.shape)), self.radius * s[0]

    def dual(self, lam):
        x, support = self.atom(lam)
        value = lam @ lam / (2 * self.c) + lam @ self.b + support
        return value, lam / self.c + self.b - x[self.users, self.items], x

    def phi(self, x):
        return np.mean((x[self.users, self.items] - self.b) ** 2)

    def greedy(self, mean, x):
        """The share of x that minimises phi on the segment from the mean."""
        direction = (x - mean)[self.users, self.items]
        residual = self.b - mean[self.users, self.items]
        return np.clip(direction @ residual / (direction @ direction), 0, 1)

    def first_smoothness(self, eps):
        """1/alpha of the analytic step at lam = 0."""
        lam = np.zeros(self.b.size)
        _, gradient, _ = self.dual(lam)
        return 1.0 / self.analytic(lam, gradient, eps)

    def analytic(self, lam, gradient, delta):
        n = gradient @ gradient
        p = n + 2 * self.radius * np.linalg.norm(self.adjoint(gradient), 2) - 2 * (lam / self.c + self.b) @ gradient
        root = np.sqrt(p * p + 4 * delta * n / self.c)
        return 2 * delta / (p + root) if p > 0 else (root - p) / (2 * n / self.c)


TIE = 1.0 + 1e-12
"""The analytic step meets the condition of the search with equality: the naive twins accept that, up to rounding."""


def naive_uni(problem, eps, iterations, greedy=False):
    lam, m, total, mean = np.zeros(problem.b.size), problem.first_smoothness(eps), 0.0, np.zeros(problem.shape)
    for k in range(iterations):
        value, gradient, x = problem.dual(lam)
        m /= 2
        while True:
            new = lam - gradient / m
            step = new - lam
            if problem.dual(new)[0] <= value + gradient @ step + m / 2 * step @ step + eps / 2 * TIE:
                break
            m *= 2
        total += 1 / m
        mean += (x - mean) * (problem.greedy(mean, x) if greedy and k else 1 / (m * total))
        lam = new
    return mean


def naive_acc(problem, eps, iterations, analytic=False, greedy=False):
    lam, m, total, t = np.zeros(problem.b.size), problem.first_smoothness(eps), 0.0, 1.0
    ahead, mean = lam, np.zeros(problem.shape)
    for k in range(iterations):
        value, gradient, x = problem.dual(ahead)
        if analytic:
            m = 1 / problem.analytic(ahead, gradient, eps / t)
            new = ahead - gradient / m
        else:
            while True:
                new = ahead - gradient / m
                step = new - ahead
                if problem.dual(new)[0] <= value + gradient @ step + m / 2 * step @ step + eps / (2 * t) * TIE:
                    break
                m *= 2
        total += t / m
        mean += (x - mean) * (problem.greedy(mean, x) if greedy and k else (t / m) / total)
        next_t = (1 + np.sqrt(1 + 4 * t * t)) / 2
        lam, ahead, t = new, new + (t - 1) / next_t * (new - lam), next_t
    return mean


def naive_frank_wolfe(problem, iterations, line_search):
    x = np.zeros(problem.shape)
    for k in range(iterations):
        residual = x[problem.users, problem.items] - problem.b
        atom, _ = problem.atom(problem.c * residual)
        direction = (atom - x)[problem.users, problem.items]
        best = -(direction @ residual) / (direction @ direction)
        x = x + (np.clip(best, 0, 1) if line_search else 2 / (k + 2)) * (atom - x)
    return x
