"""The kernel that makes the reflections of a task that narrows a band."""

from numba import int32, int64, uint32, uint64

from hetero._driver import cuda
from hetero.jit import kernel
from sbth._pairs import access
from sbth._reduction_math import reflection

_ALL = 0xFFFFFFFF


def threads_of(b: int) -> int:
    """Half a warp for a column of a panel."""
    return 16 * b


def panel_size(d: int, b: int) -> int:
    """Numbers of a panel, its columns an odd number of places apart: no conflicts of banks."""
    return b * (d | 1)


def panels(dtype, b: int, shared: bool):
    """The kernel for panels that are in shared memory, or in the array `memory`.

    Its block makes, of B's first columns times 1 - V T V^T, the reflections of the next task: R
    goes to B, V' and U' = V' T' to the slot, and to `kept` unless that is empty. Warp w has columns
    w and w + b/2 of the panel; in products and on the way from and to the matrix a thread has rows.
    """
    device, at = kernel(device=True), access(dtype, b)
    pair_of, v_at, u_at, x_at = at.pair_of, at.v, at.u, at.x
    threads, warps, odd = threads_of(b), b // 2, b + 1

    @device
    def summed(value):
        for shift in (16, 8, 4, 2, 1):
            value += cuda.shfl_xor_sync(_ALL, value, shift)
        return value

    @device
    def reflect(panel, column, i, rows, lane):
        """Make column i, at place `column`, a reflection; its tau and what is left of it."""
        tail = dtype(0)
        for row in range(i + 1 + lane, rows, 32):
            value = panel[uint32(column + row)]
            tail += value * value
        beta, tau, scale = reflection(panel[uint32(column + i)], summed(tail))
        cuda.syncwarp()
        for row in range(i + 1 + lane, rows, 32):
            panel[uint32(column + row)] *= scale
        if lane == 0:
            panel[uint32(column + i)] = dtype(1)
        return tau, beta

    @device
    def dots(panel, column, first, second, begin, rows):
        """Products of a column with two others, from row `begin` on."""
        one, two = dtype(0), dtype(0)
        for row in range(begin, rows, 32):
            value = panel[uint32(column + row)]
            one += value * panel[uint32(first + row)]
            two += value * panel[uint32(second + row)]
        return summed(one), summed(two)

    @device
    def times(panel, origin, pitch, rows, columns, matrix):
        """The panel times a matrix, in place."""
        y = cuda.local.array(b, dtype)
        for row in range(int32(cuda.threadIdx.x), rows, threads):
            for i in range(b):
                y[i] = panel[uint32(origin + i * pitch + row)]
            for j in range(columns):
                s0, s1, s2, s3 = dtype(0), dtype(0), dtype(0), dtype(0)
                for i in range(0, b, 4):
                    s0 += y[i] * matrix[i, j]
                    s1 += y[i + 1] * matrix[i + 1, j]
                    s2 += y[i + 2] * matrix[i + 2, j]
                    s3 += y[i + 3] * matrix[i + 3, j]
                panel[uint32(origin + j * pitch + row)] = (s0 + s1) + (s2 + s3)

    @kernel(launch_bounds=(threads, 1), cache=False)
    def factor(work, space, n, d, step, first, slots, memory, kept):
        gram = cuda.shared.array((b, odd), dtype)  # V^T V; before that, the first rows of V^T
        tmat = cuda.shared.array((b, odd), dtype)
        taus = cuda.shared.array(b, dtype)
        betas = cuda.shared.array(b, dtype)
        pair = pair_of(n, d, step, first, slots, int64(cuda.blockIdx.x))
        k, rows, d = pair.k, pair.rows, int32(d)
        if rows <= 0:
            return
        if shared:
            panel, origin = cuda.shared.array(0, dtype), int32(0)
        else:
            panel, origin = memory, int32(int32(cuda.blockIdx.x) * (b * (d | 1)))
        t = int32(cuda.threadIdx.x)
        lane, warp = int32(t % 32), int32(t // 32)
        pitch, count = int32(rows | 1), int32(min(b, rows))
        columns = int32(min(b, d))  # b, but no constant: loops over it are not unrolled
        # The panel's first column, and place in the matrix; for k = -1 it is a new sweep's.
        begin = pair.c0 if k >= 0 else pair.c0 + d - b
        corner = uint64(begin * (2 * d) + (d if k >= 0 else b))
        for i in range(t, b * b, threads):
            row, j = i // b, i % b
            gram[j, row] = space[v_at(d, pair, 0, row, j)] if k >= 0 else dtype(0)
            tmat[row, j] = dtype(0)
        if k >= 0:
            for row in range(warp, rows, warps):
                for j in range(lane, b, 32):
                    panel[uint32(origin + j * pitch + row)] = space[x_at(d, pair, d + row, j)]
            cuda.syncthreads()
            times(panel, origin, pitch, rows, columns, gram)
        for row in range(t, rows, threads):
            for j in range(columns):
                place = uint32(origin + j * pitch + row)
                value = work[corner + uint32(j * (2 * d - 1) + row)]
                panel[place] = value - panel[place] if k >= 0 else value
        cuda.syncthreads()
        # Column i becomes a reflection and is applied to those after it; its products with those
        # before it are V^T V's.
        left, right = int32(origin + warp * pitch), int32(origin + (warp + warps) * pitch)
        if warp == 0:
            taus[0], betas[0] = reflect(panel, origin, int32(0), rows, lane)
        for i in range(count):
            cuda.syncthreads()
            column, after = int32(origin + i * pitch), int32(i + 1)
            one, two = dots(panel, column, left, right, int32(i + lane), rows)
            if warp < i:
                gram[warp, i] = one
            if warp + warps < i:
                gram[warp + warps, i] = two
            one, two = taus[i] * one, taus[i] * two
            if warp + warps > i:
                for row in range(i + lane, rows, 32):
                    value = panel[uint32(column + row)]
                    panel[uint32(right + row)] -= two * value
                    if warp > i:
                        panel[uint32(left + row)] -= one * value
                cuda.syncwarp()
            if after < count and after % warps == warp:
                mine = left if after == warp else right
                taus[after], betas[after] = reflect(panel, mine, after, rows, lane)
        cuda.syncthreads()
        # R to the matrix, V to the slot. T_ji = -tau_i sum_l T_jl (V^T V)_li: a thread a row.
        for j in range(t, b, threads):
            for i in range(j, count):
                total = dtype(0)
                for l in range(j, i):
                    total += tmat[j, l] * gram[l, i]
                tmat[j, i] = taus[i] if i == j else -taus[i] * total
        for row in range(t, rows, threads):
            for j in range(columns):
                value = panel[uint32(origin + j * pitch + row)] if row < j else dtype(0)
                place = corner + uint32(j * (2 * d - 1) + row)
                work[place] = betas[j] if row == j else value
        for row in range(warp, rows, warps):
            for j in range(lane, b, 32):
                value = panel[uint32(origin + j * pitch + row)] if row >= j else dtype(0)
                space[v_at(d, pair, 1, row, j)] = value
        if kept.size > 0:
            for j in range(warp, columns, warps):
                place = uint64(((step - k) // 2 * b + j) * n + begin + (d if k >= 0 else b))
                for row in range(j + lane, rows, 32):
                    value = panel[uint32(origin + j * pitch + row)]
                    kept[place + uint64(row)] = taus[j] if row == j else value
        cuda.syncthreads()
        for i in range(t, b * count, threads):
            row, j = i % count, i // count
            if row < j:
                panel[uint32(origin + j * pitch + row)] = dtype(0)
        cuda.syncthreads()
        times(panel, origin, pitch, rows, columns, tmat)
        cuda.syncthreads()
        for row in range(warp, rows, warps):
            for j in range(lane, b, 32):
                space[u_at(d, pair, 1, row, j)] = panel[uint32(origin + j * pitch + row)]

    return factor
