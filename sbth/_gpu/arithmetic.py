"""Operations in which matrices of real and of complex numbers differ, for kernels that take both.

Everything else is written with `.real` and `.conjugate()`, which cost nothing for real numbers.
"""

import math
from typing import Any, NamedTuple

from numba import float64, types

from hetero.cuda.driver import SIMULATOR
from hetero.intrinsics import warp
from hetero.intrinsics.floats import constant
from hetero.jit import kernel, scalar
from sbth._gpu.householder_formulas import reflection

_SMALLEST_SIZE = constant(2.0**-120, 2.0**-1000)
"""Smaller numbers, which may be subnormal, count as 0 beside a matrix of norm 1: quotients of them
have too few digits for a phase."""

_device = kernel(device=True)

LANES = 1 if SIMULATOR else warp.LANES
"""Number of threads whose values `sum_over_lanes` adds."""


class Arithmetic(NamedTuple):
    """Functions for the numbers of a matrix, which kernels call.

    Attributes
    ----------
    is_complex : bool
    square : function
        Return |x|^2, a real number.
    magnitude : function
        Return |x|, or the larger one of |Re x| and |Im x|, as a float64; infinity for NaN.
    reflect : function
        Return (beta, tau, factor, phase) of the reflection 1 - tau v v^H with v = (1, factor x)
        that maps a vector (alpha, x) to (phase beta, 0), of alpha and x^H x. Only factor and phase
        are complex, |phase| = 1.
    sum_over_lanes : function
        Return the sum over the threads of a warp (in the simulator: the thread's own value).
    shuffle_xor, shuffle : functions
        Return the value of another thread of the warp; see `hetero.intrinsics.warp`.
    """

    is_complex: bool
    square: Any
    magnitude: Any
    reflect: Any
    sum_over_lanes: Any
    shuffle_xor: Any
    shuffle: Any


@_device
def sum_over_lanes(value):
    """Return the sum over the threads of a warp (in the simulator: the thread's own value)."""
    shift = LANES // 2
    while shift > 0:
        value += warp.shuffle_xor(value, shift)
        shift //= 2
    return value


@_device
def _real_square(x):
    return x * x


@_device
def _complex_square(z):
    return z.real * z.real + z.imag * z.imag


@_device
def _real_magnitude(x):
    size = abs(float64(x))
    return size if size >= 0.0 else math.inf


@_device
def _complex_magnitude(z):
    return max(_real_magnitude(z.real), _real_magnitude(z.imag))


@_device
def _reflect_real(alpha, tail):
    beta, tau, factor = reflection(alpha, tail)
    return beta, tau, factor, type(alpha)(1)


@scalar
def _polar_form(x, y):
    """Return the magnitude of x + i y and its phase, or 0 and the phase 1 if it is tiny."""
    size = math.hypot(x, y)
    if size < _SMALLEST_SIZE(size):
        zero = x - x
        return zero, zero + type(x)(1), zero
    return size, x / size, y / size


@_device
def _reflect_complex(alpha, tail):
    size, cosine, sine = _polar_form(alpha.real, alpha.imag)
    beta, tau, factor = reflection(size, tail)
    phase = complex(cosine, sine)
    return beta, tau, factor * phase.conjugate(), phase


@_device
def _complex_sum_over_lanes(z):
    return complex(sum_over_lanes(z.real), sum_over_lanes(z.imag))


@_device
def _complex_shuffle_xor(z, mask):
    return complex(warp.shuffle_xor(z.real, mask), warp.shuffle_xor(z.imag, mask))


@_device
def _complex_shuffle(z, lane):
    return complex(warp.shuffle(z.real, lane), warp.shuffle(z.imag, lane))


REAL = Arithmetic(
    *(False, _real_square, _real_magnitude, _reflect_real, sum_over_lanes),
    *(warp.shuffle_xor, warp.shuffle),
)
COMPLEX = Arithmetic(
    *(True, _complex_square, _complex_magnitude, _reflect_complex, _complex_sum_over_lanes),
    *(_complex_shuffle_xor, _complex_shuffle),
)


def arithmetic_of(dtype: Any) -> tuple[Arithmetic, Any]:
    """Return the arithmetic of one of Numba's types, and the type of its real parts."""
    if isinstance(dtype, types.Complex):
        return COMPLEX, dtype.underlying_float
    return REAL, dtype
