"""A wide band to a narrow one on the CPU: a block pair after the other, by NumPy's BLAS."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hetero.jit import serial
from sbth._blocks import factored, half_image
from sbth._order_math import extents, last_task, sweeps


@serial
def _symmetric(work, c0, a):
    """The diagonal block at c0, both triangles, to a."""
    for j in range(len(a)):
        for i in range(j, len(a)):
            a[i, j] = a[j, i] = work[c0 + j, i - j]


@serial
def _subtract(work, c0, update):
    """update + update^T from the diagonal block at c0."""
    for j in range(len(update)):
        for i in range(j, len(update)):
            work[c0 + j, i - j] -= update[i, j] + update[j, i]


def _block(work, row, column, rows, columns):
    """Elements below the diagonal as a matrix: columns of the matrix lie 2 d - 1 numbers apart."""
    start, item = work.reshape(-1)[column * work.shape[1] + row - column :], work.itemsize
    return as_strided(start, (rows, columns), (item, (work.shape[1] - 1) * item))


def _eliminate(panel, kept, column, row):
    """Replace a panel by its R; (v, u) of its reflections."""
    v, u, r, tau = factored(np, panel)
    panel[:] = r
    if kept.size:
        for j in range(v.shape[1]):
            kept[column + j, row + j] = tau[j]
            kept[column + j, row + j + 1 : row + len(v)] = v[j + 1 :, j]
    return v, u


def _task(work, c0, m, rows, b, v, u, kept, column):
    """Apply 1 - v u^T to a block pair; (v, u) of the reflections of the next one."""
    a = np.empty((m, m), work.dtype)
    _symmetric(work, c0, a)
    _subtract(work, c0, half_image(a @ u, v, u) @ v.T)
    if rows == 0:
        return v, u
    panel, rest = _block(work, c0 + m, c0, rows, b), _block(work, c0 + m, c0 + b, rows, m - b)
    y = panel @ u[:b] + rest @ u[b:]
    panel -= y @ v[:b].T
    v_next, u_next = _eliminate(panel, kept, column, c0 + m)
    z = rest.T @ u_next - v[b:] @ (y.T @ u_next)
    rest -= np.hstack((y, v_next)) @ np.hstack((v[b:], z)).T
    return v_next, u_next


def narrow(work, d, b, in_flight, kept, stream=0):
    """Reduce a working matrix of bandwidth d to b < d subdiagonals in place.

    `kept` takes the reflections (sbth.reflections has the layout), or is empty.
    """
    n = len(work)
    for s in range(sweeps(n, b)):
        row = (s + 1) * b
        panel = _block(work, row, s * b, min(d, n - row), b)
        v, u = _eliminate(panel, kept, s * b, row)
        for k in range(last_task(s, n, d, b) + 1):
            c0, m, rows = extents(s, k, n, d, b)
            v, u = _task(work, c0, m, rows, b, v, u, kept, s * b)
