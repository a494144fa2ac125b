"""The reduction to mean and variance over paths, with bits that depend on no division into parts.

The paths of a run are the leaves of a tree, or groups of 2^k of them are if there are 2048 or
more. Each part computes the nodes that lie in it wholly and are as large as possible. The others
follow from pairs of them (Chan, Golub and LeVeque 1983), so that the order of every sum is fixed by
the number of paths of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from rode._solver.reductions.reduction import Extent, Reduction, Rows, State
from rode._solver.statistics.leaves import leaf_size

Pair: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Means and sums of squared distances of a node, (times, outputs) each."""


class Moments(Reduction):
    """Mean and variance, which divides by the number of paths less one, as float64."""

    name = "moments"
    axes = MappingProxyType({"mean": ("t", "output"), "variance": ("t", "output")})

    def memory(self, extent: Extent) -> int:
        """Return the bytes of both arrays, and of the nodes if there are several."""
        nodes = len(nodes_of(extent))
        return 8 * 2 * extent.times * extent.outputs * (1 if nodes == 1 else nodes + 2)

    def begin(self, extent: Extent) -> State:
        """Return empty arrays (times, outputs, nodes) and the nodes (level, index).

        The numbers of a node are contiguous in memory, as `join` reads them.
        """
        nodes = nodes_of(extent)
        shape = (len(nodes), extent.times, extent.outputs)
        begin = extent.first // leaf_size(extent.all_paths)
        return {
            "nodes": nodes,
            "begin": begin,
            "leaf": leaf_size(extent.all_paths),
            "mean": np.moveaxis(np.empty(shape), 0, -1),
            "squares": np.moveaxis(np.empty(shape), 0, -1),
        }

    def take(self, state: State, rows: Rows) -> None:
        """Compute the nodes at some times."""
        work, matrix, nodes = rows.workspace, rows.matrix, state["nodes"]
        begins = np.array([(index << level) - state["begin"] for level, index in nodes])
        sizes = np.array([1 << level for level, _ in nodes])
        shape = (matrix.shape[0], len(nodes))
        begins, sizes = (work.input("nodes", a, np.int64) for a in (begins, sizes))
        mean, squares = (work.output(shape, flat=False) for _ in range(2))
        rows.loops.compute_moments(matrix, state["leaf"], begins, sizes, mean, squares)
        for name, array in (("mean", mean), ("squares", squares)):
            part = state[name][rows.times]
            part[:] = work.result(array, shape).reshape(part.shape)

    def join(self, states: list[State], extent: Extent) -> dict[str, np.ndarray]:
        """Return the moments of the root of the tree."""
        from rode._solver.statistics.formulas import merge_arrays

        paths = extent.all_paths
        leaf = leaf_size(paths)
        moments_of = {
            node: (state["mean"][..., k], state["squares"][..., k])
            for state in states
            for k, node in enumerate(state["nodes"])
        }

        def value_of(level: int, index: int) -> Pair:
            if (level, index) in moments_of:
                return moments_of[level, index]
            first = value_of(level - 1, 2 * index)
            size = leaf << (level - 1)
            count = min(size, paths - (2 * index + 1) * size)
            if count <= 0:
                return first
            second = value_of(level - 1, 2 * index + 1)
            merged: Pair = merge_arrays(*first, size, *second, count)  # type: ignore[no-untyped-call]
            return merged

        mean, squares = value_of((-(-paths // leaf) - 1).bit_length(), 0)
        states.clear()
        variance = squares / (paths - 1) if paths > 1 else np.full_like(squares, np.nan)
        return {"mean": np.ascontiguousarray(mean), "variance": np.ascontiguousarray(variance)}

    def combine(self, values: list[State], paths: Sequence[int] = ()) -> dict[str, np.ndarray]:
        """Return the moments of several results, by the update of Chan, Golub and LeVeque."""
        count, mean, squares = 0, np.zeros(()), np.zeros(())
        with np.errstate(invalid="ignore", over="ignore"):  # the status tells of paths that diverge
            for one, added in zip(values, paths, strict=True):
                distance, total = one["mean"] - mean, count + added
                inner = 0.0 if added == 1 else one["variance"] * (added - 1)
                squares = squares + inner + distance**2 * (count * added / total)
                mean = mean + distance * (added / total)
                count = total
        return {
            "mean": mean,
            "variance": squares / (count - 1) if count > 1 else np.full_like(mean, np.nan),
        }

    def columns(self, values: Mapping[str, np.ndarray], output: int) -> dict[str, np.ndarray]:
        """Return mean and standard deviation."""
        mean, variance = (values[name][:, output] for name in ("mean", "variance"))
        return {"mean": mean, "std": np.sqrt(variance)}


def nodes_of(extent: Extent) -> list[tuple[int, int]]:
    """Return the largest nodes (level, index) that have paths of a part only, in their order."""
    leaf = leaf_size(extent.all_paths)
    begin, end = extent.first // leaf, -(-(extent.first + extent.paths) // leaf)
    nodes = []
    while begin < end:
        level = (end - begin).bit_length() - 1
        if begin:
            level = min(level, (begin & -begin).bit_length() - 1)
        nodes.append((level, begin >> level))
        begin += 1 << level
    return nodes


MOMENTS = Moments()
