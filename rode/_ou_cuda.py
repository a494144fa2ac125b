"""Ornstein-Uhlenbeck paths on the GPU.

A lane of a warp walks E elements from O = 0 in its registers, from noise that it draws or reads;
the ends of the lanes are scanned by shuffles, and each lane adds what came before.

- `scan` : a warp a path, tile after tile.
- `long_scan` : blocks of warps along one path in a single pass; one number a block travels to the
  later ones. 256 blocks are a group: a block adds up the ends of its group before it and the value
  at the group's start, which goes from group to group. The order of these sums is fixed.
- `bridge` : every tile of 32 E elements starts and ends at given values; tiles know nothing of each
  other.
- `sweeps` : the paper's three kernels, up-sweep, down-sweep and fix-up.
"""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero import launch
from hetero._driver import cuda
from hetero._philox_math import philox10
from hetero.jit import kernel
from rode._bits import bits_of, float_of
from rode._blocks_math import BLOCKS
from rode._memory import load, peek, publish, store
from rode._ou import LANES, PARTS, elements
from rode._vectors import axpy, cast, replaced, scaled, walked

THREADS = 128
GROUP = 256
"""Blocks whose ends a block adds up; two for each of its threads."""

SWEEP = 1024
"""Elements that a block sweeps in shared memory."""

_ALL = 0xFFFFFFFF
_WARPS = THREADS // LANES


@cuda.jit(device=True)
def _scanned(end, lane, strides):
    """The ends of the lanes' stretches, each with those before it."""
    for k in range(5):
        before = cuda.shfl_up_sync(_ALL, end, 1 << k)
        if lane >= uint32(1 << k):
            end = end + strides[k] * before
    return end


def _pieces(dtype, normals):
    """(pitch, draw, read, write): a lane's elements lie together in shared memory."""
    size, each = 16 // np.dtype(dtype).itemsize, elements(dtype)
    pitch = each + size  # of a lane: no bank conflicts
    numbers, some = BLOCKS[dtype, normals].draw, (0.0,) * size

    @cuda.jit(device=True)
    def draw(shared, warp, lane, run, path, begin):
        """Walk drawn noise from O = 0; the end. A loop, so that the code stays in its cache."""
        block = (begin + uint64(lane) * uint64(each)) // uint64(size)
        low, high = uint32(block), uint32(block >> uint64(32))
        mine = uint64(warp * uint32(LANES * pitch) + lane * uint32(pitch))
        value = run.em1 - run.em1
        for _ in range(PARTS):
            a, b, c, d = philox10(low, high, path, run.stream, run.k0, run.k1)
            part = walked(value, numbers(a, b, c, d, run.sigma), run.em1)
            store(shared, mine, part)
            value, low, mine = part[-1], uint32(low + uint32(1)), mine + uint64(size)
        return value

    @cuda.jit(device=True)
    def read(shared, warp, lane, run, begin, n, aligned, noise):
        """Walk noise[begin:] from O = 0; the end."""
        part = cast(some, run.em1)
        for r in range(PARTS):
            i = uint32(r * LANES * size) + lane * uint32(size)
            source = begin + uint64(i)
            if aligned and source + uint64(size) <= n:
                part = load(noise, source, part)
            else:
                for j in range(size):
                    inside = source + uint64(j) < n
                    value = noise[source + uint64(j)] if inside else run.em1 - run.em1
                    part = replaced(part, int64(j), value)
            at = warp * uint32(LANES * pitch) + i // uint32(each) * uint32(pitch) + i % uint32(each)
            store(shared, uint64(at), part)
        cuda.syncwarp()
        mine = uint64(warp * uint32(LANES * pitch) + lane * uint32(pitch))
        value = run.em1 - run.em1
        for r in range(PARTS):
            part = walked(value, scaled(run.sigma, load(shared, mine, part)), run.em1)
            store(shared, mine, part)
            value, mine = part[-1], mine + uint64(size)
        return value

    @cuda.jit(device=True)
    def write(shared, warp, lane, p, q, run, table, begin, n, aligned, out):
        """The walked elements of a warp plus p `first` + q `second` of their lanes to out[begin:].

        Neighbours write next to each other: what lane l has at e is written by another lane, and
        e is the same in all rounds.
        """
        cuda.syncwarp()
        first = cast(some, run.em1)
        second = first
        e = lane * uint32(size) % uint32(each)
        for j in range(size):
            first = replaced(first, int64(j), table[3, e + uint32(j)])
            second = replaced(second, int64(j), table[4, e + uint32(j)])
        for r in range(PARTS):
            i = uint32(r * LANES * size) + lane * uint32(size)
            owner = i // uint32(each)
            at = uint64(warp * uint32(LANES * pitch) + owner * uint32(pitch) + e)
            own_p, own_q = cuda.shfl_sync(_ALL, p, owner), cuda.shfl_sync(_ALL, q, owner)
            x = axpy(own_q, second, axpy(own_p, first, load(shared, at, first)))
            target = begin + uint64(i)
            if aligned and target + uint64(size) <= n:
                store(out, target, x)
            else:
                for j in range(size):
                    if target + uint64(j) < n:
                        out[target + uint64(j)] = x[j]
        cuda.syncwarp()

    return pitch, draw, read, write


def _scan(dtype, fused, normals):
    real = float32 if dtype == "float32" else float64
    each = elements(dtype)
    pitch, draw, read, write = _pieces(dtype, normals)
    room = THREADS * pitch

    @kernel
    def scan_paths(run, noise, table, starts, aligned, out):
        """A warp a path: row `number` of out."""
        shared = cuda.shared.array(room, real)
        warp = uint32(cuda.threadIdx.x) // uint32(LANES)
        lane = uint32(cuda.threadIdx.x) % uint32(LANES)
        number = int64(cuda.blockIdx.x) * _WARPS + int64(warp)
        if number >= out.shape[0]:
            return
        path = uint32(run.path + uint32(number))
        n, value = uint64(out.shape[1]), starts[number]
        begin = uint64(0)
        while begin < n:
            if fused:
                end = draw(shared, warp, lane, run, path, begin)
            else:
                end = read(shared, warp, lane, run, begin, n, aligned, noise[number])
            end = _scanned(end, lane, run.strides)
            before = cuda.shfl_up_sync(_ALL, end, 1)
            carry = table[0, lane] * value + (before if lane > 0 else value - value)
            last = cuda.shfl_sync(_ALL, end, 31)
            p, q = run.share0 * carry, run.share1 * carry
            write(shared, warp, lane, p, q, run, table, begin, n, aligned, out[number])
            value = value + (run.em1_tile * value + last)
            begin += uint64(LANES * each)

    return scan_paths


def _long_scan(dtype, fused, normals):
    itemsize = np.dtype(dtype).itemsize
    real = float32 if itemsize == 4 else float64
    word = np.uint32 if itemsize == 4 else np.uint64
    empty, each = word(np.iinfo(word).max), elements(dtype)
    pitch, draw, read, write = _pieces(dtype, normals)
    room = THREADS * pitch

    @kernel
    def scan_long(run, noise, table, far, ends, starts, aligned, out):
        """Blocks in the order of their numbers, which is that of their start on the hardware.

        `far` holds mu^(B k) for blocks of B elements; `ends` and `starts` hold no number yet but
        for starts[0].
        """
        shared = cuda.shared.array(room, real)
        totals = cuda.shared.array(_WARPS, real)
        sums = cuda.shared.array(_WARPS, real)
        known = cuda.shared.array(1, real)
        t = uint32(cuda.threadIdx.x)
        warp, lane = t // uint32(LANES), t % uint32(LANES)
        tile, n = int64(cuda.blockIdx.x), uint64(out.size)
        begin = (uint64(tile) * uint64(_WARPS) + uint64(warp)) * uint64(LANES * each)
        if fused:
            end = draw(shared, warp, lane, run, run.path, begin)
        else:
            end = read(shared, warp, lane, run, begin, n, aligned, noise)
        end = _scanned(end, lane, run.strides)
        before = cuda.shfl_up_sync(_ALL, end, 1)
        zero = end - end
        carry = before if lane > 0 else zero
        if lane == LANES - 1:
            totals[warp] = end
        cuda.syncthreads()

        # What the warps before bring, and what this block brings to the later ones.
        total, mine = zero, zero
        for w in range(_WARPS):
            mine = total if w == warp else mine
            total = total + (run.em1_tile * total + totals[w])
        position, group = tile % GROUP, tile // GROUP
        if t == 0:
            publish(ends, tile, bits_of(total))
        seen, other = zero, int64(t)
        while other < position:
            found = peek(ends, tile - position + other)
            while word(found) == empty:
                found = peek(ends, tile - position + other)
            seen += float_of(found) * far[position - 1 - other]
            other += THREADS
        for k in range(5):
            seen += cuda.shfl_xor_sync(_ALL, seen, 16 >> k)
        if lane == 0:
            sums[warp] = seen
        if t == THREADS - 1:
            found = peek(starts, group)
            while word(found) == empty:
                found = peek(starts, group)
            known[0] = far[position] * float_of(found)
        cuda.syncthreads()
        value = known[0]
        for w in range(_WARPS):
            value += sums[w]
        if t == 0 and position == GROUP - 1:
            publish(starts, group + 1, bits_of(total + far[1] * value))

        # The value at the start of this warp's tile.
        for w in range(_WARPS):
            if w < warp:
                value = value + run.em1_tile * value
        value += mine
        carry = table[0, lane] * value + carry
        p, q = run.share0 * carry, run.share1 * carry
        write(shared, warp, lane, p, q, run, table, begin, n, aligned, out)

    return scan_long


def _bridge(dtype, normals):
    real = float32 if dtype == "float32" else float64
    each = elements(dtype)
    pitch, draw, _, write = _pieces(dtype, normals)
    room = THREADS * pitch

    @kernel
    def bridge_tiles(run, table, start, ends, aligned, out):
        """A warp a tile, from ends[tile - 1] (or `start`) to ends[tile]."""
        shared = cuda.shared.array(room, real)
        warp = uint32(cuda.threadIdx.x) // uint32(LANES)
        lane = uint32(cuda.threadIdx.x) % uint32(LANES)
        tile = int64(cuda.blockIdx.x) * _WARPS + int64(warp)
        n, begin = uint64(out.size), uint64(tile) * uint64(LANES * each)
        if begin >= n:
            return
        end = _scanned(draw(shared, warp, lane, run, run.path, begin), lane, run.strides)
        before = cuda.shfl_up_sync(_ALL, end, 1)
        last = cuda.shfl_sync(_ALL, end, 31)
        value = start if tile == 0 else ends[tile - 1]
        carry = table[0, lane] * value + (before if lane > 0 else value - value)
        miss = ends[tile] - (value + (run.em1_tile * value + last))
        p = run.share0 * carry + miss * table[1, lane]
        q = run.share1 * carry + miss * table[2, lane]
        write(shared, warp, lane, p, q, run, table, begin, n, aligned, out)

    return bridge_tiles


def _sweeps(dtype):
    real = float32 if dtype == "float32" else float64
    half = SWEEP // 2

    @kernel
    def sweep_blocks(noise, powers, sigma, totals, out):
        """Each SWEEP elements from 0: powers[d] is mu^(2^d). Algorithms 7 and 8, indices mended."""
        x = cuda.shared.array(SWEEP, real)
        t, base = int64(cuda.threadIdx.x), int64(cuda.blockIdx.x) * SWEEP
        for i in (t, t + half):
            x[i] = sigma * noise[base + i] if base + i < noise.size else sigma - sigma
        cuda.syncthreads()
        width, d = 1, 0
        while width < SWEEP:  # up: the left summand's weight is mu^width
            i = (2 * t + 2) * width - 1
            if i < SWEEP:
                x[i] += powers[d] * x[i - width]
            cuda.syncthreads()
            width, d = 2 * width, d + 1
        while width > 1:
            width, d = width // 2, d - 1
            i = (2 * t + 3) * width - 1
            if i < SWEEP:
                x[i] += powers[d] * x[i - width]
            cuda.syncthreads()
        for i in (t, t + half):
            if base + i < out.size:
                out[base + i] = x[i]
        if t == 0:
            totals[int64(cuda.blockIdx.x)] = x[SWEEP - 1]

    @kernel
    def fix_blocks(out, values, weights, start):
        """Element p of a block gets mu^(p + 1) times the value before the block."""
        block = int64(cuda.blockIdx.x)
        before = start if block == 0 else values[block - 1]
        for p in range(cuda.threadIdx.x, SWEEP, cuda.blockDim.x):
            if block * SWEEP + p < out.size:
                out[block * SWEEP + p] += weights[p] * before

    return sweep_blocks, fix_blocks


_KINDS = (("float32", "float32"), ("float64", "float64"), ("float32", "fast"))
scan_float32, scan_float64, scan_fast = (_scan(d, True, n) for d, n in _KINDS)
scan_noise_float32, scan_noise_float64 = (_scan(d, False, n) for d, n in _KINDS[:2])
long_float32, long_float64, long_fast = (_long_scan(d, True, n) for d, n in _KINDS)
long_noise_float32, long_noise_float64 = (_long_scan(d, False, n) for d, n in _KINDS[:2])
bridge_float32, bridge_float64, bridge_fast = (_bridge(d, n) for d, n in _KINDS)
sweep_float32, fix_float32 = _sweeps("float32")
sweep_float64, fix_float64 = _sweeps("float64")


_SCANS = {"float32": scan_float32, "float64": scan_float64, "fast": scan_fast}
_SCANS_NOISE = {"float32": scan_noise_float32, "float64": scan_noise_float64}
_LONGS = {"float32": long_float32, "float64": long_float64, "fast": long_fast}
_LONGS_NOISE = {"float32": long_noise_float32, "float64": long_noise_float64}
_BRIDGES = {"float32": bridge_float32, "float64": bridge_float64, "fast": bridge_fast}


def _clearer(word):
    nothing = word(np.iinfo(word).max)

    @kernel
    def clear_flags(flags, at, first):
        """No number is there yet, but for `first` at place `at`."""
        for i in range(cuda.grid(1), flags.size, cuda.gridsize(1)):
            flags[i] = first if i == at else nothing

    return clear_flags


clear_float32, clear_float64 = _clearer(np.uint32), _clearer(np.uint64)
_tables: dict = {}


def _resident(table):
    """A small host array on the current GPU, kept there for the next call."""
    key = (launch.device_id(), table.dtype, table.shape, table.tobytes())
    if key not in _tables:
        if len(_tables) >= 64:
            _tables.pop(next(iter(_tables)))
        _tables[key] = cuda.to_device(table)
    return _tables[key]


def _chosen(single, double, dtype):
    return single if np.dtype(dtype) == np.float32 else double


def _aligned(out) -> bool:
    """Whether every row begins at a multiple of 16 bytes."""
    interface = getattr(out, "__cuda_array_interface__", None)
    row = out.shape[-1] * np.dtype(out.dtype).itemsize
    good = interface is not None and interface["data"][0] % 16 == 0
    return good and (out.ndim == 1 or row % 16 == 0)


def scan(run, table, starts, noise, normals, out, stream=0):
    """Fill the rows of `out` with paths from starts[row].

    `noise` is None, drawn as `normals` ("float32", "float64", "fast") says, or given.
    """
    drawn = noise is None
    chosen = _SCANS[normals] if drawn else _SCANS_NOISE[np.dtype(out.dtype).name]
    table, starts = _resident(table), cuda.to_device(starts, stream=stream)
    grid = launch.blocks(out.shape[0], _WARPS)
    chosen[grid, THREADS, stream](run, out if drawn else noise, table, starts, _aligned(out), out)


def long_scan(run, table, rate, start, noise, normals, out, stream=0):
    """Fill `out` with one path from `start`; rate is delta/tau."""
    drawn, word = noise is None, np.uint32 if out.dtype.itemsize == 4 else np.uint64
    chosen = _LONGS[normals] if drawn else _LONGS_NOISE[np.dtype(out.dtype).name]
    block = THREADS * elements(out.dtype)
    blocks = launch.blocks(out.size, block)
    far = np.exp(-rate * block * np.arange(GROUP + 1)).astype(out.dtype)
    flags = cuda.device_array(blocks + blocks // GROUP + 2, word, stream=stream)
    clear = _chosen(clear_float32, clear_float64, out.dtype)
    first = np.array([start], out.dtype).view(word)[0]
    clear[launch.strided(flags.size), THREADS, stream](flags, blocks, first)
    table, far = _resident(table), _resident(far)
    chosen[blocks, THREADS, stream](
        run, out if drawn else noise, table, far, flags[:blocks], flags[blocks:], _aligned(out), out
    )


def bridge(run, table, start, ends, normals, out, stream=0):
    """Fill `out` with one path from `start` through ends[i] at the end of tile i."""
    grid = launch.blocks(ends.size, _WARPS)
    table = _resident(table)
    _BRIDGES[normals][grid, THREADS, stream](run, table, start, ends, _aligned(out), out)


def sweeps(powers, weights, sigma, start, noise, out, stream=0):
    """Fill `out` with the path of `noise` from `start` by the paper's three kernels.

    powers[l, d] is mu^(SWEEP^l 2^d) and weights[l, p] is mu^(SWEEP^l (p + 1)).
    """
    dtype = np.dtype(out.dtype)
    sweep, fix = (
        _chosen(sweep_float32, sweep_float64, dtype),
        _chosen(fix_float32, fix_float64, dtype),
    )
    blocks = launch.blocks(out.size, SWEEP)
    totals = cuda.device_array(blocks, dtype, stream=stream)
    sweep[blocks, SWEEP // 2, stream](noise, _resident(powers[0]), dtype.type(sigma), totals, out)
    values = totals
    if blocks > 1:
        values = cuda.device_array(blocks, dtype, stream=stream)
        sweeps(powers[1:], weights[1:], 1.0, start, totals, values, stream)
    fix[blocks, THREADS, stream](out, values, _resident(weights[0]), dtype.type(start))
