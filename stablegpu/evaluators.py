"""Density and distribution function: the choice of the evaluator, validation, arrays.

Three evaluators agree to a few 1e-15, and the fastest one that fits is taken:

- "quadrature" (`quadrature.py`): the papers' rule for each point; all parameters, error estimate;
- "nodes" (`nodes.py`): sums over nodes prepared for (alpha, beta), |alpha - 1| >= 0.07;
- "polynomials" (`polynomials.py`): interpolation prepared for (alpha, beta).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hetero import region
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu._density.polynomials import evaluate as polynomials_evaluate
from stablegpu._density.polynomials.evaluate import Interpolation, InterpolationError
from stablegpu._density.quadrature import evaluate as quadrature_evaluate
from stablegpu._density.quadrature.evaluate import Quadrature
from stablegpu._parameters import NAMES, Parameters

__all__ = ["NAMES", "Evaluation", "Interpolation", "InterpolationError", "Quadrature", "evaluate"]

BREAK_EVEN = {"nodes": 50_000, "quadrature": 100}
"""Points from which one H200 beats 16 cores beside it, transfers included."""

EVALUATORS = ("quadrature", "nodes", "polynomials")


@dataclass(frozen=True)
class Evaluation:
    """Values at points, arrays of one shape.

    Attributes
    ----------
    pdf, cdf, sf : density, distribution function and 1 - cdf, each to full relative accuracy
    logpdf, logcdf, logsf : their logarithms, also where they underflow
    error : of quadratures: estimated relative error, the largest of the integrals'; pessimistic

    What was not asked for is None.
    """

    pdf: Any = None
    cdf: Any = None
    sf: Any = None
    logpdf: Any = None
    logcdf: Any = None
    logsf: Any = None
    error: Any = None


def evaluate(
    x,
    parameters: Parameters,
    *,
    evaluator=None,
    want: tuple[str, ...] = NAMES,
    out: dict | None = None,
    device=None,
) -> Evaluation:
    """pdf, cdf, sf and their logarithms at `x` for one set of parameters.

    Parameters
    ----------
    x : array_like of float, any shape
        Points; NaN gives NaN, +-inf the limits. float32 and integers are read as float64.
    evaluator : None, str or Quadrature or Interpolation
        See `checked`.
    want : tuple of names from NAMES
        Names of the outputs.
    out : dict, optional
        Arrays by name to write to: float64, C-contiguous, of the shape of x, on the device of x.

    Returns
    -------
    Evaluation of float64 arrays (scalars for a scalar x) of the kind of x.

    Raises
    ------
    TypeError : x holds no real numbers
    InterpolationError : the evaluator "polynomials" was asked for and the law has none
    hetero.DeviceUnavailableError : the device asked for cannot be used
    """
    out = out or {}
    if device_of(x) is None:
        x = as_real("x", x)
    shape = tuple(x.shape)
    size = math.prod(shape)
    device = resolve(device, x, work=size, break_even=BREAK_EVEN[exact_for(parameters.alpha)])
    chosen = chosen_for(parameters, evaluator, size, want)
    estimates = isinstance(chosen, Quadrature)
    with device.active(), region("stable density"):
        work = Workspace(device, x)
        points = work.input("x", x)
        names = (*want, "error") if estimates else want
        outputs = {name: work.output(shape, out=out.get(name)) for name in names}
        if points.size:
            evaluate_flat(points, parameters, outputs, work, chosen)
        result = Evaluation(**{n: work.result(a, shape, out.get(n)) for n, a in outputs.items()})
    if estimates:
        quadrature_evaluate.warn(result.error)
    return result


def checked(evaluator):
    """`evaluator` as a user may name it: None, "nodes", Quadrature or Interpolation.

    Parameters
    ----------
    evaluator : None, "quadrature", "nodes", "polynomials", Quadrature or Interpolation
        None: what is fastest. The objects carry settings, say a tolerance.

    Raises
    ------
    ValueError
    """
    if evaluator is None or isinstance(evaluator, Quadrature | Interpolation):
        return evaluator
    named = {"quadrature": Quadrature(), "nodes": "nodes", "polynomials": Interpolation()}
    if not isinstance(evaluator, str) or evaluator not in named:
        raise ValueError(
            f"evaluator must be None, one of {', '.join(map(repr, EVALUATORS))}, a Quadrature or "
            f"an Interpolation, got {evaluator!r}"
        )
    return named[evaluator]


def exact_for(alpha: float) -> str:
    """The fastest evaluator that needs no interpolation."""
    return "nodes" if nodes_evaluate.has_nodes(alpha) else "quadrature"


def chosen_for(parameters: Parameters, evaluator, size: int, want):
    """The evaluator for `size` points: what was asked for, or the fastest that keeps all digits.

    Polynomials take longest to prepare, and they have no logarithms: those come from the others.
    """
    evaluator = checked(evaluator)
    alpha = parameters.alpha
    exact = checked(exact_for(alpha))
    if evaluator is None:
        pays_off = size >= polynomials_evaluate.WORTH[exact_for(alpha)]
        fits = polynomials_evaluate.is_heavy(parameters) and alpha >= 0.2
        evaluator = Interpolation() if pays_off and fits else exact
    if isinstance(evaluator, Interpolation) and any(name.startswith("log") for name in want):
        return exact
    if evaluator == "nodes" and exact != "nodes":
        raise ValueError(
            f"evaluator='nodes' needs |alpha - 1| >= {nodes_evaluate.NEAREST} and alpha >= "
            f"{nodes_evaluate.SMALLEST}, got alpha={alpha!r}; leave it out or use 'quadrature'"
        )
    return evaluator


def evaluate_flat(points, parameters: Parameters, outputs: dict, work: Workspace, chosen) -> None:
    """The functions named in `outputs` at flat arrays that are already in the workspace."""
    if isinstance(chosen, Quadrature):
        quadrature_evaluate.evaluate_flat(points, parameters, outputs, work, chosen)
    elif chosen == "nodes":
        nodes_evaluate.evaluate_flat(points, parameters, outputs, work)
    else:
        polynomials_evaluate.evaluate_flat(points, parameters, outputs, work, chosen)


def prepare(parameters: Parameters, evaluator) -> None:
    """Make what an evaluator needs for (alpha, beta); it is kept for later calls."""
    chosen = chosen_for(parameters, evaluator, 0, ("pdf",))
    if chosen == "nodes":
        nodes_evaluate.nodes_of(parameters.alpha, parameters.beta)
    elif isinstance(chosen, Interpolation):
        polynomials_evaluate.segments_of(parameters.alpha, parameters.beta, chosen.tolerance)
