"""Quantiles: by polynomials where there are many, else by Newton's method with a bracket on the
distribution function, all points at once."""

from __future__ import annotations

import dataclasses
import functools
import math

from hetero import region
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from hetero.jit import loops_for
from stablegpu._density.polynomials import evaluate as polynomials_evaluate
from stablegpu._parameters import Parameters, half_lines
from stablegpu.evaluators import (
    Interpolation,
    checked,
    chosen_for,
    evaluate,
    evaluate_flat,
    exact_for,
)

BREAK_EVEN = {"nodes": 100_000, "quadrature": 20}
"""Quantiles from which one H200 beats 16 cores beside it, transfers included."""

WORTH = 2000
"""Quantiles from which preparing polynomials pays."""

_CENTRED = 0.1  # distance of alpha from 1 within which S0 is used
_MOST_STEPS = 80
_VALUES = ("logpdf", "cdf", "sf", "logcdf", "logsf")


def quantile(
    p, parameters: Parameters, *, upper: bool = False, evaluator=None, out=None, device=None
):
    """x with P(X <= x) = p, or with P(X > x) = p if `upper`.

    Parameters
    ----------
    p : array_like of float
        Any shape. 0 and 1 give the ends of the support, what is outside [0, 1] and NaN give NaN.
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
    if device_of(p) is None:
        p = as_real("p", p)
    shape = tuple(p.shape)
    least = BREAK_EVEN[exact_for(parameters.alpha)]
    on_device = resolve(device, p, work=math.prod(shape), break_even=least)
    chosen = _chosen(parameters, evaluator, math.prod(shape))
    with on_device.active(), region("stable quantile"):
        work = Workspace(on_device, p)
        probabilities = work.input("p", p)
        result = work.output(shape, out=out)
        if isinstance(chosen, Interpolation) and math.prod(shape):
            polynomials_evaluate.invert_flat(probabilities, upper, parameters, result, work, chosen)
        elif math.prod(shape):
            steps = loops_for("stablegpu._quantiles", on_device)
            standard, ends = _standard(parameters)
            centre = _centre(standard)
            x = work.output(shape) if out is not None else result  # out may be p, which is needed
            state = [work.output(shape) for _ in range(3)]
            values = tuple(work.output(shape) for _ in _VALUES)
            error = work.output(shape)
            steps.begin(probabilities, upper, centre, *state, x, work.stream)
            for _ in range(_MOST_STEPS):
                outputs = dict(zip(_VALUES, values, strict=True)) | {"error": error}
                evaluate_flat(x, standard, outputs, work, chosen)
                if not steps.step(probabilities, upper, centre, values, *state, x, work.stream):
                    break
            steps.finish(ends, state[0], x, result, work.stream)
        return work.result(result, shape, out)


def _chosen(parameters: Parameters, evaluator, size: int):
    """Polynomials are inverted at once; other evaluators serve Newton's method on logarithms."""
    evaluator = checked(evaluator)
    if evaluator is None and size >= WORTH and polynomials_evaluate.is_heavy(parameters):
        evaluator = chosen_for(parameters, None, 100 * size, ("cdf",))
    if isinstance(evaluator, Interpolation):
        return evaluator
    return chosen_for(parameters, evaluator, 0, _VALUES)


def _standard(parameters: Parameters):
    """The law whose quantiles are searched for, loc 0 and scale 1, and what brings them back.

    Next to alpha = 1 it is that of S0: there S1 moves the law far away, and the quantile of S1 has
    too few digits left for what the distribution function depends on.
    """
    from stablegpu._quantiles.formulas import Ends

    def ends(loc: float, shift: float = 0.0, shift_low: float = 0.0) -> Ends:
        return Ends(loc, parameters.scale, shift, shift_low, *parameters.support)

    if parameters.alpha == 1.0:  # S1 does not scale there
        moved = parameters.converted("S0")
        return dataclasses.replace(moved, loc=0.0, scale=1.0), ends(moved.loc)
    standard = dataclasses.replace(parameters, loc=0.0, scale=1.0)
    if parameters.parameterization == "S0" or abs(parameters.alpha - 1.0) >= _CENTRED:
        return standard, ends(parameters.loc)
    high, low = parameters.offset
    centred = dataclasses.replace(standard, parameterization="S0")
    return centred, ends(parameters.loc, -high, -low)


@functools.lru_cache(maxsize=256)
def _centre(standard: Parameters):
    """Compute the constants of the centre, from which quantiles are searched."""
    from stablegpu._quantiles.formulas import Centre

    result = evaluate(0.0, standard, want=("pdf", "cdf", "sf"), device="cpu")
    alpha, beta = standard.alpha, standard.beta
    symmetric = beta == 0.0 or alpha == 2.0
    right, left = half_lines(alpha, beta)
    # P(X > x) ~ Gamma(alpha) sin(pi alpha/2)/pi (1 + beta) x^-alpha.
    constant = math.gamma(alpha) * math.sin(0.5 * math.pi * min(alpha, 2.0 - alpha)) / math.pi

    def log_of(skew: float) -> float:
        return math.log(constant * skew) if constant * skew > 0.0 else -math.inf

    return Centre(
        0.5 if symmetric else float(result.cdf),
        0.5 if symmetric else float(result.sf),
        float(result.pdf),
        alpha,
        log_of(1.0 - beta),
        log_of(1.0 + beta),
        alpha * left.length,
        alpha * right.length,
        right.log_cos,
    )
