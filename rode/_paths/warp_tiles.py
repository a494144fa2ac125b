"""Device functions by which a warp computes a tile of an Ornstein-Uhlenbeck path.

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

from hetero.codegen import compile_source
from hetero.cuda.driver import cuda
from hetero.intrinsics.warp import FULL_MASK
from hetero.jit import kernel
from hetero.philox.formulas import philox10
from rode._intrinsics.memory import load_vector, store_vector
from rode._intrinsics.tuple_algebra import axpy, cast, scale, walk_from_zero
from rode._paths.noise_formulas import BLOCKS
from rode._paths.tiles import LANES, block


class WarpFunctions(NamedTuple):
    """Device functions of a warp, whose part of shared memory begins at `base` of `buffer`.

    `start` is the tile's first element, `full` says that 16 bytes can be read and written anywhere
    in it.

    Attributes
    ----------
    walk(run, path, lane, start, noise, full, buffer, base) : the lane's stretch from O = 0;
        `noise` is read if it is given, else drawn
    join(x, weight, lane, run, value) : the value carried into the lane's stretch x, and O after
        the tile, for O = value before it; `weight` is mu^(S lane) for stretches of S elements
    put(x, p, run, lane, start, full, buffer, base, out) : x + mu^(i + 1) p to the tile in out
    put_bent(x, p, miss, table, run, lane, ..) : the same, bent to end higher by `miss`
    """

    walk: object
    join: object
    put: object
    put_bent: object


@kernel(device=True)
def _join(x, weight, lane, run, value):
    """Join the stretches of a warp; see `WarpFunctions`."""
    end = x[-1]
    for k in range(5):
        before = cuda.shfl_up_sync(FULL_MASK, end, 1 << k)
        if lane >= uint32(1 << k):
            end = end + run.strides[k] * before
    before = cuda.shfl_up_sync(FULL_MASK, end, 1)
    carry = weight * value + (before if lane > uint32(0) else value - value)
    return carry, value + (run.mu_minus_1_tile * value + cuda.shfl_sync(FULL_MASK, end, LANES - 1))


@kernel(device=True)
def _carried(x, p, run):
    """Return x + p powers, and the p of the next block."""
    return axpy(p, run.powers, x), p * run.powers[-1]


@kernel(device=True)
def _bent(x, p, q, run):
    """Return x + p powers + q bends, and the p of the next block."""
    y = axpy(q, run.bends, axpy(p, run.powers, x))
    return y, p * run.powers[-1] + q * run.bends[-1]


def words(dtype, rounds: int) -> int:
    """Return the elements of shared memory for a warp: a row for each lane.

    16 bytes between rows keep both rows and columns in different banks.
    """
    return LANES * (rounds + 1) * block(dtype)


def warp_functions(dtype: str, normals: str | None, rounds: int) -> WarpFunctions:
    """Build the device functions of a warp for a data type.

    Noise is drawn as `normals` says, or read if that is None. A lane walks `rounds` blocks of 16
    bytes.
    """
    size, pitch = block(dtype), (rounds + 1) * block(dtype)

    @kernel(device=True)
    def chunk(base, lane, r):
        """Return the index of the 16 bytes that a lane moves in round r.

        They have number 32 r + lane in the tile, which holds `rounds` of them in a row.
        """
        row, column = lane // uint32(rounds), lane % uint32(rounds)
        row += uint32(r * (LANES // rounds))
        return uint64(base + row * uint32(pitch) + column * uint32(size))

    names = {
        **{"SIZE": size, "ROUNDS": rounds, "STEP": LANES * size, "PITCH": pitch, "chunk": chunk},
        **{"ZEROS": (0.0,) * size, "uint32": uint32, "uint64": uint64},
        **{
            "cuda": cuda,
            "philox10": philox10,
            "load": load_vector,
            "store": store_vector,
            "cast": cast,
        },
        **{"scaled": scale, "walked": walk_from_zero, "carried": _carried, "bent": _bent},
        "numbers": BLOCKS[dtype, normals or dtype].draw,
    }
    for name in ("write", "draw", "read", "put", "put_bent"):
        names[name] = _unrolled(name, names)
    walk = names["draw" if normals else "read"]
    return WarpFunctions(walk, _join, names["put"], names["put_bent"])


# A line with {r} stands for one of each round, since registers have no running index.
_SOURCES = {
    "draw": """
        def draw(run, path, lane, start, noise, full, buffer, base):
            first = start // uint64(SIZE)  # a multiple of the tile's blocks
            low, high = uint32(first) + lane * uint32(ROUNDS), uint32(first >> uint64(32))
            w{r} = philox10(low + uint32({r}), high, path, run.stream, run.k0, run.k1)
            n{r} = numbers(w{r}[0], w{r}[1], w{r}[2], w{r}[3], run.sigma)
            return walked({all n}, run.mu)
    """,
    "read": """
        def read(run, path, lane, start, noise, full, buffer, base):
            first, row = start + uint64(lane * uint32(SIZE)), base + lane * uint32(PITCH)
            like = cast(ZEROS, run.mu_minus_1)
            if full:
                n{r} = load(noise, first + uint64({r} * STEP), like)
                store(buffer, chunk(base, lane, {r}), n{r})
            else:
                for r in range(ROUNDS):
                    target, source = chunk(base, lane, r), first + uint64(r) * uint64(STEP)
                    for j in range(SIZE):
                        inside = source + uint64(j) < uint64(noise.size)
                        value = noise[source + uint64(j)] if inside else like[0]
                        buffer[target + uint64(j)] = value
            cuda.syncwarp()
            m{r} = load(buffer, uint64(row + uint32({r} * SIZE)), like)
            cuda.syncwarp()
            return walked(scaled(run.sigma, {all m}), run.mu)
    """,
    "write": """
        def write(like, lane, start, full, buffer, base, out):
            cuda.syncwarp()
            first = start + uint64(lane * uint32(SIZE))
            if full:
                y{r} = load(buffer, chunk(base, lane, {r}), like)
                store(out, first + uint64({r} * STEP), y{r})
            else:
                for r in range(ROUNDS):
                    source, target = chunk(base, lane, r), first + uint64(r) * uint64(STEP)
                    for j in range(SIZE):
                        if target + uint64(j) < uint64(out.size):
                            out[target + uint64(j)] = buffer[source + uint64(j)]
            cuda.syncwarp()
    """,
    "put": """
        def put(x, p, run, lane, start, full, buffer, base, out):
            row = base + lane * uint32(PITCH)
            y{r}, p = carried(x[{part}], p, run)
            store(buffer, uint64(row + uint32({r} * SIZE)), y{r})
            write(y0, lane, start, full, buffer, base, out)
    """,
    "put_bent": """
        def put_bent(x, p, miss, table, run, lane, start, full, buffer, base, out):
            row = base + lane * uint32(PITCH)
            y{r}, p = bent(x[{part}], p, miss * table[2, {r}, lane], run)
            store(buffer, uint64(row + uint32({r} * SIZE)), y{r})
            write(y0, lane, start, full, buffer, base, out)
    """,
}


def _unrolled(name: str, names: dict):
    """Compile one of `_SOURCES` with a line for each round."""
    lines, rounds, size = [], range(names["ROUNDS"]), names["SIZE"]
    for line in textwrap.dedent(_SOURCES[name]).splitlines():
        line = re.sub(r"\{all (\w)\}", lambda m: " + ".join(f"{m[1]}{r}" for r in rounds), line)
        for r in rounds if "{r}" in line else rounds[:1]:
            line_r = line.replace("{r}", str(r)).replace(
                "{part}", f"{r * size} : {r * size + size}"
            )
            lines.append(line_r)
    source = "\n".join(lines) + "\n"
    return kernel(compile_source(name, source, names), device=True)  # generated code has no file
