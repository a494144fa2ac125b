"""A figure of the errors of log_ndtr, and of the logarithm of ndtr, in ulp."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from hetero import Device


def reference(x: np.ndarray, bits: int = 140) -> list:
    """Return log_ndtr at `x` as python-flint numbers, far more precise than float64."""
    from flint import arb, ctx

    before, ctx.prec = ctx.prec, bits
    try:
        return [_log_ndtr(arb(float(v))) for v in x]
    finally:
        ctx.prec = before


def _log_ndtr(x: Any) -> Any:
    from flint import arb

    a, root = abs(x), arb(2).sqrt()
    if x < -(10**4):  # DLMF 7.12.1
        series = -1 / a**2 + 3 / a**4 - 15 / a**6
        return -(a**2) / 2 - (a * root * arb.pi().sqrt()).log() + series.log1p()
    q = (a / root).erfc() / 2
    return (-q).log1p() if x > 0 else q.log()


def ulps(result: np.ndarray, exact: list) -> np.ndarray:
    """Return (result - exact) in units in the last place of exact, in the type of `result`."""
    from flint import arb

    kind = np.finfo(result.dtype)
    errors = np.empty(len(exact))
    for i, (value, true) in enumerate(zip(result.tolist(), exact, strict=True)):
        exponent = max(math.frexp(float(true.mid()))[1] - 1, kind.minexp)
        scaled = (true - value) * arb(2) ** int(kind.nmant - exponent)
        errors[i] = -float(scaled.mid()) if math.isfinite(value) else math.inf
    return errors


def draw(path: Path, points: int = 4000, device: str | Device | None = None) -> None:
    """Save the figure: x over the seams (-1, 0, 5, 6, and where results underflow)."""
    from matplotlib.figure import Figure

    from stablegpu.special.functions import log_ndtr

    figure = Figure(figsize=(9, 7), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    for dtype, ends, colour in (
        (np.float64, (-40.0, 38.5), "tab:blue"),
        (np.float32, (-40.0, 14.2), "tab:orange"),
    ):
        x = np.linspace(*ends, points).astype(dtype)
        exact = reference(x)
        ours = ulps(log_ndtr(x, device=device), exact)
        upper.plot(x, ours, ".", ms=2, color=colour, label=f"log_ndtr, {np.dtype(dtype)}")
        if dtype is np.float64:
            naive = np.abs(ulps(_naive(x), exact))
            lower.semilogy(x, naive + 1e-2, ".", ms=2, color="tab:red", label="log(ndtr(x))")
        lower.semilogy(x, np.abs(ours) + 1e-2, ".", ms=2, color=colour)
    for seam in (-1.0, 0.0, 5.0, 6.0):
        upper.axvline(seam, color="0.8", zorder=0)
        lower.axvline(seam, color="0.8", zorder=0)
    upper.set_ylabel("error in ulp")
    lower.set_ylabel("|error| in ulp + 0.01")
    lower.set_xlabel("x")
    upper.legend(loc="upper right")
    lower.legend(loc="upper left")
    figure.savefig(path)


def _naive(x: np.ndarray) -> np.ndarray:
    from stablegpu.special.functions import ndtr

    with np.errstate(divide="ignore"):
        return np.log(ndtr(x, device="cpu"))
