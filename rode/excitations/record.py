"""Recorded motions: functions of time that are known at equal distances."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from rode.excitations.excitation import Envelope, Excitation, checked_envelope, values_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Record(Excitation):
    """Recorded function u, linear between samples, and 0 outside of the record.

    Parameters
    ----------
    values : (samples,) array, or (records, samples): path number i has record i
    dt : time between samples, s
    t0 : time of the first sample, s
    envelope : factor of the samples; see `Excitation`

    Raises
    ------
    TypeError, ValueError
        There are fewer than two samples, or one is NaN or infinite: a record must have no gaps.
    """

    def __init__(
        self, values: ArrayLike, dt: float, *, t0: float = 0.0, envelope: Envelope = None
    ) -> None:
        samples = np.atleast_2d(as_real("values", values))
        if samples.ndim != 2 or samples.shape[1] < 2 or samples.shape[0] < 1:
            raise ValueError(
                "values must be an array (samples,) or (records, samples) of at least two samples, "
                f"got the shape {np.shape(values)}"
            )
        if not np.isfinite(samples).all():
            record, sample = np.argwhere(~np.isfinite(samples))[0]
            raise ValueError(
                f"values must be finite, but sample {sample} of record {record} is "
                f"{samples[record, sample]}: fill the gap, or cut the record there"
            )
        self.dt, self.t0 = validation.check_positive("dt", dt), validation.check_finite("t0", t0)
        self.envelope = checked_envelope(envelope)
        times = self.t0 + self.dt * np.arange(samples.shape[1])
        self.values = samples * values_of(self.envelope, times)

    def __repr__(self) -> str:
        records, samples = self.values.shape
        return f"Record({records} x {samples} samples, dt={self.dt:g}, t0={self.t0:g})"

    @property
    def components(self) -> int:
        """One."""
        return 1

    def integrals(self, t0: float, h: float, steps: int, degree: int) -> np.ndarray:
        """Return u and its integrals over each coarse step, exact for a piecewise linear u.

        Steps are cut at the samples. On a piece from a to b, with w = h - s before the end of the
        step and u linear in w, the integral of w^d/d! u is a difference of powers of w.
        """
        ends = t0 + h * np.arange(steps + 1)
        knots = self.t0 + self.dt * np.arange(self.values.shape[1])
        inside = knots[(knots > ends[0]) & (knots < ends[-1])]
        # Samples at the ends of steps are there but for a rounding.
        nearest = ends[np.round((inside - t0) / h).astype(int)]
        inside = inside[np.abs(inside - nearest) > 1e-9 * min(h, self.dt)]
        points = np.unique(np.concatenate([ends, inside]))
        left, right = points[:-1], points[1:]
        middle = 0.5 * (left + right)
        # A piece lies in one interval of samples, or outside of the record.
        k = np.clip(np.floor((middle - self.t0) / self.dt).astype(int), 0, knots.size - 2)
        in_record = (middle >= knots[0]) & (middle <= knots[-1])
        step = np.clip(np.searchsorted(ends, middle) - 1, 0, steps - 1)
        slope = np.where(in_record, (self.values[:, k + 1] - self.values[:, k]) / self.dt, 0.0)
        at_end = np.where(in_record, self.values[:, k] + slope * (ends[step + 1] - knots[k]), 0.0)
        far, near = ends[step + 1] - left, ends[step + 1] - right  # w at both ends of the piece
        result = np.zeros((steps, 1, degree + 3, len(self.values)))
        first = np.searchsorted(left, ends[:-1])  # pieces with which steps begin
        last = np.append(first[1:], left.size) - 1
        result[:, 0, 0] = (at_end - slope * far)[:, first].T
        result[:, 0, 1] = at_end[:, last].T
        for record, (end, rate) in enumerate(zip(at_end, slope, strict=True)):
            for d in range(degree + 1):  # u = end - rate w
                constant = (far ** (d + 1) - near ** (d + 1)) / math.factorial(d + 1)
                linear = (far ** (d + 2) - near ** (d + 2)) / (math.factorial(d) * (d + 2))
                np.add.at(result[:, 0, 2 + d, record], step, end * constant - rate * linear)
        return result

    def numbers_of_path(self, steps: int, forms: int) -> int:
        """Return how many numbers the integrals of a path take, if each has a record of its own."""
        return steps * (forms + 2) if len(self.values) > 1 else 0

    def for_paths(
        self, key: tuple[np.uint32, np.uint32], paths: range, whole: range, term: int = 0
    ) -> Record:
        """Return the records of some paths, if each path has one of its own."""
        if len(self.values) == 1:
            return self
        if len(self.values) != len(whole):
            raise ValueError(
                f"the excitation has {len(self.values)} records, but paths={len(whole)}"
            )
        chosen = copy.copy(self)
        first = paths.start - whole.start
        chosen.values = self.values[first : first + len(paths)]
        return chosen
