"""Derivatives of the log-density with respect to x and to all four parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetero import Device, region
from hetero.arrays import Workspace
from hetero.devices import resolve
from hetero.equality import equal_by_value
from stablegpu._density import derivatives
from stablegpu._density.pointwise.evaluate import check_arguments, evaluate_flat, to_device
from stablegpu._density.pointwise.points import Points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BREAK_EVEN = 100
"""Points from which one H200 beats 16 cores beside it, transfers included."""

_CHUNK = 1 << 17  # points: their differences take 0.5 GB


@equal_by_value
class Gradient(NamedTuple):
    """Derivatives of log pdf, float64 arrays of one shape."""

    x: Any
    alpha: Any
    beta: Any
    loc: Any
    scale: Any


def dlogpdf(
    x: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    *,
    parameterization: str = "S1",
    device: str | Device | None = None,
) -> Gradient:
    """Return the derivatives of log pdf with respect to x, alpha, beta, loc and scale.

    Parameters
    ----------
    x, alpha, beta, loc, scale : array_like of float
        As for `stablegpu.pdf`, on the host or on a GPU.
    parameterization : {"S1", "S0"}
        Parameterization in which one argument changes and the others do not. In S1 the derivative
        with respect to alpha is NaN at alpha = 1, where S1 jumps, unless beta = 0.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    Gradient
        Its arrays have the broadcast shape and the kind of the first argument on a GPU, else
        NumPy's; floats for scalars. NaN outside the support and for infinite x. One-sided at
        alpha = 2 and beta = -1, 1. A step inside these ends turns a light tail into a power law, so
        there the derivative grows with the ratio of the two densities: by alpha at alpha = 2 it is
        -2.9e8 at x = 10, -6.9e93 at x = 30, and -inf where the ratio exceeds the largest float.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        As `stablegpu.pdf`.

    Notes
    -----
    Differences of exact values, some sixty for each point, are extrapolated
    (`_density/derivatives/formulas.py`). The error is at most 1e-9 of max(1, |derivative|) on the
    reference points with |x - zeta| > 1e-4, median 1e-13 (x) and 5e-13 (alpha). Nearer to zeta, the
    rounding of x - zeta dominates in S0.
    """
    named, shape = check_arguments((x, alpha, beta, loc, scale), parameterization)
    size = math.prod(shape)
    target = resolve(device, *named.values(), work=size, break_even=BREAK_EVEN)
    with target.active(), region("stable derivatives"):
        points, workspace, host_workspace = to_device(named, shape, target)
        s1 = parameterization == "S1"
        outputs = tuple(workspace.output(shape) for _ in Gradient._fields)
        for first in range(0, size, _CHUNK):
            count = min(_CHUNK, size - first)
            _evaluate_chunk(tuple(points), s1, first, count, outputs, workspace, host_workspace)
        return Gradient(*(workspace.result(derivative, shape) for derivative in outputs))


def _evaluate_chunk(
    points: tuple[Any, ...],
    s1: bool,
    first: int,
    count: int,
    outputs: tuple[Any, ...],
    workspace: Workspace,
    host_workspace: Workspace,
) -> None:
    """Write the derivatives of `count` points from `first` on to `outputs`."""
    from stablegpu._density.derivatives.formulas import VALUES

    loops = derivatives.loops(workspace.device)
    shape = (count * VALUES,)
    x, alpha, beta, values = (host_workspace.output(shape) for _ in range(4))
    loc, scale = host_workspace.input("loc", [0.0]), host_workspace.input("scale", [1.0])
    in_s0 = host_workspace.output(shape, np.bool_)
    arguments = Points(x, alpha, beta, loc, scale, in_s0)
    loops.lay_out_arguments(points, s1, first, arguments, workspace.stream)
    evaluate_flat(arguments, {"logpdf": values}, host_workspace)
    loops.combine(points, s1, first, values, outputs, workspace.stream)
