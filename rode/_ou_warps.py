"""What a warp does with a tile of an Ornstein-Uhlenbeck path, in kernels.

Each lane walks a stretch of the tile from O = 0, in registers; stretches follow one another. The
ends of the lanes are scanned by shuffles; what came before a lane, its carry, then enters its
numbers by the powers of mu. On their way to memory the numbers cross shared memory, from rows of
lanes into the order in which neighbours store next to each other.
"""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from numba import uint32, uint64

from hetero._driver import cuda
from hetero._philox_math import philox10
from hetero.jit import define, kernel
from rode._blocks_math import BLOCKS
from rode._memory import load, store
from rode._ou import LANES, block
from rode._vectors import axpy, cast, scaled, walked

_ALL = 0xFFFFFFFF


class Pieces(NamedTuple):
    """Device functions of a warp, whose part of shared memory begins at `base` of `buffer`.

    `place` is the tile's first element, `whole` says that 16 bytes can be read and written anywhere
    in it.

    Attributes
    ----------
    walk(run, path, lane, place, noise, whole, buffer, base) : the lane's stretch from O = 0;
        `noise` is read if it is given, else drawn
    join(x, weight, lane, run, value) : what came before the lane's stretch x, and O after the
        tile, for O = value before it; `weight` is mu^(S lane) for stretches of S elements
    put(x, p, run, lane, place, whole, buffer, base, out) : x + mu^(i + 1) p to the tile in out
    put_bent(x, p, miss, table, run, lane, ..) : the same, bent to end higher by `miss`
    """

    walk: object
    join: object
    put: object
    put_bent: object


@kernel(device=True)
def _join(x, weight, lane, run, value):
    end = x[-1]
    for k in range(5):
        before = cuda.shfl_up_sync(_ALL, end, 1 << k)
        if lane >= uint32(1 << k):
            end = end + run.strides[k] * before
    before = cuda.shfl_up_sync(_ALL, end, 1)
    carry = weight * value + (before if lane > uint32(0) else value - value)
    return carry, value + (run.em1_tile * value + cuda.shfl_sync(_ALL, end, LANES - 1))


@kernel(device=True)
def _carried(x, p, run):
    """x + p powers, and the p of the block that follows."""
    return axpy(p, run.powers, x), p * run.powers[-1]


@kernel(device=True)
def _bent(x, p, q, run):
    """x + p powers + q bends, and the p of the block that follows."""
    y = axpy(q, run.bends, axpy(p, run.powers, x))
    return y, p * run.powers[-1] + q * run.bends[-1]


def words(dtype, rounds: int) -> int:
    """Elements of shared memory for a warp: a row for each lane, and 16 bytes between rows, so that
    neither rows nor columns meet in a bank."""
    return LANES * (rounds + 1) * block(dtype)


def pieces(dtype: str, normals: str | None, rounds: int) -> Pieces:
    """Of paths of a type with noise drawn as `normals` says, or given where that is None; a lane
    walks `rounds` blocks of 16 bytes."""
    size, pitch = block(dtype), (rounds + 1) * block(dtype)

    @kernel(device=True)
    def chunk(base, lane, r):
        """Where the 16 bytes are that a lane moves in round r: number 32 r + lane of the tile's,
        of which `rounds` are in a row."""
        row, column = lane // uint32(rounds), lane % uint32(rounds)
        row += uint32(r * (LANES // rounds))
        return uint64(base + row * uint32(pitch) + column * uint32(size))

    names = {
        **{"SIZE": size, "ROUNDS": rounds, "STEP": LANES * size, "PITCH": pitch, "chunk": chunk},
        **{"ZEROS": (0.0,) * size, "uint32": uint32, "uint64": uint64},
        **{"cuda": cuda, "philox10": philox10, "load": load, "store": store, "cast": cast},
        **{"scaled": scaled, "walked": walked, "carried": _carried, "bent": _bent},
        "numbers": BLOCKS[dtype, normals or dtype].draw,
    }
    for name in ("write", "draw", "read", "put", "put_bent"):
        names[name] = _unrolled(name, names)
    walk = names["draw" if normals else "read"]
    return Pieces(walk, _join, names["put"], names["put_bent"])


# A line with {r} stands for one of each round, since registers have no running index.
_SOURCES = {
    "draw": """
        def draw(run, path, lane, place, noise, whole, buffer, base):
            first = place // uint64(SIZE)  # a multiple of the tile's blocks
            low, high = uint32(first) + lane * uint32(ROUNDS), uint32(first >> uint64(32))
            w{r} = philox10(low + uint32({r}), high, path, run.stream, run.k0, run.k1)
            n{r} = numbers(w{r}[0], w{r}[1], w{r}[2], w{r}[3], run.sigma)
            return walked({all n}, run.mu)
    """,
    "read": """
        def read(run, path, lane, place, noise, whole, buffer, base):
            first, row = place + uint64(lane * uint32(SIZE)), base + lane * uint32(PITCH)
            like = cast(ZEROS, run.mu_minus_1)
            if whole:
                n{r} = load(noise, first + uint64({r} * STEP), like)
                store(buffer, chunk(base, lane, {r}), n{r})
            else:
                for r in range(ROUNDS):
                    to, at = chunk(base, lane, r), first + uint64(r) * uint64(STEP)
                    for j in range(SIZE):
                        inside = at + uint64(j) < uint64(noise.size)
                        buffer[to + uint64(j)] = noise[at + uint64(j)] if inside else like[0]
            cuda.syncwarp()
            m{r} = load(buffer, uint64(row + uint32({r} * SIZE)), like)
            cuda.syncwarp()
            return walked(scaled(run.sigma, {all m}), run.mu)
    """,
    "write": """
        def write(like, lane, place, whole, buffer, base, out):
            cuda.syncwarp()
            first = place + uint64(lane * uint32(SIZE))
            if whole:
                y{r} = load(buffer, chunk(base, lane, {r}), like)
                store(out, first + uint64({r} * STEP), y{r})
            else:
                for r in range(ROUNDS):
                    at, to = chunk(base, lane, r), first + uint64(r) * uint64(STEP)
                    for j in range(SIZE):
                        if to + uint64(j) < uint64(out.size):
                            out[to + uint64(j)] = buffer[at + uint64(j)]
            cuda.syncwarp()
    """,
    "put": """
        def put(x, p, run, lane, place, whole, buffer, base, out):
            row = base + lane * uint32(PITCH)
            y{r}, p = carried(x[{part}], p, run)
            store(buffer, uint64(row + uint32({r} * SIZE)), y{r})
            write(y0, lane, place, whole, buffer, base, out)
    """,
    "put_bent": """
        def put_bent(x, p, miss, table, run, lane, place, whole, buffer, base, out):
            row = base + lane * uint32(PITCH)
            y{r}, p = bent(x[{part}], p, miss * table[2, {r}, lane], run)
            store(buffer, uint64(row + uint32({r} * SIZE)), y{r})
            write(y0, lane, place, whole, buffer, base, out)
    """,
}


def _unrolled(name: str, names: dict):
    lines, rounds, size = [], range(names["ROUNDS"]), names["SIZE"]
    for line in textwrap.dedent(_SOURCES[name]).splitlines():
        line = re.sub(r"\{all (\w)\}", lambda m: " + ".join(f"{m[1]}{r}" for r in rounds), line)
        for r in rounds if "{r}" in line else rounds[:1]:
            line_r = line.replace("{r}", str(r)).replace(
                "{part}", f"{r * size} : {r * size + size}"
            )
            lines.append(line_r)
    source = "\n".join(lines) + "\n"
    return kernel(define(name, source, names), device=True, cache=False)  # it has no file
