"""Nolan's integrals for the density and the distribution function, as formulas of scalars.

These are equations 3-16 of Julian-Moreno et al. (2016), after Nolan (1997), rearranged so that
nothing cancels.
With p = theta + theta0 and r = pi/2 - theta, the distances from the two ends of the interval, and
for y = z - zeta > 0 (y < 0 is mirrored: z -> -z, beta -> -beta),

    g = y^kappa V,   kappa = alpha / (alpha - 1),
    V = cos(alpha theta0)^(1/(alpha-1)) (sin r / sin(alpha p))^kappa sin(eta) / sin(r),
    eta = pi/2 - theta0 - (alpha - 1) p,
    pdf = alpha / (pi |alpha - 1| y) int g e^-g dp,
    sf = 1/pi int e^-g dp (alpha > 1),   sf = 1/pi int (1 - e^-g) dp (alpha < 1),

and the other of the last two integrals, plus (pi/2 - theta0)/pi, is cdf: both are sums of positive
terms, accurate to the last digits in both tails. alpha = 1 (beta > 0) has g = e^(-pi z/(2 beta)) V,

    V = (2/pi) (pi/2 + beta theta) / cos(theta) exp((pi/2 + beta theta) tan(theta) / beta),

sf, cdf as for alpha < 1 with theta0 = pi/2, and pdf = 1/(2 beta) int g e^-g dp.

The integrals are taken over t with p = P s(t), r = P s(-t), s the logistic function and P the
length of the interval: powers of p and r at the ends become exponentials, peaks however close to
an end keep a width of order one, and the integrand is analytic on the whole line. Then
t = c + w sinh(u) puts the peak at u = 0 and gathers the far ends. Panels are laid out in u.

log g is the difference of large numbers where kappa or z/beta is large (alpha near or at 1). If the
peak is steep for this reason, log g is its value at the peak plus a difference that is exact in the
distance d from the peak (`log_g_difference`). The error of the value at the peak is equivalent to a
change of y by one rounding. Near alpha = 1 with zeta < 0 that value is exact too: y^kappa is taken
as (1 + z/|zeta|)^kappa.
"""

import math

from hetero.jit import scalar
from stablegpu._numerics.trigonometry_formulas import cosine, sinc_excess, sine

EPSILON = 2.0**-52
T_MAX = 690.0  # s(-t) underflows beyond
# Ignore the integrand below e^-80 of its peak; a dip may hide a second, lower rise of e^-40.
DROP = 80.0
LIGHT = 34.5  # log g at the peak: further out, log pdf is -g to the last digit
UNDERFLOW = 745.0  # e^-g is 0 beyond
LOST = -1e12  # below this, log g is rounding noise and heights cannot be compared
STEEP = 1e-3  # a peak narrower than this in t is found and integrated by differences
U_STEP = 0.5  # in searches for the ends of the contributing interval
U_MAX = 16.0

FARTHEST = 1e4
"""log g less the part of the angle (-40 at its least), beyond which even logarithms overflow in a
light tail. Next to alpha = 1 that part is lost in the rounding of the sum further out."""


@scalar
def distances(t, side):
    """Return p and r of theta(t): its distances from the two ends of the interval."""
    tail = math.exp(-abs(t))
    large = side.length / (1.0 + tail)
    small = large * tail
    return (large, small) if t > 0.0 else (small, large)


@scalar
def shift_t(tau, p, r, side):
    """Return p and r at t + tau, and the change of p, each to full relative accuracy."""
    grown = p * math.exp(tau)
    share = side.length / (r + grown)
    return grown * share, r * share, p * r * math.expm1(tau) / (r + grown)


def make_sines(sine):
    """Return the formula of `sines` with another function in the place of the sine."""

    @scalar
    def sines(p, r, side):
        """Return sin r, sin(alpha p), sin eta and eta, from the nearer ends."""
        angle = side.alpha * p
        sin_r = sine(r) if r < 1.5 else sine(side.left_angle + p)
        sin_angle = sine(angle) if angle < 1.5 else sine(side.tail_gap + side.alpha * r)
        if side.alpha < 1.0:
            eta = side.left_angle + (1.0 - side.alpha) * p
        else:
            eta = side.tail_gap + (side.alpha - 1.0) * r
        supplement = angle + r  # pi - eta
        return sin_r, sin_angle, sine(supplement) if supplement < 1.5 else sine(eta), eta

    return sines


sines = make_sines(sine)


@scalar
def log_v(p, r, side):
    """Return the log of the factor of V that depends on theta."""
    if side.alpha == 1.0:
        sin_r = sine(r) if r < 1.5 else sine(p)
        height = 0.5 * math.pi * (1.0 - side.beta) + side.beta * p  # pi/2 + beta theta
        return math.log(height / sin_r) + height * cosine(r) / (sin_r * side.beta)
    return log_v_of_sines(p, sines(p, r, side), side)


@scalar(inline="always")
def log_v_of_sines(p, sines_, side):
    """Return `log_v` for alpha != 1, given the `sines` at p."""
    sin_r, sin_angle, sin_eta, eta = sines_
    ratio = sin_r / sin_angle
    if eta < 0.25 and abs(ratio - 1.0) < 0.5:
        # sin r = sin(alpha p + eta): the quotient is nearly one, its excess is known exactly.
        half = sine(0.5 * eta)
        cos_angle = cosine(side.alpha * p)
        log_ratio = math.log1p(sin_eta * cos_angle / sin_angle - 2.0 * half * half)
    else:
        log_ratio = math.log(ratio)
    return side.kappa * log_ratio + math.log(sin_eta / sin_r)


@scalar
def log_rise(x, side):
    """Return log(V/V_0) at x < 1/2 from the end at which V has the limit V_0 (light tails)."""
    other = math.log1p(sinc_excess(side.alpha * x))
    third = math.log1p(sinc_excess((1.0 - side.alpha) * x))
    return (side.kappa - 1.0) * math.log1p(sinc_excess(x)) - side.kappa * other + third


@scalar
def log_factor(y, z, side):
    """Return log g - log_v, for y > 0 and z = y + zeta; for alpha = 1 and any z."""
    if side.alpha == 1.0:
        return side.log_scale - 0.5 * math.pi * z / side.beta
    if side.near:
        far = -side.zeta  # > 0
        log_ratio = math.log1p(z / far) if z > -0.5 * far else math.log(y / far)
        power = side.alpha * log_ratio - side.half_log
        return math.log(far) + power / (side.alpha - 1.0)
    return side.log_scale + side.kappa * math.log(y)


@scalar
def slope_of_log_g(p, r, side):
    """Return d log g / dt."""
    if side.alpha == 1.0:
        sin_r = sine(r) if r < 1.5 else sine(p)
        height = 0.5 * math.pi * (1.0 - side.beta) + side.beta * p
        by_p = side.beta / height + (2.0 * cosine(r) + height / (side.beta * sin_r)) / sin_r
        return p / side.length * (r * by_p)
    sin_r, sin_angle, sin_eta, eta = sines(p, r, side)
    # cot r + cot(alpha p) = sin(eta) / (sin(r) sin(alpha p)): nothing cancels near alpha = 1.
    by_p = cosine(r) / sin_r - side.alpha * cosine(side.alpha * p) / sin_angle
    by_p += (1.0 - side.alpha) * cosine(eta) / sin_eta
    by_p -= side.kappa * (sin_eta / sin_r / sin_angle)
    return p * r / side.length * by_p


@scalar
def is_steep(width, p, r, side):
    """Return whether g is steep at a peak at (p, r) that was narrowed down to `width` in t."""
    return width < STEEP and abs(slope_of_log_g(p, r, side)) > 0.1 / STEEP


@scalar
def expansion_point(p, r, log_g, side):
    """Return the values at (p, r) from which `log_g_difference` takes differences."""
    if side.alpha == 1.0:
        sin_r = sine(r) if r < 1.5 else sine(p)
        return p, r, log_g, sin_r, 0.5 * math.pi * (1.0 - side.beta) + side.beta * p, 1.0
    sin_r, sin_angle, sin_eta, _ = sines(p, r, side)
    return p, r, log_g, sin_r, sin_angle, sin_eta


@scalar
def log_g_difference(d, p, r, base, side):
    """Return log g at (p, r) minus log g at (p0, r0), to full relative accuracy; d = p - p0."""
    p0, _, _, sin_r0, sin_angle0, sin_eta0 = base
    if side.alpha == 1.0:
        sin_r = sine(r) if r < 1.5 else sine(p)
        height0 = sin_angle0
        height = 0.5 * math.pi * (1.0 - side.beta) + side.beta * p
        sin_d = 2.0 * sine(0.5 * d) * cosine(0.5 * d)
        lever = height0 / (side.beta * sin_r0) * (sin_d / sin_r)
        return math.log(height * sin_r0 / (height0 * sin_r)) + d * cosine(r) / sin_r + lever
    sin_r, sin_angle, sin_eta, _ = sines(p, r, side)
    ratio = sin_r * sin_angle0 / (sin_angle * sin_r0)
    if 0.5 < ratio < 2.0:
        h = 0.5 * (1.0 - side.alpha) * d
        middle = side.alpha * p0 + 0.5 * (1.0 + side.alpha) * d
        excess = (
            2.0 * sin_r0 * sine(h) * cosine(middle)
            - 2.0 * sine(0.5 * d) * cosine(0.5 * d) * sin_eta0
        )
        log_ratio = math.log1p(excess / (sin_angle * sin_r0))
    else:
        log_ratio = math.log(ratio)
    return side.kappa * log_ratio + math.log(sin_eta * sin_r0 / (sin_eta0 * sin_r))


@scalar
def log_integrand(t, log_y, side):
    """Return the log of the density's integrand over t, which descends where it would underflow."""
    p, r = distances(t, side)
    return log_integrand_of(log_y + log_v(p, r, side), p * r / side.length)


@scalar
def log_integrand_of(log_g, slope):
    """Return the log of g e^-g dp/dt."""
    if log_g > 700.0:
        return -1e290 * math.log(log_g)
    return log_g - math.exp(log_g) + math.log(slope)


@scalar
def is_higher(h, best, side):
    """Return whether h, further right, is nearer to the peak than `best`.

    Where log g is a huge negative number, its rounding makes heights equal; the peak is next to
    where g is largest.
    """
    return h > best or (side.g_increases_with_theta and h == best)


@scalar
def log_g_at(tau, base, steep, log_y, side):
    """Return log g, p and r at a distance tau in t from the expansion point.

    Where g is steep, log g is computed by its difference from the value at that point.
    """
    p, r, d = shift_t(tau, base[0], base[1], side)
    if steep:
        return base[2] + log_g_difference(d, p, r, base, side), p, r
    return log_y + log_v(p, r, side), p, r


@scalar
def solve_g_equals_one(base, side):
    """Return the expansion point where g = 1, by Newton's method in differences, and its scale."""
    tau = 0.0
    log_g, p, r = base[2], base[0], base[1]
    slope = 1.0
    for _ in range(8):
        slope = slope_of_log_g(p, r, side)
        tau -= log_g / slope
        log_g, p, r = log_g_at(tau, base, True, 0.0, side)
        if abs(log_g) < 1e-8:
            break
    if abs(log_g) < 4.0 * EPSILON * abs(slope):
        # As near as a step in t can come; the rest is worth less than a rounding of y.
        log_g = log_g if abs(log_g) < 1e-8 else 0.0
    return expansion_point(p, r, log_g, side), 1.0 / abs(slope)


@scalar
def cut_ends(left, right, base, steep, log_y, side):
    """Return g at its lower end, and the parts of both lengths beyond [left, right].

    Below, g is too small to change e^-g; above, e^-g is too small to count.
    """
    log_g, p, r = log_g_at(left if side.g_increases_with_theta else right, base, steep, log_y, side)
    if side.g_increases_with_theta:
        return math.exp(log_g), p, shift_t(right, base[0], base[1], side)[1]
    return math.exp(log_g), r, shift_t(left, base[0], base[1], side)[0]


@scalar
def evaluate_integrands(tau, base, steep, log_y, g_min, side):
    """Return g e^-(g - g_min), e^-(g - g_min) and 1 - e^-g, times dp/dt."""
    log_g, p, r = log_g_at(tau, base, steep, log_y, side)
    g = math.exp(log_g)
    slope = p * r / side.length
    decay = math.exp(g_min - g)
    return (slope * g * decay if decay > 0.0 else 0.0), slope * decay, -slope * math.expm1(-g)


@scalar
def is_far_in_light_tail(log_y, side):
    """Return whether a point lies so far out in a light tail that nothing else counts."""
    is_light = side.left_angle == 0.0 if side.alpha < 1.0 else side.log_right == -math.inf
    return is_light and log_y > FARTHEST and side.alpha != 1.0
