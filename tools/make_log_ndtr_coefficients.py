"""Prints the coefficients of stablegpu/_special_math.py: weighted minimax polynomials.

A polynomial is found by Remez's exchange with 50 digits. Then its coefficients are rounded to the
data type one by one, those of the lowest powers first, and the others fitted again each time.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np

mp.mp.dps = 60

SEARCHED_TO = {"float32": mp.mpf("14.4"), "float64": mp.mpf("38.6")}  # where exp(-a^2/2) underflows


def mills(a):
    """Q(a) exp(a^2/2): the complement of the normal distribution function without its decay."""
    return mp.exp(a * a / 2) * mp.erfc(a / mp.sqrt(2)) / 2


def minimax(function, weight, points, powers, rounds=8):
    """Coefficients of the powers that minimise the largest |error| * weight on the points."""
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
        *found, level = mp.lu_solve(matrix, right)
        errors = [
            w * (f - sum(c * x**p for c, p in zip(found, powers, strict=True)))
            for x, (f, w) in zip(points, values, strict=True)
        ]
        peaks = _alternating(errors)
        while len(peaks) > size:
            del peaks[0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1]
        if len(peaks) < size or max(map(abs, errors)) < 1.01 * abs(level):
            break
        nodes = [points[i] for i in peaks]
    return found


def _alternating(errors) -> list[int]:
    """Where the error is largest in each run of one sign."""
    peaks = [0]
    for i in range(1, len(errors)):
        if (errors[i] > 0) != (errors[peaks[-1]] > 0):
            peaks.append(i)
        elif abs(errors[i]) > abs(errors[peaks[-1]]):
            peaks[-1] = i
    return peaks


def fitted(function, weight, low, high, degree, dtype):
    """Coefficients of `dtype`, the highest power first, and the largest weighted error."""
    low, high = mp.mpf(low), mp.mpf(high)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / 1000) for k in range(1001)]
    powers = list(range(degree + 1))
    target = minimax(function, weight, points, powers)
    scale = max(abs(low), abs(high))
    nodes = points[:: 1000 // (6 * degree)]
    rounded = []
    while len(rounded) <= degree:
        done = len(rounded)
        matrix = mp.matrix(len(nodes), degree + 1 - done)
        right = mp.matrix(len(nodes), 1)
        for i, x in enumerate(nodes):
            for j, p in enumerate(powers[done:]):
                matrix[i, j] = weight(x) * (x / scale) ** p
            ideal = sum(c * x**p for p, c in enumerate(target))
            right[i] = weight(x) * (ideal - sum(c * x**p for p, c in enumerate(rounded)))
        best = mp.lu_solve(matrix, right)[0] / scale**done
        rounded.append(mp.mpf(float(dtype(float(best)))))
    error = max(
        weight(x) * abs(function(x) - sum(c * x**p for p, c in enumerate(rounded))) for x in points
    )
    return [dtype(float(c)) for c in reversed(rounded)], error


def mills_series(shift, centre, degree, dtype):
    """(a + shift) mills(a) in powers of 1/(a + shift) - centre."""

    def function(v):
        t = v + mp.mpf(centre)
        return mills(1 / t - shift) / t

    far = SEARCHED_TO[dtype.__name__]
    low, high = 1 / (far + shift) - centre, 1 / mp.mpf(shift) - centre
    return fitted(function, lambda v: 1 / function(v), low, high, degree, dtype)


def decay_series(degree, dtype):
    """(exp(-r/2) - 1)/r in powers of r, |r| <= log 2."""
    edge = mp.mpf("1.01") * mp.log(2)
    return fitted(
        lambda r: mp.expm1(-r / 2) / r if r else mp.mpf(-1) / 2,
        lambda r: abs(r) * mp.exp(r / 2) + mp.mpf("1e-12"),
        -edge,
        edge,
        degree,
        dtype,
    )


def log_series(degree, dtype):
    """(log(1 + z) - 2 s)/s^3 in powers of s^2, with s = z/(2 + z), |s| <= 1/3."""

    def function(w):
        if w < 1e-8:
            return mp.mpf(2) / 3 + 2 * w / 5
        s = mp.sqrt(w)
        return 2 * (mp.atanh(s) - s) / (s * w)

    return fitted(function, lambda w: w / 2 + mp.mpf("1e-12"), 0, mp.mpf("0.1112"), degree, dtype)


def show(name, found, dtype) -> None:
    coefficients, error = found
    print(f"# largest error {float(error * 2 ** (np.finfo(dtype).nmant + 1)):.2f} x 2^-p")
    print(f"{name} = (")
    for c in coefficients:
        print(f"    {float(c)!r},")
    print(")")


def main() -> None:
    for dtype, shift, centre, degrees in (
        (np.float32, 3.75, 0.16015625, (8, 5, 3)),
        (np.float64, 4.0, 0.15625, (22, 10, 9)),
    ):
        bits = np.finfo(dtype).bits
        show(f"_MILLS_{bits}", mills_series(shift, centre, degrees[0], dtype), dtype)
        show(f"_DECAY_{bits}", decay_series(degrees[1], dtype), dtype)
        show(f"_LOG_{bits}", log_series(degrees[2], dtype), dtype)


if __name__ == "__main__":
    main()
