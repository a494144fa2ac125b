"""Ornstein-Uhlenbeck paths on the GPU.

- `scan` : each warp computes a path, round after round.
- `bridge` : each warp computes a tile with known start and end. It keeps the steps of its lanes in
  registers until it knows the distance by which they miss the end, and bends them to it.
- `long_scan` : blocks of warps compute one path in a single pass; each block passes one number to
  the later ones. 256 blocks form a group: a block adds the ends of the earlier blocks of its group
  to the value at the group's start, which is passed from group to group. The order of these sums
  is fixed.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident, scratch
from hetero.cuda.driver import cuda
from hetero.intrinsics.bits import bits_of, float_of
from hetero.intrinsics.warp import warp_sum
from hetero.jit import kernel
from hetero.philox.formulas import philox10
from rode._intrinsics.memory import load_relaxed, store_relaxed
from rode._normals.box_muller_formulas import box_muller_float32, box_muller_float64
from rode._paths.noise_formulas import START
from rode._paths.tiles import LANES, ROUNDS, tile
from rode._paths.warp_tiles import warp_functions, words

THREADS = 128
"""Number of threads in a block."""

GROUP = 256
"""Number of blocks in a group: each thread of a block adds the ends of two of them."""

_WARPS = THREADS // LANES
_REAL = {"float32": float32, "float64": float64}


@kernel(device=True)
def _position():
    """Return the number of this warp, and the lane."""
    t = uint32(cuda.threadIdx.x)
    warp = int64(cuda.blockIdx.x) * _WARPS + int64(t // uint32(LANES))
    return warp, t % uint32(LANES)


@kernel(device=True)
def _warp_offset(lane, size):
    """Return the offset of this warp's part in its block's shared memory."""
    return (uint32(cuda.threadIdx.x) - lane) // uint32(LANES) * uint32(size)


def _make_scan(dtype, normals, rounds):
    """Make the kernel that computes a path with each warp; `normals` is None for given noise."""
    walk, join, put, _ = warp_functions(dtype, normals, rounds)
    real, size, length = _REAL[dtype], words(dtype, rounds), tile(dtype, rounds)
    count = _WARPS * size
    drawn = normals is not None

    @kernel
    def scan_paths(run, noise, table, starts, aligned, out):
        """Compute a path with each warp: warp `number` fills row `number` of out."""
        buffer = cuda.shared.array(count, real, alignment=16)
        number, lane = _position()
        if number >= out.shape[0]:
            return
        path, base = uint32(run.path + uint32(number)), _warp_offset(lane, size)
        row, source = out[number], out[number] if drawn else noise[number]
        value, weight, first = starts[number], table[0, 0, lane], uint64(0)
        while first < uint64(row.size):
            full = aligned and first + uint64(length) <= uint64(row.size)
            x = walk(run, path, lane, first, source, full, buffer, base)
            carry, value = join(x, weight, lane, run, value)
            put(x, carry, run, lane, first, full, buffer, base, row)
            first += uint64(length)

    return scan_paths


@functools.cache
def _make_bridge(dtype, normals, rounds):
    """Make the kernel that computes the tiles of one path, whose ends are known."""
    walk, join, _, put_bent = warp_functions(dtype, normals, rounds)
    real, size, length = _REAL[dtype], words(dtype, rounds), tile(dtype, rounds)
    count = _WARPS * size

    @kernel
    def bridge_tiles(run, table, start, ends, aligned, out):
        """Compute a tile with each warp, from ends[number - 1] (or `start`) to ends[number]."""
        buffer = cuda.shared.array(count, real, alignment=16)
        number, lane = _position()
        if number >= ends.size:
            return
        first, base = uint64(number) * uint64(length), _warp_offset(lane, size)
        full = aligned and first + uint64(length) <= uint64(out.size)
        value = start if number == 0 else ends[number - 1]
        x = walk(run, run.path, lane, first, out, full, buffer, base)
        carry, value = join(x, table[0, 0, lane], lane, run, value)
        miss = ends[number] - value
        carry += miss * table[1, 0, lane]
        put_bent(x, carry, miss, table, run, lane, first, full, buffer, base, out)

    return bridge_tiles


def _make_long_scan(dtype, normals):
    """Make the kernel that computes one path in a single pass."""
    real, word = _REAL[dtype], np.uint32 if dtype == "float32" else np.uint64
    empty = word(np.iinfo(word).max)
    walk, join, put, _ = warp_functions(dtype, normals, ROUNDS)
    size, length = words(dtype, ROUNDS), tile(dtype)
    count = _WARPS * size

    @kernel(device=True)
    def before(total, lane, number, run, far, ends, starts):
        """Return O at the start of this warp's tile, from the tiles of all warps, begun at 0."""
        totals, sums = cuda.shared.array(_WARPS, real), cuda.shared.array(_WARPS, real)
        group_start = cuda.shared.array(1, real)
        warp, t = number % _WARPS, int64(cuda.threadIdx.x)
        if lane == uint32(0):
            totals[warp] = total
        cuda.syncthreads()
        zero = total - total
        total, mine = zero, zero
        for w in range(_WARPS):
            mine = total if w == warp else mine
            total = total + (run.mu_minus_1_tile * total + totals[w])
        this_block = int64(cuda.blockIdx.x)
        position, group = this_block % GROUP, this_block // GROUP
        if t == 0:
            store_relaxed(ends, this_block, bits_of(total))
        earlier, other = zero, t
        while other < position:
            word_read = load_relaxed(ends, this_block - position + other)
            while word(word_read) == empty:
                word_read = load_relaxed(ends, this_block - position + other)
            earlier += float_of(word_read) * far[position - 1 - other]
            other += THREADS
        earlier = warp_sum(earlier)
        if lane == uint32(0):
            sums[warp] = earlier
        if t == THREADS - 1:
            word_read = load_relaxed(starts, group)
            while word(word_read) == empty:
                word_read = load_relaxed(starts, group)
            group_start[0] = far[position] * float_of(word_read)
        cuda.syncthreads()
        value = group_start[0]
        for w in range(_WARPS):
            value += sums[w]
        if t == 0 and position == GROUP - 1:
            store_relaxed(starts, group + 1, bits_of(total + far[1] * value))
        for w in range(_WARPS):
            if w < warp:
                value = value + run.mu_minus_1_tile * value
        return value + mine

    @kernel
    def scan_long(run, noise, table, far, ends, starts, aligned, out):
        """Compute one path with all blocks, which the hardware starts in their order.

        `far` holds mu^(B k) for blocks of B elements; `ends` and `starts` hold no number yet but
        for starts[0].
        """
        buffer = cuda.shared.array(count, real, alignment=16)
        number, lane = _position()
        first, base = uint64(number) * uint64(length), _warp_offset(lane, size)
        full = aligned and first + uint64(length) <= uint64(out.size)
        weight = table[0, 0, lane]
        x = walk(run, run.path, lane, first, noise, full, buffer, base)
        carry, total = join(x, weight, lane, run, run.mu_minus_1 - run.mu_minus_1)
        value = before(total, lane, number, run, far, ends, starts)
        put(x, carry + value * weight, run, lane, first, full, buffer, base, out)

    return scan_long


def _make_clear_flags(word):
    """Make the kernel that prepares the memory of a single pass."""
    no_number = word(np.iinfo(word).max)

    @kernel
    def clear_flags(ends, starts, first):
        """Mark all ends and starts as not yet written, except `first` at the start of the path."""
        for i in range(cuda.grid(1), ends.size, cuda.gridsize(1)):
            ends[i] = no_number
            if i < starts.size:
                starts[i] = first if i == 0 else no_number

    return clear_flags


def _make_begin_paths(draw):
    """Make the kernel that draws the starts of paths."""

    @kernel
    def begin_paths(run, start, deviation, out):
        """Fill `out` with `start`, or with stationary values if `deviation` > 0.

        `_paths.stationary` draws the same values on the host.
        """
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            path = uint32(run.path + uint32(i))
            a, b, c, d = philox10(START, START, path, run.stream, run.k0, run.k1)
            out[i] = draw(a, b, c, d, deviation)[0] if deviation > 0.0 else start

    return begin_paths


_VARIANTS = {
    "float32": ("float32", "float32"),
    "float64": ("float64", "float64"),
    "fast": ("float32", "fast"),
    "noise_float32": ("float32", None),
    "noise_float64": ("float64", None),
}
"""Type of the path, and normal numbers that the kernel draws."""

KERNELS = {
    **{f"scan_{name}": _make_scan(*kinds, ROUNDS) for name, kinds in _VARIANTS.items()},
    **{f"short_{name}": _make_scan(*kinds, 1) for name, kinds in _VARIANTS.items()},
    **{f"long_{name}": _make_long_scan(*kinds) for name, kinds in _VARIANTS.items()},
    **{f"bridge_{n}": _make_bridge(*kinds, ROUNDS) for n, kinds in _VARIANTS.items() if kinds[1]},
    "begin_float32": _make_begin_paths(box_muller_float32),
    "begin_float64": _make_begin_paths(box_muller_float64),
    "clear_float32": _make_clear_flags(np.uint32),
    "clear_float64": _make_clear_flags(np.uint64),
}


def _aligned(*arrays) -> bool:
    """Return whether every row begins at a multiple of 16 bytes."""
    for array in arrays:
        interface = getattr(array, "__cuda_array_interface__", None)
        row = array.shape[-1] * np.dtype(array.dtype).itemsize
        if interface is None or interface["data"][0] % 16 or (array.ndim > 1 and row % 16):
            return False
    return True


def _variant(noise, normals, out) -> str:
    """Return the name of the variant of a kernel that draws its noise, or reads it."""
    return normals if noise is None else f"noise_{np.dtype(out.dtype)}"


def scan(run, table, start, deviation, noise, normals, out, stream=0):
    """Fill the rows of `out` with paths from `start`, or with stationary ones if that is None."""
    name = "short" if table.shape[1] == 1 else "scan"
    chosen = KERNELS[f"{name}_{_variant(noise, normals, out)}"]
    noise, paths, T = out if noise is None else noise, out.shape[0], out.dtype.type
    starts = scratch("starts", paths, out.dtype, stream)
    arguments = (run, T(start or 0.0), T(deviation if start is None else 0.0), starts)
    launch.launch_over(KERNELS[f"begin_{np.dtype(out.dtype)}"], paths, arguments, stream)
    arguments = (run, noise, resident(table), starts, _aligned(noise, out), out)
    launch.launch(chosen, launch.blocks_for(paths, _WARPS), THREADS, stream, arguments)


def long_scan(run, table, rate, start, noise, normals, out, stream=0):
    """Fill `out` with one path from `start`."""
    chosen = KERNELS[f"long_{_variant(noise, normals, out)}"]
    clear = KERNELS[f"clear_{np.dtype(out.dtype)}"]
    length, noise = _WARPS * tile(out.dtype), out if noise is None else noise
    blocks = launch.blocks_for(out.size, length)
    far = np.exp(-rate * length * np.arange(GROUP + 1)).astype(out.dtype)
    word = np.dtype(np.uint32 if out.dtype.itemsize == 4 else np.uint64)
    # A start for each group of blocks, and one for the group that would follow.
    ends = scratch("block ends", blocks, word, stream)
    starts = scratch("group starts", blocks // GROUP + 1, word, stream)
    first = np.array([start], out.dtype).view(word)[0]
    launch.launch_over(clear, blocks, (ends, starts, first), stream)
    tables = resident(table), resident(far)
    arguments = (run, noise, *tables, ends, starts, _aligned(noise, out), out)
    launch.launch(chosen, blocks, THREADS, stream, arguments)


def bridge(run, table, start, ends, normals, out, stream=0):
    """Fill `out` with one path from `start` through ends[i] at the end of tile i."""
    chosen = _make_bridge(np.dtype(out.dtype).name, normals, table.shape[1])
    grid = launch.blocks_for(ends.size, _WARPS)
    arguments = (run, resident(table), start, ends, _aligned(out), out)
    launch.launch(chosen, grid, THREADS, stream, arguments)


def allocate_ends(count, dtype, stream=0):
    """Return memory for the ends of a bridge's tiles."""
    return scratch("ends", count, dtype, stream)
