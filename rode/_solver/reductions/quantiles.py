"""The reduction to quantiles over paths, also of parts: exact, and with no path in memory.

A quantile is a number of known rank among all paths, or lies between two neighbours. Each part
first gives the numbers of nearly that rank among its own paths. The least and the largest of them
over all parts enclose both neighbours, for any numbers at all (see `bracket_ranks`). Then every
part computes its paths again, counts those below that interval, and returns those inside of it:
few, because the parts are samples of one distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetero import validation
from rode._solver.reductions.reduction import Extent, Reduction, Rows, State

_AXES = {"quantiles": ("probability", "t", "output")}


@dataclass(frozen=True, repr=False)
class Quantiles(Reduction):
    """Reduction to these quantiles over paths at every saved time (linear between ranks)."""

    name = "quantiles"
    axes = _AXES
    probabilities: tuple[float, ...]

    def __init__(self, *probabilities: float) -> None:
        checked = tuple(
            validation.check_in_range("probabilities", q, 0.0, 1.0) for q in probabilities
        )
        if not checked:
            raise ValueError("Quantiles needs at least one probability")
        object.__setattr__(self, "probabilities", checked)

    def __repr__(self) -> str:
        return f"Quantiles({', '.join(map(str, self.probabilities))})"

    def memory(self, extent: Extent) -> int:
        """Return the bytes of the quantiles."""
        return 8 * len(self.probabilities) * extent.times * extent.outputs

    def row_copies(self) -> int:
        """Return 1: a CPU sorts a copy."""
        return 1

    def begin(self, extent: Extent) -> State:
        """Return empty arrays: quantiles, or of a part the ends of the intervals around them."""
        shape = (len(self.probabilities), extent.times, extent.outputs)
        if extent.is_part:
            return {"brackets": np.empty((2, *shape))}
        return {"quantiles": np.empty(shape)}

    def take(self, state: State, rows: Rows) -> None:
        """Find the numbers of the ranks that are needed."""
        paths, levels = rows.values.shape[2], self.probabilities
        if "brackets" in state:
            low, high = np.array([bracket_ranks(q, paths) for q in levels]).T
            ends = np.moveaxis(np.stack(_order_statistics(rows, low, high)), 2, 1)
            part = state["brackets"][:, :, rows.times]
            part[:] = ends.reshape(part.shape)
            return
        position = np.array(levels) * (paths - 1)
        low = np.floor(position).astype(np.int64)
        below, above = _order_statistics(rows, low, np.minimum(low + 1, paths - 1))
        with np.errstate(invalid="ignore"):
            between = below + (position - low) * (above - below)
        part = state["quantiles"][:, rows.times]
        part[:] = np.where(position == low, below, between).T.reshape(part.shape)

    def repeat(self, states: Sequence[State]) -> Reduction | None:
        """Return the reduction to the numbers inside the intervals of all parts."""
        if "quantiles" in states[0]:
            return None
        lower = np.min([state["brackets"][0] for state in states], axis=0)
        upper = np.max([state["brackets"][1] for state in states], axis=0)
        return Between(self.probabilities, lower, upper)

    def combine(self, values: list[State], paths: Sequence[int] = ()) -> dict[str, np.ndarray]:
        """Return the quantiles of one result; those of several do not give quantiles of all."""
        return dict(values[0]) if len(values) == 1 else {}

    def columns(self, values: Mapping[str, np.ndarray], output: int) -> dict[str, np.ndarray]:
        """Return each quantile."""
        pairs = zip(self.probabilities, values["quantiles"], strict=True)
        return {f"q{p!r}".removesuffix(".0"): numbers[:, output] for p, numbers in pairs}


@dataclass(frozen=True, eq=False, repr=False)
class Between(Reduction):
    """Reduction to the numbers from `lower` to `upper`, arrays (probabilities, times, outputs)."""

    name = "between"
    axes = _AXES
    probabilities: tuple[float, ...]
    lower: np.ndarray
    upper: np.ndarray

    def memory(self, extent: Extent) -> int:
        """Return the bytes of the counts; how many numbers are inside is not known."""
        return self.lower.nbytes

    def begin(self, extent: Extent) -> State:
        """Return the counts below the intervals, and nested lists [probability][time][output].

        The lists hold sorted arrays of the numbers inside.
        """
        below = np.empty(self.lower.shape, np.int64)
        return {"below": below, "inside": [[[] for _ in range(extent.times)] for _ in below]}

    def take(self, state: State, rows: Rows) -> None:
        """Count and collect the numbers inside the intervals of some times."""
        work, matrix, outputs = rows.workspace, rows.matrix, rows.values.shape[1]
        levels, dtype = len(self.lower), rows.values.dtype
        ends = [end[:, rows.times].reshape(levels, -1) for end in (self.lower, self.upper)]
        shape = ends[0].shape
        low, high = (work.input("end", end, dtype).reshape(shape) for end in ends)
        below, inside = (work.output(shape, np.int64, flat=False) for _ in range(2))
        rows.loops.count_between(matrix, low, high, below, inside)
        counts = work.result(inside, shape).ravel()
        begins = np.cumsum(counts) - counts
        positions = work.input("places", begins.copy(), np.int64).reshape(shape)
        values = work.output((max(1, int(counts.sum())),), dtype)
        rows.loops.collect_between(matrix, low, high, positions, values)
        collected = work.result(values, values.shape)[: int(counts.sum())]
        parts = [np.sort(part) for part in np.split(collected, begins[1:])]
        part = state["below"][:, rows.times]
        part[:] = work.result(below, shape).reshape(part.shape)
        for k in range(levels):
            for number, first in enumerate(range(0, shape[1], outputs)):
                begin = k * shape[1] + first
                state["inside"][k][rows.times.start + number] = parts[begin : begin + outputs]

    def join(self, states: list[State], extent: Extent) -> dict[str, np.ndarray]:
        """Return the quantiles of all paths, linear between ranks; NaN where a number is NaN."""
        paths = extent.all_paths
        below = np.sum([state["below"] for state in states], axis=0)
        result = np.full(self.lower.shape, np.nan)
        for index in np.ndindex(*result.shape):
            if np.isnan(self.lower[index]) or np.isnan(self.upper[index]):
                continue
            k, time, output = index
            values = np.sort(np.concatenate([s["inside"][k][time][output] for s in states]))
            position = self.probabilities[k] * (paths - 1)
            rank = int(np.floor(position))
            first = rank - int(below[index])
            last = first + (rank + 1 < paths)
            if not 0 <= first <= last < values.size:
                raise RuntimeError(
                    "quantiles of several parts need the same paths twice, but the second run gave "
                    "others: let all workers use one kind of device, device='cpu' or 'cuda'"
                )
            low, high = float(values[first]), float(values[last])
            with np.errstate(invalid="ignore"):
                result[index] = low if position == rank else low + (position - rank) * (high - low)
        return {"quantiles": result}


def bracket_ranks(probability: float, paths: int) -> tuple[int, int]:
    """Return the ranks of a part's lower and upper end of the interval of a quantile.

    Of N paths in P parts, let the quantile lie between the ranks r = floor(q (N - 1)) and r + 1.
    If the number of rank r were below the lower ends of all parts, at most the sum of
    floor(q (n_p - 1)) numbers would be as small, which is at most r; but there are r + 1. If the
    one of rank r + 1 were above all upper ends, more than r + 1 numbers would be smaller.
    """
    low = int(np.floor(probability * (paths - 1)))
    return low, min(low + 2, paths - 1)


def _order_statistics(rows: Rows, *wanted: np.ndarray) -> list[np.ndarray]:
    """Return for each array of ranks the numbers of these ranks, (rows, ranks).

    A row that has a NaN gives NaN.
    """
    work, matrix = rows.workspace, rows.matrix
    ends = [0, matrix.shape[1] - 1]  # NaN is sorted to an end
    ranks = np.unique(np.concatenate([*wanted, ends]))
    shape = (matrix.shape[0], ranks.size)
    selected = work.output(shape, matrix.dtype, flat=False)
    rows.loops.select_ranks(matrix, work.input("ranks", ranks, ranks.dtype), selected)
    values = work.result(selected, shape).astype(np.float64)
    values[np.isnan(values[:, [0, -1]]).any(axis=1)] = np.nan
    return [values[:, np.searchsorted(ranks, one)] for one in wanted]
