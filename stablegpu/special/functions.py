"""Special functions for NumPy arrays and arrays on a GPU, in float32 and in float64.

float32 arrays give float32 (as do half-precision ones), all others float64; nothing is computed in
float64 for float32 arrays. Results have the kind of the input: NumPy, CuPy, PyTorch, Numba, ...
Host arrays are computed on the CPU unless a GPU is requested, because moving them takes longer.

The starting point is how CuPy and SciPy compute log_ndtr (erfcx on the left, log1p of erfc on the
right); `special/formulas.py` describes the formulas of this package.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from hetero import Device, region, validation
from hetero.arrays import Array, Stream, Workspace, as_real
from hetero.devices import device_of, resolve
from stablegpu import special
from stablegpu.special import Loops

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["expn", "log_ndtr", "logsumexp", "ndtr"]

MAX_ORDER = 1 << 31
"""Largest order of `expn` that was compared with mpmath; its coefficients take 0.1 s."""

_SINGLE = ("float32", "float16", "bfloat16")
_DEPTH = 32  # least number of values that one lane sums: few passes, small rounding errors


def log_ndtr(x: ArrayLike, *, out: Any = None, device: str | Device | None = None) -> Any:
    """Return the logarithm of the distribution function of the standard normal distribution.

    Parameters
    ----------
    x : array_like of float, any shape
        The result is NaN for NaN, -inf for -inf and 0 for inf.
    out : array, optional
        C-contiguous array for the result, of its dtype, shape and device. May be `x` or overlap it.
    device : see `hetero.resolve`

    Returns
    -------
    Array of the kind and shape of x, float32 for float32 and float64 otherwise; a NumPy scalar for
    a scalar.

    Raises
    ------
    TypeError : x is not an array of real numbers
    hetero.DeviceUnavailableError : the requested device cannot be used

    Notes
    -----
    Largest and mean error in ulp against 140-bit arithmetic, x from where the result overflows to
    -inf (-1.896e154, in float32 -2.6e19) to where it underflows: float64 3.2 and 0.5 (10^6 random
    points); float32 3.9 and 0.6 (every number of 2^-12 <= |x| < 16, also with the GPU's reciprocal,
    which is less exact).
    """
    return _elementwise("log_ndtr", lambda loops, *arrays: loops.log_ndtr(*arrays), x, out, device)


def ndtr(x: ArrayLike, *, out: Any = None, device: str | Device | None = None) -> Any:
    """Return the distribution function of the standard normal distribution.

    It is accurate in the left tail. Parameters, results and errors are those of `log_ndtr`. Largest
    and mean error in ulp: float64 2.8 and 0.5, float32 3.7 and 0.5.
    """
    return _elementwise("ndtr", lambda loops, *arrays: loops.ndtr(*arrays), x, out, device)


def expn(
    n: SupportsIndex, x: ArrayLike, *, out: Any = None, device: str | Device | None = None
) -> Any:
    """Return the exponential integral E_n(x): exp(-x t)/t^n integrated over t from 1 to infinity.

    Parameters
    ----------
    n : int in [0, 2^31]
        One order for all of x. Its coefficients are computed at its first use (0.02 s).
    x : array_like of float >= 0, any shape
        Negative numbers and NaN give NaN.
    out, device : as for `log_ndtr`, like the results and the other errors

    Raises
    ------
    TypeError, ValueError : n is not an integer, or is out of its range

    Notes
    -----
    Largest error in ulp for 13 orders from 0 to 1000: float64 4.5, float32 4.7; the mean is 0.6.
    """
    order = validation.check_integer("n", n, 0, MAX_ORDER)
    from stablegpu.special.expn_coefficients import table

    def run(loops: Loops, points: Array, result: Array, stream: Stream) -> None:
        loops.expn(points, *table(order, str(points.dtype)), result, stream)

    return _elementwise("expn", run, x, out, device)


def _elementwise(
    name: str,
    run: Callable[[Loops, Array, Array, Stream], None],
    x: Any,
    out: Any,
    device: str | Device | None,
) -> Any:
    """Return an array like x that `run` fills, with the loops of the device; time it as `name`."""
    x, dtype = _read("x", x)
    shape = tuple(x.shape)
    target = resolve(device, x)
    with target.active(), region(name):
        work = Workspace(target, x)
        result = work.output(shape, dtype, out)
        if result.shape[0]:
            points = work.input("x", x, dtype, elementwise=True)
            run(special.loops(target), points, result, work.stream)
        return work.result(result, shape, out)


def _read(name: str, values: Any) -> tuple[Any, np.dtype]:
    """Return `values` as a real array on their device, and the dtype to compute with."""
    if device_of(values) is None and not hasattr(values, "dtype"):
        values = as_real(name, values)
    kind = str(getattr(values, "dtype", "float64")).removeprefix("torch.")
    dtype = np.dtype(np.float32 if kind in _SINGLE else np.float64)
    return (as_real(name, values, dtype) if device_of(values) is None else values), dtype


def logsumexp(
    a: Any,
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    out: Any = None,
    device: str | Device | None = None,
) -> Any:
    """Return log(sum(exp(a))) over axes, without overflow.

    Parameters
    ----------
    a : array_like of float
        A NaN makes the sum NaN; -inf adds nothing; the sum over an empty axis is -inf.
    axis : None, int or tuple of int
        Axes to sum over; None for all.
    keepdims : bool
        Leave the axes in the result, with length 1.
    out, device : as for `log_ndtr`, like the errors

    Returns
    -------
    Array of the kind of a, float32 for float32 and float64 otherwise.

    Notes
    -----
    One pass: the running sum is exp(top) (1 + remainder) with the largest exponent `top` so far, so
    log1p(remainder) keeps the small terms beside a dominant one. The order of the sum
    depends on the device and the number of threads.
    """
    a, dtype = _read("a", a)
    axes = _axes(axis, len(a.shape))
    outputs = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    shape = outputs if keepdims else tuple(n for i, n in enumerate(a.shape) if i not in axes)
    if axes and axes[-1] - axes[0] >= len(axes):  # not side by side: put them last
        order = [i for i in range(len(a.shape)) if i not in axes] + axes
        a = a.permute(order) if hasattr(a, "permute") else a.transpose(order)
        axes = list(range(len(order) - len(axes), len(order)))
    first, end = (axes[0], axes[-1] + 1) if axes else (0, 0)
    outer, number, inner = (
        math.prod(a.shape[i:j]) for i, j in ((0, first), (first, end), (end, None))
    )
    target = resolve(device, a)
    with target.active(), region("logsumexp"):
        work = Workspace(target, a)
        values = work.input("a", a, dtype)  # first, so that an overlapping `out` is new memory
        result = work.output(shape, dtype, out)
        if outer * inner:
            _sums(values, (outer, number, inner), result, dtype, work)
        return work.result(result, shape, out)


def _sums(
    values: Any, sizes: tuple[int, int, int], out: Any, dtype: np.dtype, work: Workspace
) -> None:
    """Fill `out` from values of shape `sizes`, summed over the middle.

    A row of number * inner values is folded onto slices * inner lanes, and these again, until one
    slice is left.
    """
    outer, number, inner = sizes
    loops = special.loops(work.device)
    requested = loops.lanes_wanted(outer) // inner
    tops = rests = values
    bare, done = True, False
    while not done:
        slices = max(1, min(requested, number // _DEPTH))
        row, lanes = number * inner, slices * inner
        top_out, rest_out = (work.output((outer * lanes,), dtype) for _ in range(2))
        loops.fold(tops, rests, bare, row, lanes, top_out, rest_out, work.stream)
        tops, rests, bare = top_out, rest_out, False
        number, done = slices, slices == 1
    loops.finish(tops, rests, out, work.stream)


def _axes(axis: int | Sequence[int] | None, ndim: int) -> list[int]:
    """Return `axis` as a sorted list of axes."""
    if axis is None:
        return list(range(ndim))
    try:
        indices = [operator.index(i) for i in (axis if isinstance(axis, tuple | list) else (axis,))]
    except TypeError:
        raise TypeError(
            f"axis must be None, an integer or a tuple of them, got {validation.describe(axis)}"
        ) from None
    result = sorted({i % ndim for i in indices if -ndim <= i < ndim})
    if len(result) != len(indices):
        raise ValueError(f"axis must hold different axes of the {ndim} of a, got {axis!r}")
    return result
