"""Parameters and covariances in either parameterization from the outcomes of ascents."""

from __future__ import annotations

import numpy as np


def parameters_of(
    outcomes: np.ndarray, units: np.ndarray, parameterization: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4) parameters in S0 or S1, and their derivatives by those of the optimizer.

    The derivatives have the shape (sets, 4, 4).
    """
    from stablegpu._fit.set_loops import write_parameters

    ends = outcomes["parameters"]
    scale = units[:, 1] * np.exp(ends[:, 3])
    with np.errstate(divide="ignore"):
        log_scale = np.log(scale)
    cotangent = np.tan(0.5 * np.pi * (1.0 - ends[:, 0]))
    parameters, slope = np.empty((len(units), 4)), np.empty((len(units), 4, 4))
    in_s1 = parameterization == "S1"
    write_parameters(outcomes, units, scale, log_scale, cotangent, in_s1, parameters, slope)
    return parameters, slope


def covariances_of(
    outcomes: np.ndarray, slope: np.ndarray, parameters: np.ndarray, free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4, 4) covariances and (sets, 4) standard errors.

    They are NaN at boundaries and where there is no maximum, 0 for fixed parameters. Standard
    errors are not roots of the covariances: squares of scales may leave the range of floats.
    """
    from stablegpu._fit.set_loops import prepare_covariances, write_covariances

    matrices, relative = np.empty_like(slope), np.empty_like(slope)
    definite = prepare_covariances(outcomes, slope, parameters, matrices, relative)
    inner = np.linalg.inv(matrices)
    measured = outcomes["widths"] != 0.0
    if not measured.all():
        inner *= measured[:, :, None] & measured[:, None, :]
    with np.errstate(invalid="ignore", over="ignore"):
        products = relative @ inner @ relative.transpose(0, 2, 1)
    covariance, errors = np.empty_like(slope), np.empty((len(slope), 4))
    write_covariances(outcomes, definite, products, free, parameters, covariance, errors)
    return covariance, errors


def at_boundary(parameters: np.ndarray, outcomes: np.ndarray, lowest: np.ndarray) -> np.ndarray:
    """Return (sets, 3): whether alpha is `lowest` or 2, |beta| is 1, and the scale the least."""
    from stablegpu._fit.set_loops import find_boundaries

    found = np.empty((len(lowest), 3), bool)
    find_boundaries(parameters, outcomes, lowest, found)
    return found
