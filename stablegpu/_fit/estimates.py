"""Parameters and covariances in either parameterization from the outcomes of ascents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stablegpu._fit.limits import ALPHA_RANGE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SNAP = 1e-8
"""Distance from the end of a range within which a parameter is at that end."""


def parameters_of(
    outcomes: np.ndarray, units: np.ndarray, parameterization: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4) parameters in S0 or S1, and their derivatives by those of the optimizer.

    The derivatives have the shape (sets, 4, 4).
    """

    q = outcomes["parameters"]
    alpha = np.where(q[:, 0] > 2.0 - _SNAP, 2.0, q[:, 0])
    beta = np.where(np.abs(q[:, 1]) > 1.0 - _SNAP, np.sign(q[:, 1]), q[:, 1])
    loc = units[:, 0] + units[:, 1] * q[:, 2]
    scale = units[:, 1] * np.exp(q[:, 3])
    slope = np.zeros((len(q), 4, 4))
    for k, by in enumerate((1.0, 1.0, units[:, 1], scale)):
        slope[:, k, k] = by
    in_s1 = outcomes["in_s1"]
    sign = np.where(in_s1 == (parameterization == "S1"), 0.0, np.where(in_s1, 1.0, -1.0))
    if not sign.any():
        return np.stack([alpha, beta, loc + 0.0, scale], axis=1), slope
    # loc_S0 = loc_S1 + beta scale tan(pi alpha/2); log(scale) in its place at alpha = 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        tangent = 1.0 / np.tan(0.5 * math.pi * (1.0 - alpha))
        tangent[alpha == 2.0] = 0.0
        bend = 0.5 * math.pi * (1.0 + tangent**2)
        shift = np.where(alpha == 1.0, 2.0 / math.pi * np.log(scale), tangent)
        loc = loc + np.where(sign == 0.0, 0.0, sign * beta * scale * shift)
        moved = np.stack([beta * scale * bend, scale * tangent, 0.0 * beta, beta * scale * tangent])
        slope[:, 2] += np.where(sign == 0.0, 0.0, sign * moved).T
    return np.stack([alpha, beta, loc, scale], axis=1), slope


def covariances_of(
    outcomes: np.ndarray, slope: np.ndarray, scale: np.ndarray, free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4, 4) covariances and (sets, 4) standard errors.

    They are NaN at boundaries and where there is no maximum, 0 for fixed parameters. Standard
    errors are not roots of the covariances: squares of scales may leave the range of floats.
    """
    from stablegpu._fit.definite_formulas import are_positive_definite

    information, measured = outcomes["information"], outcomes["widths"] != 0.0
    fixed = np.array([not (free >> k) & 1 for k in range(4)])
    unmeasured = ~measured & ~fixed
    fine = np.isfinite(information).all(axis=(1, 2)) & measured.any(axis=1)
    safe = information if fine.all() else np.where(fine[:, None, None], information, np.eye(4))
    fine &= are_positive_definite(np.ascontiguousarray(_with_unit_diagonal(safe)))
    if fine.all():
        inner = np.linalg.inv(safe)
    else:
        inner = np.zeros_like(safe)
        inner[fine] = np.linalg.inv(safe[fine])
    if not measured.all():
        inner *= measured[:, :, None] & measured[:, None, :]
    units = np.stack([np.ones_like(scale), np.ones_like(scale), scale, scale], axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        slope = slope / units[:, :, None]
        outer = slope @ inner @ slope.transpose(0, 2, 1)
        if not fine.all():
            outer[~fine] = np.nan
        if fixed.any():
            outer[:, fixed | fixed[:, None]] = 0.0
        if unmeasured.any():
            outer[unmeasured[:, :, None] | unmeasured[:, None, :]] = np.nan
        errors = units * np.sqrt(np.diagonal(outer, axis1=1, axis2=2))
        return units[:, :, None] * outer * units[:, None, :], errors


def _with_unit_diagonal(matrix: np.ndarray) -> np.ndarray:
    """Scale matrices to a diagonal of ones: as definite, without overflow."""
    size = np.sqrt(np.abs(np.diagonal(matrix, axis1=1, axis2=2)))
    size = np.where(size > 0.0, size, 1.0)
    return matrix / (size[:, :, None] * size[:, None, :])


def at_boundary(
    parameters: np.ndarray, outcomes: np.ndarray | None = None, lowest: ArrayLike = ALPHA_RANGE[0]
) -> np.ndarray:
    """Return (sets, 3): whether alpha is `lowest` or 2, |beta| is 1, and the scale the least."""
    from stablegpu._fit.optimizer.state import SMALLEST_LOG_SCALE

    alpha, beta = parameters[:, 0], parameters[:, 1]
    ends = (alpha <= np.asarray(lowest) * (1.0 + _SNAP)) | (alpha == ALPHA_RANGE[1])
    least = np.zeros(len(alpha), bool)
    if outcomes is not None:
        least = outcomes["parameters"][:, 3] <= SMALLEST_LOG_SCALE + _SNAP
    return np.stack([ends, np.abs(beta) == 1.0, least], axis=1)
