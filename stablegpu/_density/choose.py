"""Density and distribution function of one distribution: the choice of the evaluator."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from hetero import Device, region, validation
from hetero.arrays import Array, Workspace, as_real
from hetero.devices import device_of, resolve
from hetero.distributed.engines import Engine
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.polynomials import build as polynomials_build
from stablegpu._density.polynomials import evaluate as polynomials_evaluate
from stablegpu._density.quadrature import evaluate as quadrature_evaluate
from stablegpu._numerics.arrays_in_parts import Range, fill_in_parts, require_host_array
from stablegpu._parameters import NAMES, Parameters
from stablegpu.evaluators import Evaluation, Interpolation, Quadrature, check_evaluator

BREAK_EVEN = {"nodes": 50_000, "quadrature": 100}
"""Points from which one H200 beats 16 cores beside it, transfers included."""


def evaluate(
    x: Any,
    parameters: Parameters,
    *,
    evaluator: Any = None,
    names: tuple[str, ...] = NAMES,
    out: Mapping[str, Any] | None = None,
    device: str | Device | None = None,
) -> Evaluation:
    """Return pdf, cdf, sf and their logarithms at `x` for one set of parameters.

    Parameters
    ----------
    x : array_like of float, any shape
        Points; NaN gives NaN, +-inf the limits. float32 and integers are read as float64.
    evaluator : None, str or Quadrature or Interpolation
        See `stablegpu.evaluators.check_evaluator`.
    names : tuple of names from NAMES
        Requested functions.
    out : dict, optional
        Arrays by name, also "error", to write to: float64, C-contiguous, of the shape of x, on the
        device of x.

    Returns
    -------
    Evaluation of float64 arrays (scalars for a scalar x) of the kind of x.

    Raises
    ------
    TypeError, ValueError : x does not hold real numbers, or out has an unknown name
    InterpolationError : the evaluator is "polynomials" and the distribution has none
    hetero.DeviceUnavailableError : the requested device cannot be used
    """
    out = _check_outputs(out)
    if device_of(x) is None:
        x = as_real("x", x)
    shape = tuple(x.shape)
    size = math.prod(shape)
    target = resolve(
        device, x, work=size, break_even=BREAK_EVEN[fastest_exact_evaluator(parameters.alpha)]
    )
    chosen = choose_evaluator(parameters, evaluator, size, names)
    estimates = isinstance(chosen, Quadrature)
    with target.active(), region("stable density"):
        workspace = Workspace(target, x)
        points = workspace.input("x", x, reuse=True)
        all_names = (*names, "error") if estimates else names
        outputs = {
            name: workspace.output(shape, out=out.get(name), reuse=name) for name in all_names
        }
        if points.size:
            evaluate_flat(points, parameters, outputs, workspace, chosen)
        result = Evaluation(
            **{n: workspace.result(a, shape, out.get(n)) for n, a in outputs.items()}
        )
    if estimates:
        quadrature_evaluate.warn_of_error(result.error)
    return result


def evaluate_in_parts(
    x: Any,
    parameters: Parameters,
    engine: Engine,
    *,
    evaluator: Any = None,
    names: tuple[str, ...] = NAMES,
    out: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Return what `evaluate` does, of ranges of x that an engine shares out.

    The evaluator is that for all points, so that the results do not depend on their number.

    Raises
    ------
    TypeError : x is on a GPU, besides the errors of `evaluate`
    """
    out = _check_outputs(out)
    require_host_array("x", x)
    x = as_real("x", x)
    chosen = choose_evaluator(parameters, evaluator, x.size, names)
    estimates = isinstance(chosen, Quadrature)
    all_names = (*names, "error") if estimates else names
    workspace = Workspace(Device("cpu"), x)
    points = workspace.input("x", x)
    outputs = {name: workspace.output(x.shape, out=out.get(name)) for name in all_names}
    task = functools.partial(_evaluate_range, parameters, chosen, names, all_names)
    if points.size:
        fill_in_parts(engine, task, (points,), list(outputs.values()), "stable density")
    result = Evaluation(**{n: workspace.result(a, x.shape, out.get(n)) for n, a in outputs.items()})
    if estimates:
        quadrature_evaluate.warn_of_error(result.error)
    return result


def _evaluate_range(
    parameters: Parameters,
    chosen: Quadrature | Interpolation | str,
    names: tuple[str, ...],
    all_names: tuple[str, ...],
    part: Range,
    device: Device,
) -> list[Any]:
    """Return the functions of these names in a range of the points."""
    out = dict(zip(all_names, part.outputs, strict=True)) if part.outputs else None
    with warnings.catch_warnings():  # the caller warns of the errors of all points
        warnings.simplefilter("ignore")
        values = evaluate(
            part.inputs[0], parameters, evaluator=chosen, names=names, out=out, device=device
        )
    return [getattr(values, name) for name in all_names]


def _check_outputs(out: Any) -> Mapping[str, Any]:
    """Return the arrays for results by name; raise unless they are in a dictionary, or None."""
    if out is None:
        return {}
    if not isinstance(out, Mapping):
        raise TypeError(f"out must be a dict of arrays by name, got {validation.describe(out)}")
    for name in out:
        validation.check_choice("a name in out", name, (*NAMES, "error"))
    return out


def fastest_exact_evaluator(alpha: float) -> str:
    """Return the fastest evaluator that needs no interpolation, "nodes" or "quadrature"."""
    return "nodes" if nodes_evaluate.has_nodes(alpha) else "quadrature"


def choose_evaluator(
    parameters: Parameters, evaluator: Any, size: int, names: Iterable[str]
) -> Quadrature | Interpolation | str:
    """Return the evaluator for `size` points: the requested one, or the fastest exact one.

    Polynomials take longest to prepare, and they have no logarithms: those come from the others.
    """
    evaluator = check_evaluator(evaluator)
    alpha = parameters.alpha
    exact_name = fastest_exact_evaluator(alpha)
    exact = Quadrature() if exact_name == "quadrature" else exact_name
    if evaluator is None:
        pays_off = size >= polynomials_evaluate.WORTH[exact_name]
        fits = polynomials_evaluate.is_heavy(parameters) and alpha >= 0.2
        evaluator = Interpolation() if pays_off and fits else exact
    if isinstance(evaluator, Interpolation) and any(name.startswith("log") for name in names):
        return exact
    if evaluator == "nodes" and exact != "nodes":
        raise ValueError(
            f"evaluator='nodes' needs |alpha - 1| >= {NODES.nearest_to_one} and alpha >= "
            f"{NODES.smallest_alpha}, got alpha={alpha!r}; leave it out or use 'quadrature'"
        )
    return evaluator


def evaluate_flat(
    points: Array,
    parameters: Parameters,
    outputs: dict[str, Array],
    workspace: Workspace,
    chosen: Quadrature | Interpolation | str,
) -> None:
    """Evaluate the functions named in `outputs` at flat arrays that are in the workspace."""
    if isinstance(chosen, Quadrature):
        quadrature_evaluate.evaluate_flat(points, parameters, outputs, workspace, chosen)
    elif isinstance(chosen, Interpolation):
        polynomials_evaluate.evaluate_flat(points, parameters, outputs, workspace, chosen)
    else:
        nodes_evaluate.evaluate_flat(points, parameters, outputs, workspace)


def prepare(parameters: Parameters, evaluator: Any) -> None:
    """Prepare the tables of an evaluator for (alpha, beta), and keep them for later calls."""
    chosen = choose_evaluator(parameters, evaluator, 0, ("pdf",))
    if chosen == "nodes":
        nodes_evaluate.nodes_of(parameters.alpha, parameters.beta)
    elif isinstance(chosen, Interpolation):
        polynomials_build.segments_of(parameters.alpha, parameters.beta, chosen.tolerance)
