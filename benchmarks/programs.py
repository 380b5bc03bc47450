"""Semidefinite programs that several benchmarks solve: files of SDPLIB, and MaxCut programs of random graphs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from unipd.apps.graphs import maxcut_program
from unipd.apps.sdp import SDP
from unipd.io import Graph


def sdplib(folder: Path | None, names: Iterable[str]) -> dict[str, SDP]:
    """Return those of the programs whose files are in the folder, by default sdplib in $UNIPD_DATA."""
    place = folder or Path(os.environ.get("UNIPD_DATA", "."), "sdplib")
    found = {name: place / f"{name}.dat-s" for name in names if (place / f"{name}.dat-s").is_file()}
    if not found:
        raise SystemExit(
            f"no program of SDPLIB in {place}: name the folder, set UNIPD_DATA to the one above, or --quick"
        )
    return {name: SDP.from_file(path) for name, path in found.items()}


def random_maxcut_program(nodes: int) -> SDP:
    """Return the MaxCut program of a graph G(n, 10 / n)."""
    rows, cols = np.nonzero(np.triu(np.random.default_rng(nodes).random((nodes, nodes)) < 10 / nodes, 1))
    return maxcut_program(Graph.of(nodes, rows, cols, np.ones(rows.size)))
