"""Ornstein-Uhlenbeck paths on the GPU.

- `scan` : a warp a path, round after round.
- `bridge` : a warp a tile, of which start and end are given: it keeps what its lanes walked in
  registers until it knows by how much it misses its end, and bends it.
- `long_scan` : blocks of warps along one path in a single pass; one number a block travels to the
  later ones. 256 blocks are a group: a block adds up the ends of its group before it and the value
  at the group's start, which goes from group to group. The order of these sums is fixed.
"""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, uint32, uint64

from hetero import launch
from hetero._driver import cuda
from hetero._philox_math import philox10
from hetero.jit import kernel
from rode._bits import bits_of, float_of
from rode._march import START
from rode._memory import peek, publish, resident, scratch
from rode._normals_math import box_muller_float32, box_muller_float64
from rode._ou import LANES, block, tile
from rode._ou_warps import pieces, unrolled

THREADS = 128
GROUP = 256
"""Blocks whose ends a block adds up; two for each of its threads."""

_ALL = 0xFFFFFFFF
_WARPS = THREADS // LANES


@kernel(device=True)
def _position():
    """The number of this warp, and the lane."""
    t = uint32(cuda.threadIdx.x)
    warp = int64(cuda.blockIdx.x) * _WARPS + int64(t // uint32(LANES))
    return warp, t % uint32(LANES)


def _names(dtype) -> dict:
    """What texts of kernels refer to."""
    numbers = {"LANES": LANES, "SIZE": block(dtype), "ROUND": LANES * block(dtype)}
    kinds = {"uint32": uint32, "uint64": uint64}
    return numbers | kinds | {"TILE": tile(dtype), "position": _position}


def _scan(dtype, normals):
    size = block(dtype)
    step, _, put = pieces(dtype, normals)
    drawn = normals is not None

    @kernel
    def scan_paths(run, noise, table, starts, aligned, out):
        """A warp a path: row `number` of out."""
        number, lane = _position()
        if number >= out.shape[0]:
            return
        path = uint32(run.path + uint32(number))
        row, source = out[number], out[number] if drawn else noise[number]
        n, value, weight = uint64(row.size), starts[number], table[0, lane]
        begin, length = uint64(0), uint64(LANES * size)
        place = uint64(lane) * uint64(size)
        while begin < n:
            begin += length
            whole = aligned and begin <= n
            x, carry, value = step(run, path, weight, lane, place, value, source, whole)
            put(x, carry, run, place, whole, row)
            place += length

    return scan_paths


def _bridge(dtype, normals):
    step, put, _ = pieces(dtype, normals)
    source = '''
        def bridge_tiles(run, table, start, ends, aligned, out):
            """A warp a tile, from ends[number - 1] (or `start`) to ends[number]."""
            number, lane = position()
            if number >= ends.size:
                return
            begin = uint64(number) * uint64(TILE)
            place, path = begin + uint64(lane) * uint64(SIZE), run.path
            whole = aligned and begin + uint64(TILE) <= uint64(out.size)
            value, weight = start if number == 0 else ends[number - 1], table[0, lane]
            p{r}, t{r} = place + uint64({r} * ROUND), uint32({r} * LANES) + lane
            x{r}, c{r}, value = step(run, path, weight, lane, p{r}, value, out, whole)
            miss = ends[number] - value
            put(x{r}, c{r} + miss * table[1, t{r}], miss * table[2, t{r}], run, p{r}, whole, out)
    '''
    return unrolled("bridge_tiles", source, _names(dtype) | {"step": step, "put": put})


def _long_scan(dtype, normals):
    real, word = (float32, np.uint32) if dtype == "float32" else (float64, np.uint64)
    empty = word(np.iinfo(word).max)
    step, _, put = pieces(dtype, normals)

    @kernel(device=True)
    def before(total, lane, number, run, far, ends, starts):
        """O at the start of this warp's tile, from what all warps bring that began at 0."""
        totals, sums = cuda.shared.array(_WARPS, real), cuda.shared.array(_WARPS, real)
        known = cuda.shared.array(1, real)
        warp, t = number % _WARPS, int64(cuda.threadIdx.x)
        if lane == uint32(0):
            totals[warp] = total
        cuda.syncthreads()
        zero = total - total
        total, mine = zero, zero
        for w in range(_WARPS):
            mine = total if w == warp else mine
            total = total + (run.em1_tile * total + totals[w])
        own = int64(cuda.blockIdx.x)
        position, group = own % GROUP, own // GROUP
        if t == 0:
            publish(ends, own, bits_of(total))
        seen, other = zero, t
        while other < position:
            found = peek(ends, own - position + other)
            while word(found) == empty:
                found = peek(ends, own - position + other)
            seen += float_of(found) * far[position - 1 - other]
            other += THREADS
        for k in range(5):
            seen += cuda.shfl_xor_sync(_ALL, seen, 16 >> k)
        if lane == uint32(0):
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
        for w in range(_WARPS):
            if w < warp:
                value = value + run.em1_tile * value
        return value + mine

    source = '''
        def scan_long(run, noise, table, far, ends, starts, aligned, out):
            """Blocks in the order of their numbers, which is that of their start on the hardware.

            `far` holds mu^(B k) for blocks of B elements; `ends` and `starts` hold no number yet
            but for starts[0].
            """
            number, lane = position()
            begin = uint64(number) * uint64(TILE)
            place, path = begin + uint64(lane) * uint64(SIZE), run.path
            whole = aligned and begin + uint64(TILE) <= uint64(out.size)
            value, weight = run.em1 - run.em1, table[0, lane]
            p{r}, t{r} = place + uint64({r} * ROUND), uint32({r} * LANES) + lane
            x{r}, c{r}, value = step(run, path, weight, lane, p{r}, value, noise, whole)
            value = before(value, lane, number, run, far, ends, starts)
            put(x{r}, c{r} + value * table[0, t{r}], run, p{r}, whole, out)
    '''
    names = {"step": step, "put": put, "before": before}
    return unrolled("scan_long", source, _names(dtype) | names)


_KINDS = (("float32", "float32"), ("float64", "float64"), ("float32", "fast"))
scan_float32, scan_float64, scan_fast = (_scan(d, n) for d, n in _KINDS)
scan_noise_float32, scan_noise_float64 = (_scan(d, None) for d in ("float32", "float64"))
long_float32, long_float64, long_fast = (_long_scan(d, n) for d, n in _KINDS)
long_noise_float32, long_noise_float64 = (_long_scan(d, None) for d in ("float32", "float64"))
bridge_float32, bridge_float64, bridge_fast = (_bridge(d, n) for d, n in _KINDS)

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


def _beginner(draw):
    @kernel
    def begin_paths(run, start, deviation, out):
        """`start`, or stationary values where the deviation is not 0: those of `_starts.py`."""
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            path = uint32(run.path + uint32(i))
            a, b, c, d = philox10(START, START, path, run.stream, run.k0, run.k1)
            out[i] = draw(a, b, c, d, deviation)[0] if deviation > 0.0 else start

    return begin_paths


begin_float32, begin_float64 = _beginner(box_muller_float32), _beginner(box_muller_float64)
clear_float32, clear_float64 = _clearer(np.uint32), _clearer(np.uint64)


def _aligned(*arrays) -> bool:
    """Whether every row begins at a multiple of 16 bytes."""
    for array in arrays:
        interface = getattr(array, "__cuda_array_interface__", None)
        row = array.shape[-1] * np.dtype(array.dtype).itemsize
        if interface is None or interface["data"][0] % 16 or (array.ndim > 1 and row % 16):
            return False
    return True


def scan(run, table, start, deviation, noise, normals, out, stream=0):
    """Fill the rows of `out` with paths from `start`, or stationary ones where that is None.

    `noise` is None, drawn as `normals` ("float32", "float64", "fast") says, or given.
    """
    drawn = noise is None
    chosen = _SCANS[normals] if drawn else _SCANS_NOISE[np.dtype(out.dtype).name]
    noise, paths, T = out if drawn else noise, out.shape[0], out.dtype.type
    starts = scratch("starts", paths, out.dtype, stream)
    begin = begin_float32 if out.dtype.itemsize == 4 else begin_float64
    begin[launch.strided(paths), launch.THREADS, stream](
        run, T(start or 0.0), T(deviation if start is None else 0.0), starts
    )
    chosen[launch.blocks(paths, _WARPS), THREADS, stream](
        run, noise, resident(table), starts, _aligned(noise, out), out
    )


def long_scan(run, table, rate, start, noise, normals, out, stream=0):
    """Fill `out` with one path from `start`; rate is delta/tau."""
    drawn, word = noise is None, np.uint32 if out.dtype.itemsize == 4 else np.uint64
    chosen = _LONGS[normals] if drawn else _LONGS_NOISE[np.dtype(out.dtype).name]
    clear = clear_float32 if out.dtype.itemsize == 4 else clear_float64
    length, noise = _WARPS * tile(out.dtype), out if drawn else noise
    blocks = launch.blocks(out.size, length)
    far = np.exp(-rate * length * np.arange(GROUP + 1)).astype(out.dtype)
    flags = scratch("flags", blocks + blocks // GROUP + 2, np.dtype(word), stream)
    first = np.array([start], out.dtype).view(word)[0]
    clear[launch.strided(flags.size), THREADS, stream](flags, blocks, first)
    tables = resident(table), resident(far)
    chosen[blocks, THREADS, stream](
        *(run, noise, *tables, flags[:blocks], flags[blocks:], _aligned(noise, out), out)
    )


def bridge(run, table, start, ends, normals, out, stream=0):
    """Fill `out` with one path from `start` through ends[i] at the end of tile i."""
    grid, table = launch.blocks(ends.size, _WARPS), resident(table)
    _BRIDGES[normals][grid, THREADS, stream](run, table, start, ends, _aligned(out), out)


def ends_of(count, dtype, stream=0):
    """Memory for the ends of a bridge's tiles."""
    return scratch("ends", count, dtype, stream)
