"""MaxCut and bisection: the cut, and how far from the bound it can be."""

from __future__ import annotations

import numpy as np

from unipd.report.sections.base import COLOURS, Figure, Section, Table
from unipd.run import Result


def cut_section(result: Result) -> Section | None:
    """Return the section of a cut; None for other results."""
    extras = result.extras
    if not {"cut_value", "sdp_bound", "sides"} <= set(extras):
        return None
    value, bound, sides = float(extras["cut_value"]), float(extras["sdp_bound"]), np.asarray(extras["sides"])
    is_maximum = "ratio" in extras
    larger = int(np.count_nonzero(sides > 0))
    rows = [
        ("nodes, edges", f"{extras.get('nodes', sides.size):,}, {extras.get('edges', 0):,}"),
        ("sides", f"{larger:,} and {sides.size - larger:,} nodes"),
        ("cut found", f"{value:.10g}"),
        ("bound", f"{bound:.10g}"),
    ]
    limit = "larger" if is_maximum else "smaller"
    sentences = [f"No {'cut' if is_maximum else 'bisection'} is {limit} than the bound."]
    if is_maximum:
        share = f"{100.0 * float(extras['ratio']):.2f} %"
        sentences.append(f"The cut found has at least {share} of the maximum weight.")
    traces = [
        {"type": "bar", "orientation": "h", "y": ["cut found", "bound"], "x": [value, bound], "marker": {
            "color": [COLOURS[0], "@faint"]}}
    ]  # fmt: skip
    layout = {"xaxis": {"title": {"text": "weight"}, "rangemode": "tozero"}, "height": 220}
    return Section("Cut", sentences, [Table(("", ""), rows)], [Figure("Cut and bound", traces, layout)])
