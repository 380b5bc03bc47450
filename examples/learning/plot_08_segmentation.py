r"""
Segmenting an image by submodular minimisation
==============================================

Foreground and background as a set function: :math:`F(S)` is the price of the pixels in :math:`S` plus the length of its
boundary, weighted by how smooth the image is there. Cuts are submodular, so the minimiser can be *certified*: the base
polytope of :math:`F` has exponentially many facets, but its oracle is one sort (Edmonds' greedy algorithm).
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from sklearn.datasets import load_sample_image  # pip install "unipd[learn]"

from unipd.apps.learning import CutFunction
from unipd.apps.learning.submodular import minimise
from unipd.io import Graph

image = load_sample_image("flower.jpg")[:416:10, 120:560:10] / 255.0
height, width = image.shape[:2]
colours = image.reshape(-1, 3)

# %%
# Prices: how much better a pixel fits the background's colour than the flower's, from two patches.

flower, leaves = (
    image[18:24, 18:24].reshape(-1, 3).mean(axis=0),
    image[:6, :6].reshape(-1, 3).mean(axis=0),
)
prices = ((colours - flower) ** 2).sum(axis=1) - ((colours - leaves) ** 2).sum(axis=1)
index = np.arange(height * width).reshape(height, width)
left = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
right = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
smooth = 0.5 * np.exp(-((colours[left] - colours[right]) ** 2).sum(axis=1) / 0.1)
found = minimise(
    CutFunction(Graph.of(height * width, left, right, smooth), prices=prices),
    accuracy=1e-3,
)
print(f"F(S) = {found.value:.4f}, no set is below {found.bound:.4f}")

# %%
# Pixel by pixel the prices alone leave holes; the boundary term closes them.

inside = np.zeros(height * width, dtype=bool)
inside[found.members] = True
pictures = {
    "image": image,
    "prices": prices.reshape(height, width),
    "prices alone": (prices < 0).reshape(height, width),
    "certified minimiser": np.where(
        inside.reshape(height, width)[..., None], image, 1.0
    ),
}
figure, axes = plt.subplots(1, 4, figsize=(10.0, 2.9))
for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
    axis.imshow(picture, cmap="RdBu_r" if title == "prices" else "gray_r")
    axis.set_title(title)
    axis.axis("off")
plt.show()
