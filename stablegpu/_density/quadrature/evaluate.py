"""Density and distribution function by fixed-panel Gauss-Kronrod quadrature of Nolan's integrals.

As in Julian-Moreno et al. (2016, section 3.1), a fixed number of panels have the same rule, and the
few panels that hold most of the integral are evaluated again. Their panels are equal parts of the
whole interval, without a search; here they lie around the peak, which is searched for first, as in
libstable (Royuela-del-Val et al. 2017, section 3). The integrals are those of
`_density/nolan_formulas.py`.
"""

from __future__ import annotations

import warnings

import numpy as np

from hetero.arrays import Array, Workspace
from hetero.devices import device_of
from stablegpu._density.half_line import half_lines
from stablegpu._density.outputs import output_arrays
from stablegpu._density.quadrature import loops
from stablegpu._density.quadrature.kronrod import FORCED_BELOW, half_rule
from stablegpu._parameters import NAMES, Parameters
from stablegpu.evaluators import Quadrature

WARN_ABOVE = 1e-7
"""Estimated relative error that is worth a warning; the estimate exceeds the error by far."""


def evaluate_flat(
    points: Array,
    parameters: Parameters,
    outputs: dict[str, Array],
    workspace: Workspace,
    quadrature: Quadrature,
) -> None:
    """Evaluate the functions named in `outputs` at flat arrays that are in the workspace."""
    loops(workspace.device).evaluate(
        points,
        parameters.frame,
        half_lines(parameters.alpha, parameters.beta),
        half_rule(quadrature.order),
        (quadrature.panels, quadrature.tolerance, parameters.alpha < FORCED_BELOW),
        output_arrays(outputs, NAMES, workspace),
        outputs["error"],
        workspace.stream,
    )


def warn_of_error(error: Array) -> None:
    """Warn if the quadrature did not converge at some point.

    Arrays on a GPU are not examined, because that would wait for the GPU.
    """
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
