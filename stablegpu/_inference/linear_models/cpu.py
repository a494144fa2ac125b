"""Residuals of linear models and their log-likelihoods on the CPU: each iteration takes a model."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from stablegpu._fit.likelihood import formulas
from stablegpu._fit.likelihood.near_one_formulas import PROFILE, ROWS
from stablegpu._fit.likelihood.node_formulas import NODE_NUMBERS, SERIES_NUMBERS


@parallel
def _subtract(x, y, which, theta, residuals):
    for index in prange(which.size):
        m = np.int64(index)
        model = which[m]
        columns = x[model if x.shape[0] > 1 else 0]
        residuals[m] = y[model]
        for j in range(columns.shape[0]):
            residuals[m] -= theta[m, 4 + j] * columns[j]


@serial
def _sum_scores(distributions, residuals, columns, theta, table, outcome):
    """Write the log-likelihood of a model and its gradient; residuals become scores.

    A record does not keep its memory alive, so that an array of one comes from the caller.
    """
    distribution = distributions[0]
    nodes, series = np.zeros(NODE_NUMBERS), np.zeros(SERIES_NUMBERS)
    profile = np.zeros(ROWS * PROFILE)
    scale = np.exp(theta[3])
    parameters = theta[0], theta[1], theta[2], scale
    extent = residuals.min() - theta[2], residuals.max() - theta[2]
    formulas.set_distribution(distribution, parameters, False, extent, 0, 1)
    formulas.find_node_ends(distribution, 0, 1)
    formulas.allocate_nodes(distribution)
    formulas.build(distribution, nodes, profile, table, 0, 1)
    formulas.block_moments(distribution, nodes, series, 0, 1)
    formulas.running_moments(distribution, series, 0, 1)
    outcome[:] = 0.0
    for i in range(residuals.size):
        value, a, b, c, d = formulas.score_observation(
            residuals[i], distribution, nodes, series, profile
        )
        outcome[0] += value - theta[3]
        outcome[1] += a
        outcome[2] += b
        outcome[4] += d
        residuals[i] = c / scale
        outcome[3] += residuals[i]
    for j in range(columns.shape[0]):
        outcome[5 + j] = (columns[j] * residuals).sum()


@serial
def _score_model(residuals, columns, theta, table, outcome):
    """Allocate a distribution: in a parallel loop Numba cannot fill an array of records."""
    _sum_scores(np.zeros(1, formulas.DISTRIBUTION), residuals, columns, theta, table, outcome)


@parallel
def _score(x, residuals, which, theta, table, outcomes):
    for index in prange(which.size):
        m = np.int64(index)
        columns = x[which[m] if x.shape[0] > 1 else 0]
        _score_model(residuals[m], columns, theta[m], table, outcomes[m])


def subtract(x, y, which, theta, residuals, stream=0):
    """Write the residuals y - X b."""
    _subtract(x, y, which, theta, residuals)


def score(x, residuals, which, theta, table, outcomes, stream=0):
    """Write log-likelihoods and gradients by theta; scores of the location overwrite residuals."""
    _score(x, residuals, which, theta, table, outcomes)
