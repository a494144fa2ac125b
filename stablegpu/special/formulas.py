"""Formulas of the special functions, for both targets and for float32 and float64.

The normal distribution function. With a = |x|, Q(a) = ndtr(-a) and R(a) = exp(a^2/2) Q(a),

    log_ndtr(x) = log R(a) - a^2/2,  x <= 0;    log1p(-Q(a)),  x > 0;    Q(a) = exp(-a^2/2) R(a).

R has one polynomial for all a: (a + c) R(a) in powers of 1/(a + c) - m, c and m being constants.
Both sides end in one logarithm of 1 + z, z = 2^-k R - 1 or -Q. There are no branches: warps of a
GPU whose elements lie on both sides compute both sides anyway, and so do vector units of a CPU.
Three quantities must not lose digits: a^2 (it only appears in multiply-adds), 1/(a + c) (its
residual is computed from a and c), and R, whose last digits Q needs.

E_n(x) is a polynomial plus x^(n-1) log(x) times a constant near 0, and exp(-x)/(x + c) times a
polynomial in 1/(x + c) - m elsewhere. The coefficients depend on n:
`stablegpu.special.expn_coefficients`.

Literals are float64 in Numba: `real(1)` is a one of the type of the data.
"""

import math

from hetero.intrinsics.floats import (
    approx_reciprocal,
    constant,
    fma,
    polynomial,
    scale_by_power_of_two,
    split_exponent,
)
from hetero.jit import scalar

# ---- tools/make_log_ndtr_coefficients.py ----
_MILLS_32 = (
    4425.40185546875,
    271.8117370605469,
    -779.9476318359375,
    -153.361572265625,
    106.50029754638672,
    76.1504898071289,
    25.49734115600586,
    5.623426914215088,
    0.8841988444328308,
)
_DECAY_32 = (
    2.1493395252036862e-05,
    -0.0002615565899759531,
    0.0026043474208563566,
    -0.02083313837647438,
    0.12499997019767761,
    -0.5,
)
_LOG_32 = (0.28030017018318176, 0.27998122572898865, 0.40021753311157227, 0.6666641235351562)
_MILLS_64 = (
    -87386226688.0,
    -57199198208.0,
    -998609408.0,
    4696211456.0,
    -129085312.0,
    -281353472.0,
    59049472.0,
    12363800.0,
    -7840852.0,
    59605.34375,
    796248.316534829,
    -100531.83360884075,
    -79397.72094768618,
    16410.04234693982,
    9485.18516729012,
    -1866.9508059965333,
    -1524.0123827837035,
    13.314599030357176,
    269.23768815860006,
    128.17029878979494,
    35.23966351072252,
    6.722697332013695,
    0.934612123906818,
)
_DECAY_64 = (
    -1.2202246157944074e-11,
    2.698488099639462e-10,
    -5.3823505652417225e-09,
    9.688079671832384e-08,
    -1.5500991736137322e-06,
    2.1701388994352488e-05,
    -0.0002604166666736283,
    0.0026041666666536895,
    -0.02083333333333282,
    0.12500000000000058,
    -0.5,
)
_LOG_64 = (
    0.17026841640472412,
    0.08335757255554199,
    0.1210705041885376,
    0.13300859928131104,
    0.15386569499969482,
    0.18181742947354712,
    0.22222224063584237,
    0.2857142854274953,
    0.40000000000283187,
    0.6666666666666529,
)
# ---- end ----
# ---- float32, float64 ----
_DIGITS = constant(24, 53)
_SHIFT = constant(3.75, 4.0)  # c
_CENTRE = constant(0.16015625, 0.15625)  # m
_MILLS_HIGHER = polynomial(_MILLS_32[:-1], _MILLS_64[:-1])
_MILLS_LAST = constant(_MILLS_32[-1], _MILLS_64[-1])
_DECAY = polynomial(_DECAY_32, _DECAY_64)  # (exp(-r/2) - 1)/r, |r| <= log 2
_LOG = polynomial(_LOG_32, _LOG_64)  # (log(1 + z) - 2 s)/s^3 in s^2, s = z/(2 + z)
_FAR = constant(15.0, 39.0)  # exp(-_FAR^2/2) is 0
_UNSCALE = constant(2.0**-64, 2.0**-200)  # keeps results normal that end as subnormal numbers
_WHOLE = constant(1.5 * 2.0**23 + 64, 1.5 * 2.0**52 + 200)  # adding it rounds to an integer
_RATE = constant(-0.5 / math.log(2.0), -0.7213473320007324)  # as few digits as an exponent needs
_TWO_LN2 = constant(22713 / 2.0**14, 1453635 / 2.0**20)  # exact when times an exponent
_TWO_LN2_REST = constant(2.857213530660374e-06, -3.809308599915536e-09)
_LN2 = constant(math.log(2.0))


@scalar
def _mills(a):
    """Return (t, w, rest) such that R(a) = t (w + rest)."""
    r = approx_reciprocal(a + _SHIFT(a))
    # 1 - r (a + c): float64 r has so few digits that only the last of the two rounds.
    e = fma(-r, a, fma(-r, _SHIFT(a), type(a)(1)))
    if _DIGITS(a) > 24:
        e = fma(e, e, e)
    t, v = fma(r, e, r), fma(r, e, r - _CENTRE(a))
    higher = _MILLS_HIGHER(v)
    w = fma(v, higher, _MILLS_LAST(a))
    return t, w, fma(v, higher, _MILLS_LAST(a) - w)


@scalar
def _decay(a, b):
    """(g, n) with exp(-a b/2) = raised(1 + g, n) _UNSCALE."""
    n = fma(a * b, _RATE(a), _WHOLE(a))
    k = n - _WHOLE(a)
    r = fma(k, _TWO_LN2_REST(a), fma(a, b, k * _TWO_LN2(a)))
    return r * _DECAY(r), n


@scalar
def _minus_tail(a, t, w, remainder):
    """-Q(a), a <= _FAR."""
    g, n = _decay(a, a)
    return scale_by_power_of_two(fma(t, w, fma(t * w, g, t * remainder)), n) * -_UNSCALE(a)


@scalar
def _log1p(z):
    """Return log(1 + z) for -1/2 <= z <= sqrt(2) - 1: z - s (z - s^2 P(s^2)), s = z/(2 + z)."""
    d = z + type(z)(2)
    r = approx_reciprocal(d)
    if _DIGITS(z) > 24:
        e = fma(-d, r, type(z)(1))
        r = fma(r, fma(e, e, e), r)
    s = z * r
    return fma(-s, fma(-(s * s), _LOG(s * s), z), z)


@scalar
def log_ndtr(x):
    """Logarithm of the distribution function of the standard normal distribution."""
    real = type(x)
    right = x > real(0)
    a = _FAR(x) if x > _FAR(x) else abs(x)
    t, w, remainder = _mills(a)
    m, k = split_exponent(t * w)
    q, z = _minus_tail(a, t, w, remainder), m - real(1)  # both: a choice of values is no branch
    log = _log1p(q if right else z)
    # a may be infinite or NaN, R then anything. Halving a first is exact and delays the overflow.
    left = fma(real(-0.5) * a, a, fma(k, _LN2(x), log))
    return log if right else left


@scalar
def ndtr(x):
    """Distribution function of the standard normal distribution."""
    real = type(x)
    a = abs(x)
    a = _FAR(x) if a > _FAR(x) else a
    t, w, remainder = _mills(a)
    q = _minus_tail(a, t, w, remainder)
    result = real(1) + q if x > real(0) else -q
    return x if x != x else result


@scalar
def _exp_minus(x):
    """Return exp(-x) for x >= 0 or NaN."""
    real = type(x)
    most = real(0.5) * _FAR(x) * _FAR(x)
    g, n = _decay(most if x > most else x, real(2))
    return x if x != x else scale_by_power_of_two(real(1) + g, n) * _UNSCALE(x)


@scalar
def joined(top, remainder, top2, rest2):
    """Join two sums of exponentials, each exp(top) (1 + remainder). An empty sum is (-inf, 0).

    Infinities of one sign are no distance apart. NaN ends up in `remainder`, for good.
    """
    distance = abs(top - top2)
    small = _exp_minus(type(top)(0) if top == top2 else distance)
    below = top2 <= top
    larger = remainder if below else rest2
    smaller = rest2 if below else remainder
    return top if below else top2, larger + fma(small, smaller, small)


@scalar
def log_of_sum(top, remainder):
    """Return log(exp(top) (1 + remainder))."""
    return top + math.log1p(remainder)


@scalar
def _polynomial_at(x, coefficients):
    """A polynomial, the coefficient of the highest power first."""
    result = coefficients[0]
    for i in range(1, coefficients.size):
        result = fma(result, x, coefficients[i])
    return result


@scalar
def expn(x, near, far, expansion):
    """Return E_n(x) from the table of n: see `expn_coefficients.Expansion`."""
    real = type(x)
    if x == real(0):
        return expansion.at_zero
    if x < real(0):
        return real(math.nan)
    if x <= expansion.edge:
        result = _polynomial_at(x, near)
        if expansion.factor != real(0):
            power = expansion.factor
            for _ in range(expansion.power):
                power *= x
            result = fma(-power, math.log(x), result)
        return result
    t = real(1) / (x + expansion.shift)
    return math.exp(-x) * (t * _polynomial_at(t - expansion.centre, far))
