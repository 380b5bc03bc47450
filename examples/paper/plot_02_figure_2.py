r"""
Figure 2: matrix completion
===========================

The paper's second experiment on small data: ratings generated from a matrix of rank three, completed in two formulations.
Formulation (a) is a least-squares fit over a nuclear ball, which Frank-Wolfe handles too; formulation (b), least
nuclear norm squared subject to a bounded residual, is out of its reach, and natural for the universal methods. With
MovieLens it is ``unipd reproduce fig2``.
"""

import numpy as np

from unipd.io import Ratings
from unipd.reproduce import generate_ratings, plot_figure2, run_figure2

made = generate_ratings((120, 100), 3600, rank=3, noise=0.3)
held = np.random.default_rng(1).random(made.values.size) < 0.1
train = Ratings(made.users[~held], made.items[~held], made.values[~held])
test = Ratings(made.users[held], made.items[held], made.values[held])
figure2 = run_figure2(train, test, (120, 100), radius=400.0, iterations=40)

# %%
# Left the objective residual, right the error on the ratings that were held out.

figure = plot_figure2(figure2)
