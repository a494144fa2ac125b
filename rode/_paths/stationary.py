"""Draws of initial values from the stationary distribution, on the CPU for both targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32

from hetero.jit import serial
from hetero.philox.formulas import philox10
from rode._normals.box_muller_formulas import box_muller_float32, box_muller_float64
from rode._paths.noise_formulas import START


def make_draw(draw: Any, number: type[np.floating]) -> Any:
    """Make `fill(..)`, which draws stationary values in the type `number`."""

    @serial
    def fill(k0: Any, k1: Any, stream: Any, first: Any, deviation: Any, paths: int) -> np.ndarray:
        out = np.empty(paths, number)
        for i in range(paths):
            words = philox10(START, START, uint32(first + uint32(i)), stream, k0, k1)
            out[i] = draw(words[0], words[1], words[2], words[3], deviation)[0]
        return out

    return fill


_FILLS = {
    "float32": make_draw(box_muller_float32, np.float32),
    "float64": make_draw(box_muller_float64, np.float64),
}


def draw_stationary(
    key: tuple[np.uint32, np.uint32], stream: int, first: int, deviation: np.floating, paths: int
) -> np.ndarray:
    """Draw from N(0, deviation^2) in the type of `deviation` for paths number `first` and on."""
    fill = _FILLS[np.dtype(type(deviation)).name]
    return fill(*key, np.uint32(stream), np.uint32(first), deviation, paths)
