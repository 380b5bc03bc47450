"""Predict ratings that are missing: made-up ratings of few tastes, a certified fit, recommendations.

python examples/completion.py
"""

import numpy as np

import unipd
from unipd.apps.completion.generated import generate

made = generate((300, 200), 9000, rank=3, noise=0.4)
held = np.random.default_rng(1).random(made.values.size) < 0.1
train = (made.users[~held], made.items[~held], made.values[~held])
test = (made.users[held], made.items[held], made.values[held])

model = unipd.MatrixCompletion().fit(train)
print(f"radius {model.radius_:.0f} by validation; rank {model.rank_}")
print(f"objective {model.objective_:.2f}, at most {model.gap_:.1e} (relative) above the optimum: certified")
print(f"test RMSE {model.rmse(test):.3f}; the mean alone has {np.std(test[2]):.3f}, noise alone 0.4")

items, ratings = model.recommend(user=7, n=3)
print("for user 7:", ", ".join(f"item {item} ({rating:.2f})" for item, rating in zip(items, ratings, strict=True)))

more = (np.array([7, 1000]), np.array([items[0], 3]), np.array([1.0, 4.5]))
model.partial_fit(more)
print(f"after a rating of 1.0 user 7 is predicted {model.predict([(7, items[0])])[0]:.2f} there")
print(f"a user never seen and item 3: {model.predict([(5000, 3)])[0]:.2f}, from the biases alone")
