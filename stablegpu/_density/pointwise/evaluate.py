"""Evaluation at points with individual parameters: checks, broadcasting, calls of loops."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from hetero import Device, region, validation
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from hetero.distributed.engines import Engine
from stablegpu._density import pointwise
from stablegpu._density.pointwise.points import Points
from stablegpu._density.quadrature.kronrod import half_rule
from stablegpu._numerics.arrays_in_parts import Range, fill_in_parts, require_host_array
from stablegpu._parameters import NAMES, PARAMETERIZATIONS, SMALLEST_ALPHA
from stablegpu.evaluators import Quadrature

BREAK_EVEN = 4000
"""Points from which one H200 beats 16 cores beside it, transfers included."""

_QUADRATURE_OF_HARD_POINTS = Quadrature(panels=8, order=15, tolerance=1e-12)

ARGUMENTS = ("x", "alpha", "beta", "loc", "scale")
"""Names of the arguments of a function of points with individual parameters, in their order."""

_RANGES: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "alpha": ("lie in (0, 2], from 1e-300 on", lambda v: (v >= SMALLEST_ALPHA) & (v <= 2.0)),
    "beta": ("lie in [-1, 1]", lambda v: np.abs(v) <= 1.0),
    "loc": ("be finite", np.isfinite),
    "scale": ("be positive and finite", lambda v: (v > 0.0) & np.isfinite(v)),
}


def evaluate(
    arguments: Iterable[Any],
    parameterization: str,
    names: tuple[str, ...],
    out: Mapping[str, Any] | None = None,
    device: str | Device | None = None,
) -> dict[str, Any]:
    """Return the requested functions by name; see `stablegpu.pdf`.

    `arguments` are x, alpha, beta, loc and scale, `names` some of `stablegpu._parameters.NAMES`.
    """
    out = out or {}
    named, shape = check_arguments(arguments, parameterization)
    target = resolve(device, *named.values(), work=math.prod(shape), break_even=BREAK_EVEN)
    with target.active(), region("stable density, arrays of parameters"):
        points, workspace, host_workspace = to_device(named, shape, target)
        in_s0 = host_workspace.input(
            "parameterization", [parameterization == "S0"], np.bool_, reuse=True
        )
        outputs = {name: workspace.output(shape, out=out.get(name), reuse=name) for name in names}
        if math.prod(shape):
            x, alpha, beta, loc, scale = points
            evaluate_flat(Points(x, alpha, beta, loc, scale, in_s0), outputs, workspace)
        return {name: workspace.result(a, shape, out.get(name)) for name, a in outputs.items()}


def evaluate_by(
    engine: Engine,
    arguments: Iterable[Any],
    parameterization: str,
    names: tuple[str, ...],
    out: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what `evaluate` does, of ranges of the points if an engine shares them out."""
    if engine.is_single:
        return evaluate(arguments, parameterization, names, out, engine.local)
    out = out or {}
    with engine.raised_by_all():
        arguments = tuple(arguments)
        for name, values in zip(ARGUMENTS, arguments, strict=True):
            require_host_array(name, values)
        named, shape = check_arguments(arguments, parameterization)
        workspace = Workspace(Device("cpu"))
        outputs = {name: workspace.output(shape, out=out.get(name)) for name in names}
    single = {name: values for name, values in named.items() if values.size == 1}
    several = {
        name: np.broadcast_to(values, shape).reshape(-1)
        for name, values in named.items()
        if name not in single
    }
    task = functools.partial(_evaluate_range, single, tuple(several), parameterization, names)
    if math.prod(shape):
        results = list(outputs.values())
        fill_in_parts(engine, task, list(several.values()), results, "stable density")
    return {name: workspace.result(a, shape, out.get(name)) for name, a in outputs.items()}


def _evaluate_range(
    single: Mapping[str, np.ndarray],
    several: tuple[str, ...],
    parameterization: str,
    names: tuple[str, ...],
    part: Range,
    device: Device,
) -> list[np.ndarray]:
    """Return the functions of these names in a range of the points.

    `single` has the arguments of one element by name; `several` are the names of the others.
    """
    named = {**{name: values.reshape(-1) for name, values in single.items()},
             **dict(zip(several, part.inputs, strict=True))}  # fmt: skip
    arguments = [named[name] for name in ARGUMENTS]
    out = dict(zip(names, part.outputs, strict=True)) if part.outputs else None
    values = evaluate(arguments, parameterization, names, out=out, device=device)
    return [values[name] for name in names]


def check_arguments(
    arguments: Iterable[Any], parameterization: str
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Return x, alpha, beta, loc and scale by name, and the shape that they broadcast to.

    Raises TypeError or ValueError if an argument is not real or a parameter is out of its range.
    """
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    named = dict(zip(ARGUMENTS, arguments, strict=True))
    for name, values in named.items():
        if device_of(values) is None:
            named[name] = check_values(name, as_real(name, values))
    shape: tuple[int, ...] = ()
    for name, values in named.items():
        try:
            shape = np.broadcast_shapes(shape, tuple(values.shape))
        except ValueError:
            raise ValueError(
                f"{name} has the shape {tuple(values.shape)}, which does not broadcast with the "
                f"shape {shape} of the arguments before it"
            ) from None
    return named, shape


def to_device(
    named: Mapping[str, Any], shape: tuple[int, ...], device: Device
) -> tuple[list[Any], Workspace, Workspace]:
    """Return the arguments as flat arrays of one element or all, and two workspaces.

    The first workspace is for results, the second for host arrays on the same stream. On a GPU
    results are of the kind of the first argument that lives there, else NumPy's.
    """
    like = next((v for v in named.values() if device_of(v) is not None), None)
    workspace = Workspace(device, like)
    host_workspace = workspace.for_host_arrays()
    points = []
    for name, values in named.items():
        source = workspace if device_of(values) is not None else host_workspace
        points.append(source.input(name, _broadcast(name, values, shape), reuse=True))
    return points, workspace, host_workspace


def evaluate_flat(points: Points, outputs: Mapping[str, Any], workspace: Workspace) -> None:
    """Evaluate the functions named in `outputs` at points in the workspace's memory."""
    settings = _QUADRATURE_OF_HARD_POINTS
    empty = workspace.output((0,), reuse="none")
    pointwise.loops(workspace.device).evaluate(
        points,
        half_rule(settings.order),
        settings.panels,
        settings.tolerance,
        tuple(outputs.get(name, empty) for name in NAMES),
        workspace.stream,
    )


def check_values(name: str, values: np.ndarray) -> np.ndarray:
    """Return the values of an argument; raise ValueError if one is outside its range."""
    if name in _RANGES:
        demand, holds = _RANGES[name]
        bad = ~holds(values)
        if bad.any():
            index = tuple(int(k) for k in np.argwhere(bad)[0])
            position = f" at index {index}" if index else ""
            raise ValueError(f"{name} must {demand}, got {float(values[index])!r}{position}")
    return values


def _broadcast(name: str, values: Any, shape: tuple[int, ...]) -> Any:
    """Return `values` in the shape of the result, by its own library; one element stays one."""
    if tuple(values.shape) == shape or math.prod(values.shape) == 1:
        return values
    library = type(values).__module__.partition(".")[0]
    library = {"jax": "jax.numpy", "jaxlib": "jax.numpy"}.get(library, library)
    broadcast = getattr(importlib.import_module(library), "broadcast_to", None)
    if broadcast is None:
        raise TypeError(
            f"{name}: arrays of {library} are not broadcast; it must have one element or the shape "
            f"{shape}, got {tuple(values.shape)}"
        )
    return broadcast(values, shape)
