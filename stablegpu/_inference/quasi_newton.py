"""BFGS's correction of many symmetric matrices at once."""

from __future__ import annotations

import numpy as np


def correct_information(
    matrix: np.ndarray, step: np.ndarray, fall: np.ndarray, least: float
) -> np.ndarray:
    """Return the matrices after BFGS's correction for falls of the gradients along steps.

    Powell's damping keeps the curvature at a share of at least `least` of the old one.
    """
    pull = (matrix @ step[..., None])[..., 0]
    bend, curvature = (step * pull).sum(axis=1), (step * fall).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(curvature < least * bend, (1.0 - least) * bend / (bend - curvature), 1.0)
        fall = share[:, None] * fall + (1.0 - share)[:, None] * pull
        curvature = (step * fall).sum(axis=1)
        new = matrix + fall[:, :, None] * fall[:, None, :] / curvature[:, None, None]
        new -= pull[:, :, None] * pull[:, None, :] / bend[:, None, None]
    good = np.isfinite(new).all(axis=(1, 2)) & (bend > 0.0)
    return np.where(good[:, None, None], new, matrix)
