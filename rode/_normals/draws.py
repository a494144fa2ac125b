"""Formulas that make a block of words into normal numbers."""

from __future__ import annotations

from rode._normals import box_muller_formulas as box_muller
from rode._normals import inverse_formulas as inverse

DRAWS = {
    ("box-muller", "float32"): box_muller.box_muller_float32,
    ("box-muller", "float64"): box_muller.box_muller_float64,
    ("box-muller-fast", "float32"): box_muller.box_muller_fast,
    ("inverse", "float32"): inverse.inverse_block_float32,
    ("rational", "float32"): inverse.branching_float32,
    ("rational", "float64"): inverse.branching_float64,
    ("rational-blending", "float32"): inverse.blending_float32,
    ("rational-blending", "float64"): inverse.blending_float64,
}
"""The formula of each method and dtype; it makes four float32 or two float64 of a block."""
