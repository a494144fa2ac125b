"""Loops that prepare linear models for their ascents, compiled for the host."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from stablegpu._fit.set_loops import invert_positive_definite

OF_DEVIATIONS = 30
"""Steps of the reweighted least squares that find least absolute deviations."""

FARTHEST, SWEEPS = 64, 3
"""Observations, those with the largest regressor, that a scan tries to meet, and its sweeps."""


@parallel
def scale_columns(x, centre, unit, columns, gram):
    """Write regressors without means and of unit size, (rows, p, n), and their products / n.

    `x` is (rows, n, p); `centre` and `unit` (rows, p) are the means and mean absolute deviations.
    Where a column is constant its unit is 0, and it is not divided.
    """
    for index in prange(x.shape[0]):
        row = np.int64(index)
        for j in range(x.shape[2]):
            column = columns[row, j]
            column[:] = x[row, :, j]
            centre[row, j] = column.mean()
            column -= centre[row, j]
            unit[row, j] = np.abs(column).mean()
            if unit[row, j] > 0.0:
                column /= unit[row, j]
            for k in range(j + 1):
                gram[row, j, k] = gram[row, k, j] = np.dot(column, columns[row, k]) / column.size


@serial
def _least_deviations(columns, y, coefficients):
    """Write coefficients of nearly least absolute deviations, by reweighted least squares."""
    size = columns.shape[0] + 1
    normal, inverse = np.empty((size, size)), np.empty((size, size))
    right, result = np.empty(size), np.zeros(size)
    weights, weighted = np.ones(y.size), np.empty(y.size)
    for _ in range(OF_DEVIATIONS):
        for i in range(size):
            weighted[:] = weights
            if i > 0:
                weighted *= columns[i - 1]
            right[i] = np.dot(weighted, y)
            normal[i, 0] = normal[0, i] = weighted.sum()
            for j in range(1, i + 1):
                normal[i, j] = normal[j, i] = np.dot(weighted, columns[j - 1])
        if not invert_positive_definite(normal, inverse):
            break
        for i in range(size):
            result[i] = (inverse[i] * right).sum()
        weights[:] = y - result[0]
        for j in range(1, size):
            weights -= result[j] * columns[j - 1]
        weights[:] = np.abs(weights)
        weights[:] = 1.0 / np.maximum(weights, 1e-3 * np.median(weights) + 1e-300)
        weights /= weights.max()
    coefficients[:] = result[1:]


@parallel
def fit_deviations(columns, y, coefficients):
    """Write the coefficients (models, p) of all models, to start with."""
    for index in prange(y.shape[0]):
        m = np.int64(index)
        row = m if columns.shape[0] > 1 else 0
        _least_deviations(columns[row], y[m], coefficients[m])


@serial
def _scan_model(columns, y, theta):
    """Move one coefficient at a time so that an observation far out is met, while that is better.

    What is lowered is the sum of log(m + |residual|), which single observations do not decide.
    """
    residuals = y - theta[2]
    for j in range(columns.shape[0]):
        residuals -= theta[4 + j] * columns[j]
    order = np.empty(columns.shape, np.int64)
    for j in range(columns.shape[0]):
        order[j] = np.argsort(-np.abs(columns[j]))
    middle = np.median(np.abs(residuals)) + 1e-300
    lowest = np.log(middle + np.abs(residuals)).sum()
    for _ in range(SWEEPS):
        for j in range(columns.shape[0]):
            best = 0.0
            for k in range(min(FARTHEST, y.size)):
                i = order[j, k]
                if columns[j, i] == 0.0:
                    break
                move, total = residuals[i] / columns[j, i], 0.0
                for n in range(y.size):
                    total += np.log(middle + abs(residuals[n] - move * columns[j, n]))
                if total < lowest:
                    lowest, best = total, move
            theta[4 + j] += best
            residuals -= best * columns[j]
    shift = np.median(residuals)
    theta[2] += shift
    theta[3] = np.log(np.median(np.abs(residuals - shift)) + 1e-300)


@parallel
def scan_coefficients(columns, y, which, theta):
    """Change the parameters (m, 4 + p) of the models `which` to start from elsewhere."""
    for index in prange(which.size):
        m = np.int64(index)
        model = which[m]
        _scan_model(columns[model if columns.shape[0] > 1 else 0], y[model], theta[m])


@parallel
def count_equal(y, counts):
    """Write the largest number of equal observations of each model to `counts`, which is 0."""
    for index in prange(y.shape[0]):
        m = np.int64(index)
        ordered, run = np.sort(y[m]), 0
        for i in range(ordered.size):
            run = run + 1 if i > 0 and ordered[i] == ordered[i - 1] else 1
            counts[m] = max(counts[m], run)
