"""Maximum likelihood of linear models with stable errors, for many models at once.

The derivative of the log-likelihood by a coefficient is the sum of the scores of the location times
the regressor. Steps are taken on the host, for all models that still climb together.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._inference.linear_models import preparation_loops
from stablegpu._inference.linear_models.models import LinearModels
from stablegpu._inference.quasi_newton import correct_information

_MARGIN = 1e-9  # distance from bounds, as in `fit`
_MOST_STEPS = 200
_GAIN = 1e-9  # of the log-likelihood that a step must promise
_CONVERGED = 1e-6  # largest gain that the observed information may promise
_MOST_RENEWALS = 3  # ascents that begin anew where it promises more
_RIDGE = 1e-13  # added to matrices with a unit diagonal, which BFGS may leave singular
_DIFFERENCE = 0.02  # step of the information's differences, in standard errors
_LARGEST = (0.3, 0.6, 1.5, 0.7)  # steps of alpha, beta, location in scales, log scale
_FEW = 100  # observations up to which there are further maxima: ascents start elsewhere, too
_OTHER_STARTS = (0.8, -0.5), (0.8, 0.5), (1.2, -0.7), (1.2, 0.7), (1.7, -0.7), (1.7, 0.7)
_MOST_PLANES = 4  # searches that begin anew because many observations lie on one plane
_HEAVY = 1.2  # alpha below which least absolute deviations follow single observations


class Maximum(NamedTuple):
    """Parameters (models, 4 + p) with log scale, covariances with the scale, log-likelihoods."""

    theta: np.ndarray
    covariance: np.ndarray
    loglik: np.ndarray
    converged: np.ndarray


def maximize(models: LinearModels) -> Maximum:
    """Return the largest likelihoods of linear models."""
    start, everyone = models.fit_residuals(), np.arange(models.models)
    models.raise_least_alpha(start)
    theta, loglik = start.copy(), np.empty(models.models)
    gradient = np.full(theta.shape, np.nan)

    def climb_from(which: np.ndarray, other: np.ndarray) -> None:
        other_loglik, other_gradient = _climb(models, which, other)
        better = other_loglik > loglik[which]
        risen = which[better]
        theta[risen], loglik[risen] = other[better], other_loglik[better]
        gradient[risen] = other_gradient[better]

    def search(which: np.ndarray) -> None:
        loglik[which] = -math.inf
        climb_from(which, start[which])
        for shape in _OTHER_STARTS if models.size <= _FEW else ():
            other = theta[which]
            other[:, :2] = shape
            climb_from(which, other)
        heavy = which[theta[which, 0] < _HEAVY]
        if heavy.size:
            other = theta[heavy]
            preparation_loops.scan_coefficients(models.scaled, models.y, heavy, other)
            climb_from(heavy, other)

    search(everyone)
    for _ in range(_MOST_PLANES):
        raised = models.raise_least_alpha(theta)
        if not raised.size:
            break
        search(raised)
    # BFGS's matrix may have become far too large, and promise nothing: the observed one decides.
    matrix = _observed(models, everyone, theta, _widths(models, theta))
    gain = _promised_gain(models, everyone, theta, gradient, matrix)
    for _ in range(_MOST_RENEWALS):
        again = np.flatnonzero(~(gain <= _CONVERGED))
        if not again.size:
            break
        climb_from(again, theta[again])
        matrix[again] = _observed(models, again, theta[again], _widths(models, theta[again]))
        gain[again] = _promised_gain(models, again, theta[again], gradient[again], matrix[again])
    converged = gain <= _CONVERGED
    covariance = _covariance(models, theta, matrix)
    # Back to the caller's regressors: b = b'/unit, and the intercept takes their centres.
    jacobian = np.zeros((models.models, theta.shape[1], theta.shape[1]))
    jacobian[:, range(4), range(4)] = 1.0
    jacobian[:, 3, 3] = np.exp(theta[:, 3])
    slopes = range(4, theta.shape[1])
    jacobian[:, slopes, slopes] = 1.0 / models.unit
    jacobian[:, 2, 4:] = -models.centre / models.unit
    jacobian[:, 2:] *= models.unit_of_y[:, None, None]
    theta[:, 2] *= models.unit_of_y
    theta[:, 3] += np.log(models.unit_of_y)
    loglik -= models.size * np.log(models.unit_of_y)
    theta[:, 4:] *= models.unit_of_y[:, None] / models.unit
    theta[:, 2] -= (theta[:, 4:] * models.centre).sum(axis=1)
    near_two = theta[:, 0] > ALPHA_RANGE[1] - 1e-8
    theta[near_two, 0], theta[near_two, 1] = ALPHA_RANGE[1], 0.0
    ends = np.abs(theta[:, 1]) > 1.0 - 1e-8
    theta[ends, 1] = np.sign(theta[ends, 1])
    missing = np.isnan(np.diagonal(covariance, axis1=1, axis2=2))  # at bounds, or all of a model
    covariance = jacobian @ np.nan_to_num(covariance) @ jacobian.transpose(0, 2, 1)
    covariance[missing[:, :, None] | missing[:, None, :]] = np.nan
    return Maximum(theta, covariance, loglik, converged)


def _climb(
    models: LinearModels, which: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Climb from the parameters `theta` of the models `which`, and change them.

    Return log-likelihoods and their gradients.
    """
    least = models.least_alpha[which]
    theta[:, 0] = theta[:, 0].clip(least, ALPHA_RANGE[1] - 1e-3)
    theta[:, 1] = theta[:, 1].clip(-0.99, 0.99)
    active = np.arange(which.size)
    loglik, gradient = models.evaluate(which, theta)
    matrix, damping = _information(models, which, theta), np.zeros(which.size)
    for _ in range(_MOST_STEPS):
        step, gain = _bounded_step(
            matrix[active], gradient[active], theta[active], damping[active], least[active]
        )
        goes_on = (gain > _GAIN + 3e-12 * np.abs(loglik[active])) & (damping[active] < 1e8)
        active, step, gain = active[goes_on], step[goes_on], gain[goes_on]
        if not active.size:
            break
        new = _clipped(theta[active] + step, least[active])
        new_loglik, new_gradient = models.evaluate(which[active], new)
        better = new_loglik > loglik[active]
        ratio = (new_loglik - loglik[active]) / np.maximum(gain, 1e-300)
        # A step almost out of the support tells nothing of the curvature here.
        usable = (ratio > -4.0) & np.isfinite(new_gradient).all(axis=1)
        moved, fall = new - theta[active], gradient[active] - new_gradient
        chosen = active[usable]
        matrix[chosen] = correct_information(matrix[chosen], moved[usable], fall[usable], 0.1)
        risen = active[better]
        theta[risen], loglik[risen] = new[better], new_loglik[better]
        gradient[risen] = new_gradient[better]
        old = damping[active]
        less = np.where(old > 0.05, 0.2 * old, 0.0)
        damping[active] = np.select(
            [~better, ratio > 0.6, ratio < 0.25],
            [np.maximum(6.0 * old, 1.0), less, np.maximum(2.0 * old, 0.25)],
            old,
        )
    return loglik, gradient


def _promised_gain(
    models: LinearModels,
    which: np.ndarray,
    theta: np.ndarray,
    gradient: np.ndarray,
    matrix: np.ndarray,
) -> np.ndarray:
    """Return by how much the log-likelihood may still rise, by the observed information."""
    form, none = _positive(matrix), np.zeros(which.size)
    gain = _bounded_step(form, np.nan_to_num(gradient), theta, none, models.least_alpha[which])[1]
    gain[~np.isfinite(gradient).all(axis=1)] = np.nan
    return gain


def _ends_of(least: np.ndarray) -> tuple[tuple[Any, Any], ...]:
    """Return the least and the largest alpha and beta of models."""
    return (least, ALPHA_RANGE[1] - _MARGIN), (-1.0 + _MARGIN, 1.0 - _MARGIN)


def _clipped(theta: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return parameters within their bounds; `least` holds the least alphas."""
    theta = theta.copy()
    for k, ends in enumerate(_ends_of(least)):
        theta[:, k] = theta[:, k].clip(*ends)
    return theta


def _bounded_step(
    matrix: np.ndarray,
    gradient: np.ndarray,
    theta: np.ndarray,
    damping: np.ndarray,
    least: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return damped quasi-Newton steps within bounds, and the gains that they promise.

    A quadratic form has its largest value within bounds where its largest one of a face is, with
    alpha and beta each free or at an end: of these the best that is within bounds is taken.
    """
    index = np.arange(theta.shape[1])
    damped = matrix.copy()
    damped[:, index, index] *= 1.0 + damping[:, None]
    step, most = np.zeros_like(theta), np.zeros(len(theta))
    rows, bounds = np.arange(len(theta)), _ends_of(least)
    for face in itertools.product((None, 0, 1), repeat=len(bounds)):
        other, free = np.zeros((rows.size, index.size)), np.ones(index.size, bool)
        for k, end in enumerate(face):
            if end is not None:
                values = np.broadcast_to(bounds[k][end], len(theta))
                free[k], other[:, k] = False, values[rows] - theta[rows, k]
        form, slopes = damped[rows], gradient[rows]
        right = slopes - np.einsum("mij,mj->mi", form, other)
        inner = form[:, free][:, :, free]
        size = np.sqrt(np.diagonal(inner, axis1=1, axis2=2).clip(1e-200))
        unit = inner / (size[:, :, None] * size[:, None, :]) + _RIDGE * np.eye(size.shape[1])
        other[:, free] = np.linalg.solve(unit, (right[:, free] / size)[..., None])[..., 0] / size
        gain = (slopes * other).sum(axis=1) - 0.5 * np.einsum("mi,mij,mj->m", other, form, other)
        inner_end = _clipped(theta[rows] + other, least[rows])
        outside = np.abs(inner_end - theta[rows] - other).max(axis=1) > 1e-12
        better = (gain > most[rows]) & ~outside
        step[rows[better]], most[rows[better]] = other[better], gain[better]
        if free.all():  # the largest value of all, where it is within bounds
            rows = rows[outside]
            if not rows.size:
                break
    scale = np.exp(theta[:, 3])
    largest = np.full(theta.shape, 1.5) * scale[:, None]
    largest[:, 0], largest[:, 1], largest[:, 3] = _LARGEST[0], _LARGEST[1], _LARGEST[3]
    step /= np.maximum((np.abs(step) / largest).max(axis=1), 1.0)[:, None]
    step = _clipped(theta + step, least) - theta
    bend = np.einsum("mi,mij,mj->m", step, matrix, step)
    return step, (gradient * step).sum(axis=1) - 0.5 * bend


def _observed(
    models: LinearModels, which: np.ndarray, theta: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Return the observed information by differences of gradients over twice these widths."""
    matrix = np.empty((which.size, theta.shape[1], theta.shape[1]))
    least = models.least_alpha[which]
    for k in range(theta.shape[1]):
        step = widths[:, k : k + 1] * (np.arange(theta.shape[1]) == k)
        above, below = (_clipped(theta + way * step, least) for way in (1.0, -1.0))
        fall = models.evaluate(which, below)[1] - models.evaluate(which, above)[1]
        matrix[:, k] = fall / (above - below)[:, k : k + 1]
    result: np.ndarray = 0.5 * (matrix + matrix.transpose(0, 2, 1))
    return result


def _widths(models: LinearModels, theta: np.ndarray) -> np.ndarray:
    """Return steps of differences: a part of rough standard errors."""
    scale = np.exp(theta[:, 3])[:, None]
    result = np.full(theta.shape, 1.0) * scale
    result[:, 0], result[:, 1], result[:, 3] = 1.0, 2.0, 1.0
    return result * _DIFFERENCE * 2.0 / math.sqrt(models.size)


def _information(models: LinearModels, which: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return positive definite matrices like the information, to start with."""
    return _positive(_observed(models, which, theta, _widths(models, theta)))


def _positive(matrix: np.ndarray) -> np.ndarray:
    """Return positive definite matrices with the absolute eigenvalues of those given."""
    size = np.sqrt(np.abs(np.diagonal(matrix, axis1=1, axis2=2))) + 1e-300
    unit = matrix / (size[:, :, None] * size[:, None, :])
    values, vectors = np.linalg.eigh(np.nan_to_num(unit))
    values = np.maximum(np.abs(values), 1e-2)
    unit = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)
    result: np.ndarray = unit * size[:, :, None] * size[:, None, :]
    return result


def _covariance(models: LinearModels, theta: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of the observed information; NaN for parameters at a bound."""
    fixed = np.zeros(theta.shape, bool)
    fixed[:, 0] = theta[:, 0] >= ALPHA_RANGE[1] - 1e-6
    fixed[:, 0] |= theta[:, 0] <= models.least_alpha + 1e-6
    fixed[:, 1] = (np.abs(theta[:, 1]) >= 1.0 - 1e-6) | (theta[:, 0] >= ALPHA_RANGE[1] - 1e-6)
    pairs = ~fixed[:, :, None] & ~fixed[:, None, :]
    matrix = np.where(pairs, matrix, np.eye(theta.shape[1]))
    values = np.linalg.eigvalsh(np.nan_to_num(matrix))
    good = np.isfinite(matrix).all(axis=(1, 2)) & (values > 0.0).all(axis=1)
    inverse = np.linalg.inv(np.where(good[:, None, None], matrix, np.eye(theta.shape[1])))
    return np.where(good[:, None, None] & pairs, inverse, np.nan)
