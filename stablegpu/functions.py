"""pdf, cdf, sf and their logarithms where the parameters are arrays, too.

The functions of `scipy.stats.levy_stable`, with S1 or S0 as an argument. For many points of one law
`stablegpu.stable` is faster by far: it prepares what these have to compute for every point.
"""

from __future__ import annotations

import importlib
import math

import numpy as np

from hetero import region, validation
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from hetero.jit import loops_for
from stablegpu._density.quadrature.evaluate import Quadrature
from stablegpu._density.quadrature.kronrod import half_rule
from stablegpu._parameters import NAMES, PARAMETERIZATIONS

BREAK_EVEN = 4000
"""Points from which one H200 beats 16 cores beside it, transfers included."""

_OF_HARD_POINTS = Quadrature(panels=8, order=15, tolerance=1e-12)

_RANGES = {
    "alpha": ("lie in (0, 2]", lambda v: (v > 0.0) & (v <= 2.0)),
    "beta": ("lie in [-1, 1]", lambda v: np.abs(v) <= 1.0),
    "loc": ("be finite", np.isfinite),
    "scale": ("be positive and finite", lambda v: (v > 0.0) & np.isfinite(v)),
}


def pdf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", out=None, device=None):
    """Density at `x` of stable laws whose parameters may differ from point to point.

    Parameters
    ----------
    x, alpha, beta, loc, scale : array_like of float
        Of shapes that broadcast: points (NaN gives NaN, +-inf the limits), alpha in (0, 2], beta in
        [-1, 1], finite loc, scale > 0. Arrays on a GPU are broadcast and evaluated there; with
        them, host arrays are copied to it. Numba's device arrays must have the shape of the result
        or one element.
    parameterization : {"S1", "S0"}
        See `stablegpu.stable`.
    out : array, optional
        float64, C-contiguous, the shape of the result, on the device of the arguments.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    float64 array of the broadcast shape, of the kind of the first argument on a GPU, else NumPy's;
    a float for scalars.

    Raises
    ------
    TypeError : an argument holds no real numbers
    ValueError : shapes that do not broadcast; parameters outside their ranges, NaN among them, with
        the first such value. Arrays on a GPU are not looked through: their points give NaN.
    hetero.DeviceUnavailableError : the device asked for cannot be used

    Notes
    -----
    Relative error at most 1e-13 + 8 eps (|x dlogpdf/dx| + alpha |dlogpdf/dalpha|) on all 1118
    reference points: alpha in [0.1, 2], near and at 1, |x| <= 1e6, both tails, next to the ends of
    supports; median 5e-16. The same holds for all functions here.

    Trapezoidal sums of some ninety nodes for each point (`_density/pointwise/formulas.py`), of two
    hundred for
    |alpha - 1| < 0.0125 (`_density/pointwise/near_one_formulas.py`); quadrature at alpha = 1, far
    out in light tails (beta = +-1) and for |alpha - 1| < 0.1 with such a tail.
    """
    return _one("pdf", x, alpha, beta, loc, scale, parameterization, out, device)


def logpdf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", out=None, device=None):
    """log of the density, also where that underflows; see `pdf`."""
    return _one("logpdf", x, alpha, beta, loc, scale, parameterization, out, device)


def cdf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", out=None, device=None):
    """P(X <= x), to full relative accuracy in the left tail; see `pdf`."""
    return _one("cdf", x, alpha, beta, loc, scale, parameterization, out, device)


def logcdf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", out=None, device=None):
    """log P(X <= x), to full relative accuracy in both tails; see `pdf`."""
    return _one("logcdf", x, alpha, beta, loc, scale, parameterization, out, device)


def sf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", out=None, device=None):
    """P(X > x), to full relative accuracy in the right tail; see `pdf`."""
    return _one("sf", x, alpha, beta, loc, scale, parameterization, out, device)


def logsf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", out=None, device=None):
    """log P(X > x), to full relative accuracy in both tails; see `pdf`."""
    return _one("logsf", x, alpha, beta, loc, scale, parameterization, out, device)


def pdf_cdf(x, alpha, beta, loc=0.0, scale=1.0, *, parameterization="S1", device=None):
    """Density and distribution function by one evaluation; see `pdf`."""
    arguments = (x, alpha, beta, loc, scale)
    result = evaluate(arguments, parameterization, ("pdf", "cdf"), device=device)
    return result["pdf"], result["cdf"]


def _one(name, x, alpha, beta, loc, scale, parameterization, out, device):
    arguments = (x, alpha, beta, loc, scale)
    return evaluate(arguments, parameterization, (name,), {name: out}, device)[name]


def evaluate(arguments, parameterization, want, out=None, device=None) -> dict:
    """Return the requested functions of `stablegpu.evaluators.NAMES` by name; see `pdf`."""
    out = out or {}
    named, shape = checked_arguments(arguments, parameterization)
    device = resolve(device, *named.values(), work=math.prod(shape), break_even=BREAK_EVEN)
    with device.active(), region("stable density, arrays of parameters"):
        points, work, host = on_device(named, shape, device)
        in_s0 = host.input("parameterization", [parameterization == "S0"], np.bool_)
        outputs = {name: work.output(shape, out=out.get(name)) for name in want}
        if math.prod(shape):
            evaluate_flat(*points, in_s0, outputs, work)
        return {name: work.result(a, shape, out.get(name)) for name, a in outputs.items()}


def checked_arguments(arguments, parameterization) -> tuple[dict, tuple[int, ...]]:
    """x, alpha, beta, loc, scale by name, and the shape that they broadcast to."""
    validation.check_choice("parameterization", parameterization, PARAMETERIZATIONS)
    named = dict(zip(("x", "alpha", "beta", "loc", "scale"), arguments, strict=True))
    for name, values in named.items():
        if device_of(values) is None:
            named[name] = checked(name, as_real(name, values))
    return named, np.broadcast_shapes(*(tuple(v.shape) for v in named.values()))


def on_device(named: dict, shape, device):
    """The arguments as flat arrays of one element or all, the workspace, and one for host arrays.

    On a GPU results are of the kind of the first argument that lives there, else NumPy's.
    """
    like = next((v for v in named.values() if device_of(v) is not None), None)
    work, host = Workspace(device, like), Workspace(device)
    host.stream = work.stream
    points = []
    for name, values in named.items():
        target = work if device_of(values) is not None else host
        points.append(target.input(name, _spread(name, values, shape)))
    return points, work, host


def evaluate_flat(x, alpha, beta, loc, scale, in_s0, outputs: dict, work: Workspace) -> None:
    """The functions named in `outputs` at flat arrays; `in_s0` is one of bool."""
    settings = _OF_HARD_POINTS
    unwanted = work.output((0,))
    loops_for("stablegpu._density.pointwise", work.device).evaluate(
        x,
        alpha,
        beta,
        loc,
        scale,
        in_s0,
        half_rule(settings.order),
        settings.panels,
        settings.tolerance,
        tuple(outputs.get(name, unwanted) for name in NAMES),
        work.stream,
    )


def checked(name: str, values: np.ndarray) -> np.ndarray:
    """Values of a parameter, all within its range."""
    if name in _RANGES:
        demand, holds = _RANGES[name]
        bad = ~holds(values)
        if bad.any():
            where = tuple(int(k) for k in np.argwhere(bad)[0])
            position = f" at index {where}" if where else ""
            raise ValueError(f"{name} must {demand}, got {float(values[where])!r}{position}")
    return values


def _spread(name: str, values, shape):
    """`values` in the shape of the result, by its own library; one element stays one."""
    if tuple(values.shape) == shape or math.prod(values.shape) == 1:
        return values
    home = type(values).__module__.partition(".")[0]
    home = {"jax": "jax.numpy", "jaxlib": "jax.numpy"}.get(home, home)
    spread = getattr(importlib.import_module(home), "broadcast_to", None)
    if spread is None:
        raise TypeError(
            f"{name}: arrays of {home} are not broadcast; it must have one element or the shape "
            f"{shape}, got {tuple(values.shape)}"
        )
    return spread(values, shape)
