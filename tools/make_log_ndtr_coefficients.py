"""Print the coefficients of stablegpu/special/formulas.py: weighted minimax polynomials.

Remez's exchange algorithm computes a polynomial with 60 digits. Then its coefficients are rounded
one by one, and the others are fitted again each time: first the highest powers of float64 to the 21
bits that a GPU's instruction can hold itself, then all others to the data type, from the lowest
power on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import mpmath as mp
import numpy as np

mp.mp.dps = 60  # decimal digits

Number: TypeAlias = Any
"""A number of mpmath, which has no types."""

Function: TypeAlias = Callable[[Number], Number]
Fit: TypeAlias = tuple[list[Any], Number]
"""Coefficients of a dtype, the highest power first, and the largest weighted error."""

LARGEST_A = {"float32": mp.mpf("14.4"), "float64": mp.mpf("38.6")}  # exp(-a^2/2) underflows beyond


def mills(a: Number) -> Number:
    """Return Q(a) exp(a^2/2): the normal survival function Q without its decay."""
    return mp.exp(a * a / 2) * mp.erfc(a / mp.sqrt(2)) / 2


def minimax(
    function: Function, weight: Function, points: list, powers: list[int], rounds: int = 8
) -> list:
    """Return the coefficients of `powers` that minimize the largest |error| * weight."""
    low, high = points[0], points[-1]
    size = len(powers) + 1
    nodes = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (size - 1)) for k in range(size)
    ]
    values = [(function(x), weight(x)) for x in points]
    for _ in range(rounds):
        matrix = mp.matrix(size, size)
        right = mp.matrix(size, 1)
        for i, x in enumerate(nodes):
            for j, p in enumerate(powers):
                matrix[i, j] = x**p
            matrix[i, size - 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        *coefficients, level = mp.lu_solve(matrix, right)
        errors = [
            w * (f - sum(c * x**p for c, p in zip(coefficients, powers, strict=True)))
            for x, (f, w) in zip(points, values, strict=True)
        ]
        peaks = _alternating(errors)
        while len(peaks) > size:
            del peaks[0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1]
        if len(peaks) < size or max(map(abs, errors)) < 1.01 * abs(level):
            break
        nodes = [points[i] for i in peaks]
    return coefficients


def _alternating(errors: list) -> list[int]:
    """Return the index of the largest error in each run of errors of one sign."""
    peaks = [0]
    for i in range(1, len(errors)):
        if (errors[i] > 0) != (errors[peaks[-1]] > 0):
            peaks.append(i)
        elif abs(errors[i]) > abs(errors[peaks[-1]]):
            peaks[-1] = i
    return peaks


def fit_rounded(
    function: Function,
    weight: Function,
    low: Number,
    high: Number,
    degree: int,
    dtype: type,
    short: int,
) -> Fit:
    """Return coefficients of `dtype`, the highest power first, and the largest weighted error.

    The `short` highest ones have 21 bits.
    """
    low, high = mp.mpf(low), mp.mpf(high)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / 1000) for k in range(1001)]
    ideal = minimax(function, weight, points, list(range(degree + 1)))
    scale = max(abs(low), abs(high))
    nodes = points[:: 1000 // (6 * degree)]
    rounded: dict[int, Number] = {}

    def fit_remaining() -> dict:
        """Return the scaled coefficients that are not rounded yet, fitted by least squares."""
        free = [p for p in range(degree + 1) if p not in rounded]
        matrix, right = mp.matrix(len(nodes), len(free)), mp.matrix(len(nodes), 1)
        for i, x in enumerate(nodes):
            for j, p in enumerate(free):
                matrix[i, j] = weight(x) * (x / scale) ** p
            target = sum(c * x**p for p, c in enumerate(ideal))
            right[i] = weight(x) * (target - sum(c * x**p for p, c in rounded.items()))
        return dict(zip(free, mp.lu_solve(matrix, right), strict=True))

    highest = list(range(degree, degree - short, -1))
    for p in highest + [p for p in range(degree + 1) if p not in highest]:
        best = float(fit_remaining()[p] / scale**p)
        rounded[p] = mp.mpf(round_to_21_bits(best) if p in highest else float(dtype(best)))
    error = max(
        weight(x) * abs(function(x) - sum(c * x**p for p, c in rounded.items())) for x in points
    )
    return [dtype(float(rounded[p])) for p in range(degree, -1, -1)], error


def round_to_21_bits(number: float) -> float:
    """Round a float64 to 21 bits, so that the lower half of its bit pattern is 0."""
    fraction, exponent = np.frexp(number)
    return float(np.ldexp(np.rint(np.ldexp(fraction, 21)), exponent - 21))


def mills_series(shift: float, centre: float, degree: int, dtype: type, short: int) -> Fit:
    """Fit (a + shift) mills(a) by powers of 1/(a + shift) - centre."""

    def function(v: Number) -> Number:
        t = v + mp.mpf(centre)
        return mills(1 / t - shift) / t

    largest = LARGEST_A[dtype.__name__]
    low, high = 1 / (largest + shift) - centre, 1 / mp.mpf(shift) - centre
    return fit_rounded(function, lambda v: 1 / function(v), low, high, degree, dtype, short)


def decay_series(degree: int, dtype: type, short: int) -> Fit:
    """Fit (exp(-r/2) - 1)/r by powers of r for |r| <= log 2."""
    edge = mp.mpf("1.01") * mp.log(2)
    return fit_rounded(
        lambda r: mp.expm1(-r / 2) / r if r else mp.mpf(-1) / 2,
        lambda r: abs(r) * mp.exp(r / 2) + mp.mpf("1e-12"),
        -edge,
        edge,
        degree,
        dtype,
        short,
    )


def log_series(degree: int, dtype: type, short: int) -> Fit:
    """Fit (log(1 + z) - 2 s)/s^3 by powers of s^2, with s = z/(2 + z), for |s| <= 1/3."""

    def function(w: Number) -> Number:
        if w < 1e-8:
            return mp.mpf(2) / 3 + 2 * w / 5
        s = mp.sqrt(w)
        return 2 * (mp.atanh(s) - s) / (s * w)

    weight, edge = lambda w: w / 2 + mp.mpf("1e-12"), mp.mpf("0.1112")
    return fit_rounded(function, weight, 0, edge, degree, dtype, short)


def show(name: str, series: Fit, dtype: type) -> None:
    """Print a table of coefficients, as it stands in the source, with its largest error."""
    coefficients, error = series
    print(f"# largest error {float(error * 2 ** (np.finfo(dtype).nmant + 1)):.2f} x 2^-p")
    print(f"{name} = (")
    for c in coefficients:
        print(f"    {float(c)!r},")
    print(")")


def main() -> None:
    for dtype, shift, centre, degrees, short in (
        (np.float32, 3.75, 0.16015625, (8, 5, 3), (0, 0, 0)),
        (np.float64, 4.0, 0.15625, (22, 10, 9), (10, 4, 5)),
    ):
        bits = np.finfo(dtype).bits
        show(f"_MILLS_{bits}", mills_series(shift, centre, degrees[0], dtype, short[0]), dtype)
        show(f"_DECAY_{bits}", decay_series(degrees[1], dtype, short[1]), dtype)
        show(f"_LOG_{bits}", log_series(degrees[2], dtype, short[2]), dtype)


if __name__ == "__main__":
    main()
