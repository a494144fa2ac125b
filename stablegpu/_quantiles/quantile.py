"""Quantiles by polynomials, if many are needed, or by Newton's method.

Newton's method searches the distribution function within a bracket, for all points at once.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any

from hetero import Device, region
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from hetero.distributed.engines import Engine
from stablegpu import _quantiles
from stablegpu._density.choose import (
    choose_evaluator,
    evaluate,
    evaluate_flat,
    fastest_exact_evaluator,
)
from stablegpu._density.half_line import half_lines
from stablegpu._density.nodes.evaluate import nodes_of
from stablegpu._density.polynomials import evaluate as polynomials_evaluate
from stablegpu._numerics.arrays_in_parts import Range, fill_in_parts, require_host_array
from stablegpu._parameters import Parameters, Restoration
from stablegpu.evaluators import Interpolation, Quadrature, check_evaluator

if TYPE_CHECKING:
    from stablegpu._quantiles.formulas import Centre

BREAK_EVEN = {"nodes": 100_000, "quadrature": 20}
"""Quantiles from which one H200 beats 16 cores beside it, transfers included."""

WORTH = 2000
"""Quantiles from which preparing polynomials pays."""

_CENTRED = 0.1  # distance of alpha from 1 within which S0 is used
_VALUES = ("logpdf", "cdf", "sf", "logcdf", "logsf")


def quantile(
    p: Any,
    parameters: Parameters,
    *,
    upper: bool = False,
    evaluator: Any = None,
    out: Any = None,
    device: str | Device | None = None,
) -> Any:
    """Return x with P(X <= x) = p, or with P(X > x) = p if `upper`.

    Parameters
    ----------
    p : array_like of float
        Any shape. 0 and 1 give the ends of the support, NaN and values outside [0, 1] NaN.
    out : float64 array, optional
        C-contiguous, the shape and device of `p`.

    Returns
    -------
    float64 array of the kind and shape of `p`; a float for a scalar.

    Notes
    -----
    The tail probability is never subtracted from 1: p down to 1e-300 in the left tail, and
    `upper=True` for the same in the right one. Relative error of (x - loc)/scale a few 1e-15 where
    that is well conditioned, that is p / (|a| pdf(a)) of order one.
    """
    from stablegpu._quantiles.formulas import MOST_STEPS, Search, Values

    if device_of(p) is None:
        p = as_real("p", p)
    shape = tuple(p.shape)
    least = BREAK_EVEN[fastest_exact_evaluator(parameters.alpha)]
    target = resolve(device, p, work=math.prod(shape), break_even=least)
    chosen = _choose(parameters, evaluator, math.prod(shape))
    with target.active(), region("stable quantile"):
        workspace = Workspace(target, p)
        probabilities = workspace.input("p", p)
        result = workspace.output(shape, out=out)
        if isinstance(chosen, Interpolation) and math.prod(shape):
            polynomials_evaluate.invert_flat(
                probabilities, upper, parameters, result, workspace, chosen
            )
        elif math.prod(shape):
            steps = _quantiles.loops(target)
            standard, restoration = _standard(parameters)
            centre = _centre(standard)
            if chosen == "nodes":
                distribution = (standard.frame, *nodes_of(standard.alpha, standard.beta))
                steps.invert_by_nodes(
                    *(probabilities, upper, centre, restoration, distribution, result),
                    workspace.stream,
                )
                return workspace.result(result, shape, out)
            search = Search(*(workspace.output(shape) for _ in Search._fields))
            values = Values(*(workspace.output(shape) for _ in _VALUES))
            error = workspace.output(shape)
            steps.begin(probabilities, upper, centre, search, result, workspace.stream)
            for _ in range(MOST_STEPS):
                outputs = dict(zip(_VALUES, values, strict=True)) | {"error": error}
                evaluate_flat(result, standard, outputs, workspace, chosen)
                if not steps.step(
                    probabilities, upper, centre, values, search, result, workspace.stream
                ):
                    break
            steps.finish(restoration, search.s, result, result, workspace.stream)
        return workspace.result(result, shape, out)


def quantile_in_parts(
    p: Any,
    parameters: Parameters,
    engine: Engine,
    *,
    upper: bool = False,
    evaluator: Any = None,
    out: Any = None,
) -> Any:
    """Return what `quantile` does, of ranges of p that an engine shares out.

    Raises TypeError if p is on a GPU.
    """
    require_host_array("p", p)
    p = as_real("p", p)
    chosen = _choose(parameters, evaluator, p.size)
    workspace = Workspace(Device("cpu"), p)
    probabilities, result = workspace.input("p", p), workspace.output(p.shape, out=out)
    task = functools.partial(_invert_range, parameters, upper, chosen)
    if probabilities.size:
        fill_in_parts(engine, task, (probabilities,), (result,), "stable quantiles")
    return workspace.result(result, p.shape, out)


def _invert_range(
    parameters: Parameters,
    upper: bool,
    chosen: Quadrature | Interpolation | str,
    part: Range,
    device: Device,
) -> tuple[Any]:
    """Return the quantiles in a range of the probabilities."""
    out = part.outputs[0] if part.outputs else None
    return (
        quantile(part.inputs[0], parameters, upper=upper, evaluator=chosen, out=out, device=device),
    )


def _choose(parameters: Parameters, evaluator: Any, size: int) -> Quadrature | Interpolation | str:
    """Return the evaluator: polynomials are inverted directly, others serve Newton's method."""
    evaluator = check_evaluator(evaluator)
    if evaluator is None and size >= WORTH and polynomials_evaluate.is_heavy(parameters):
        evaluator = choose_evaluator(parameters, None, 100 * size, ("cdf",))
    if isinstance(evaluator, Interpolation):
        return evaluator
    return choose_evaluator(parameters, evaluator, 0, _VALUES)


def _standard(parameters: Parameters) -> tuple[Parameters, Restoration]:
    """Return the distribution with loc 0 and scale 1 that is searched, and the way back from it.

    Next to alpha = 1 it is that of S0: S1 moves the distribution far away there, and the
    quantile of S1 has too few digits for its distribution function.
    """

    def restoration(loc: float, shift: float = 0.0, shift_low: float = 0.0) -> Restoration:
        return Restoration(loc, parameters.scale, shift, shift_low, *parameters.support)

    if parameters.alpha == 1.0:  # S1 does not scale there
        moved = parameters.converted("S0")
        return dataclasses.replace(moved, loc=0.0, scale=1.0), restoration(moved.loc)
    standard = dataclasses.replace(parameters, loc=0.0, scale=1.0)
    if parameters.parameterization == "S0" or abs(parameters.alpha - 1.0) >= _CENTRED:
        return standard, restoration(parameters.loc)
    high, low = parameters.offset
    centred = dataclasses.replace(standard, parameterization="S0")
    return centred, restoration(parameters.loc, -high, -low)


@functools.lru_cache(maxsize=256)
def _centre(standard: Parameters) -> Centre:
    """Compute the constants of the centre, from which quantiles are searched."""
    from stablegpu._quantiles.formulas import Centre

    result = evaluate(0.0, standard, names=("pdf", "cdf", "sf"), device="cpu")
    alpha, beta = standard.alpha, standard.beta
    symmetric = beta == 0.0 or alpha == 2.0
    right, left = half_lines(alpha, beta)
    # P(X > x) ~ Gamma(alpha) sin(pi alpha/2)/pi (1 + beta) x^-alpha.
    constant = math.gamma(alpha) * math.sin(0.5 * math.pi * min(alpha, 2.0 - alpha)) / math.pi

    def log_constant(skew: float) -> float:
        return math.log(constant * skew) if constant * skew > 0.0 else -math.inf

    return Centre(
        0.5 if symmetric else float(result.cdf),
        0.5 if symmetric else float(result.sf),
        float(result.pdf),
        alpha,
        log_constant(1.0 - beta),
        log_constant(1.0 + beta),
        alpha * left.length,
        alpha * right.length,
        right.log_cos,
    )
