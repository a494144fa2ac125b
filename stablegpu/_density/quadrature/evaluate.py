"""Density and distribution function by fixed-panel Gauss-Kronrod quadrature of Nolan's integrals.

Method: Julian-Moreno et al. (2016), section 3.1: a fixed number of panels around the peak, all with
the same rule, and another evaluation of the few panels that turn out to hold what matters. See
`_density/nolan_formulas.py` for the integrals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import device_of
from hetero.jit import loops_for
from stablegpu._density.quadrature.kronrod import half_rule
from stablegpu._parameters import NAMES, Parameters, half_lines

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
    tolerance: float = 1e-12

    def __post_init__(self):
        if not 8 <= self.panels <= 16:
            raise ValueError(f"panels must lie in 8..16, got {self.panels!r}")
        if self.order not in (7, 9, 11, 13, 15):
            raise ValueError(f"order must be odd and lie in 7..15, got {self.order!r}")
        if not 1e-13 <= self.tolerance <= 1e-2:
            raise ValueError(f"tolerance must lie in [1e-13, 1e-2], got {self.tolerance!r}")


def evaluate_flat(
    points,
    parameters: Parameters,
    outputs: dict,
    work: Workspace,
    quadrature: Quadrature = Quadrature(),
) -> None:
    """`evaluate` for flat arrays that are already in the workspace; `outputs` names the outputs."""
    unwanted = None if all(name in outputs for name in NAMES) else work.output((0,))
    loops_for("stablegpu._density.quadrature", work.device).evaluate(
        points,
        parameters.frame,
        *half_lines(parameters.alpha, parameters.beta),
        half_rule(quadrature.order),
        quadrature.panels,
        quadrature.tolerance,
        parameters.alpha < FORCED_BELOW,
        tuple(outputs.get(name, unwanted) for name in NAMES),
        outputs["error"],
        work.stream,
    )


def warn(error) -> None:
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
