r"""
Inpainting a photograph
=======================

Half of the pixels of a photograph are missing at random, and scratches cover others. Blocks of the
image resemble each other, so that the matrix whose columns are its :math:`8 \times 8` patches has nearly low rank: a
completion over a nuclear ball fills the holes.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from sklearn.datasets import load_sample_image  # pip install "unipd[learn]"

import unipd

photograph = load_sample_image("china.jpg")[60:316:2, 230:486:2].mean(axis=2) / 255.0
side, block = photograph.shape[0], 8
rng = np.random.default_rng(0)
known = rng.random(photograph.shape) < 0.5
known[60:66, 20:108] = False
known[30:98:12, 84:87] = False

# %%
# Patches become columns and back; the mean brightness is removed.


def to_patches(image):
    """Return the patches of an image as columns."""
    grid = image.reshape(side // block, block, side // block, block).swapaxes(1, 2)
    return grid.reshape(-1, block * block).T


def to_image(patches):
    """Return the image with the given patches."""
    grid = patches.T.reshape(side // block, side // block, block, block).swapaxes(1, 2)
    return grid.reshape(side, side)


level = photograph[known].mean()
seen = to_patches(known)
rows, columns = np.nonzero(seen)
b = to_patches(photograph)[seen] - level
radius = 0.8 * np.linalg.norm(to_patches(photograph) - level, "nuc")
problem = unipd.Problem(
    unipd.sharp.NuclearBall(seen.shape, radius),
    unipd.maps.Sampling(rows, columns, seen.shape),
    b,
    unipd.couplings.LeastSquares(),
)
result = unipd.solve(problem, accuracy=1e-3)
filled = to_image(unipd.atoms.dense(result.x)) + level
print(
    f"{result.status.value}: gap {result.gap:.0e}, {result.counts.oracle_calls} oracle calls"
)

# %%
# The certificate says how much of the remaining error is the model's, not the solver's.

pictures = {
    "photograph": photograph,
    "known pixels": np.where(known, photograph, 1.0),
    "completed": np.clip(filled, 0, 1),
}
figure, axes = plt.subplots(1, 3, figsize=(9.0, 3.2))
for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
    error = np.sqrt(((picture - photograph)[~known] ** 2).mean())
    axis.imshow(picture, cmap="gray", vmin=0.0, vmax=1.0)
    axis.set_title(title if title == "photograph" else f"{title} (error {error:.3f})")
    axis.axis("off")
plt.show()
