"""pdf, cdf, sf and quantiles by piecewise polynomials that are prepared for one (alpha, beta)."""

from __future__ import annotations

import math

from hetero.arrays import Array, Workspace
from stablegpu._density import polynomials
from stablegpu._density.outputs import output_arrays
from stablegpu._density.polynomials.build import segments_of
from stablegpu._parameters import Parameters, Restoration
from stablegpu.evaluators import Interpolation

WORTH = {"nodes": 200_000, "quadrature": 20_000}
"""Points from which preparing pays, by the evaluator that would be taken instead."""


def is_heavy(parameters: Parameters) -> bool:
    """Return whether both tails are power laws, so that nothing underflows at the segments."""
    return parameters.alpha < 2.0 and abs(parameters.beta) < 1.0


def evaluate_flat(
    points: Array,
    parameters: Parameters,
    outputs: dict[str, Array],
    workspace: Workspace,
    settings: Interpolation,
) -> None:
    """Evaluate those of pdf, cdf and sf that `outputs` names, at flat arrays in the workspace."""
    from stablegpu._density.polynomials.formulas import Centring

    centred, halves, segments = segments_of(parameters.alpha, parameters.beta, settings.tolerance)
    mantissa, exponent = math.frexp(parameters.scale)
    power, inverse = math.ldexp(1.0, -exponent), 1.0 / mantissa
    names = ("pdf", "cdf", "sf")
    polynomials.loops(workspace.device).evaluate(
        points,
        Centring(parameters.loc, power, inverse, *_shift(centred, parameters)),
        halves,
        segments,
        output_arrays(outputs, names, workspace),
        workspace.stream,
    )


def invert_flat(
    p: Array,
    upper: bool,
    parameters: Parameters,
    x: Array,
    workspace: Workspace,
    settings: Interpolation,
) -> None:
    """Write the quantiles of flat p to x, both in the workspace."""
    centred, halves, segments = segments_of(parameters.alpha, parameters.beta, settings.tolerance)
    shift = _shift(centred, parameters)
    polynomials.loops(workspace.device).invert(
        p,
        upper,
        Restoration(parameters.loc, parameters.scale, *shift, *parameters.support),
        halves,
        segments,
        x,
        workspace.stream,
    )


def _shift(centred: Parameters, parameters: Parameters) -> tuple[float, float]:
    """Return the offset, in two parts, that is subtracted from (x - loc)/scale to center it."""
    if centred.parameterization == parameters.parameterization and centred.alpha != 1.0:
        return 0.0, 0.0
    sign = 1.0 if parameters.parameterization == "S0" else -1.0
    high, low = parameters.offset
    return sign * high, sign * low
