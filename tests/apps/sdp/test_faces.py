"""Facial reduction against dense references."""

import numpy as np

from unipd.apps.sdp import SdpData, find_face
from unipd.maps import CostAndConstraintsMap, Entries, Reflection, SdpMap


def test_face_multiplier_keeps_its_promise():
    half = np.random.default_rng(2).standard_normal((5, 5))
    slack = half + half.T
    ones = Entries.from_matrices([2.0 * np.ones((5, 5))])
    data = SdpData(5, ones, ones, np.zeros(1), np.zeros(1))
    face = find_face(data)
    basis = Reflection(np.ones(5)).toarray()
    smallest = np.linalg.eigvalsh(basis.T @ slack @ basis)[0]
    operator = CostAndConstraintsMap(SdpMap((5, 5), Entries.from_matrices([slack, np.eye(5)]), 2)).cost
    for loss in (1e-1, 1e-4, 1e-7):
        multiplier = face.multiplier(operator, smallest, loss)
        bottom = np.linalg.eigvalsh(slack + multiplier * 2.0 * np.ones((5, 5)))[0]
        assert smallest - loss * (1 + 1e-6) - 1e-9 <= bottom <= smallest + 1e-9


def test_no_face_unless_the_right_hand_side_is_zero():
    ones = Entries.from_matrices([np.ones((3, 3))])
    assert find_face(SdpData(3, ones, ones, np.ones(1), np.ones(1))) is None
    assert find_face(SdpData(3, ones, ones, np.zeros(1), np.ones(1))) is None
