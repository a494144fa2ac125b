"""Ornstein-Uhlenbeck paths on the CPU: see the CUDA twin for the names."""

from __future__ import annotations

import functools

import numpy as np
from numba import int64, prange, uint32, uint64

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, serial
from rode._normals.cpu_chunks import chunk_of
from rode._paths.noise_formulas import BLOCKS
from rode._paths.stationary import draw_stationary
from rode._paths.step_formulas import advance
from rode._paths.tiles import ROUNDS, Steps, block, tile

CHUNK = 1 << 16
"""Number of elements that a thread walks at once; not tuned."""

FIRST_PIECE = 1 << 20
"""Elements of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""

BLOCKS_AT_ONCE = 512
"""Number of noise blocks that are drawn ahead of a walk, by vector instructions."""


@functools.cache
def _make_walk(dtype, fused, normals):
    """Make `walk(run, path, value, first, noise, out)`: elements first .. of a path from `value`.

    The noise is drawn as `normals` says if `fused`, else read.
    """
    size = 16 // np.dtype(dtype).itemsize
    chunk = chunk_of(BLOCKS[dtype, normals].draw, size)

    @serial
    def walk(run, path, value, first, noise, out):
        if not fused:
            for i in range(out.size):
                value = advance(value, run.mu_minus_1, run.sigma * noise[first + i])
                out[i] = value
            return value
        blocks = (out.size + size - 1) // size
        four = np.empty((4, min(BLOCKS_AT_ONCE, blocks)), np.uint32)
        part = np.empty((size, four.shape[1]), out.dtype)
        for low in range(0, blocks, BLOCKS_AT_ONCE):
            count = min(BLOCKS_AT_ONCE, blocks - low)
            if count < four.shape[1]:
                four, part = np.empty((4, count), np.uint32), np.empty((size, count), out.dtype)
            block = uint64(first // size + low)
            chunk(block, run.k0, run.k1, path, run.stream, run.sigma, four, part)
            window = out[low * size : min((low + count) * size, out.size)]
            full = window.size // size
            for l in range(full):
                for j in range(size):
                    window[l * size + j] = part[j, l]
            for i in range(full * size, window.size):
                window[i] = part[i - full * size, full]
            for i in range(window.size):
                value = advance(value, run.mu_minus_1, window[i])
                window[i] = value
        return value

    return walk


@functools.cache
def _make_scan(dtype, fused, normals):
    """Make the loop over many paths."""
    walk = _make_walk(dtype, fused, normals)

    @parallel
    def scan_paths(run, starts, noise, out):
        for r in prange(out.shape[0]):
            number = int64(r)
            path = uint32(run.path + uint32(number))
            walk(run, path, starts[number], 0, noise[number], out[number])

    return scan_paths


def scan(run, table, start, deviation, noise, normals, out, stream=0):
    """Fill the rows of `out` with paths from `start`, or with stationary ones if that is None."""
    T, paths = out.dtype.type, out.shape[0]
    if start is None:
        starts = draw_stationary((run.k0, run.k1), run.stream, run.path, T(deviation), paths)
    else:
        starts = np.full(paths, start, T)
    loop, steps = _make_scan(out.dtype.name, noise is None, normals), Steps(*run[:6])
    source = out if noise is None else noise
    for a, b in ranges(paths, first=max(1, FIRST_PIECE // out.shape[1])):
        part_steps = steps._replace(path=np.uint32(int(run.path) + a))
        loop(part_steps, starts[a:b], source[a:b], out[a:b])


@functools.cache
def _make_long_scan(dtype, fused, normals):
    """Make the loop over the chunks of one path."""
    walk, T = _make_walk(dtype, fused, normals), np.dtype(dtype).type

    @parallel
    def scan_long(run, begin, start, weights, noise, out):
        """Fill `out`, the path from its element `begin` on; return the value that comes next."""
        n = out.size
        chunks = (n + CHUNK - 1) // CHUNK
        ends = np.empty(chunks, dtype)
        for c in prange(chunks):
            low = int64(c) * CHUNK
            part = out[low : min(low + CHUNK, n)]
            ends[c] = walk(run, run.path, T(0.0), begin + low, noise, part)
        values = np.empty(chunks, dtype)
        value = start
        for c in range(chunks):
            values[c] = value
            value = ends[c] + weights[CHUNK - 1] * value
        for c in prange(chunks):
            low = int64(c) * CHUNK
            part = out[low : min(low + CHUNK, n)]
            for i in range(part.size):
                part[i] += weights[i] * values[c]
        return value

    return scan_long


def long_scan(run, table, rate, start, noise, normals, out, stream=0):
    """Fill `out` with one path from `start`.

    Chunks walk from 0 and then get what came before.
    """
    T = out.dtype.type
    weights = np.exp(-rate * np.arange(1, CHUNK + 1)).astype(T)
    loop, steps = _make_long_scan(out.dtype.name, noise is None, normals), Steps(*run[:6])
    value, source = T(start), out if noise is None else noise
    for a, b in ranges(out.size, first=FIRST_PIECE, multiple=CHUNK):
        value = T(loop(steps, a, value, weights, source, out[a:b]))


@functools.cache
def _make_bridge(dtype, normals):
    """Make the loop over the tiles of a path whose ends are known."""
    walk, each, length = _make_walk(dtype, True, normals), block(dtype), tile(dtype)

    @parallel
    def bridge_tiles(run, tiles, bends, table, start, ends, out):
        """Fill the tiles number tiles[0] to tiles[1]; `bends` are the powers and bends of `run`."""
        first, stop = tiles
        powers, bends = bends
        for i in prange(stop - first):
            number = first + int64(i)
            low = number * length
            free = np.empty(length, out.dtype)
            value = start if number == 0 else ends[number - 1]
            walk(run, run.path, value, low, free, free)
            miss = ends[number] - free[-1]
            part = out[low : min(low + length, out.size)]
            for j in range(part.size):
                t, e = j // each, j % each
                lane, r = t // ROUNDS, t % ROUNDS
                weight = table[1, r, lane] * powers[e] + table[2, r, lane] * bends[e]
                part[j] = free[j] + miss * weight

    return bridge_tiles


def bridge(run, table, start, ends, normals, out, stream=0):
    """Fill `out` with one path from `start` through ends[i] at the end of tile i."""
    bends = np.array(run.powers), np.array(run.bends)
    loop, steps = _make_bridge(out.dtype.name, normals), Steps(*run[:6])
    for a, b in ranges(ends.size, first=FIRST_PIECE // tile(out.dtype)):
        loop(steps, (a, b), bends, table, start, ends, out)


def allocate_ends(count, dtype, stream=0):
    """Return memory for the ends of a bridge's tiles."""
    return np.empty(count, dtype)
