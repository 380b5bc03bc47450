"""Predict missing ratings: synthetic low-rank ratings, a certified fit, recommendations.

python examples/completion.py
"""

import numpy as np

import unipd
from unipd.reproduce import generate_ratings

made = generate_ratings((300, 200), 9000, rank=3, noise=0.4)
held = np.random.default_rng(1).random(made.values.size) < 0.1
train = (made.users[~held], made.items[~held], made.values[~held])
test = (made.users[held], made.items[held], made.values[held])

model = unipd.MatrixCompletion().fit(train)
print(f"radius {model.radius_:.0f} by validation; rank {model.rank_}")
print(f"objective {model.objective_:.2f}, certified relative gap {model.gap_:.1e}")
print(f"test RMSE {model.rmse(test):.3f}; predicting the mean: {np.std(test[2]):.3f}; noise level: 0.4")

items, ratings = model.recommend(user=7, n=3)
print("for user 7:", ", ".join(f"item {item} ({rating:.2f})" for item, rating in zip(items, ratings, strict=True)))

more = (np.array([7, 1000]), np.array([items[0], 3]), np.array([1.0, 4.5]))
model.partial_fit(more)
print(f"after user 7 rates item {items[0]} with 1.0, the prediction is {model.predict([(7, items[0])])[0]:.2f}")
print(f"an unknown user and item 3: {model.predict([(5000, 3)])[0]:.2f}, from the biases alone")
