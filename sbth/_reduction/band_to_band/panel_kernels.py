"""The kernel that factors the panels of a bandwidth reduction."""

from numba import int32, int64, uint32, uint64

from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import warp_sum
from hetero.jit import kernel
from sbth._gpu.householder_formulas import reflection
from sbth._reduction.band_to_band.block_pairs import make_accessors


def panel_threads(b: int) -> int:
    """Return the threads of a block: half a warp for each column of a panel."""
    return 16 * b


def panel_size(d: int, b: int) -> int:
    """Return how many numbers a panel takes: an odd column pitch avoids bank conflicts."""
    return b * (d | 1)


def make_panel_kernel(dtype, b: int, shared: bool):
    """Make the kernel for panels in shared memory or, if not `shared`, in the array `memory`.

    A block of threads multiplies the first b columns of B by 1 - V T V^T and factors them: R goes
    to B, and the reflections V' and U' = V' T' of the next task go to the slot, and to `reflectors`
    unless it is empty. During the factorization, warp w owns columns w and w + b/2 of the panel;
    in products, loads and stores a thread owns rows.
    """
    device, indices = kernel(device=True), make_accessors(dtype, b)
    pair_of, v_at, u_at, x_at = indices.pair_of, indices.v, indices.u, indices.x
    threads, warps, odd = panel_threads(b), b // 2, b + 1

    @device
    def reflect(panel, column, i, rows, lane):
        """Turn column i, which begins at index `column`, into a reflection; return (tau, beta)."""
        tail = dtype(0)
        for row in range(i + 1 + lane, rows, 32):
            value = panel[uint32(column + row)]
            tail += value * value
        beta, tau, scale = reflection(panel[uint32(column + i)], warp_sum(tail))
        cuda.syncwarp()
        for row in range(i + 1 + lane, rows, 32):
            panel[uint32(column + row)] *= scale
        if lane == 0:
            panel[uint32(column + i)] = dtype(1)
        return tau, beta

    @device
    def two_dots(panel, column, first, second, begin, rows):
        """Return the dot products of a column with two others, from row `begin` on."""
        one, two = dtype(0), dtype(0)
        for row in range(begin, rows, 32):
            value = panel[uint32(column + row)]
            one += value * panel[uint32(first + row)]
            two += value * panel[uint32(second + row)]
        return warp_sum(one), warp_sum(two)

    @device
    def multiply(panel, origin, pitch, rows, columns, matrix):
        """Multiply the panel by a matrix, in place."""
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

    @kernel(launch_bounds=(threads, 1))
    def factor(arrays, n, d, step, first, slots, memory, reflectors):
        """Factor the panels of all tasks of a step, one per block of threads.

        `arrays` are the working matrix and the slots, flat; n, d and step are int64, `first` is the
        first sweep of the launch, and `slots` the number of slots.
        """
        work, space = arrays
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
        columns = int32(min(b, d))  # b, but not a constant, so that loops over it are not unrolled
        # The first column of the panel, and its index in the matrix; k = -1 begins a new sweep.
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
            multiply(panel, origin, pitch, rows, columns, gram)
        for row in range(t, rows, threads):
            for j in range(columns):
                index = uint32(origin + j * pitch + row)
                value = work[corner + uint32(j * (2 * d - 1) + row)]
                panel[index] = value - panel[index] if k >= 0 else value
        cuda.syncthreads()
        # Column i becomes a reflection, which is applied to the columns after it. Its products with
        # the columns before it are elements of V^T V.
        left, right = int32(origin + warp * pitch), int32(origin + (warp + warps) * pitch)
        if warp == 0:
            taus[0], betas[0] = reflect(panel, origin, int32(0), rows, lane)
        for i in range(count):
            cuda.syncthreads()
            column, after = int32(origin + i * pitch), int32(i + 1)
            one, two = two_dots(panel, column, left, right, int32(i + lane), rows)
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
                begin_of_next = left if after == warp else right
                taus[after], betas[after] = reflect(panel, begin_of_next, after, rows, lane)
        cuda.syncthreads()
        # Store R in the matrix and V in the slot. A thread computes a row of T, by
        # T_ji = -tau_i sum_l T_jl (V^T V)_li.
        for j in range(t, b, threads):
            for i in range(j, count):
                total = dtype(0)
                for l in range(j, i):
                    total += tmat[j, l] * gram[l, i]
                tmat[j, i] = taus[i] if i == j else -taus[i] * total
        for row in range(t, rows, threads):
            for j in range(columns):
                value = panel[uint32(origin + j * pitch + row)] if row < j else dtype(0)
                index = corner + uint32(j * (2 * d - 1) + row)
                work[index] = betas[j] if row == j else value
        for row in range(warp, rows, warps):
            for j in range(lane, b, 32):
                value = panel[uint32(origin + j * pitch + row)] if row >= j else dtype(0)
                space[v_at(d, pair, 1, row, j)] = value
        if reflectors.size > 0:
            for j in range(warp, columns, warps):
                start = uint64(((step - k) // 2 * b + j) * n + begin + (d if k >= 0 else b))
                for row in range(j + lane, rows, 32):
                    value = panel[uint32(origin + j * pitch + row)]
                    reflectors[start + uint64(row)] = taus[j] if row == j else value
        cuda.syncthreads()
        for i in range(t, b * count, threads):
            row, j = i % count, i // count
            if row < j:
                panel[uint32(origin + j * pitch + row)] = dtype(0)
        cuda.syncthreads()
        multiply(panel, origin, pitch, rows, columns, tmat)
        cuda.syncthreads()
        for row in range(warp, rows, warps):
            for j in range(lane, b, 32):
                space[u_at(d, pair, 1, row, j)] = panel[uint32(origin + j * pitch + row)]

    return factor
