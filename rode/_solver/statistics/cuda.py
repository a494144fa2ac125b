"""Statistics over paths on the GPU: rows of numbers, one for each time and output."""

from numba import float64, int64, uint32, uint64

from hetero.cuda.driver import cuda
from hetero.cuda.launch import launch
from hetero.intrinsics.bits import bits_of, float_of
from hetero.jit import kernel
from rode._solver.statistics.formulas import merge
from rode._solver.statistics.leaves import MAX_LEAVES

THREADS = 256  # number of threads in a block


@kernel
def sum_nodes(rows, leaf, begins, sizes, mean, squares):
    """Compute the moments of one node of one row by each block of threads, in a fixed order.

    Up to 32 threads share a leaf, neighbours in memory. Leaves are then joined in pairs.
    """
    shared = cuda.shared.array(THREADS, float64)
    means = cuda.shared.array(MAX_LEAVES, float64)
    sums = cuda.shared.array(MAX_LEAVES, float64)
    r, k, t = cuda.blockIdx.x, cuda.blockIdx.y, int64(cuda.threadIdx.x)
    n, size = int64(rows.shape[1]), sizes[k]
    width = min(leaf, int64(32))
    lane, first = t % width, t - t % width
    for base in range(0, size, THREADS // width):
        i = base + t // width
        low = (begins[k] + i) * leaf
        high = min(low + leaf, n) if i < size else low
        middle = 0.0
        for turn in range(2):
            total = 0.0
            for j in range(low + lane, high, width):
                x = float64(rows[r, j])
                total += x if turn == 0 else (x - middle) * (x - middle)
            shared[t] = total
            cuda.syncthreads()
            half = width // 2
            while half > 0:
                if lane < half:
                    shared[t] += shared[t + half]
                cuda.syncthreads()
                half //= 2
            if turn == 0:
                middle = shared[first] / max(high - low, int64(1))
            elif lane == 0 and i < size:
                means[i], sums[i] = middle, shared[t]
            cuda.syncthreads()
    stride = int64(1)
    while stride < size:
        for i in range(2 * stride * t, size, 2 * stride * THREADS):
            other = i + stride
            count = min((begins[k] + other) * leaf, n) - (begins[k] + i) * leaf
            behind = min((begins[k] + other + stride) * leaf, n) - (begins[k] + other) * leaf
            means[i], sums[i] = merge(means[i], sums[i], count, means[other], sums[other], behind)
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        mean[r, k], squares[r, k] = means[0], sums[0]


def compute_moments(rows, leaf, begins, sizes, mean, squares, stream=0):
    """Fill `mean` and `squares` of each row and node; see the Protocol."""
    grid = rows.shape[0], begins.size
    launch(sum_nodes, grid, THREADS, stream, (rows, leaf, begins, sizes, mean, squares))


def _make_select(word, width):
    """Make the kernel in which each block of threads finds the number of one rank in one row.

    It finds the number bit after bit, from the highest.
    """
    top = word(1) << word(width - 1) if width == 64 else word(1 << (width - 1))

    @kernel
    def select_rank(rows, ranks, result):
        counts = cuda.shared.array(1, int64)
        r, k, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
        n = rows.shape[1]
        prefix, bit = word(0), word(top)
        rank = ranks[k]
        while bit != word(0):
            # How many numbers agree with the prefix and have a 0 here?
            if t == 0:
                counts[0] = 0
            cuda.syncthreads()
            mine = 0
            for i in range(t, n, THREADS):
                x = word(bits_of(rows[r, i]))
                key = word(~x) if x & top else word(x | top)
                difference = word(key ^ prefix)
                if difference < bit:
                    mine += 1
            cuda.atomic.add(counts, 0, mine)
            cuda.syncthreads()
            if rank >= counts[0]:
                rank -= counts[0]
                prefix = word(prefix | bit)
            bit = word(bit >> word(1))
            cuda.syncthreads()
        if t == 0:
            result[r, k] = float_of(word(prefix ^ top) if prefix & top else word(~prefix))

    return select_rank


select_rank_float32, select_rank_float64 = _make_select(uint32, 32), _make_select(uint64, 64)


def select_ranks(rows, ranks, result, stream=0):
    """Fill result[r, k] with the number of rank `ranks[k]` (from 0) in row r.

    NaN stand at the ends, by their signs.
    """
    chosen = select_rank_float32 if rows.dtype.itemsize == 4 else select_rank_float64
    launch(chosen, (rows.shape[0], ranks.size), THREADS, stream, (rows, ranks, result))


@kernel
def count_interval(rows, lower, upper, below, inside):
    """Count the numbers below and inside of one interval of one row by each block of threads."""
    counts = cuda.shared.array(2, int64)
    r, k, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    if t < 2:
        counts[t] = 0
    cuda.syncthreads()
    low, high = lower[k, r], upper[k, r]
    less, within = int64(0), int64(0)
    for i in range(t, rows.shape[1], THREADS):
        x = rows[r, i]
        if x < low:
            less += 1
        elif x <= high:
            within += 1
    cuda.atomic.add(counts, 0, less)
    cuda.atomic.add(counts, 1, within)
    cuda.syncthreads()
    if t == 0:
        below[k, r] = counts[0]
        inside[k, r] = counts[1]


def count_between(rows, lower, upper, below, inside):
    """Count the numbers below and inside of intervals; see the Protocol."""
    arguments = (rows, lower, upper, below, inside)
    launch(count_interval, (rows.shape[0], lower.shape[0]), THREADS, 0, arguments)


@kernel
def collect_interval(rows, lower, upper, positions, values):
    """Collect the numbers inside of one interval of one row by each block of threads."""
    r, k = cuda.blockIdx.x, cuda.blockIdx.y
    low, high = lower[k, r], upper[k, r]
    for i in range(cuda.threadIdx.x, rows.shape[1], THREADS):
        x = rows[r, i]
        if low <= x <= high:
            values[cuda.atomic.add(positions, (k, r), 1)] = x


def collect_between(rows, lower, upper, positions, values):
    """Collect the numbers inside of intervals; see the Protocol."""
    arguments = (rows, lower, upper, positions, values)
    launch(collect_interval, (rows.shape[0], lower.shape[0]), THREADS, 0, arguments)
