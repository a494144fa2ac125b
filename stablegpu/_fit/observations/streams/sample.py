"""A sample that is read piece by piece: order statistics, bins and characteristic function."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import Device
from hetero.distributed.engines import Engine
from stablegpu._fit.estimators import koutrouvelis
from stablegpu._fit.estimators.koutrouvelis.estimate import add_up_set
from stablegpu._fit.limits import FEWEST_OBSERVATIONS
from stablegpu._fit.observations.large_samples.sample import bin_arrays
from stablegpu._fit.observations.streams.pieces import Observations, check_size
from stablegpu._fit.observations.streams.read_ahead import read_ahead
from stablegpu._fit.records import REMEDIES

COLLECTED = 1 << 20
"""Observations that share their leading digits with those looked for, which are collected: 8 MiB.
If there are more, another pass counts their next digit."""

_KEY_BITS = 64


class StreamedSample:
    """A sample that is read piece by piece, in one pass for each question.

    Parameters
    ----------
    observations : where the pieces come from
    engine : shares the pieces out
    device : of this process, if the engine has no other

    Attributes
    ----------
    size, is_weighted : see `stablegpu._fit.observations.large_samples.sample.Sample`

    Raises
    ------
    ValueError : observations are not finite, or fewer than five
    """

    is_weighted = False

    def __init__(
        self, observations: Observations, engine: Engine, device: Device, show_progress: bool
    ) -> None:
        self._engine, self._device, self._show_progress = engine, device, show_progress
        self._parts = observations.split(engine.count_parts())
        self.size = -1  # not known
        surveys = self._run("extremes", _survey)
        if self.size < FEWEST_OBSERVATIONS:
            raise ValueError(
                f"source must hold at least {FEWEST_OBSERVATIONS} values, got {self.size}"
            )
        if not np.isfinite([end for low, high, _ in surveys for end in (low, high)]).all():
            raise ValueError(REMEDIES["not finite"])
        self._first_digits = np.sum([digits for *_, digits in surveys], axis=0)

    def _run(self, title: str, fold: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return fold(part, *arguments, device) of each part, in their order.

        Raises ValueError if the parts do not have as many numbers as in the first pass.
        """
        results = self._engine.run(
            functools.partial(_fold_part, fold, arguments),
            self._parts,
            device=self._device,
            title=f"reading: {title}",
            show_progress=self._show_progress,
            agreed=title != "extremes",  # the first pass
        )
        size = sum(size for _, size in results)
        self.size = check_size(size, size if self.size < 0 else self.size)
        return [result for result, _ in results]

    def select(self, ranks: np.ndarray) -> np.ndarray:
        """Return the observations of given ranks, 0 the smallest.

        Each pass finds sixteen bits of them, until few observations agree with all that are known.
        """
        from stablegpu._fit.observations.streams.cpu_digits import DIGIT_BITS, keys_of, values_of

        count = len(ranks)
        left = np.array(ranks, np.int64)  # the rank among the observations that share the prefix
        prefixes, which = np.zeros(count, np.uint64), np.zeros(count, np.int64)
        sharing = np.zeros(count, np.int64)
        shift, counts = _KEY_BITS - DIGIT_BITS, self._first_digits
        while True:
            reached = np.cumsum(counts, axis=1)
            for k, row in enumerate(which):
                digit = int(np.searchsorted(reached[row], left[k], side="right"))
                left[k] -= reached[row][digit - 1] if digit else 0
                sharing[k] = counts[row, digit]
                prefixes[k] = (prefixes[k] << np.uint64(DIGIT_BITS)) | np.uint64(digit)
            distinct, firsts, which = np.unique(prefixes, return_index=True, return_inverse=True)
            if shift == 0:
                return values_of(prefixes)
            if sharing[firsts].sum() <= COLLECTED:
                break
            shift -= DIGIT_BITS
            counts = np.sum(self._run("quantiles", _count_digits, distinct, shift), axis=0)
        collected = np.sort(np.concatenate(self._run("quantiles", _collect, distinct, shift)))
        begins = np.searchsorted(keys_of(collected) >> np.uint64(shift), prefixes)
        return collected[begins + left]

    def count(self, values: np.ndarray) -> np.ndarray:
        """Count the observations that equal each of `values`."""
        counts: np.ndarray = np.sum(self._run("equal values", _count_equals, values), axis=0)
        return counts

    def bin(self, centre: float, width: float, low: float, per_unit: float) -> np.ndarray:
        """Return weights and two moments of bins, (3, BINS): see `large_samples/formulas.py`."""
        tables = self._run("bins", _bin, centre, width, low, per_unit)
        table: np.ndarray = np.sum(tables, axis=0)
        return table

    def improve_estimate(self, estimate: np.ndarray) -> np.ndarray:
        """Return the estimate after all passes of Koutrouvelis' regression, (1, 4) as before."""
        from stablegpu._fit.estimators.koutrouvelis.formulas import PASSES

        result = estimate.copy()
        ends = np.zeros(1, np.int64), np.array([self.size])
        regress = koutrouvelis.loops(Device("cpu")).regress
        for k in range(PASSES):
            sums = self._run("characteristic function", _add_characteristic_function, result)
            regress(*ends, 1, np.sum(sums, axis=0), result, k == PASSES - 1)
        return result


def _fold_part(
    fold: Callable[..., Any], arguments: tuple[Any, ...], part: Observations, device: Device
) -> tuple[Any, int]:
    """Return what a fold gives for a part, on a device, and the size of the part."""
    size = 0

    def counted(pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        nonlocal size
        for piece in pieces:
            size += piece.size
            yield piece

    with device.active(), contextlib.closing(read_ahead(part, device)) as pieces:
        result = fold(counted(pieces), *arguments, device)
    return result, size


def _survey(pieces: Iterable[np.ndarray], device: Device) -> tuple[float, float, np.ndarray]:
    """Return the least and the largest number (NaN if there is one), and counts of first digits."""
    from stablegpu._fit.observations.streams.cpu_digits import find_extremes_and_count, new_tables

    tables = new_tables()
    ends = [find_extremes_and_count(piece, tables) for piece in pieces if piece.size]
    low, high = np.transpose(ends or [(0.0, 0.0)])
    return float(low.min()), float(high.max()), tables.sum(axis=0)


def _count_digits(
    pieces: Iterable[np.ndarray], prefixes: np.ndarray, shift: int, device: Device
) -> Any:
    """Return the counts of the next digits of the numbers with these prefixes."""
    from stablegpu._fit.observations.streams.cpu_digits import count_digits, new_tables

    tables = new_tables(prefixes.size)
    for piece in pieces:
        count_digits(piece, prefixes, shift, tables)
    return tables.sum(axis=0)


def _collect(
    pieces: Iterable[np.ndarray], prefixes: np.ndarray, shift: int, device: Device
) -> np.ndarray:
    """Return the numbers whose bits above `shift` are one of the prefixes."""
    from stablegpu._fit.observations.streams.cpu_digits import collect

    return np.concatenate([np.empty(0), *(collect(piece, prefixes, shift) for piece in pieces)])


def _count_equals(pieces: Iterable[np.ndarray], values: np.ndarray, device: Device) -> Any:
    """Count the numbers that equal each of `values`."""
    counts = np.zeros(len(values), np.int64)
    for piece in pieces:
        counts += [np.count_nonzero(piece == value) for value in values]
    return counts


def _bin(
    pieces: Iterable[np.ndarray],
    centre: float,
    width: float,
    low: float,
    per_unit: float,
    device: Device,
) -> np.ndarray:
    """Return the table of bins of all pieces."""
    workspace = Workspace(device)
    arrays = (workspace.input("source", piece) for piece in pieces)
    return bin_arrays(arrays, workspace.output((0,)), centre, width, low, per_unit, workspace)


def _add_characteristic_function(
    pieces: Iterable[np.ndarray], estimate: np.ndarray, device: Device
) -> np.ndarray:
    """Return the sums of the empirical characteristic function, (1, SUMS), of all pieces."""
    from stablegpu._fit.estimators.koutrouvelis.formulas import SUMS

    total, workspace = np.zeros((1, SUMS)), Workspace(device)
    for piece in pieces:
        total += add_up_set(workspace.input("source", piece), estimate, workspace)
    return total
