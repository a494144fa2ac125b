"""Eigenpairs of a selection by bisection and inverse iteration, where that is faster."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from hetero.devices import Device
from hetero.memory import SMALL, free_bytes
from sbth._problem.blocks import starts_of_blocks
from sbth._problem.inspection import unscale
from sbth._problem.limits import LARGEST_INVERSE_SHARE, LEAST_INVERSE_ORDER
from sbth._problem.problem import Problem, Reduced
from sbth._tridiagonal.bisection.eigenvalues import Bisection
from sbth._tridiagonal.inverse_iteration.iteration import compute_vectors
from sbth._tridiagonal.inverse_iteration.layout import BYTES_AN_ELEMENT
from sbth._tridiagonal.placed_pairs import EigenPairs, Part

MOST_BLOCKS = 16
"""Blocks that are solved one after the other: divide and conquer takes matrices of more blocks."""

_SLACK = 2.0**-46
"""Part of the largest eigenvalue by which eigenvalues of the whole matrix and of its blocks may
differ: a generous bound of the errors of both, since what is selected in vain is left out later."""


class Block(NamedTuple):
    """A diagonal block, and its eigenvalues number first, ..., stop - 1, which may be selected.

    Its rows are those from `begin` on.
    """

    begin: int
    bisection: Bisection
    first: int
    stop: int


def solve_selected(problem: Problem, reduced: Reduced, space: Workspace) -> EigenPairs | None:
    """Compute the selected eigenpairs of a tridiagonal matrix in float64.

    Returns None if the problem does not suit inverse iteration: too many eigenvalues are selected,
    the matrix is small or falls into many blocks, or no attempt led to orthogonal vectors with
    small residuals.
    """
    selection, device, n = problem.selection, problem.device, reduced.d.size
    if selection.kind == "a" or problem.method == "lapack":
        return None
    count = int(selection.high - selection.low) + 1 if selection.kind == "i" else 0
    if not is_suitable(n, count, device):
        return None
    starts = starts_of_blocks(reduced.d, reduced.e)
    lengths = np.diff(np.append(starts, n))
    if not 0 < np.count_nonzero(lengths > 1) <= MOST_BLOCKS:
        return None
    with region("bisection"), device.active():
        candidates = _find_candidates(problem, reduced, starts, lengths)
        if not is_suitable(n, candidates.size, device):
            return None
        scaled = [b.bisection.scaled_values(b.first, b.stop) for b in candidates.blocks]
    limit = count if selection.kind == "i" else None
    numbered = _number(reduced, candidates, scaled, limit)
    if numbered is None:
        return None
    values, targets = numbered
    parts, begin = [], candidates.single.size
    target_parts = [targets[:begin]]
    for block, of_block in zip(candidates.blocks, scaled, strict=True):
        positions = targets[begin : begin + of_block.size]
        begin += of_block.size
        # The eigenvalues of a block are in ascending order, and so are their positions.
        chosen = slice(*np.searchsorted(positions, (0, values.size)))
        target_parts.append(positions[chosen])
        if target_parts[-1].size == 0:
            continue
        rows = np.arange(block.begin, block.begin + block.bisection.order)
        matrix = block.bisection.d, block.bisection.e
        vectors = compute_vectors(*matrix, of_block[chosen], space)
        if vectors is None:
            return None
        parts.append(Part(rows, vectors, None, target_parts[-1].size))
    read = functools.partial(np.asarray, values)
    single, targets = candidates.single, np.concatenate(target_parts)
    return EigenPairs(values.size, read, single, parts, n, targets, space)


def is_suitable(n: int, m: int, device: Device) -> bool:
    """Return whether inverse iteration is to compute m eigenvectors of a matrix of order n."""
    if n < LEAST_INVERSE_ORDER[device.kind] or m > LARGEST_INVERSE_SHARE[device.kind] * n:
        return False
    need = BYTES_AN_ELEMENT * n * m
    return need < SMALL or need <= free_bytes(device, need)


class Candidates(NamedTuple):
    """The eigenvalues in an interval that contains all selected ones.

    Attributes
    ----------
    blocks : list of Block
    single : int64 (s,)
        Rows that are blocks by themselves.
    skipped : int
        Number of candidates below the first selected eigenvalue.
    """

    blocks: list[Block]
    single: np.ndarray
    skipped: int

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self.single.size + sum(b.stop - b.first for b in self.blocks)


def _find_candidates(
    problem: Problem, reduced: Reduced, starts: np.ndarray, lengths: np.ndarray
) -> Candidates:
    """Return the candidates of a matrix whose blocks begin at `starts`."""
    selection, device, (d, e, factor, *_) = problem.selection, problem.device, reduced
    blocks = [
        Block(i, Bisection(d[i : i + k], e[i : i + k - 1], device, factor), 0, k)
        for i, k in zip(starts.tolist(), lengths.tolist(), strict=True)
        if k > 1
    ]
    if starts.size == 1:
        first, stop = blocks[0].bisection.bounds(selection)
        return Candidates([blocks[0]._replace(first=first, stop=stop)], starts[:0], 0)
    single = starts[lengths == 1]
    if selection.kind == "v":
        limits = selection.low, selection.high
        bounds = [b.bisection.bounds(selection) for b in blocks]
        inside = (d[single] / factor > limits[0]) & (d[single] / factor <= limits[1])
        skipped = 0
    else:
        # The interval between the selected eigenvalues of the matrix as a whole, in its units.
        whole = Bisection(d, e, device, factor)
        first, last = int(selection.low), int(selection.high)
        margin = _SLACK * max(abs(whole.low), abs(whole.high))
        low = (whole.scaled_values(first, first + 1)[0] - margin) / whole.scale
        high = (whole.scaled_values(last, last + 1)[0] + margin) / whole.scale
        with np.errstate(over="ignore"):  # infinity is beyond all eigenvalues of a block, too
            bounds = [
                b.bisection.indices_between(low * b.bisection.scale, high * b.bisection.scale)
                for b in blocks
            ]
        inside = (d[single] > low) & (d[single] <= high)
        below = sum(begin for begin, _ in bounds) + np.count_nonzero(d[single] <= low)
        skipped = first - int(below)
    narrowed = [b._replace(first=i, stop=j) for b, (i, j) in zip(blocks, bounds, strict=True)]
    return Candidates(narrowed, single[inside], skipped)


def _number(
    reduced: Reduced, candidates: Candidates, scaled: list[np.ndarray], count: int | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the selected eigenvalues, and the positions of all candidates among them.

    `count` eigenvalues are selected, or with None all candidates. Returns None if there are fewer,
    because of errors that were larger than assumed.
    """
    pairs = zip(candidates.blocks, scaled, strict=True)
    of_blocks = [unscale(x, block.bisection.scale, reduced.factor) for block, x in pairs]
    single = reduced.d[candidates.single] / reduced.factor
    everything = np.concatenate([single, *of_blocks])
    order, skipped = np.argsort(everything, kind="stable"), candidates.skipped
    selected = order[skipped:] if count is None else order[skipped : skipped + count]
    if skipped < 0 or (count is not None and selected.size < count):
        return None
    positions = np.empty(order.size, np.int64)
    positions[order] = np.arange(order.size) - skipped
    return everything[selected], positions
