"""Reduce a wide band to a narrow one on the CPU, one block pair at a time, with NumPy's BLAS."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hetero.display.progress_bar import report_loop
from hetero.jit import serial
from sbth._back.compact_wy import qr_compact_wy, symmetric_update_factor
from sbth._reduction.bulge_chasing.schedule_formulas import block_extents, last_task, sweep_count


@serial
def _load_symmetric(work, c0, a):
    """Load the diagonal block at column c0, both triangles, into a."""
    for j in range(len(a)):
        for i in range(j, len(a)):
            a[i, j] = a[j, i] = work[c0 + j, i - j]


@serial
def _subtract_symmetric(work, c0, update):
    """Subtract update + update^T from the diagonal block at column c0."""
    for j in range(len(update)):
        for i in range(j, len(update)):
            work[c0 + j, i - j] -= update[i, j] + update[j, i]


def _view_block(work, row, column, rows, columns):
    """Return a view of a block below the diagonal; its columns are 2 d - 1 numbers apart."""
    start, item = work.reshape(-1)[column * work.shape[1] + row - column :], work.itemsize
    return as_strided(start, (rows, columns), (item, (work.shape[1] - 1) * item))


def _factor_panel(panel, reflectors, column, row):
    """Replace a panel by its R, store its reflections, and return their (v, u).

    `column` and `row` are those of the panel's first element in the matrix.
    """
    v, u, r, tau = qr_compact_wy(np, panel)
    panel[:] = r
    if reflectors.size:
        for j in range(v.shape[1]):
            reflectors[column + j, row + j] = tau[j]
            reflectors[column + j, row + j + 1 : row + len(v)] = v[j + 1 :, j]
    return v, u


def _run_task(work, extents, b, v, u, reflectors, column):
    """Apply 1 - v u^T to a block pair; return (v, u) of the reflections of the next pair.

    `extents` are those of `block_extents`, `column` is the first column that the sweep eliminates.
    """
    c0, m, rows = extents
    a = np.empty((m, m), work.dtype)
    _load_symmetric(work, c0, a)
    _subtract_symmetric(work, c0, symmetric_update_factor(a @ u, v, u) @ v.T)
    if rows == 0:
        return v, u
    panel = _view_block(work, c0 + m, c0, rows, b)
    trailing = _view_block(work, c0 + m, c0 + b, rows, m - b)
    y = panel @ u[:b] + trailing @ u[b:]
    panel -= y @ v[:b].T
    v_next, u_next = _factor_panel(panel, reflectors, column, c0 + m)
    z = trailing.T @ u_next - v[b:] @ (y.T @ u_next)
    trailing -= np.hstack((y, v_next)) @ np.hstack((v[b:], z)).T
    return v_next, u_next


def reduce_bandwidth(work, d, b, in_flight, reflectors, stream=0):
    """Reduce a working matrix (n, 2 d) of bandwidth d to b < d subdiagonals in place."""
    n = len(work)
    with report_loop(sweep_count(n, b)) as advance:
        for s in range(sweep_count(n, b)):
            row = (s + 1) * b
            panel = _view_block(work, row, s * b, min(d, n - row), b)
            v, u = _factor_panel(panel, reflectors, s * b, row)
            for k in range(last_task(s, n, d, b) + 1):
                extents = block_extents(s, k, n, d, b)
                v, u = _run_task(work, extents, b, v, u, reflectors, s * b)
            advance(1)
