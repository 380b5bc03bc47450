"""Panels of the picture of a tomography run: convergence, spectrum, and the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import FloatArray
from unipd.report import style
from unipd.report.city import power_of_ten
from unipd.report.convergence import draw_bound
from unipd.report.curves import curves
from unipd.report.points import positive, raised, shown_accuracy, thinned

if TYPE_CHECKING:
    from unipd.apps.tomography import Fit, QuantumState

EIGENVALUES = 30
"""Eigenvalues drawn at most."""
FEW = 6
"""Up to so many eigenvalues are drawn as bars, more as a curve."""
POINTS = 4000
"""Measurements drawn at most."""
DIFFERENT = 1.02
"""Factor from which on two curves are told apart."""


def draw_convergence(axes: Any, fit: Fit, theme: style.Theme) -> None:
    """Draw the certified gap, and the objective above the final bound where that is another curve."""
    data = curves(fit.result, "matvecs")
    kept = thinned(data.position.size)
    at, accuracy = data.position[kept], fit.result.accuracy
    gap, residual = (raised(positive(values), accuracy)[kept] for values in (data.gap, data.residual))
    marker = "o" if at.size < 20 else None
    axes.set_yscale("log")
    both = np.isfinite(gap) & np.isfinite(residual)
    if np.any(gap[both] > DIFFERENT * residual[both]) or np.any(np.isfinite(residual) & ~np.isfinite(gap)):
        label = "objective above the final bound"
        axes.plot(at, residual, color=theme.cycle[0], linewidth=1.0, marker=marker, markersize=2.5, label=label)
    axes.plot(at, gap, color=theme.cycle[2], linewidth=1.5, marker=marker, markersize=3, label="certified gap")
    if data.infeasibility is not None:
        shown = raised(positive(data.infeasibility), accuracy)[kept]
        axes.plot(at, shown, color=theme.cycle[1], linewidth=1.3, marker=marker, markersize=3, label="infeasibility")
    asked = shown_accuracy(accuracy)
    if np.isfinite(asked):
        axes.axhline(asked, color=theme.faint, linewidth=0.9, linestyle=(0, (1, 2)), label="asked accuracy")
    _set_decades(axes, [*gap, *residual, asked, draw_bound(axes, data, theme)])
    axes.set_xlim(0.0, 1.05 * float(at[-1]))
    if at[0] > 0.25 * at[-1]:
        axes.axvspan(0.0, at[0], color=theme.grid, alpha=0.45, linewidth=0)
        axes.text(
            0.5 * float(at[0]), 0.9, "first eigenvector\nand first steps", transform=axes.get_xaxis_transform(),
            ha="center", va="center", fontsize=6.5, color=theme.faint,
        )  # fmt: skip
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=4)
    axes.set_xlabel(data.label)
    axes.set_ylabel("relative error")
    style.dress(axes, theme)
    style.legend_above(axes, theme)


def draw_spectrum(axes: Any, state: QuantumState, target: QuantumState | None, theme: style.Theme) -> None:
    """Draw eigenvalues: bars when there are few, else a curve on a logarithmic axis; and figures of the state."""
    shown = state.eigenvalues[:EIGENVALUES]
    places = np.arange(1, shown.size + 1)
    if shown.size <= FEW:
        axes.bar(places, shown, width=0.55, color=theme.cycle[0], label="estimate")
        axes.set_ylim(0.0, 1.08)
    else:
        axes.set_yscale("log")
        axes.plot(places, shown, color=theme.cycle[0], linewidth=0.7, marker="o", markersize=3.5, label="estimate")
    if target is not None:
        true = target.eigenvalues[:EIGENVALUES]
        style_of = {"linewidth": 0.0, "marker": "x", "markersize": 5, "color": theme.cycle[1], "label": "true state"}
        axes.plot(np.arange(1, true.size + 1), true, **style_of)
    axes.set_xlim(0.4, max(4, shown.size) + 0.6)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("index")
    axes.set_ylabel("eigenvalue")
    style.dress(axes, theme)
    axes.grid(visible=False, axis="x")
    _legend(axes, theme, "upper right")
    corner = (0.97, 0.66, "right", "top") if shown.size <= FEW else (0.04, 0.05, "left", "bottom")
    _note(axes, _figures(state, target), corner, theme)


def _figures(state: QuantumState, target: QuantumState | None) -> str:
    """Return rank, purity, entropy and, when the truth is known, the fidelity, a line each."""
    lines = [f"rank {state.effective_rank()}", f"purity {state.purity:.4f}", f"entropy {abs(state.entropy):.3f} bits"]
    if target is not None:
        missing = max(0.0, 1.0 - state.fidelity(target))
        lines.append(f"infidelity {missing:.1e}" if missing < 1e-3 else f"fidelity {1.0 - missing:.4f}")
    return "\n".join(lines)


def draw_data(axes: Any, fit: Fit, theme: style.Theme) -> None:
    """Draw measured against fitted values, and say how far they are apart."""
    count = fit.data.size
    some = np.arange(count) if count <= POINTS else np.linspace(0, count - 1, POINTS).astype(int)
    measured, fitted = fit.data.expectations[some], fit.fitted[some]
    largest = max(float(np.abs(measured).max()), float(np.abs(fitted).max()), 1e-9)
    power = power_of_ten(largest)
    scale, reach = 10.0**-power, 1.05 * largest * 10.0**-power
    axes.plot([-reach, reach], [-reach, reach], color=theme.faint, linewidth=0.8)
    axes.plot(
        scale * fitted, scale * measured, linewidth=0.0, marker=".", markersize=2.2, alpha=0.5, color=theme.cycle[0]
    )
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(nbins=5, symmetric=True)
    unit = f"  ($10^{{{power}}}$)" if power else ""
    axes.set_xlabel(f"fitted expectation value{unit}")
    axes.set_ylabel(f"measured{unit}")
    style.dress(axes, theme)
    _note(axes, _differences(fit), (0.97, 0.05, "right", "bottom"), theme)


def _differences(fit: Fit) -> str:
    """Return the number of values, their distance and, when errors are known, that distance in units of them."""
    from unipd.apps.tomography.problem import standard_errors

    difference = fit.fitted - fit.data.expectations
    lines = [f"{fit.data.size:,} values", f"rms difference {_rms(difference):.1e}"]
    errors = standard_errors(fit.data)
    if errors is not None:
        lines.append(f"= {_rms(difference / errors):.2f} standard errors")
    return "\n".join(lines)


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _set_decades(axes: Any, values: list[float]) -> None:
    """Show all values on a logarithmic axis, with two decades at least."""
    usable = [value for value in values if np.isfinite(value) and value > 0]
    low, high = np.log10(min(usable)), np.log10(max(usable))
    missing = max(0.0, 2.0 - (high - low))
    axes.set_ylim(10.0 ** (low - 0.3 - missing), 10.0 ** (high + 0.3 + missing))


def _legend(axes: Any, theme: style.Theme, place: str) -> None:
    box = axes.legend(fontsize=6.5, labelcolor=theme.ink, handlelength=1.8, loc=place)
    box.get_frame().set(facecolor=theme.background, edgecolor="none", alpha=0.8)


def _note(axes: Any, text: str, corner: tuple[float, float, str, str], theme: style.Theme) -> None:
    x, y, horizontal, vertical = corner
    axes.text(x, y, text, transform=axes.transAxes, ha=horizontal, va=vertical, fontsize=6.5, color=theme.ink)
