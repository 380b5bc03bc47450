"""
Ratings, predictions, recommendations
=====================================

A model with biases and a low-rank matrix, fitted jointly and to a certified gap: what each user would say of each item,
which items to recommend, and what a new user with a handful of ratings gets without another fit.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
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
print(
    f"test RMSE {model.rmse(test):.3f}; predicting the mean: {np.std(test[2]):.3f}; noise level: 0.4"
)

# %%
# Recommendations, and what changes when a user disagrees with one of them.

items, ratings = model.recommend(user=7, n=3)
print(
    "for user 7:",
    ", ".join(
        f"item {item} ({rating:.2f})"
        for item, rating in zip(items, ratings, strict=True)
    ),
)
before = model.predict([(7, item) for item in range(200)])
model.partial_fit((np.array([7, 1000]), np.array([items[0], 3]), np.array([1.0, 4.5])))
after = model.predict([(7, item) for item in range(200)])
print(
    f"after user 7 rates item {items[0]} with 1.0, the prediction is {after[items[0]]:.2f}"
)
print(
    f"an unknown user and item 3: {model.predict([(5000, 3)])[0]:.2f}, from the biases alone"
)

# %%
# Left, predictions against ratings that the fit has not seen. Right, one low rating moves the predictions of similar
# items, not only its own.

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.5))
predicted = model.predict(list(zip(test[0], test[1], strict=True)))
axes[0].plot(test[2], predicted, ".", alpha=0.3)
low, high = float(np.min(test[2])), float(np.max(test[2]))
axes[0].plot([low, high], [low, high], color="0.4", linewidth=1.0)
axes[0].set(
    xlabel="rating",
    ylabel="prediction",
    title=f"held-out ratings, RMSE {model.rmse(test):.3f}",
)
order = np.argsort(-before)
axes[1].plot(before[order], color="0.6", label="before")
axes[1].plot(
    after[order],
    ".",
    markersize=4,
    color="C1",
    label=f"after a low rating of item {items[0]}",
)
axes[1].set(xlabel="items, best first", ylabel="prediction for user 7")
axes[1].legend()
plt.show()
