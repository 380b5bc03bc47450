r"""
Phase retrieval of an image
===========================

A camera measures the intensities :math:`|F D_l x|^2` of Fourier transforms behind random masks :math:`D_l`, not the
phases. Lifted to :math:`X = x x^*`, the intensities are linear in :math:`X`, and the trace is the energy of the image:
a template over the trace ball, whose matrix of :math:`n^2` entries is never formed. Its oracle is an eigenvector, by
FFTs.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np
from sklearn.datasets import load_digits  # pip install "unipd[learn]"

from unipd.apps.phase_retrieval import retrieve
from unipd.atoms import LowRank
from unipd.maps import CodedDiffraction

image = np.kron(load_digits().images[4] / 16.0, np.ones((2, 2)))
x = image.reshape(-1).astype(complex)
patterns = CodedDiffraction.random(x.size, 6)
intensities = patterns.image(LowRank(x[:, None], x[:, None], np.ones(1)))
noisy = intensities * (
    1.0 + 0.05 * np.random.default_rng(0).standard_normal(intensities.size)
)

# %%
# From exact intensities the image is recovered to many digits; from noisy ones up to the noise. The global phase is
# lost in the measurement and fixed here by the sum.


def recovered_image(y, **options):
    """Return the image retrieved from intensities."""
    signal = retrieve(patterns, y, **options).signal
    return np.real(signal * np.exp(-1j * np.angle(signal.sum()))).reshape(image.shape)


exact = recovered_image(intensities)
rough = recovered_image(np.maximum(noisy, 0.0), accuracy=1e-4)
print(
    f"error: {np.linalg.norm(exact - image):.1e} from exact, {np.linalg.norm(rough - image):.2f} from noisy intensities"
)

figure, axes = plt.subplots(1, 4, figsize=(10.0, 2.8))
pictures = {
    "image": image,
    "one intensity pattern": np.log1p(intensities[: x.size]).reshape(image.shape),
    "retrieved": exact,
    "retrieved, 5 % noise": rough,
}
for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
    axis.imshow(picture, cmap="magma")
    axis.set_title(title)
    axis.axis("off")
plt.show()
