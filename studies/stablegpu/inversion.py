"""Densities and probabilities by Fourier series, with no formula of the package.

The characteristic function of a standard distribution in S0 is exp(E(t)),

    E(t) = -t^alpha - i beta T (t - t^alpha) = -t^alpha + i beta T t expm1(eps log t)

for t > 0, with T = tan(pi alpha / 2) and eps = alpha - 1. Sampled at multiples of 2 pi / P it gives
the density repeated with the period P (Poisson's sum). Its repetitions lie in the tails, where the
path of the inverse transform is turned to t = -i r:

    f(x) = (1/pi) int_0^R exp(-x r + m(r)) sin(q(r)) dr,   q = (1 + beta) sin(pi alpha / 2) r^alpha,

with the trapezoidal rule in log r. This is a sum of exponentials in x, so that repetitions are a
geometric series. The path ends at R, where the integrand is below e^-40. Points with small
densities between both, in light tails, turn at the saddle point of the exponent instead.
Left tails are right ones of the mirrored distribution.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

_DECAY = 40.0
"""Logarithm of what is left out, relative to the largest values of a characteristic function."""

_GROWTH = 4.0
"""Largest exponent along a turned path, which costs as many digits as exp(4) has."""

_STEP, _TURN = 0.22, 1.2
"""Step of the trapezoidal rule in log r, and half of the angle of the sector in which the integrand
is analytic and bounded; the error is exp(-2 pi 1.2 / 0.22) = 1e-15."""

_LEAST_EPS = 1e-14
"""Least |alpha - 1|: closer alphas are moved there."""

_SPIKES = 0.5
"""alpha below which the density at the end of S0's half-lines, a spike, has its closed form."""

_TERMS = 44
"""Chebyshev polynomials that stand for all repetitions in the middle."""

_ANGLES = (np.arange(_TERMS) + 0.5) * (math.pi / _TERMS)
_TO_COEFFICIENTS = np.cos(np.outer(np.arange(_TERMS), _ANGLES)) * (2.0 / _TERMS)
_TO_COEFFICIENTS[0] *= 0.5

_BLOCK = 16
"""Powers that are multiplied as a matrix."""

_LIGHT = 1e-5
"""Density times period below which points of the middle are integrated through the saddle."""

_DEEPEST = 700.0
"""Largest exponent at a saddle: densities below exp(-700) underflow."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)


class _Shape(NamedTuple):
    """alpha and beta with what follows from them; `beta` is that of the side that looks right."""

    alpha: float
    eps: float
    beta: float
    sine: float
    cosine: float
    tangent: float

    @classmethod
    def of(cls, alpha: float, beta: float) -> _Shape:
        eps = alpha - 1.0
        if abs(eps) < _LEAST_EPS:
            eps = math.copysign(_LEAST_EPS, eps)
        angle = 0.5 * math.pi * eps
        sine = math.cos(angle) if alpha < 1.5 else math.sin(0.5 * math.pi * (2.0 - alpha))
        return cls(1.0 + eps, eps, beta, sine, -math.sin(angle), -sine / math.sin(angle))

    def mirrored(self) -> _Shape:
        return self._replace(beta=-self.beta)

    def exponent(self, log_t: np.ndarray) -> np.ndarray:
        """Return E(t)."""
        skew = 1j * self.beta * self.tangent * np.exp(log_t) * np.expm1(self.eps * log_t)
        result: np.ndarray = skew - np.exp(self.alpha * log_t)
        return result

    def real_exponent(self, log_r: np.ndarray) -> np.ndarray:
        """Return m(r) = Re E(-i r), without cancellation near alpha = 1."""
        r, (sine, cosine) = np.exp(log_r), (self.sine, self.cosine)
        skew = self.tangent * sine * np.expm1(self.eps * log_r) - sine * cosine / (1.0 + sine)
        result: np.ndarray = self.beta * r * skew - cosine * np.exp(self.alpha * log_r)
        return result

    @property
    def end(self) -> float:
        """Where the support may end."""
        return -self.beta * self.tangent

    def density_at_end(self) -> float:
        """Return the density there: the exponent of the transform is -(1 - i beta T) t^alpha."""
        power = (1.0 - 1j * self.beta * self.tangent) ** (-1.0 / self.alpha)
        return math.gamma(1.0 + 1.0 / self.alpha) / math.pi * power.real

    def saddle(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log r where -x r + m(r) is stationary, and its second derivative there.

        m is a r^alpha + b r with a = -cosine + beta T sine, b = -beta T. Both are NaN without a
        saddle.
        """
        a = self.beta * self.tangent * self.sine - self.cosine
        slope = self.alpha * a  # x - b is close to it next to alpha = 1
        less = -self.sine * self.cosine / (1.0 + self.sine) + self.eps * self.tangent * self.sine
        with np.errstate(all="ignore"):
            log_r = np.log1p((x - self.beta * less + self.alpha * self.cosine) / slope) / self.eps
            curvature = slope * self.eps * np.exp((self.alpha - 2.0) * log_r)
        return log_r, curvature

    def phase(self, log_r: np.ndarray) -> np.ndarray:
        """Return q(r)."""
        return (1.0 + self.beta) * self.sine * np.exp(self.alpha * log_r)


def end_of_half_lines(alpha: float, beta: float) -> float:
    """Return the point zeta of S0, where the support may end and small alphas have a spike."""
    return _Shape.of(alpha, beta).end


class _Tail(NamedTuple):
    """Right tail from `start` on: f(x) = sum of weights exp(-(x - start) rates)."""

    start: float
    rates: np.ndarray
    weights: np.ndarray
    first: int

    @classmethod
    def of(cls, shape: _Shape, farthest: float) -> _Tail:
        """Return the tail for points up to a distance; densities need no rates before `first`."""
        alpha, digits = shape.alpha, _DECAY - 6.0
        last = math.log(10.0 * _DECAY) / min(alpha, 1.0) + 1.0
        least = -math.log(max(farthest, 1.0))
        u = np.arange(least - digits / alpha, last, _STEP)
        r, bounds, m = np.exp(u), [], shape.real_exponent(u)
        for turn in (-_TURN, _TURN, 0.0):
            height, decay = m, r
            if turn:
                height = shape.exponent(u - 1j * (0.5 * math.pi + turn)).real
                decay = r * math.cos(turn)
            reach = (_DECAY + height) / decay
            stop = int(np.argmin(reach))
            bounds += [reach[stop], ((height[: stop + 1] - _GROWTH) / decay[: stop + 1]).max()]
        start = float(max(bounds))
        ended = m - start * r < -_DECAY + 1e-6
        ended[stop] = True  # but for rounding; beyond, it may grow
        stop = int(np.argmax(ended)) + 1
        u, r, m = u[:stop], r[:stop], m[:stop]
        weights = (_STEP / math.pi) * r * np.exp(m - start * r) * np.sin(shape.phase(u))
        first = int(np.searchsorted(u, least - digits / (1.0 + alpha)))
        return cls(start, r, weights, min(first, stop - 1))

    def density(self, x: np.ndarray) -> np.ndarray:
        rates, weights = self.rates[self.first :], self.weights[self.first :]
        result: np.ndarray = np.exp(-np.outer(x - self.start, rates)) @ weights
        return result

    def probability(self, x: np.ndarray, until: np.ndarray) -> np.ndarray:
        """Return P(x < X < until)."""
        sums = np.exp(-np.outer(x - self.start, self.rates))
        sums *= -np.expm1(-(until - x)[:, None] * self.rates)
        result: np.ndarray = sums @ (self.weights / self.rates)
        return result


class Inversion:
    """A standard distribution in S0, alpha from 0.1 to 2, for points up to `farthest` from 0."""

    def __init__(self, alpha: float, beta: float, farthest: float) -> None:
        self._shape = shape = _Shape.of(alpha, beta)
        self._right, self._left = (_Tail.of(s, farthest) for s in (shape, shape.mirrored()))
        self._low, self._high = -self._left.start, self._right.start
        if self._low >= self._high:  # for small alpha the tails meet
            self._low = self._high = 0.5 * (self._low + self._high)
        self._period, self._centre = self._high - self._low, 0.5 * (self._high + self._low)
        self._points = self._centre + 0.5 * self._period * np.cos(_ANGLES)

    @functools.cached_property
    def _series(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies and coefficients of the repeated density's Fourier series."""
        base = 2.0 * math.pi / self._period
        count = (_DECAY - 2.0) ** (1.0 / self._shape.alpha) / base
        rates = base * np.arange(1, _BLOCK * math.ceil(count / _BLOCK) + 1)
        exponents = self._shape.exponent(np.log(rates)) - 1j * rates * self._centre
        return rates, np.exp(exponents) * (2.0 / self._period)

    def density(self, x: np.ndarray) -> np.ndarray:
        """Return the density at points, 0 outside of the support."""
        result = np.empty(x.size)
        right, left = x >= self._high, x <= self._low
        middle = ~(right | left)
        result[right] = self._right.density(x[right])
        result[left] = self._left.density(-x[left])
        result[middle] = self._density_of_middle(x[middle])
        for chosen in (middle, ~middle):
            small = np.flatnonzero(chosen & (result * self._period < _LIGHT))
            if small.size:
                self._correct_light_tails(x, result, small, chosen is middle)
        if self._shape.alpha < _SPIKES:
            at_end = np.abs(x - self._shape.end) <= 1e-15 * abs(self._shape.end)  # but for rounding
            result[at_end] = self._shape.density_at_end()
        return np.maximum(result, 0.0)

    def probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return P(low < X < high); the ends may be infinite."""
        result = np.zeros(low.size)
        inside = (low < self._high) & (high > self._low)
        ends = np.stack([low[inside], high[inside]]).clip(self._low, self._high)
        result[inside] = np.diff(self._probability_below(ends.ravel()).reshape(2, -1), axis=0)[0]
        for tail, first, start, end in (
            (self._right, self._high, low, high),
            (self._left, -self._low, -high, -low),
        ):
            reached = end > first
            starts = np.maximum(start[reached], first)
            result[reached] += tail.probability(starts, end[reached])
        small = np.flatnonzero((result < _LIGHT) & np.isfinite(high - low))
        if small.size:
            half = 0.5 * (high - low)[small, None]
            nodes = low[small, None] + half * (1.0 + _NODES)
            result[small] = self.density(nodes.ravel()).reshape(nodes.shape) @ _WEIGHTS * half[:, 0]
        return np.maximum(result, 0.0)

    def _density_of_middle(self, x: np.ndarray) -> np.ndarray:
        """Return the repeated density without its repetitions."""
        if not x.size:
            return x
        period, repeated = self._period, np.zeros(_TERMS)
        for tail, distances in (
            (self._right, period + self._points),
            (self._left, period - self._points),
        ):
            sums = np.exp(-np.outer(distances - tail.start, tail.rates))
            repeated -= sums @ (tail.weights / np.expm1(-period * tail.rates))
        return 1.0 / period + self._sum(x, self._series[1]) - self._interpolate(repeated, x)

    def _probability_below(self, x: np.ndarray) -> np.ndarray:
        """Return P(low < X < x) for points x of the middle, with its lower end low."""
        if not x.size or self._period == 0.0:
            return np.zeros(x.size)
        period, since = self._period, self._points - self._low
        repeated = np.zeros(_TERMS)
        for tail, distances in (
            (self._right, np.full(_TERMS, period + self._low)),
            (self._left, period - self._points),
        ):
            sums = np.exp(-np.outer(distances - tail.start, tail.rates)) * np.expm1(
                -np.outer(since, tail.rates)
            )
            repeated += sums @ (tail.weights / tail.rates / np.expm1(-period * tail.rates))
        values = 1j * self._series[1] / self._series[0]
        first = self._sum(np.array([self._low]), values)
        series = self._sum(x, values) - first
        return (x - self._low) / period + series - self._interpolate(repeated, x)

    def _sum(self, x: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the real part of the sum of values exp(-i (x - centre) rates)."""
        turns = (-2j * math.pi / self._period) * (x - self._centre)[:, None]
        blocks = values.reshape(-1, _BLOCK)
        inner = np.exp(turns * np.arange(1, _BLOCK + 1)) @ blocks.T
        outer = np.exp(turns * (_BLOCK * np.arange(len(blocks))))
        result: np.ndarray = (inner * outer).sum(axis=1).real
        return result

    def _interpolate(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return what the polynomial through values at the middle's Chebyshev points is at x."""
        cosines = ((x - self._centre) * (2.0 / self._period)).clip(-1.0, 1.0)
        result: np.ndarray = np.polynomial.chebyshev.chebval(cosines, _TO_COEFFICIENTS @ values)
        return result

    def _correct_light_tails(
        self, x: np.ndarray, result: np.ndarray, small: np.ndarray, in_middle: bool
    ) -> None:
        """Integrate along paths that turn at saddle points, where there are any.

        The sums of tails are the path to the saddle; it is missing in the middle.
        """
        for right in (True, False):
            shape = self._shape if right else self._shape.mirrored()
            chosen = small[(x[small] >= self._centre) == right]
            points = x[chosen] if right else -x[chosen]
            log_r, curvature = shape.saddle(points)
            with np.errstate(all="ignore"):
                depth = points * np.exp(log_r) - shape.real_exponent(log_r)
                near = (depth > 0.0) & (depth < _DEEPEST) & (curvature > 0.0)
            if shape.beta == -1.0 and shape.alpha < 1.0:
                result[chosen[points >= shape.end]] = 0.0
            if in_middle:
                result[chosen[near]] = _to_saddle(shape, points[near], log_r[near])
            paths = _from_saddle(shape, points[near], log_r[near], curvature[near])
            result[chosen[near]] += paths


def _to_saddle(shape: _Shape, x: np.ndarray, log_r: np.ndarray) -> np.ndarray:
    """Return what the path to the saddle at t = -i r adds to densities."""
    half = 0.5 * (38.0 / (1.0 + shape.alpha) + 4.0)
    u = log_r[:, None] - half * (1.0 + _NODES)
    r = np.exp(u)
    heights = np.exp(shape.real_exponent(u) - x[:, None] * r) * np.sin(shape.phase(u))
    result: np.ndarray = (half / math.pi) * (heights * r) @ _WEIGHTS
    return result


def _from_saddle(
    shape: _Shape, x: np.ndarray, log_r: np.ndarray, curvature: np.ndarray
) -> np.ndarray:
    """Return what the path from the saddle on adds to densities: the parabola of steepest descent.

    It is t = s - i r + i (2 - alpha) s^2 / (6 r).
    """
    r, width = np.exp(log_r)[:, None], 4.5 / np.sqrt(curvature)[:, None]
    s, bend = width * (1.0 + _NODES), (2.0 - shape.alpha) / (6.0 * r)
    t = s + 1j * (bend * s**2 - r)
    heights = np.exp(shape.exponent(np.log(t)) - 1j * x[:, None] * t)
    result: np.ndarray = (width * heights * (1.0 + 2j * bend * s)).real @ _WEIGHTS
    return result / math.pi
