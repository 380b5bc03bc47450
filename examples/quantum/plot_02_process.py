r"""
A noisy gate by process tomography
==================================

A controlled-NOT with 5 % depolarizing noise and a small over-rotation, from the counts of 16 input states in 9 bases.
The estimate is the channel of largest likelihood among all completely positive, trace-preserving maps, certified to be
so. Its Pauli transfer matrix, less that of the ideal gate, shows what kind of error the gate has.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

from unipd.apps.process_tomography import (
    GATES,
    ProcessTomography,
    as_channel,
    diamond_distance,
    noisy_channel,
    simulate_process,
)

angle = 0.15
turn = np.kron(np.diag([np.exp(-0.5j * angle), np.exp(0.5j * angle)]), np.eye(2))
truth = noisy_channel(turn @ GATES["cx"], depolarizing=0.05)
counts = simulate_process(truth, shots=2000, seed=1)
estimate = ProcessTomography().fit_counts(counts)
channel = estimate.channel_
print(
    f"status {estimate.result_.status.value}, gap {estimate.result_.absolute_gap:.1e} nats"
)
print(
    f"process fidelity {channel.process_fidelity('cx'):.4f}, true {truth.process_fidelity('cx'):.4f}"
)

# %%
# The worst case over all inputs, also entangled ones, is the diamond distance, between proven bounds. The unitarity
# separates coherent errors, such as the over-rotation, from noise.

distance = diamond_distance(channel, "cx")
print(
    f"diamond distance {distance.value:.4f} to {distance.upper_bound:.4f}; unitarity {channel.unitarity:.4f}"
)

# %%
# Deviations of the Pauli transfer matrix from that of the ideal gate: the over-rotation appears off the pattern of the
# gate, the depolarizing noise as a loss of all its entries but the first.

letters = [first + second for first in "IXYZ" for second in "IXYZ"]
figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
for axis, matrix, title in zip(
    axes,
    (channel.ptm, channel.ptm - as_channel("cx").ptm),
    ("Pauli transfer matrix", "less the ideal gate"),
    strict=True,
):
    limit = np.abs(matrix).max()
    picture = axis.imshow(matrix, cmap="RdBu", vmin=-limit, vmax=limit)
    axis.set(title=title, xlabel="input", ylabel="output")
    axis.set_xticks(range(16), letters, fontsize=7, rotation=90)
    axis.set_yticks(range(16), letters, fontsize=7)
    figure.colorbar(picture, ax=axis, shrink=0.8)
plt.show()
