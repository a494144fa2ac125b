"""Response spectra of recorded motions, and their values over all directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from hetero import region, validation
from hetero.arrays import Workspace, as_real
from hetero.devices import resolve
from hetero.equality import equal_by_value
from rode import spectra
from rode.excitations.record import Record

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from hetero.devices import Device

BREAK_EVEN = 50_000_000
"""Steps of all oscillators from which a GPU is faster; not tuned."""


@equal_by_value
@dataclass(frozen=True, eq=False)
class ResponseSpectrum:
    """Largest responses of oscillators to records.

    Attributes
    ----------
    periods : (periods,) array of natural periods, s
    damping : part of the critical damping
    displacement, velocity : largest absolute values relative to the ground, in m and m/s for
        records in m/s^2; arrays (records, periods), or (periods,) for one record
    acceleration : largest absolute acceleration of the mass, with that of the ground
    """

    periods: np.ndarray
    damping: float
    displacement: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    @property
    def pseudo_acceleration(self) -> np.ndarray:
        """(2 pi/T)^2 times the displacement."""
        return (2.0 * math.pi / self.periods) ** 2 * self.displacement


def response_spectrum(
    records: ArrayLike | Record,
    dt: float | None = None,
    periods: ArrayLike = (),
    damping: float = 0.05,
    *,
    subdivide: int = 1,
    dtype: DTypeLike = np.float64,
    device: Device | str | None = None,
) -> ResponseSpectrum:
    """Compute the largest responses of x'' + 2 zeta w x' + w^2 x = -a(t), from rest.

    The record is linear between samples, for which the step of Nigam and Jennings is exact; the
    free vibration behind the record is not followed.

    Parameters
    ----------
    records : (samples,) or (records, samples) array of the ground's acceleration, or a Record
    dt : time between samples, s; that of a `rode.Record`
    periods : natural periods T in s, w = 2 pi/T
    damping : zeta in [0, 1)
    subdivide : steps from one sample to the next
        Peaks are those at the ends of steps. An oscillation of period T has a peak between them
        that is larger by a factor of 1/cos(pi dt/(subdivide T)) at most: 1.3 % for T = 20 dt.
    dtype : {float64, float32}
    device : the device that computes; by default a GPU if one is usable and the work is large

    Returns
    -------
    ResponseSpectrum

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a sample is NaN or infinite; the message names it.

    References
    ----------
    Nigam and Jennings (1969), Calculation of response spectra from strong-motion earthquake
    records, Bulletin of the Seismological Society of America 59, 909.
    """
    if isinstance(records, Record):
        if dt is not None:
            raise ValueError("dt must be None for a rode.Record, which has its own")
        is_single = len(records.values) == 1
    elif dt is None:
        raise ValueError("dt must be the time between samples in s, got None")
    else:
        array = as_real("records", records)
        is_single = array.ndim == 1
        records = Record(array, dt)
    real = validation.check_dtype("dtype", dtype, ("float32", "float64"))
    periods = _periods_of(periods)
    damping = validation.check_in_range("damping", damping, 0.0, 1.0, closed="left")
    subdivide = validation.check_integer("subdivide", subdivide, 1, 1000)
    samples, step = records.values, records.dt / subdivide
    if subdivide > 1:
        fine = np.arange((samples.shape[1] - 1) * subdivide + 1) / subdivide
        coarse = np.arange(samples.shape[1])
        samples = np.array([np.interp(fine, coarse, one) for one in samples])
    work = samples.size * periods.size
    device = resolve(device, work=work, break_even=BREAK_EVEN)
    shape = 3, len(samples), periods.size
    table = coefficients_of(periods, damping, step)
    with device.active(), region("response spectrum"):
        space = Workspace(device)
        values = space.input("records", samples, real).reshape(samples.shape)
        coefficients = space.input("periods", table, real).reshape(table.shape)
        result = space.output(shape, real, flat=False)
        spectra.loops(device).compute_peaks(values, coefficients, result, space.stream)
        peaks = space.result(result, shape)
    peaks = peaks[:, 0] if is_single else peaks
    return ResponseSpectrum(periods, damping, *peaks)


def rotd(
    first: ArrayLike,
    second: ArrayLike,
    dt: float,
    periods: ArrayLike,
    damping: float = 0.05,
    *,
    percentiles: Sequence[float] = (50.0, 100.0),
    angles: int = 180,
    **options: Any,
) -> np.ndarray:
    """Compute percentiles over all directions of the pseudo-acceleration of two components.

    RotD50 and RotD100 (Boore 2010) are the median and the largest value of the spectra of
    cos(phi) first + sin(phi) second over phi = k pi/angles.

    Parameters
    ----------
    first, second : (samples,) arrays, two horizontal components
    dt, periods, damping : as of `response_spectrum`
    percentiles : in [0, 100]; 50 and 100 by default
    angles : number of directions
    **options : other arguments of `response_spectrum`

    Returns
    -------
    array (percentiles, periods)

    Raises
    ------
    TypeError, ValueError
        An argument is invalid; the message names it.

    References
    ----------
    Boore (2010), Orientation-independent, nongeometric-mean measures of seismic intensity from two
    horizontal components of motion, Bulletin of the Seismological Society of America 100, 1830.
    """
    one, other = as_real("first", first), as_real("second", second)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(
            f"first and second must be equally long components, got {one.shape} and {other.shape}"
        )
    angles = validation.check_integer("angles", angles, 1, 3600)
    levels = [validation.check_in_range("percentiles", p, 0.0, 100.0) for p in percentiles]
    phi = math.pi / angles * np.arange(angles)[:, None]
    rotated = np.cos(phi) * one + np.sin(phi) * other
    spectrum = response_spectrum(rotated, dt, periods, damping, **options)
    return np.percentile(spectrum.pseudo_acceleration.reshape(angles, -1), levels, axis=0)


def _periods_of(periods: ArrayLike) -> np.ndarray:
    """Return positive periods as an array."""
    array = np.atleast_1d(as_real("periods", periods))
    if array.ndim != 1 or array.size == 0 or not np.all((array > 0.0) & np.isfinite(array)):
        raise ValueError(
            f"periods must hold positive numbers in s, got {validation.describe(periods)}"
        )
    return array


def coefficients_of(periods: np.ndarray, damping: float, dt: float) -> np.ndarray:
    """Return the (10, periods) coefficients of a step, see `spectra.formulas.advance`.

    They are the exponential of the matrix of (x, x', a, dt a'), less the unit matrix. The last rows
    make the absolute acceleration of x and x'.
    """
    w = 2.0 * math.pi / periods
    generator = np.zeros((periods.size, 4, 4))
    generator[:, 0, 1], generator[:, 1, 0] = dt, -(w**2) * dt
    generator[:, 1, 1], generator[:, 1, 2], generator[:, 2, 3] = -2.0 * damping * w * dt, -dt, 1.0
    # exp(M) - 1 = M phi_1(M): exp of a larger matrix has it without cancellation.
    larger = np.zeros((periods.size, 8, 8))
    larger[:, :4, :4], larger[:, :4, 4:] = generator, np.eye(4)
    change = generator @ linalg.expm(larger)[:, :4, 4:]
    rows = []
    for i in range(2):
        of_x, of_v, of_a, of_slope = (change[:, i, j] for j in range(4))
        rows += [of_x, of_v, of_a - of_slope, of_slope]
    return np.array([*rows, w**2, 2.0 * damping * w])
