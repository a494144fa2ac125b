"""Density and distribution function by fixed-panel Gauss-Kronrod quadrature of Nolan's integrals.

Method: Julian-Moreno et al. (2016), section 3.1: a fixed number of panels, all with the same rule,
and another evaluation of the few panels that turn out to hold what matters. See
`_density_math.py` for the integrals.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero import region
from hetero.arrays import Workspace, as_real, device_of
from hetero.devices import resolve
from hetero.jit import twin
from stablegpu._kronrod import half_rule
from stablegpu._parameters import Parameters, sides

BREAK_EVEN = 100
"""Points from which one H200 beats 16 cores beside it, transfers included (2 cores: 25)."""

WARN_ABOVE = 1e-7
"""Estimated relative error that is worth a warning; the estimate exceeds the error by far."""

FORCED_BELOW = 0.3
"""Stability indices under which the panels that matter are always evaluated a second time."""


@dataclass(frozen=True)
class Quadrature:
    """Settings of the evaluator.

    Attributes
    ----------
    panels : int
        Panels that the interval is cut into; 8 to 16.
    order : int
        Points of the Gauss rule, odd, 7 to 15; Kronrod's extension has 2 order + 1 points.
    tolerance : float
        A panel is evaluated again when Gauss's and Kronrod's sums differ by more than this
        fraction of the integral. The error of Kronrod's sum is far smaller.
    """

    panels: int = 16
    order: int = 11
    tolerance: float = 1e-10

    def __post_init__(self):
        if not 8 <= self.panels <= 16:
            raise ValueError(f"panels must lie in 8..16, got {self.panels!r}")
        if self.order not in (7, 9, 11, 13, 15):
            raise ValueError(f"order must be odd and lie in 7..15, got {self.order!r}")
        if not 1e-12 <= self.tolerance <= 1e-2:
            raise ValueError(f"tolerance must lie in [1e-12, 1e-2], got {self.tolerance!r}")


@dataclass(frozen=True)
class Evaluation:
    """Values at points, arrays of one shape.

    Attributes
    ----------
    pdf, cdf, sf : density, distribution function and 1 - cdf, each to full relative accuracy
    logpdf, logcdf, logsf : their logarithms, also where they underflow
    error : estimated relative error of the quadrature, the largest of the integrals'; pessimistic

    What was not asked for is None.
    """

    pdf: Any = None
    cdf: Any = None
    sf: Any = None
    logpdf: Any = None
    logcdf: Any = None
    logsf: Any = None
    error: Any = None


NAMES = ("pdf", "cdf", "sf", "logpdf", "logcdf", "logsf")


def evaluate(
    x,
    parameters: Parameters,
    *,
    quadrature: Quadrature = Quadrature(),
    want: tuple[str, ...] = NAMES,
    out: dict | None = None,
    device=None,
) -> Evaluation:
    """pdf, cdf and sf at `x` for one set of parameters.

    Parameters
    ----------
    x : array_like of float, any shape
        Points; NaN gives NaN, +-inf the limits. float32 and integers are read as float64.
    want : tuple of names from NAMES
        What is to be kept; the error always is.
    out : dict, optional
        Arrays by name to write to: float64, C-contiguous, of the shape of x, on the device of x.

    Returns
    -------
    Evaluation of float64 arrays (scalars for a scalar x) of the kind of x.

    Raises
    ------
    TypeError : x holds no real numbers
    hetero.DeviceUnavailableError : the device asked for cannot be used
    """
    out = out or {}
    if device_of(x) is None:
        x = as_real("x", x)
    shape = tuple(x.shape)
    device = resolve(device, x, work=math.prod(shape), break_even=BREAK_EVEN)
    with device.active(), region("stable density"):
        work = Workspace(device, x)
        points = work.input("x", x)
        kept = {name: work.output(shape, out=out.get(name)) for name in (*want, "error")}
        if points.size:
            evaluate_flat(points, parameters, kept, work, quadrature)
        found = Evaluation(**{n: work.result(a, shape, out.get(n)) for n, a in kept.items()})
    _warn(found.error)
    return found


def evaluate_flat(
    points,
    parameters: Parameters,
    kept: dict,
    work: Workspace,
    quadrature: Quadrature = Quadrature(),
) -> None:
    """`evaluate` for flat arrays that are already in the workspace; `kept` names the outputs."""
    right, left, flip = sides(parameters.alpha, parameters.beta)
    unwanted = None if len(kept) > len(NAMES) else work.output((0,))
    twin("stablegpu._density", work.device).evaluate(
        points,
        parameters.loc,
        parameters.scale,
        *parameters.offset,
        parameters.parameterization == "S0",
        flip,
        right,
        left,
        half_rule(quadrature.order),
        quadrature.panels,
        quadrature.tolerance,
        parameters.alpha < FORCED_BELOW,
        tuple(kept.get(name, unwanted) for name in NAMES),
        kept["error"],
        work.stream,
    )


def _warn(error) -> None:
    """Say where the quadrature did not converge. Device arrays are left alone: no hidden wait."""
    if device_of(error) is not None:
        return
    worst = np.fmax.reduce(np.asarray(error), axis=None, initial=0.0)
    if worst > WARN_ABOVE:
        warnings.warn(
            f"the estimated relative error of the stable density or distribution function reaches "
            f"{worst:.1e}; a Quadrature of higher order or with more panels would lower it",
            RuntimeWarning,
            stacklevel=5,
        )
