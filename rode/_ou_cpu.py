"""Ornstein-Uhlenbeck paths on the CPU: see the CUDA twin for the names."""

from __future__ import annotations

import functools

import numpy as np
from numba import int64, prange, uint32, uint64

from hetero._philox_math import words10
from hetero.jit import parallel, serial
from rode._blocks_math import BLOCKS
from rode._functionals_math import advance
from rode._ou import LANES, Steps, elements

CHUNK = 1 << 16
"""Elements that a thread walks at once."""

SWEEP = 1024
"""Elements that are swept together."""


@functools.cache
def _walker(dtype, fused, normals):
    """walk(run, path, value, first, noise, out): elements first .. of a path from `value` on."""
    draw, size = BLOCKS[dtype, normals].draw, 16 // np.dtype(dtype).itemsize

    @serial
    def walk(run, path, value, first, noise, out):
        if not fused:
            for i in range(out.size):
                value = advance(value, run.em1, run.sigma * noise[first + i])
                out[i] = value
            return value
        for b in range((out.size + size - 1) // size):
            block = uint64(first // size + b)
            w0, w1, w2, w3 = words10(block, path, run.stream, run.k0, run.k1)
            numbers = draw(w0, w1, w2, w3, run.sigma)
            for j in range(min(size, out.size - b * size)):
                value = advance(value, run.em1, numbers[j])
                out[b * size + j] = value
        return value

    return walk


@functools.cache
def _scan(dtype, fused, normals):
    walk = _walker(dtype, fused, normals)

    @parallel
    def scan_paths(run, starts, noise, out):
        for r in prange(out.shape[0]):
            number = int64(r)
            path = uint32(run.path + uint32(number))
            walk(run, path, starts[number], 0, noise[number], out[number])

    return scan_paths


def scan(run, table, starts, noise, normals, out, stream=0):
    """Fill the rows of `out` with paths from starts[row].

    `noise` is None, drawn as `normals` ("float32", "float64", "fast") says, or given.
    """
    _scan(out.dtype.name, noise is None, normals)(
        Steps(*run[:6]), starts, out if noise is None else noise, out
    )


@functools.cache
def _long_scan(dtype, fused, normals):
    walk, T = _walker(dtype, fused, normals), np.dtype(dtype).type

    @parallel
    def scan_long(run, start, weights, noise, out):
        n = out.size
        chunks = (n + CHUNK - 1) // CHUNK
        ends = np.empty(chunks, dtype)
        for c in prange(chunks):
            low = int64(c) * CHUNK
            part = out[low : min(low + CHUNK, n)]
            ends[c] = walk(run, run.path, T(0.0), low, noise, part)
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

    return scan_long


def long_scan(run, table, rate, start, noise, normals, out, stream=0):
    """Fill `out` with one path from `start`; rate is delta/tau.

    Chunks walk from 0 and then get what came before.
    """
    T = out.dtype.type
    weights = np.exp(-rate * np.arange(1, CHUNK + 1)).astype(T)
    _long_scan(out.dtype.name, noise is None, normals)(
        Steps(*run[:6]), T(start), weights, out if noise is None else noise, out
    )


@functools.cache
def _bridge(dtype, normals):
    walk, each = _walker(dtype, True, normals), elements(dtype)
    whole = LANES * each

    @parallel
    def bridge_tiles(run, table, start, ends, out):
        for i in prange(ends.size):
            tile = int64(i)
            low = tile * whole
            free = np.empty(whole, out.dtype)
            value = start if tile == 0 else ends[tile - 1]
            walk(run, run.path, value, low, free, free)
            miss = ends[tile] - free[-1]
            part = out[low : min(low + whole, out.size)]
            for j in range(part.size):
                t, e = j // each, j % each
                weight = table[1, t] * table[3, e] + table[2, t] * table[4, e]
                part[j] = free[j] + miss * weight

    return bridge_tiles


def bridge(run, table, start, ends, normals, out, stream=0):
    """Fill `out` with one path from `start` through ends[i] at the end of tile i."""
    _bridge(out.dtype.name, normals)(Steps(*run[:6]), table, start, ends, out)


@parallel
def _sweep(noise, powers, sigma, totals, out):
    for b in prange(totals.size):
        base = int64(b) * SWEEP
        x = np.zeros(SWEEP, out.dtype)
        for i in range(min(SWEEP, out.size - base)):
            x[i] = sigma * noise[base + i]
        width, d = 1, 0
        while width < SWEEP:
            for i in range(2 * width - 1, SWEEP, 2 * width):
                x[i] += powers[d] * x[i - width]
            width, d = 2 * width, d + 1
        while width > 1:
            width, d = width // 2, d - 1
            for i in range(3 * width - 1, SWEEP, 2 * width):
                x[i] += powers[d] * x[i - width]
        for i in range(min(SWEEP, out.size - base)):
            out[base + i] = x[i]
        totals[b] = x[SWEEP - 1]


@parallel
def _fix(out, values, weights, start):
    for b in prange(values.size):
        block = int64(b)
        before = start if block == 0 else values[block - 1]
        for p in range(min(SWEEP, out.size - block * SWEEP)):
            out[block * SWEEP + p] += weights[p] * before


def sweeps(powers, weights, sigma, start, noise, out, stream=0):
    """Fill `out` with the path of `noise` from `start` by the paper's up-sweep and down-sweep.

    powers[l, d] is mu^(SWEEP^l 2^d) and weights[l, p] is mu^(SWEEP^l (p + 1)).
    """
    T = out.dtype.type
    totals = np.empty(-(-out.size // SWEEP), out.dtype)
    _sweep(noise, powers[0], T(sigma), totals, out)
    values = totals
    if totals.size > 1:
        values = np.empty_like(totals)
        sweeps(powers[1:], weights[1:], 1.0, start, totals, values)
    _fix(out, values, weights[0], T(start))
