"""Roots of the secular equation, and the weights for which they are exact, for both targets.

The eigenvalues of diag(d) + w w^T, d ascending, are the roots of

    f(x) = 1 + sum_i w_i^2 / (d_i - x),

one between each two poles and one above the last. A root is stored as its distance from the next
pole, its origin, so that the differences d_i - x have small relative errors. Near a root, f is
replaced by c + a / (d_p - x) + b / (d_(p+1) - x) with the value of f and the derivatives of its
parts with poles up to d_p and above ("the middle way" of Li 1993; LAPACK's dlaed4).

Convergence cannot fail: f increases between its poles, so that every value of f shortens the
interval that holds the root, and every eighth point halves it (by ratio as long as its ends differ
by more than a factor of 4).
"""

import math

from hetero.jit import scalar

EPSILON = 2.0**-53

MAX_EVALUATIONS = 600
"""Eight times the 11 halvings of the exponents of float64 and the 54 of a binade, rounded up."""

_BISECTIONS_EVERY = 8
"""Every so many points, the interval is halved, whatever the interpolation proposes."""


@scalar
def distance(pole, origin, shift):
    """Return the distance of a pole from the root origin + shift.

    It is compiled by itself, so that callers whose sums may be taken in any order do not add the
    shift to the origin, which would lose its digits.
    """
    return (pole - origin) - shift


@scalar
def solve_two_poles(c, sum_term, product_term, above):
    """Return a root of c x^2 - sum_term x + product_term, without cancellation.

    It is the root between the poles or, if `above`, that to the right of both.
    """
    root = math.sqrt(abs(sum_term * sum_term - 4.0 * product_term * c))
    if above:
        root = -root
    if sum_term * root > 0.0:
        return 2.0 * product_term / (sum_term + root)
    return (sum_term - root) / (2.0 * c) if c != 0.0 else product_term / sum_term


@scalar
def interpolation_step(f, slope_below, slope_above, p, q, above):
    """Return the step to the root of the interpolation through a point.

    `p` and `q` are the distances of the point to its two poles, `slope_below` and `slope_above` the
    derivatives of the two parts of f there.
    """
    slope = slope_below + slope_above
    c = f - p * slope_below - q * slope_above
    step = solve_two_poles(c, (p + q) * f - p * q * slope, p * q * f, above)
    return step if f * step < 0.0 else -f / slope


@scalar
def start_between(constant, first, second, p, q, above):
    """Return the root of rest + first / (p - x) + second / (q - x)."""
    sum_term = constant * (p + q) + first + second
    return solve_two_poles(constant, sum_term, constant * p * q + first * q + second * p, above)


@scalar
def middle_of(low, high):
    """Return a point that halves an interval of positive numbers, or its logarithm."""
    return math.sqrt(low) * math.sqrt(high) if high > 4.0 * low else 0.5 * (low + high)


def make_sums(decorate):
    """Make the two sums that `make_root_finder` needs, for one thread."""

    @decorate
    def evaluate(poles, weights, begin, end, origin, shift):
        """Return the sum over the poles begin, ..., end - 1 at origin + shift, and its slope."""
        value = slope = 0.0
        for i in range(begin, end):
            ratio = weights[i] / distance(poles[i], origin, shift)
            value += weights[i] * ratio
            slope += ratio * ratio
        return value, slope

    @decorate
    def sum_of_squares(values):
        """Return the sum of the squares of a vector."""
        total = 0.0
        for i in range(values.size):
            total += values[i] * values[i]
        return total

    return evaluate, sum_of_squares


def make_root_finder(decorate, evaluate, sum_of_squares):
    """Make find_root for a target; the sums may be shared by threads that all call it."""

    @decorate
    def find_root(poles, weights, j):
        """Return (origin, shift) of root number j, origin + shift, whose origin is a pole."""
        k = poles.size
        above = j == k - 1
        total = sum_of_squares(weights) if above else 0.0
        if k == 1:
            return poles[0], total
        p = min(j, k - 2)
        gap = poles[p + 1] - poles[p]
        origin, sign = (k - 1, 1.0) if above else (j, 1.0)
        high = total * (1.0 + 16.0 * EPSILON) if above else 0.5 * gap
        x = 0.5 * total if above else high
        below, _ = evaluate(poles, weights, 0, p + 1, poles[origin], x)
        upper, _ = evaluate(poles, weights, p + 1, k, poles[origin], x)
        f = 1.0 + below + upper
        first, second = weights[p] * weights[p], weights[p + 1] * weights[p + 1]
        if above:
            constant = f + first / (gap + x) + second / x
            low = 0.5 * second
            x = start_between(constant, first, second, -gap, 0.0, above)
        else:
            constant = f + 2.0 * first / gap - 2.0 * second / gap
            if f < 0.0:
                origin, sign = j + 1, -1.0
            weight = first if sign > 0.0 else second
            # The part of f without the pole at the origin is largest in magnitude in the middle.
            low = 0.5 * weight / abs(f + sign * weight / high)
            left, right = (0.0, gap) if sign > 0.0 else (-gap, 0.0)
            x = sign * start_between(constant, first, second, left, right, above)
        pole = poles[origin]
        left, right = poles[p] - pole, poles[p + 1] - pole
        previous = math.inf
        # From here on, x > 0 is the distance from the origin, in the direction of `sign`.
        if not low < x < high:
            x = middle_of(low, high)
        for count in range(1, MAX_EVALUATIONS):
            shift = sign * x
            below, slope_below = evaluate(poles, weights, 0, p + 1, pole, shift)
            upper, slope_above = evaluate(poles, weights, p + 1, k, pole, shift)
            f = 1.0 + below + upper
            if sign * f >= 0.0:
                high = x
            else:
                low = x
            size = 1.0 + abs(below) + abs(upper)
            if abs(f) <= EPSILON * (8.0 * size + x * (slope_below + slope_above)):
                break
            # Rounding errors of the sums: no point will do better.
            if abs(f) <= EPSILON * k * size and abs(f) > 0.25 * previous:
                break
            if high - low <= 4.0 * EPSILON * high:
                break
            previous = abs(f)
            step = interpolation_step(
                f, slope_below, slope_above, left - shift, right - shift, above
            )
            x = x + sign * step
            if count % _BISECTIONS_EVERY == 0 or not low < x < high:
                x = middle_of(low, high)
        return pole, sign * x

    return find_root


def make_weight(decorate):
    """Make the function that computes a weight from the roots, for a target."""

    @decorate
    def exact_weight(poles, origins, shifts, i):
        """Return the magnitude of the weight i for which the computed roots are exact.

        Eigenvectors of diag(d) + w w^T with these weights are orthogonal to working accuracy (Gu
        and Eisenstat 1994).
        """
        k, pole = poles.size, poles[i]
        product = distance(pole, origins[k - 1], shifts[k - 1])
        for j in range(i):
            product *= distance(pole, origins[j], shifts[j]) / (pole - poles[j])
        for j in range(i, k - 1):
            product *= distance(pole, origins[j], shifts[j]) / (pole - poles[j + 1])
        return math.sqrt(abs(product))

    return exact_weight
