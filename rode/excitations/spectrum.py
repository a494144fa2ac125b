"""Excitations with any spectral density, as sums of cosines with random phases."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from hetero.arrays import as_real
from rode.excitations.excitation import Envelope, Excitation, checked_envelope, values_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SERIES_TERMS = 40
"""Terms of the power series of an integral over a step, enough for angles up to `SERIES_ANGLE`."""

SERIES_ANGLE = 6.0
"""Angle omega h up to which the series is used: its terms grow to e^6 there, which costs three
digits, and as many as the recurrence loses for smaller angles."""

BLOCK = 1 << 22
"""Numbers of the table of cosines that are in memory at a time: 32 MiB; not tuned."""


PATHS = 64
"""Paths whose products are computed at a time, counted from path number 0: the last digits of a
product of matrices depend on its shape, and those of a path must not depend on others."""


class Spectrum(Excitation):
    """Stationary process with a given spectral density, u = sum of A_k cos(omega_k t + phi_k).

    The phases phi_k are independent and uniform, drawn for each path at the start (Shinozuka and
    Deodatis 1991). The amplitudes are A_k = sqrt(2 G_k w_k), with the density G and the weights w
    of the trapezoidal rule, so that the variance is the integral of G by that rule. Integrals over
    coarse steps are exact.

    Parameters
    ----------
    frequencies : (frequencies,) array, rad/s, ascending and not negative
    density : (frequencies,) array, one-sided spectral density G over angular frequencies, in the
        unit of u^2 times s; or a function of the array of frequencies
        The variance of u is the integral of G over them. A density over frequencies in Hz is
        2 pi times larger, and a two-sided one half as large.
    envelope : factor of u; see `Excitation`

    Attributes
    ----------
    period : 2 pi over the largest distance of frequencies, s
        A path of equidistant frequencies repeats itself after it, so that a longer t_span is
        refused.
    variance : of u, without an envelope
    excess_kurtosis : of u; 0 is Gaussian
        It is -1.5 sum A_k^4 / (sum A_k^2)^2, about -1.5 over the number of frequencies that matter,
        and -1.5 for a single one.

    Raises
    ------
    TypeError, ValueError
        There are fewer than two frequencies, they do not ascend, a density is negative, NaN or
        infinite, or all are 0.

    References
    ----------
    Shinozuka and Deodatis (1991), Simulation of stochastic processes by spectral representation,
    Applied Mechanics Reviews 44, 191.
    """

    def __init__(
        self,
        frequencies: ArrayLike,
        density: ArrayLike | Callable[[np.ndarray], ArrayLike],
        *,
        envelope: Envelope = None,
    ) -> None:
        omega = np.atleast_1d(as_real("frequencies", frequencies))
        if omega.ndim != 1 or omega.size < 2:
            raise ValueError(
                f"frequencies must be at least two, got an array of shape {omega.shape}"
            )
        if not (np.isfinite(omega).all() and omega[0] >= 0.0 and (np.diff(omega) > 0.0).all()):
            raise ValueError("frequencies must be finite, not negative, and ascend")
        values = as_real("density", density(omega) if callable(density) else density)
        if values.shape != omega.shape:
            raise ValueError(
                f"density must have a value for each of the {omega.size} frequencies, got the "
                f"shape {values.shape}"
            )
        bad = ~(np.isfinite(values) & (values >= 0.0))
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                f"density must be finite and not negative, got {values[k]} at {omega[k]:g} rad/s"
            )
        gaps = np.diff(omega)
        weights = 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))
        self.frequencies, self.amplitudes = omega, np.sqrt(2.0 * values * weights)
        squares = self.amplitudes**2
        if not 0.0 < squares.sum() < math.inf:
            raise ValueError(f"density must have a positive integral, got {0.5 * squares.sum():g}")
        self.period = float(2.0 * math.pi / gaps.max())
        self.variance = float(0.5 * squares.sum())
        self.excess_kurtosis = float(-1.5 * ((squares / squares.sum()) ** 2).sum())
        self.envelope = checked_envelope(envelope)
        # Phases of whole groups of paths, drawn by `for_paths`, and the paths among them.
        self.phases, self.chosen = np.zeros((1, omega.size)), slice(0, 1)

    def __repr__(self) -> str:
        return (
            f"Spectrum({self.frequencies.size} frequencies, {self.frequencies[0]:g} to "
            f"{self.frequencies[-1]:g} rad/s, standard deviation {self.variance**0.5:.4g}, period "
            f"{self.period:.4g} s, excess kurtosis {self.excess_kurtosis:.2g})"
        )

    @property
    def components(self) -> int:
        """One."""
        return 1

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation, without the envelope."""
        return np.array([math.sqrt(self.variance)])

    @property
    def draws_at_start(self) -> bool:
        """True: a path has nothing random but its phases."""
        return True

    def for_paths(
        self, key: tuple[np.uint32, np.uint32], paths: range, whole: range, term: int = 0
    ) -> Spectrum:
        """Return the process with the phases of some paths.

        Those of a path are random numbers by counter: its number, the seed and the term of a sum.
        """
        blocks = -(-self.frequencies.size // 4)
        first, end = paths.start // PATHS * PATHS, -(-paths.stop // PATHS) * PATHS
        words = np.random.Philox(key=[int(key[0]) << 32 | int(key[1]), term])
        numbers = np.random.Generator(words.advance(first * blocks))
        drawn = copy.copy(self)
        drawn.chosen = slice(paths.start - first, paths.stop - first)
        uniform = numbers.random((end - first, 4 * blocks))
        drawn.phases = 2.0 * math.pi * uniform[:, : self.frequencies.size]
        return drawn

    def integrals(self, t0: float, h: float, steps: int, degree: int) -> np.ndarray:
        """Return u and its integrals for each path, as `Excitation.integrals` says.

        All are real parts of sums of A exp(i (omega t_n + phi)) times a factor of omega and h:
        products of a table for all paths with the cosines and sines of the phases.
        """
        if steps * h > self.period * (1.0 + 1e-9):
            span = self.frequencies[-1] - self.frequencies[0]
            least = math.ceil(span * steps * h / (2.0 * math.pi) - 1e-9) + 1
            raise ValueError(
                f"t_span must not be longer than the period of {self.period:.6g} s of the spectrum "
                f"(2 pi over the distance of its frequencies), got {steps * h:g} s: pass the "
                f"density at {least} or more equidistant frequencies"
            )
        bends = self.envelope is not None
        factors = step_factors(self.frequencies * h, h, degree + bends)
        cosines = (self.amplitudes * np.cos(self.phases)).T
        sines = (self.amplitudes * np.sin(self.phases)).T
        result = np.empty((steps, 1, degree + 3, self.chosen.stop - self.chosen.start))
        times = t0 + h * np.arange(steps + 1)
        envelope = values_of(self.envelope, times)[:, None, None]
        size = max(1, BLOCK // (2 * factors.size))
        for low in range(0, steps, size):
            high = min(low + size, steps)
            turns = np.exp(1j * np.outer(times[low:high], self.frequencies))
            table = (turns[:, None, :] * factors).reshape(-1, self.frequencies.size)
            real, imag = np.ascontiguousarray(table.real), np.ascontiguousarray(table.imag)
            products = [
                real @ np.ascontiguousarray(cosines[:, k : k + PATHS])
                - imag @ np.ascontiguousarray(sines[:, k : k + PATHS])
                for k in range(0, len(self.phases), PATHS)
            ]
            values = np.concatenate(products, axis=1)[:, self.chosen]
            values = values.reshape(high - low, len(factors), -1)
            begin, end = envelope[low:high], envelope[low + 1 : high + 1]
            block = result[low:high, 0]
            block[:, :1], block[:, 1:2] = begin * values[:, :1], end * values[:, 1:2]
            block[:, 2:] = begin * values[:, 2 : degree + 3]
            if bends:  # see `rode._solver.excited.describe`
                orders = 1.0 + np.arange(degree + 1)[:, None]
                change = h * values[:, 2 : degree + 3] - orders * values[:, 3:]
                block[:, 2:] += (end - begin) / h * change
        return result

    def numbers_of_path(self, steps: int, forms: int) -> int:
        """Return how many numbers the integrals of a path take."""
        return steps * (forms + 2) + 3 * self.frequencies.size

    @property
    def stepwise_envelopes(self) -> list[Envelope]:
        """The envelope."""
        return [self.envelope]


def step_factors(angles: np.ndarray, h: float, degree: int) -> np.ndarray:
    """Return factors of exp(i omega t) for u at both ends of a step, and its integrals.

    For the angles z = omega h they are 1, e^(i z), and I_d = h^(d+1) sum (i z)^m / (m + d + 1)!,
    the integral of (h - s)^d/d! e^(i omega s); by parts, I_d = (I_(d-1) - h^d/d!) / (i omega).
    """
    z = 1j * angles
    rows = [np.ones(z.size, complex), np.exp(z)]
    small = angles <= SERIES_ANGLE
    for d in range(degree + 1):
        row = np.empty(z.size, complex)
        term = np.full(int(small.sum()), 1.0 / math.factorial(d + 1), complex)
        total = term.copy()
        for m in range(1, SERIES_TERMS):
            term = term * z[small] / (m + d + 1)
            total += term
        row[small] = total
        large = ~small
        before = np.exp(z[large]) if d == 0 else rows[-1][large] / h**d
        row[large] = (before - 1.0 / math.factorial(d)) / z[large]
        rows.append(h ** (d + 1) * row)
    return np.array(rows)
