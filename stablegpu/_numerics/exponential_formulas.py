"""e^-g without branches or calls, for both targets: exact, or quickly.

Both reduce g to n log(2) + x, and add n to the exponent of a polynomial in x.
"""

from hetero.intrinsics.floats import float_of_signed, signed_bits_of
from hetero.jit import FUSED, scalar, scalar_internal

_MAGIC = 1.5 * 2.0**52  # added, it leaves an integer in the last bits
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.42860682030941723212e-6
LARGEST_EXPONENT = 708.0  # e^-708 is close to the smallest normal number
_HIGHEST_EXCESS = 300.0  # products with e^-300 are still normal numbers


@scalar(fastmath=FUSED)
def exp_minus(g: float) -> float:
    """Return e^-g for 0 <= g <= LARGEST_EXPONENT, to 1 ulp, without branches or calls."""
    n = _MAGIC - g * 1.4426950408889634
    power = signed_bits_of(n) << 52
    n -= _MAGIC
    x = -g - n * _LN2_HIGH
    x -= n * _LN2_LOW
    s = 1.0 / 6227020800.0
    s = s * x + 1.0 / 479001600.0
    s = s * x + 1.0 / 39916800.0
    s = s * x + 1.0 / 3628800.0
    s = s * x + 1.0 / 362880.0
    s = s * x + 1.0 / 40320.0
    s = s * x + 1.0 / 5040.0
    s = s * x + 1.0 / 720.0
    s = s * x + 1.0 / 120.0
    s = s * x + 1.0 / 24.0
    s = s * x + 1.0 / 6.0
    s = s * x + 0.5
    s = s * x + 1.0
    s = s * x + 1.0
    return float_of_signed(signed_bits_of(s) + power)


@scalar_internal(fastmath=FUSED)
def exp_minus_quickly(g: float) -> float:
    """Return e^-g for g up to 300, with a relative error of 2e-14; 1 for g < 0.

    Chebyshev's polynomial is evaluated in pairs that do not wait for one another, because a thread
    of a GPU has nothing else to do meanwhile.
    """
    g = g if g < _HIGHEST_EXCESS else _HIGHEST_EXCESS
    g = g if g > 0.0 else 0.0
    n = _MAGIC - g * 1.4426950408889634
    power = signed_bits_of(n) << 52
    x = (_MAGIC - n) * 0.6931471805599453 - g
    square = x * x
    low = (0.4999999999943859 + 0.16666666666615648 * x) * square + (
        1.0000000000000135 + 1.0000000000000013 * x
    )
    middle = 0.04166666704055191 + 0.008333333367311603 * x
    high = 0.0013888801749656543 + 0.0001984119064754424 * x
    highest = 2.4884459751751116e-05 + 2.7632640675430236e-06 * x
    fourth = square * square
    s = low + fourth * ((middle + high * square) + highest * fourth)
    return float_of_signed(signed_bits_of(s) + power)
