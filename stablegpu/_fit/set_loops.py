"""Parameters and covariances from the outcomes of ascents.

The host runs this, whichever the device is. Loops are compiled because a fit alone has a hundred
operations on a few numbers there, of which NumPy takes 1 to 5 us for each. Exponentials,
logarithms, tangents, inverses and products of matrices stay with NumPy: it computes those of many
sets with vector instructions.
"""

from __future__ import annotations

import numpy as np

from hetero.jit import serial
from stablegpu._fit.likelihood.optimizer.state import SMALLEST_LOG_SCALE
from stablegpu._fit.limits import ALPHA_RANGE

SNAP = 1e-8
"""Distance from the end of a range within which a parameter is at that end."""


@serial
def write_parameters(outcomes, units, scale, log_scale, cotangent, to_s1, parameters, slope):
    """Write (sets, 4) parameters in S0 or S1, and their derivatives by those of the optimizer.

    `units` are those of location and scale, `scale` is that at the end of the ascents, and
    `cotangent` that of pi alpha/2.
    """
    for s in range(outcomes.size):
        outcome = outcomes[s]
        alpha, beta = outcome.parameters[0], outcome.parameters[1]
        if alpha > 2.0 - SNAP:
            alpha = 2.0
        if abs(beta) > 1.0 - SNAP:
            beta = np.sign(beta)
        for i in range(4):
            for j in range(4):
                slope[s, i, j] = 0.0
        slope[s, 0, 0] = slope[s, 1, 1] = 1.0
        slope[s, 2, 2], slope[s, 3, 3] = units[s, 1], scale[s]
        loc = units[s, 0] + units[s, 1] * outcome.parameters[2] + 0.0  # no negative zero
        if outcome.in_s1 != to_s1:
            # loc_S0 = loc_S1 + beta scale tan(pi alpha/2); log(scale) in its place at alpha = 1.
            sign = 1.0 if outcome.in_s1 else -1.0
            tangent = 0.0 if alpha == 2.0 else 1.0 / cotangent[s]
            shift = 2.0 / np.pi * log_scale[s] if alpha == 1.0 else tangent
            loc += sign * beta * scale[s] * shift
            slope[s, 2, 0] += sign * (beta * scale[s] * (0.5 * np.pi * (1.0 + tangent**2)))
            slope[s, 2, 1] += sign * (scale[s] * tangent)
            slope[s, 2, 3] += sign * (beta * scale[s] * tangent)
        parameters[s, 0], parameters[s, 1] = alpha, beta
        parameters[s, 2], parameters[s, 3] = loc, scale[s]


@serial
def is_positive_definite(matrix):
    """Return whether all pivots of a symmetric matrix are positive; they overwrite the matrix.

    This takes a tenth of the time of eigenvalues.
    """
    size = matrix.shape[0]
    for k in range(size):
        pivot = matrix[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                matrix[i, j] -= inverse * matrix[k, i] * matrix[k, j]
    return True


@serial
def prepare_covariances(outcomes, slope, parameters, matrices, relative):
    """Write what the covariances are products of; return at which sets they exist.

    These are the information of each ascent, or the identity where it was not measured or is not
    positive definite, and `slope` with location and scale in units of the scale.
    """
    definite, scaled = np.zeros(outcomes.size, np.bool_), np.zeros((4, 4))
    for s in range(outcomes.size):
        information, widths = outcomes[s].information, outcomes[s].widths
        measured, finite = False, True
        for i in range(4):
            measured = measured or widths[i] != 0.0
            for j in range(4):
                finite = finite and np.isfinite(information[i, j])
        if measured and finite:
            # With a diagonal of ones the matrix is as definite, and its pivots do not overflow.
            for i in range(4):
                for j in range(4):
                    scaled[i, j] = information[i, j] / (
                        _root_of_diagonal(information, i) * _root_of_diagonal(information, j)
                    )
            definite[s] = is_positive_definite(scaled)
        for i in range(4):
            unit = 1.0 if i < 2 else parameters[s, 3]
            for j in range(4):
                identity = 1.0 if i == j else 0.0
                matrices[s, i, j] = information[i, j] if definite[s] else identity
                relative[s, i, j] = slope[s, i, j] / unit
    return definite


@serial
def _root_of_diagonal(matrix, i):
    """Return the square root of the size of a diagonal element, 1 if it is 0."""
    size = np.sqrt(abs(matrix[i, i]))
    return size if size > 0.0 else 1.0


@serial
def write_covariances(outcomes, definite, relative, free, parameters, covariance, errors):
    """Write covariances (sets, 4, 4) and standard errors (sets, 4).

    `relative` are covariances with location and scale in units of the scale. Results are NaN where
    the information is not `definite` or was not measured, 0 for parameters that are not `free`.
    """
    for s in range(outcomes.size):
        widths, scale = outcomes[s].widths, parameters[s, 3]
        for i in range(4):
            row_unit = 1.0 if i < 2 else scale
            row_is_free = (free >> i) & 1
            for j in range(4):
                value = relative[s, i, j] if definite[s] else np.nan
                if not (row_is_free and (free >> j) & 1):
                    value = 0.0
                if (widths[i] == 0.0 and row_is_free) or (widths[j] == 0.0 and (free >> j) & 1):
                    value = np.nan
                if i == j:
                    errors[s, i] = row_unit * np.sqrt(value)
                covariance[s, i, j] = row_unit * value * (1.0 if j < 2 else scale)


@serial
def find_boundaries(parameters, outcomes, lowest, is_at):
    """Write whether alpha is `lowest` or 2, |beta| is 1, and the scale the least: (sets, 3)."""
    for s in range(len(parameters)):
        alpha, beta = parameters[s, 0], parameters[s, 1]
        is_at[s, 0] = alpha <= lowest[s] * (1.0 + SNAP) or alpha == ALPHA_RANGE[1]
        is_at[s, 1] = abs(beta) == 1.0
        is_at[s, 2] = outcomes[s].parameters[3] <= SMALLEST_LOG_SCALE + SNAP


def parameters_of(
    outcomes: np.ndarray, units: np.ndarray, parameterization: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sets, 4) parameters in S0 or S1, and their derivatives by those of the optimizer.

    The derivatives have the shape (sets, 4, 4).
    """
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
    is_at = np.empty((len(lowest), 3), bool)
    find_boundaries(parameters, outcomes, lowest, is_at)
    return is_at
