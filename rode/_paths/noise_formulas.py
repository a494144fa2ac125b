"""Blocks of noise: steps of a process and its sums by four Philox words, for both targets.

`BLOCKS[dtype, normals]` gives, for the data type of the solver and the kind of normal numbers,

- size : numbers in a block
- draw(w0, w1, w2, w3, sigma) : the numbers as a tuple
- walk(o, sums, numbers, mu_minus_1) : the process and its sums after a block
"""

from typing import NamedTuple

import numpy as np

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import add_to_iterated_sums, cast
from rode._normals.box_muller_formulas import (
    box_muller_fast,
    box_muller_float32,
    box_muller_float64,
)
from rode._paths.step_formulas import advance

START = np.uint32(0xFFFFFFFF)
"""Counter word that replaces a step when the start of a path's process is drawn.

The counter of a block is (lower word, higher word of its number, path, stream). Blocks are numbered
along the path. Only a solver that draws sums from their distribution has no fine steps: there the
counter is (number in the coarse step, coarse step, path, stream).
"""


class Block(NamedTuple):
    """Functions that turn four words into noise and advance a process with it."""

    size: int
    draw: object
    walk: object


@scalar(forceinline=True)
def _take_two_steps(o, sums, a, b, mu_minus_1):
    """Return the process and its sums after two steps."""
    o = advance(o, mu_minus_1, a)
    sums = add_to_iterated_sums(sums, o)
    o = advance(o, mu_minus_1, b)
    return o, add_to_iterated_sums(sums, o)


@scalar(forceinline=True)
def _draw_mixed(a, b, c, d, sigma):
    """Return four float32 normal numbers for a float64 solver."""
    return cast(box_muller_float32(a, b, c, d, np.float32(sigma)), sigma)


@scalar(forceinline=True)
def _walk_two(o, sums, numbers, mu_minus_1):
    return _take_two_steps(o, sums, numbers[0], numbers[1], mu_minus_1)


@scalar(forceinline=True)
def _walk_four(o, sums, numbers, mu_minus_1):
    o, sums = _take_two_steps(o, sums, numbers[0], numbers[1], mu_minus_1)
    return _take_two_steps(o, sums, numbers[2], numbers[3], mu_minus_1)


BLOCKS = {
    ("float32", "float32"): Block(4, box_muller_float32, _walk_four),
    ("float32", "fast"): Block(4, box_muller_fast, _walk_four),
    ("float64", "float64"): Block(2, box_muller_float64, _walk_two),
    ("float64", "float32"): Block(4, _draw_mixed, _walk_four),
}
