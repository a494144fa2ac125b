"""Eigenvectors of a batch of small tridiagonal matrices by the implicit QL iteration, in rounds.

The sweeps of an iteration depend on each other, and so do the rotations of a sweep: a block that
solves one matrix waits for them most of the time. Here each thread runs sweeps on a matrix of its
own and stores their rotations (`find_rotations`). Then a warp applies them to the vectors of each
matrix, whose rows are in registers (`apply_rotations`). Rounds of both follow each other until all
matrices have converged, and `store` puts the results in order.
"""

from numba import float32, float64, int32, uint32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._batch.householder_kernels import RESIDENT_WARPS
from sbth._batch.ql_kernels import END, Sweep, make_store, run_sweep
from sbth._batch.status import NOT_CONVERGED
from sbth._batch.warp_steps import CHUNK, ROWS, synchronize
from sbth._gpu.blocks_of_threads import LANES

THREADS = ROWS
"""Threads of a block, in all three kernels."""

_ELEMENTS = ROWS + 1  # of a row in registers: the last one belongs to no column

_PITCH = ROWS + 1  # distance of columns in shared memory: odd, to avoid bank conflicts
_ROOM = _PITCH * ROWS


def float64_count(n: int) -> int:
    """Return how many float64 a block needs in shared memory that finds rotations."""
    return 2 * n * THREADS


def _make_kernels(dtype):
    """Make the kernels for vectors of a real type."""
    store_in_order = make_store(dtype, 1)

    @kernel(launch_bounds=(THREADS, 1))
    def find_rotations(tridiagonals, positions, rotations, ranges, counts, number, unfinished):
        """Run sweeps on the matrices in round `number`, a thread for each; store their rotations.

        positions (count, 3) is what `run_sweep` returned in the round before. rotations (count,
        sweeps, 2, n), of cosines and sines, and ranges (count, sweeps, 2) take counts (count,)
        sweeps. unfinished[number] counts the matrices that have not converged after this round.
        """
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x * THREADS + t
        n, sweeps = tridiagonals.shape[2], ranges.shape[1]
        if b >= tridiagonals.shape[1]:
            return
        memory = cuda.shared.array(0, float64)
        # The elements of a matrix are THREADS apart, so that each thread has a bank of its own.
        d, e, step = memory[t:], memory[n * THREADS + t :], uint64(THREADS)
        largest = 0.0
        for i in range(n):
            d_i, e_i = tridiagonals[0, b, i], tridiagonals[1, b, i]
            largest = max(largest, abs(d_i), abs(e_i))
            d[uint64(i) * step], e[uint64(i) * step] = d_i, e_i
        position = (0, 0, 0)
        if number > 0:
            low, count, failures = positions[b, 0], positions[b, 1], positions[b, 2]
            position = int(low), int(count), int(failures)
        done = 0
        while done < sweeps and position[0] < n:
            sweep = Sweep(rotations[b, done, 0], rotations[b, done, 1], ranges[b, done])
            position = run_sweep(d, e, step, n, largest, position, sweep)
            done += ranges[b, done, 1] != END
        counts[b] = done
        for i in range(n):
            tridiagonals[0, b, i] = d[uint64(i) * step]
            tridiagonals[1, b, i] = e[uint64(i) * step]
        for i in range(3):
            positions[b, i] = position[i]
        if position[0] < n:
            cuda.atomic.add(unfinished, number, 1)

    @kernel(launch_bounds=(THREADS, RESIDENT_WARPS))
    def apply_rotations(rotations, ranges, counts, work):
        """Apply the rotations of a round to the vectors of matrix number `blockIdx.x`.

        work (count, n^2) holds the vectors by columns. A lane has a row of them.
        """
        b, lane = uint64(cuda.blockIdx.x), uint32(cuda.threadIdx.x)
        n, count = uint32(rotations.shape[3]), counts[b]
        if count == 0:
            return
        one, zero = dtype(1), dtype(0)
        cosines = cuda.shared.array(ROWS, dtype)
        sines = cuda.shared.array(ROWS, dtype)
        # By way of shared memory: the addresses of all elements would occupy registers.
        q = cuda.shared.array(_ROOM, dtype)
        if lane < n:
            for j in range(n):
                q[j * uint32(_PITCH) + lane] = work[b, j * n + lane]
        row = cuda.local.array(_ELEMENTS, dtype)
        for j in range(ROWS):
            row[j] = q[uint32(j * _PITCH) + lane] if uint32(j) < n else zero
        row[ROWS] = zero
        for s in range(count):
            first, high = ranges[b, uint64(s), 0], ranges[b, uint64(s), 1]
            c, sine = one, zero
            if lane >= uint32(first) and lane < uint32(high):
                c = rotations[b, uint64(s), 0, lane]
                sine = rotations[b, uint64(s), 1, lane]
            synchronize()
            cosines[lane], sines[lane] = c, sine
            synchronize()
            for begin in range(ROWS - CHUNK, -1, -CHUNK):
                if begin < high and begin + CHUNK > first:
                    for k in range(CHUNK):
                        j = begin + CHUNK - 1 - k
                        c, sine = cosines[uint32(j)], sines[uint32(j)]
                        x, y = row[j], row[j + 1]
                        row[j + 1] = sine * x + c * y
                        row[j] = c * x - sine * y
        for j in range(ROWS):
            q[uint32(j * _PITCH) + lane] = row[j]
        if lane < n:
            for j in range(n):
                work[b, j * n + lane] = q[j * uint32(_PITCH) + lane]

    @kernel
    def store(tridiagonals, factors, positions, work, values, vectors, status):
        """Store the results of matrix number `blockIdx.x` in ascending order of the eigenvalues.

        `work` and `vectors` may be the same array.
        """
        b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        n = values.shape[1]
        d = cuda.shared.array(ROWS, float64)
        ranks = cuda.shared.array(ROWS, int32)
        q = cuda.shared.array(_ROOM, dtype)
        for column in range(t // LANES, n, threads // LANES):
            for row in range(t % LANES, n, LANES):
                q[column * _PITCH + row] = work[b, column * n + row]
        if t < n:
            d[t] = tridiagonals[0, b, t]
        if t == 0 and positions[b, 2] > 0:
            status[b] = NOT_CONVERGED
        cuda.syncthreads()
        results = values, vectors, status
        store_in_order(b, n, (d, ranks, factors), (q, _PITCH), results)

    return {
        f"find_rotations_{dtype}": find_rotations,
        f"apply_rotations_{dtype}": apply_rotations,
        f"store_{dtype}": store,
    }


KERNELS = _make_kernels(float32) | _make_kernels(float64)
"""The kernels by name, for each type."""
