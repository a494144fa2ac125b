"""The Ornstein-Uhlenbeck process from data, by maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from hetero.equality import equal_by_value
from rode._estimators.process_likelihood import (
    NO_CORRELATION,
    NO_RETURN,
    ProcessLikelihood,
    covariance_of,
)
from rode._paths.process import Process
from rode.excitations.ou import OU

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["ProcessFit", "fit_process"]


@equal_by_value
@dataclass(frozen=True, eq=False, repr=False)
class ProcessFit:
    """Fitted process dO = -(O - mean)/tau dt + sqrt(c) dW.

    Attributes
    ----------
    tau, c, mean : estimates of maximum likelihood
    standard_errors : those of "tau", "c" and "mean", from the observed information
        Without "mean" if it was given. Infinite if the likelihood is flat at its maximum.
    covariance : array, of log tau, log c and the mean, from the same
    log_likelihood : at the maximum
    residuals : (samples less those that begin a series,) array
        What each step adds, in its standard deviations: independent normal numbers if the data are
        such a process.
    samples, series : numbers of samples and series
    """

    tau: float
    c: float
    mean: float
    standard_errors: dict[str, float]
    covariance: np.ndarray
    log_likelihood: float
    residuals: np.ndarray
    samples: int
    series: int
    _likelihood: ProcessLikelihood = field(compare=False)

    def __repr__(self) -> str:
        parts = [
            f"{name}={getattr(self, name):.4g}"
            + (f" +- {self.standard_errors[name]:.2g}" if name in self.standard_errors else "")
            for name in ("tau", "c", "mean")
        ]
        return f"ProcessFit({', '.join(parts)}; {self.samples} samples, {self.series} series)"

    @property
    def process(self) -> Process:
        """The process without its mean, for `process=` of problems."""
        return Process(self.tau, self.c)

    @property
    def excitation(self) -> OU:
        """The process with its mean, for `excitation=` of problems."""
        return OU(self.tau, self.c, mean=self.mean)

    def interval(self, name: str, confidence: float = 0.95) -> tuple[float, float]:
        """Return the ends of the interval of "tau", "c" or "mean" by the likelihood ratio.

        Values belong to it if the largest likelihood with them is not too far below the maximum.
        Relaxation times that are not short compared with the data have skew intervals, which
        standard errors do not show. Ends may be infinite, and the lower ones of tau and c 0.
        """
        from scipy.stats import chi2

        validation.check_choice("name", name, tuple(self.standard_errors))
        confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
        drop = 0.5 * float(chi2.ppf(confidence, 1))
        centre, unit = getattr(self, name), self.standard_errors[name]
        is_log, likelihood = name != "mean", self._likelihood
        unit = unit / centre if is_log else unit
        if not math.isfinite(unit):
            unit = 1.0 if is_log else math.sqrt(0.5 * self.c * self.tau)
        limits = (-200.0 / unit, 200.0 / unit) if is_log else (-1e3, 1e3)
        if name == "tau":
            shortest, longest = likelihood.range_of_tau
            limits = math.log(shortest / centre) / unit, math.log(longest / centre) / unit

        def loss(z: float) -> float:
            value = centre * math.exp(z * unit) if is_log else centre + z * unit
            return self.log_likelihood - likelihood.best({name: value})[0] - drop

        low, high = (_root(loss, limit) * unit for limit in limits)
        if is_log:
            if name == "c" and math.isfinite(high):
                # As tau tends to 0, c tau is all that data without correlation tell.
                tau = likelihood.best({"c": centre * math.exp(high)})[1]
                high = math.inf if tau < NO_CORRELATION * likelihood.gaps.min() else high
            return centre * math.exp(low), math.inf if math.isinf(high) else centre * math.exp(high)
        return centre + low, centre + high


def fit_process(
    series: ArrayLike | Sequence[ArrayLike],
    dt: ArrayLike | None = None,
    *,
    times: ArrayLike | Sequence[ArrayLike] | None = None,
    mean: float | None = None,
    start: str = "stationary",
) -> ProcessFit:
    """Fit an Ornstein-Uhlenbeck process to one or several series by exact maximum likelihood.

    Parameters
    ----------
    series : (samples,) array, or (series, samples), or a list of arrays of any lengths
        The columns of a data frame are series. Several series are independent, and have the same
        process.
    dt : time between samples in s; or an array of the times between them
    times : times of the samples instead; an array for all series, or a list of arrays
    mean : mean of the process if it is known; None fits it
    start : {"stationary", "given"}
        Law of the first sample of a series: the stationary one, or none: the process may have begun
        elsewhere, and the sample only begins the first step.

    Returns
    -------
    ProcessFit

    Raises
    ------
    TypeError, ValueError
        Arguments are invalid: there are fewer than three steps, times do not ascend, a sample is
        NaN or infinite (leave it out, and give `times`), or all are equal. Or the data determine no
        process: neighbours are not correlated, nothing returns to the mean, or there is no noise.

    Notes
    -----
    Estimates of tau are too small by some 4 tau/T of their value if the mean is fitted to data of
    length T. Noise of the measurement is not part of the model: it makes tau too small.
    """
    values = _series_of(series)
    gaps = _gaps_of(dt, times, [len(one) for one in values])
    if mean is not None:
        mean = validation.check_finite("mean", mean)
    is_stationary = validation.check_choice("start", start, ("stationary", "given")) == "stationary"
    steps = sum(len(one) for one in gaps)
    if steps < 3:
        raise ValueError(f"series must have at least three steps, got {steps}")
    with np.errstate(over="ignore"):
        spread = float(np.ptp(np.concatenate(values)))
    if spread == 0.0:
        raise ValueError(f"series must not be constant, got {values[0][0]:g} everywhere")
    if not 1e-100 < spread < 1e100:
        raise ValueError(f"series must spread by 1e-100 to 1e100, got {spread:g}: use another unit")
    shift = float(np.mean(np.concatenate(values)))
    values = [one - shift for one in values]
    likelihood = ProcessLikelihood(
        np.concatenate([one[:-1] for one in values]),
        np.concatenate([one[1:] for one in values]),
        np.concatenate(gaps),
        np.array([one[0] for one in values]) if is_stationary else np.zeros(0),
        *(mean, shift),
    )
    top, tau = likelihood.best({})
    shortest, length = float(likelihood.gaps.min()), float(likelihood.gaps.sum())
    if tau < NO_CORRELATION * shortest:
        raise ValueError(
            f"series has no correlation between neighbours: tau is below {tau:.3g} s, and nothing "
            "else is known of it. Take samples at shorter distances"
        )
    if tau > 0.9 * NO_RETURN * length:
        raise ValueError(
            f"series does not return to a mean within its {length:.4g} s: it is a random walk as "
            "far as one can tell. Take longer series, or start='stationary'"
        )
    centre, v = likelihood.moments_at(tau, {})
    if v < 1e-16 * spread**2:
        raise ValueError(
            "series has no noise: it is an exponential function of time, and no random process"
        )
    c = 2.0 * v / tau
    covariance = covariance_of(likelihood, tau, c, centre)
    errors = np.sqrt(np.diag(covariance))
    names = ("tau", "c", "mean")[: len(errors)]
    scales = (tau, c, 1.0)
    return ProcessFit(
        tau=tau,
        c=c,
        mean=centre,
        standard_errors={n: float(e * s) for n, e, s in zip(names, errors, scales, strict=False)},
        covariance=covariance,
        log_likelihood=top,
        residuals=likelihood.residuals(tau, v, centre),
        samples=sum(map(len, values)),
        series=len(values),
        _likelihood=likelihood,
    )


def _root(loss: Callable[[float], float], limit: float) -> float:
    """Return z between 0 and the limit with loss(z) = 0; infinity of its sign if there is none."""
    from scipy.optimize import brentq

    near, far = 0.0, math.copysign(min(1.0, abs(limit)), limit)
    while loss(far) < 0.0:
        if far == limit:
            return math.copysign(math.inf, limit)
        near, far = far, math.copysign(min(2.0 * abs(far), abs(limit)), limit)
    return float(brentq(loss, near, far, xtol=1e-6))


def _rows_of(name: str, values: Any) -> list[np.ndarray]:
    """Return the rows of an array or of a list of arrays, or the columns of a data frame."""
    if isinstance(values, list | tuple) and values and np.ndim(values[0]) > 0:
        return [as_real(name, one) for one in values]
    array = as_real(name, values)
    if hasattr(values, "columns"):
        array = array.T
    elif name == "series" and array.ndim == 2 and len(array) > array.shape[1]:
        raise ValueError(
            f"series has {len(array)} series of {array.shape[1]} samples each: an array is "
            "(series, samples). Transpose it, or pass list(series) if this is meant"
        )
    return [array] if array.ndim < 2 else list(array)


def _series_of(series: ArrayLike | Sequence[ArrayLike]) -> list[np.ndarray]:
    """Return the samples of each series, checked."""
    rows = _rows_of("series", series)
    for number, row in enumerate(rows):
        if row.ndim != 1 or row.size < 2:
            raise ValueError(
                f"series must be arrays of at least two samples, got the shape {row.shape}"
            )
        if not np.isfinite(row).all():
            k = int(np.argmin(np.isfinite(row)))
            raise ValueError(
                f"series must be finite, but sample {k} of series {number} is {row[k]}: leave it "
                "out, and give the times of the others by times="
            )
    return rows


def _gaps_of(
    dt: ArrayLike | None, times: ArrayLike | Sequence[ArrayLike] | None, sizes: list[int]
) -> list[np.ndarray]:
    """Return the times between samples of each series."""
    if (dt is None) == (times is None):
        raise ValueError("fit_process needs dt, or times: one of both")
    name, argument, less = ("dt", dt, 1) if times is None else ("times", times, 0)
    rows = _rows_of(name, argument)
    if name == "dt" and rows and rows[0].ndim == 0:
        step = validation.check_positive("dt", dt)
        return [np.full(size - 1, step) for size in sizes]
    rows = rows * len(sizes) if len(rows) == 1 else rows
    if [row.shape for row in rows] != [(size - less,) for size in sizes]:
        raise ValueError(
            f"{name} must have {'one number less than' if less else 'as many numbers as'} each "
            f"series, which are {sizes}, got the shapes {[row.shape for row in rows]}"
        )
    gaps = rows if name == "dt" else [np.diff(row) for row in rows]
    for row in gaps:
        if not np.all((row > 0.0) & (row < math.inf)):
            k = int(np.argmin((row > 0.0) & (row < math.inf)))
            raise ValueError(
                f"{name} must be ascending, finite times, got a step of {row[k]:g} s behind "
                f"sample {k}"
            )
    return gaps
