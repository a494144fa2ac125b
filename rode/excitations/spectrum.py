"""Excitations with any spectral density, as sums of cosines with random phases."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import fft

from hetero import validation
from hetero.arrays import as_real
from hetero.cpu.threads import threads
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

MANY = 300
"""Number of frequencies from which fast transforms take less time than products (measured)."""

WINDOW = 2048
"""Coarse steps of a fast transform: so few that angles of its chirp have 13 digits; not tuned."""

PATHS = 64
"""Paths whose sums are computed at a time, counted from path number 0: the last digits of a product
of matrices depend on its shape, and those of a path must not depend on others."""


class Spectrum(Excitation):
    """Stationary process of one or several components with given spectral densities.

    One component is u = sum of A_k cos(omega_k t + phi_k). The phases phi_k are independent and
    uniform, drawn for each path at the start (Shinozuka and Deodatis 1991). The amplitudes are
    A_k = sqrt(2 G_k w_k), with the density G and the weights w of the trapezoidal rule, so that the
    variance is the integral of G by that rule. Several components have the cosines of as many
    independent phases, with the amplitudes and shifts of the Cholesky factor of their cross
    spectrum (Deodatis 1996). Integrals over coarse steps are exact.

    Parameters
    ----------
    frequencies : (frequencies,) array, rad/s, ascending and not negative
    density : (frequencies,) array, one-sided spectral density G over angular frequencies, in the
        unit of u^2 times s; or (components, frequencies); or a function of the array of frequencies
        The variance of u is the integral of G over them. A density over frequencies in Hz is
        2 pi times larger, and a two-sided one half as large.
    coherence : (components, components) matrix, or (frequencies, components, components), or a
        function of the frequencies that returns the latter; None: independent components
        Complex numbers gamma_ij with gamma_ii = 1 and gamma_ji = conj(gamma_ij), so that the
        covariance of u_i(t + s) and u_j(t) is the real part of the integral of
        gamma_ij sqrt(G_i G_j) exp(i omega s). With exp(i omega d) component j is d seconds behind
        component i.
    envelope : factor of u; see `Excitation`

    Attributes
    ----------
    period : 2 pi over the largest distance of frequencies, s
        A path of equidistant frequencies repeats itself after it, so that a longer t_span is
        refused.
    variance : of u, without an envelope; an array for several components
    excess_kurtosis : of u, in the same way; 0 is Gaussian
        It is -1.5 sum A_k^4 / (sum A_k^2)^2, about -1.5 over the number of frequencies that matter,
        and -1.5 for a single one.

    Raises
    ------
    TypeError, ValueError
        There are fewer than two frequencies, they do not ascend, a density is negative, NaN or
        infinite, all of a component are 0, or the coherence is not Hermitian or has a negative
        eigenvalue.

    References
    ----------
    Shinozuka and Deodatis (1991), Simulation of stochastic processes by spectral representation,
    Applied Mechanics Reviews 44, 191; Deodatis (1996), Simulation of ergodic multivariate
    stochastic processes, Journal of Engineering Mechanics 122, 778.
    """

    def __init__(
        self,
        frequencies: ArrayLike,
        density: ArrayLike | Callable[[np.ndarray], ArrayLike],
        *,
        coherence: Any = None,
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
        if values.ndim not in (1, 2) or values.shape[-1] != omega.size or values.size == 0:
            raise ValueError(
                f"density must have a value for each of the {omega.size} frequencies, for one "
                f"component or in a row for each, got the shape {values.shape}"
            )
        single, values = values.ndim == 1, np.atleast_2d(values)
        bad = ~(np.isfinite(values) & (values >= 0.0))
        if bad.any():
            i, k = np.argwhere(bad)[0]
            raise ValueError(
                f"density must be finite and not negative, got {values[i, k]} at {omega[k]:g} rad/s"
            )
        gaps = np.diff(omega)
        weights = 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))
        sizes = np.sqrt(2.0 * values * weights)
        factor = _factor_of(coherence, len(values), omega)
        # (components, phases, frequencies): what each cosine contributes to each component.
        self.frequencies, self.amplitudes = omega, sizes[:, None] * factor.transpose(1, 2, 0)
        squares = np.abs(self.amplitudes.reshape(len(values), -1)) ** 2
        total = squares.sum(axis=1)
        if not np.all((total > 0.0) & np.isfinite(total)):
            raise ValueError(f"density must have a positive integral, got {0.5 * total.min():g}")
        self.period = float(2.0 * math.pi / gaps.max())
        kurtosis = -1.5 * ((squares / total[:, None]) ** 2).sum(axis=1)
        self.variance = float(0.5 * total[0]) if single else 0.5 * total
        self.excess_kurtosis = float(kurtosis[0]) if single else kurtosis
        self.envelope = checked_envelope(envelope)
        # Phases of whole groups of paths, drawn by `for_paths`, and the paths among them.
        # Unequal phases, so that `settings_of` tells spectra apart by their coherence, too.
        self.phases = np.arange(float(values.size)).reshape(1, *values.shape)
        self.chosen = slice(0, 1)

    def __repr__(self) -> str:
        several = f"{self.components} components, " if self.components > 1 else ""
        deviations = ", ".join(f"{one:.4g}" for one in self.deviation)
        kurtosis = np.min(self.excess_kurtosis)
        return (
            f"Spectrum({several}{self.frequencies.size} frequencies, {self.frequencies[0]:g} to "
            f"{self.frequencies[-1]:g} rad/s, standard deviation {deviations}, period "
            f"{self.period:.4g} s, excess kurtosis {kurtosis:.2g})"
        )

    @property
    def components(self) -> int:
        """Number of densities."""
        return len(self.amplitudes)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of each component, without the envelope."""
        return np.atleast_1d(np.sqrt(self.variance))

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
        count = self.components * self.frequencies.size
        blocks = -(-count // 4)
        first, end = paths.start // PATHS * PATHS, -(-paths.stop // PATHS) * PATHS
        words = np.random.Philox(key=[int(key[0]) << 32 | int(key[1]), term])
        numbers = np.random.Generator(words.advance(first * blocks))
        drawn = copy.copy(self)
        drawn.chosen = slice(paths.start - first, paths.stop - first)
        uniform = numbers.random((end - first, 4 * blocks))[:, :count]
        drawn.phases = 2.0 * math.pi * uniform.reshape(end - first, self.components, -1)
        return drawn

    def integrals(self, t0: float, h: float, steps: int, degree: int) -> np.ndarray:
        """Return u and its integrals for each path, as `Excitation.integrals` says.

        All are real parts of sums of A exp(i (omega t_n + phi)) times a factor of omega and h.
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
        result = np.empty((steps, self.components, degree + 3, self.chosen.stop))
        times = t0 + h * np.arange(steps + 1)
        envelope = values_of(self.envelope, times)[:, None, None]
        make_sums = _fast_sums if self._is_fast(h) else _products
        size = max(1, BLOCK // (2 * factors.size)) if make_sums is _products else WINDOW
        sums: Any = None
        for low in range(0, steps, size):
            high = min(low + size, steps)
            begin, end = envelope[low:high], envelope[low + 1 : high + 1]
            if sums is None or high - low < size:
                sums = make_sums(self.frequencies, h, factors, high - low)
            turns = np.exp(1j * self.frequencies * times[low])
            for k in range(0, self.chosen.stop, PATHS):
                waves = np.exp(1j * self.phases[k : k + PATHS])
                for i, amplitudes in enumerate(self.amplitudes):
                    c = (turns * (waves * amplitudes).sum(axis=1)).T
                    block = result[low:high, i, :, k : k + PATHS]
                    values = sums(c)
                    values = values[..., : block.shape[-1]]
                    block[:, :1], block[:, 1:2] = begin * values[:, :1], end * values[:, 1:2]
                    block[:, 2:] = begin * values[:, 2 : degree + 3]
                    if bends:  # see `rode._solver.excited.describe`
                        orders = 1.0 + np.arange(degree + 1)[:, None]
                        change = h * values[:, 2 : degree + 3] - orders * values[:, 3:]
                        block[:, 2:] += (end - begin) / h * change
        return result[..., self.chosen]

    def _is_fast(self, h: float) -> bool:
        """Return whether frequencies are many and, as seen in a window of steps, equidistant."""
        omega = self.frequencies
        equal = np.linspace(omega[0], omega[-1], omega.size)
        return omega.size > MANY and bool(np.abs(omega - equal).max() * h * WINDOW < 1e-10)

    def numbers_of_path(self, steps: int, forms: int) -> int:
        """Return how many numbers the integrals of a path take."""
        return self.components * (steps * (forms + 2) + 3 * self.frequencies.size)

    @property
    def stepwise_envelopes(self) -> list[Envelope]:
        """The envelope."""
        return [self.envelope]


def _factor_of(coherence: Any, components: int, omega: np.ndarray) -> np.ndarray:
    """Return L with L L^H = coherence, lower triangles (1 or frequencies, components, components).

    A pivot of 0, as of components that are the same but for a shift, leaves its column 0.
    """
    if coherence is None:
        return np.eye(components)[None]
    values = coherence(omega) if callable(coherence) else coherence
    try:
        matrix = np.asarray(values)
    except ValueError:  # rows of different lengths
        matrix = np.empty(0, object)
    if matrix.dtype.kind not in "iufc":
        raise TypeError(
            "coherence must be a matrix of numbers, or a function of the array of frequencies that "
            f"returns one for each of them, got {validation.describe(values)}"
        )
    matrix = matrix[None] if matrix.ndim == 2 else matrix
    if matrix.shape[1:] != (components, components) or len(matrix) not in (1, omega.size):
        raise ValueError(
            f"coherence must have the shape ({components}, {components}), or one matrix for each "
            f"of the {omega.size} frequencies, got {matrix.shape}"
        )
    diagonal = np.diagonal(matrix, axis1=1, axis2=2)
    if not (np.allclose(diagonal, 1.0) and np.allclose(matrix, matrix.conj().swapaxes(1, 2))):
        raise ValueError("coherence must be finite and Hermitian with a diagonal of 1")
    L = np.zeros_like(matrix, dtype=complex if np.iscomplexobj(matrix) else float)
    for j in range(components):
        remainder = matrix[:, j:, j] - np.einsum("kim,km->ki", L[:, j:, :j], L[:, j, :j].conj())
        pivot = np.sqrt(np.maximum(remainder[:, 0].real, 0.0))
        L[:, j:, j] = remainder / np.where(pivot > 1e-6, pivot, np.inf)[:, None]
    if np.abs(L @ L.conj().swapaxes(1, 2) - matrix).max() > 1e-6:
        raise ValueError("coherence must have no negative eigenvalue")
    return L


Sums: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""The real sums (steps, factors, paths) of complex amplitudes (frequencies, paths), those of waves
at the start of the steps."""


def _products(omega: np.ndarray, h: float, factors: np.ndarray, steps: int) -> Sums:
    """Return sums that are products with a table of cosines and sines."""
    turns = np.exp(1j * h * np.outer(np.arange(steps), omega))
    waves = (turns[:, None, :] * factors).reshape(-1, omega.size)
    table = np.hstack([waves.real, -waves.imag])

    def sums(c: np.ndarray) -> np.ndarray:
        return (table @ np.vstack([c.real, c.imag])).reshape(steps, len(factors), -1)

    return sums


def _fast_sums(omega: np.ndarray, h: float, factors: np.ndarray, steps: int) -> Sums:
    """Return sums by fast transforms, for equidistant frequencies.

    As k n = (k^2 + n^2 - (n - k)^2)/2, the sum of c_k exp(i k d n) over k is a convolution with a
    chirp (Bluestein 1970), whatever the distance d of the angles of a step.
    """
    count, distance = omega.size, (omega[-1] - omega[0]) / (omega.size - 1)
    size = fft.next_fast_len(count + steps)
    numbers = np.arange(max(count, steps + 1))
    # Squares are reduced to a turn in the long type, so that their size costs few digits.
    squares = np.longdouble(distance * h) / (4.0 * np.longdouble(math.pi)) * numbers**2
    chirp = np.exp(2j * math.pi * (squares - np.floor(squares)).astype(float))
    inverse = np.zeros(size, complex)
    inverse[: steps + 1] = chirp[: steps + 1].conj()
    inverse[size - count + 1 :] = chirp[count - 1 : 0 : -1].conj()
    kernel, before = fft.fft(inverse)[:, None], chirp[:count] * factors
    after = (np.exp(1j * omega[0] * h * np.arange(steps + 1)) * chirp[: steps + 1])[:, None]

    def sums(c: np.ndarray) -> np.ndarray:
        result = np.empty((steps, len(factors), c.shape[1]))
        for row in (0, *range(2, len(factors))):
            waves = fft.fft(c * before[row, :, None], size, axis=0, workers=threads())
            waves *= kernel
            waves = fft.ifft(waves, axis=0, overwrite_x=True, workers=threads())[: steps + 1]
            values = waves.real * after.real - waves.imag * after.imag
            result[:, row] = values[:steps]
            if row == 0:  # u at the end of a step is that at the start of the next
                result[:, 1] = values[1:]
        return result

    return sums


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
