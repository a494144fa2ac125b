"""The tree of divide and conquer: leaves, and the merges of each level."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import Device
from hetero.memory import SMALL, free_bytes, shortage
from sbth._tridiagonal import divide_and_conquer
from sbth._tridiagonal.divide_and_conquer import layout as at
from sbth._tridiagonal.divide_and_conquer.layout import LEAF_ROWS, Arrays, Level, Tables, Torn

MATRICES = 3
"""Number of (n, n) matrices of float64 that divide and conquer needs."""


def count_levels(order: int) -> int:
    """Return the fewest levels of a tree whose leaves have at most `LEAF_ROWS` rows."""
    return max(0, (-(-order // LEAF_ROWS) - 1).bit_length())


@functools.lru_cache(maxsize=8)
def make_tables(order: int, levels: int) -> tuple[Tables, list[Level]]:
    """Return the tables of a balanced binary tree, and the levels of its merges.

    The last level, one more than those of the tree, has a single entry for the whole matrix.
    """
    leaves = np.arange((1 << levels) + 1, dtype=np.int64) * order >> levels
    numbers, bounds = [], leaves
    for _ in range(levels):
        numbers.append(np.column_stack([bounds[:-2:2], bounds[1:-1:2], bounds[2::2]]))
        bounds = bounds[::2]
    numbers.append(np.array([[0, 0, order]]))
    sizes = [len(of_level) for of_level in numbers]
    firsts = np.cumsum([0, *sizes[:-1]]).tolist()
    rows = np.concatenate(numbers)
    merges = np.zeros((len(rows), at.MERGE_FIELDS), np.int64)
    merges[:, : rows.shape[1]] = rows
    owner = [
        np.repeat(np.arange(first, first + len(of_level)), of_level[:, 2] - of_level[:, 0])
        for first, of_level in zip(firsts, numbers, strict=True)
    ]
    triples = zip(range(len(sizes)), firsts, sizes, strict=True)
    return Tables(merges, np.array(owner, np.int64), leaves), [Level(*x) for x in triples]


def require_memory(
    order: int, device: Device, bytes_an_element: int = MATRICES * 8, *, vectors: bool = True
) -> None:
    """Raise MemoryError if (n, n) matrices do not fit into the memory of a device.

    `bytes_an_element` is the sum of their item sizes, by default those of divide and conquer;
    without `vectors` they are those for eigenvalues of a full matrix.
    """
    need = bytes_an_element * order * order
    if need < SMALL or need <= (free := free_bytes(device, need)):
        return
    remedies = ["use a device with more memory"]
    subject = f"the eigenvalues of a full matrix of order {order}"
    if vectors:
        remedies.insert(0, "compute eigenvalues alone (eigvals_only=True)")
        subject = f"all eigenvectors of a matrix of order {order}"
    raise shortage(subject, device, need, free, remedies)


class Solution(NamedTuple):
    """All eigenvalues and eigenvectors of a tridiagonal matrix of order n.

    Attributes
    ----------
    read_values : function
        Waits for the device, and returns the eigenvalues: float64 (n,), ascending, in host memory.
        It raises RuntimeError if some did not converge.
    vectors : (n, n)
        On the device. Its rows are the eigenvectors, those that are not needed undefined.
    order : int64 (n,)
        On the device: row order[i] of `vectors` belongs to eigenvalue i.
    """

    read_values: Callable[[], np.ndarray]
    vectors: Any
    order: Any


Choose = Callable[[np.ndarray], tuple[int, int]]
"""Function that returns the index of the first eigenvalue, of all in ascending order, whose
eigenvector is needed, and that after the last one."""


def solve_tridiagonal(
    d: np.ndarray, e: np.ndarray, space: Workspace, choose: Choose | None = None
) -> Solution:
    """Compute all eigenvalues and eigenvectors of a tridiagonal matrix of norm 1 or so.

    The caller has checked that there is enough memory. On a GPU the last steps may be running yet.

    Parameters
    ----------
    d, e : float64 (n,), (n - 1,)
        In host memory; n is at least 1.
    space : Workspace
    choose : Choose, optional
        The last merge, which is most of the work, leaves out the other eigenvectors.
    """
    n, loops, stream = d.size, divide_and_conquer.loops(space.device), space.stream
    tables, levels = make_tables(n, count_levels(n))
    arrays = loops.load(_tear(d, e, tables), tables, stream)
    loops.solve_leaves(arrays, stream)
    for level in levels[:-1]:
        loops.sort_values(arrays, level, stream)
        read_merges = loops.deflate(arrays, level, stream)
        loops.solve_secular(arrays, level, stream)
        roots = (0, n)
        if level.size == 1 and choose is not None:
            roots = _needed_roots(arrays, level, space, choose)
        loops.multiply(arrays, level, roots, read_merges, stream)
    loops.sort_values(arrays, levels[-1], stream)
    read_values = functools.partial(_finish, loops.start_reading(arrays.values, stream))
    return Solution(read_values, arrays.vectors, arrays.integers[at.ORDER])


def _finish(read_values: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the eigenvalues in ascending order, once they are in host memory."""
    values = read_values()
    if np.isnan(values).any():
        raise RuntimeError(
            "implicit QL did not converge for a leaf of the matrix: this is a bug in sbth, please "
            "report it with the matrix"
        )
    return np.sort(values)


def _tear(d: np.ndarray, e: np.ndarray, tables: Tables) -> Torn:
    """Return the matrix without the subdiagonal elements between leaves (Cuppen 1981)."""
    torn, tears = d.copy(), tables.bounds[1:-1]
    torn[tears - 1] -= np.abs(e[tears - 1])
    torn[tears] -= np.abs(e[tears - 1])
    below = np.append(e, 0.0)
    return Torn(torn, below, below[tables.merges[:, at.MIDDLE] - 1])


def _needed_roots(
    arrays: Arrays, level: Level, space: Workspace, choose: Choose
) -> tuple[int, int]:
    """Return the numbers of the first root of the last merge that is chosen, and after the last.

    The values are the roots in ascending order, then the eigenvalues that deflation left.
    """
    undeflated = space.result(arrays.table[level.first], (at.MERGE_FIELDS,))[at.KEPT]
    values = space.result(arrays.values, (arrays.values.size,))
    order = np.argsort(values, kind="stable")
    rows = order[slice(*choose(values[order]))]
    roots = rows[rows < undeflated]
    return (int(roots.min()), int(roots.max()) + 1) if roots.size else (0, 0)
