"""Maximum likelihood of linear models with stable errors, for many models at once.

The derivative of the log-likelihood by a coefficient is the sum of the scores of the location times
the regressor. So it is a weighted gradient: the loops over data sets (`_fit/likelihood`) evaluate
the residuals of each model once with weights 1, and once with each regressor as weights. Steps are
taken on the host, for all models together.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import resolve
from stablegpu._fit.batch import fit_batch
from stablegpu._fit.datasets import (
    BatchFit,
    SortedDataSets,
    make_starts,
    upload_ends,
)
from stablegpu._fit.datasets import maximize as evaluate_sets
from stablegpu._fit.likelihood import Observations
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._inference.quasi_newton import correct_information

_BREAK_EVEN = 10_000  # observations from which on a GPU is faster (not tuned)
_MARGIN = 1e-9  # distance from bounds, as in `fit`
_MOST_STEPS, _OF_DEVIATIONS = 200, 30
_GAIN = 1e-9  # of the log-likelihood that a step must promise
_DIFFERENCE = 0.02  # step of the information's differences, in standard errors
_LARGEST = (0.3, 0.6, 1.5, 0.7)  # steps of alpha, beta, location in scales, log scale


class Maximum(NamedTuple):
    """Parameters (models, 4 + p) with log scale, covariances with the scale, log-likelihoods."""

    theta: np.ndarray
    covariance: np.ndarray
    loglik: np.ndarray
    converged: np.ndarray


class LinearModels:
    """Models y = X b + error with regressors scaled to unit size and without means."""

    def __init__(self, y: np.ndarray, x: np.ndarray, device: Any) -> None:
        self.models, self.size, self.columns = x.shape
        self.centre = x.mean(axis=1)
        self.unit = np.abs(x - self.centre[:, None, :]).mean(axis=1)
        if not (self.unit > 0.0).all():
            raise ValueError("X must not have a constant column: the intercept is always fitted")
        self.x = (x - self.centre[:, None, :]) / self.unit[:, None, :]
        ranks = np.linalg.matrix_rank(self.x)
        if (ranks < self.columns).any():
            raise ValueError("X must not have collinear columns: leave one of them out")
        self.y = y
        self._device = resolve(device, work=y.size, break_even=_BREAK_EVEN)
        copies = self.columns + 1
        weights = np.concatenate(
            [np.ones((self.models, 1, self.size)), self.x.transpose(0, 2, 1)], axis=1
        )
        with self._device.active():
            self._workspace = Workspace(self._device)
            self._weights = self._workspace.input("weights", weights)
        ends = np.arange(self.models * copies) * self.size
        self._ends = ends, ends + self.size
        self._copies = copies

    def fit_residuals(self, residuals: np.ndarray) -> np.ndarray:
        """Return alpha, beta, S0's location and log scale of each model's residuals."""
        with self._device.active():
            workspace = self._workspace
            starts = np.arange(self.models) * self.size
            batch = BatchFit("ml", "S0", {}, workspace, workspace)
            none = workspace.output((0,), reuse="none")
            data = workspace.input("data", residuals)
            fits = fit_batch(data, none, starts, starts + self.size, batch)
        bad = ~np.isfinite(fits.alpha)
        if bad.any():
            raise ValueError(
                f"the residuals of {int(bad.sum())} models cannot be fitted: {fits.message[bad][0]}"
            )
        return np.stack([fits.alpha, fits.beta, fits.loc, np.log(fits.scale)], axis=1)

    def evaluate(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods and (models, 4 + p) gradients."""
        residuals = self.y - np.einsum("mnp,mp->mn", self.x, theta[:, 4:])
        units = np.stack([theta[:, 2], np.exp(theta[:, 3])], axis=1)
        parameters = theta[:, :4].copy()
        parameters[:, 2:] = 0.0
        low, high = residuals.min(axis=1), residuals.max(axis=1)
        zero = np.zeros(self.models)
        ranges = np.stack([low, high, low, high, zero, zero], axis=1).repeat(self._copies, axis=0)
        copies = residuals.repeat(self._copies, axis=0).reshape(-1)
        with self._device.active():
            workspace = self._workspace
            points = workspace.input("residuals", copies)
            observed = Observations(
                points,
                self._weights,
                workspace.input("bounds", np.stack([copies, copies])).reshape(2, copies.size),
                upload_ends(workspace, *self._ends),
                workspace.input("ranges", ranges).reshape(ranges.shape),
            )
            sets = SortedDataSets(points, self._weights, observed.ends, observed)
            starts = make_starts(
                parameters.repeat(self._copies, axis=0),
                units.repeat(self._copies, axis=0),
                ALPHA_RANGE[0],
            )
            outcomes = evaluate_sets(sets, starts, 0, workspace, workspace)
        outcomes = outcomes.reshape(self.models, self._copies)
        gradient = np.empty_like(theta)
        gradient[:, :4] = outcomes["gradient"][:, 0]
        gradient[:, 2] /= units[:, 1]
        gradient[:, 4:] = outcomes["gradient"][:, 1:, 2] / units[:, 1:]
        return outcomes["loglik"][:, 0].copy(), gradient


def maximize(models: LinearModels) -> Maximum:
    """Return the largest likelihoods of linear models."""
    coefficients = _least_deviations(models)
    residuals = models.y - np.einsum("mnp,mp->mn", models.x, coefficients)
    theta = np.concatenate([models.fit_residuals(residuals), coefficients], axis=1)
    theta[:, 0] = theta[:, 0].clip(ALPHA_RANGE[0], ALPHA_RANGE[1] - 1e-3)
    theta[:, 1] = theta[:, 1].clip(-0.99, 0.99)
    loglik, gradient = models.evaluate(theta)
    matrix = _information(models, theta)
    damping, active = np.zeros(models.models), np.ones(models.models, bool)
    for _ in range(_MOST_STEPS):
        step, gain = _bounded_step(matrix, gradient, theta, damping)
        active &= (gain > _GAIN + 3e-12 * np.abs(loglik)) & (damping < 1e8)
        if not active.any():
            break
        step[~active] = 0.0
        new = _clipped(theta + step)
        new_loglik, new_gradient = models.evaluate(new)
        better = active & (new_loglik > loglik)
        ratio = np.where(active, (new_loglik - loglik) / np.maximum(gain, 1e-300), 0.0)
        # A step almost out of the support tells nothing of the curvature here.
        usable = (ratio > -4.0) & active & np.isfinite(new_gradient).all(axis=1)
        corrected = correct_information(matrix, new - theta, gradient - new_gradient, 0.1)
        matrix = np.where(usable[:, None, None], corrected, matrix)
        theta = np.where(better[:, None], new, theta)
        gradient = np.where(better[:, None], new_gradient, gradient)
        loglik = np.where(better, new_loglik, loglik)
        damping = np.where(
            better & (ratio > 0.6), np.where(damping > 0.05, 0.2 * damping, 0.0), damping
        )
        damping = np.where(better & (ratio < 0.25), np.maximum(2.0 * damping, 0.25), damping)
        damping = np.where(active & ~better, np.maximum(6.0 * damping, 1.0), damping)
    covariance = _covariance(models, theta)
    theta = theta.copy()
    # Back to the caller's regressors: b = b'/unit, and the intercept takes their centres.
    jacobian = np.zeros((models.models, theta.shape[1], theta.shape[1]))
    jacobian[:, range(4), range(4)] = 1.0
    jacobian[:, 3, 3] = np.exp(theta[:, 3])
    slopes = range(4, theta.shape[1])
    jacobian[:, slopes, slopes] = 1.0 / models.unit
    jacobian[:, 2, 4:] = -models.centre / models.unit
    theta[:, 4:] /= models.unit
    theta[:, 2] -= (theta[:, 4:] * models.centre).sum(axis=1)
    near_two = theta[:, 0] > ALPHA_RANGE[1] - 1e-8
    theta[near_two, 0], theta[near_two, 1] = ALPHA_RANGE[1], 0.0
    ends = np.abs(theta[:, 1]) > 1.0 - 1e-8
    theta[ends, 1] = np.sign(theta[ends, 1])
    missing = np.isnan(np.diagonal(covariance, axis1=1, axis2=2))  # at bounds, or all of a model
    covariance = jacobian @ np.nan_to_num(covariance) @ jacobian.transpose(0, 2, 1)
    covariance[missing[:, :, None] | missing[:, None, :]] = np.nan
    converged = ~active & np.isfinite(gradient).all(axis=1)
    return Maximum(theta, covariance, loglik, converged)


def _least_deviations(models: LinearModels) -> np.ndarray:
    """Return coefficients of nearly least absolute deviations, by reweighted least squares."""
    x = np.concatenate([np.ones((models.models, models.size, 1)), models.x], axis=2)
    weights = np.ones_like(models.y)
    for _ in range(_OF_DEVIATIONS):
        normal = np.einsum("mni,mn,mnj->mij", x, weights, x)
        right = np.einsum("mni,mn->mi", x, weights * models.y)
        result = np.linalg.solve(normal, right[..., None])[..., 0]
        residuals = np.abs(models.y - np.einsum("mni,mi->mn", x, result))
        floor = 1e-3 * np.median(residuals, axis=1, keepdims=True) + 1e-300
        weights = 1.0 / np.maximum(residuals, floor)
        weights /= weights.max(axis=1, keepdims=True)
    coefficients: np.ndarray = result[:, 1:]
    return coefficients


_BOUNDS = (ALPHA_RANGE[0], ALPHA_RANGE[1] - _MARGIN), (-1.0 + _MARGIN, 1.0 - _MARGIN)
"""Least and largest alpha and beta."""


def _clipped(theta: np.ndarray) -> np.ndarray:
    """Return parameters within their bounds."""
    theta = theta.copy()
    for k, ends in enumerate(_BOUNDS):
        theta[:, k] = theta[:, k].clip(*ends)
    return theta


def _bounded_step(
    matrix: np.ndarray, gradient: np.ndarray, theta: np.ndarray, damping: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return damped quasi-Newton steps within bounds, and the gains that they promise.

    A quadratic form has its largest value within bounds where its largest one of a face is, with
    alpha and beta each free or at an end: of these the best that is within bounds is taken.
    """
    index = np.arange(theta.shape[1])
    damped = matrix.copy()
    damped[:, index, index] *= 1.0 + damping[:, None]
    step, most = np.zeros_like(theta), np.zeros(len(theta))
    for face in itertools.product((None, 0, 1), repeat=len(_BOUNDS)):
        other, free = np.zeros_like(theta), np.ones(len(index), bool)
        for k, end in enumerate(face):
            if end is not None:
                free[k], other[:, k] = False, _BOUNDS[k][end] - theta[:, k]
        right = gradient - np.einsum("mij,mj->mi", damped, other)
        inner = np.ascontiguousarray(damped[:, free][:, :, free])
        other[:, free] = np.linalg.solve(inner, right[:, free, None])[..., 0]
        gain = (gradient * other).sum(axis=1)
        gain -= 0.5 * np.einsum("mi,mij,mj->m", other, damped, other)
        outside = np.abs(_clipped(theta + other) - theta - other).max(axis=1) > 1e-12
        better = (gain > most) & ~outside
        step[better], most[better] = other[better], gain[better]
    scale = np.exp(theta[:, 3])
    largest = np.full(theta.shape, 1.5) * scale[:, None]
    largest[:, 0], largest[:, 1], largest[:, 3] = _LARGEST[0], _LARGEST[1], _LARGEST[3]
    step /= np.maximum((np.abs(step) / largest).max(axis=1), 1.0)[:, None]
    step = _clipped(theta + step) - theta
    bend = np.einsum("mi,mij,mj->m", step, matrix, step)
    return step, (gradient * step).sum(axis=1) - 0.5 * bend


def _observed(models: LinearModels, theta: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the observed information by differences of gradients over twice these widths."""
    matrix = np.empty((models.models, theta.shape[1], theta.shape[1]))
    for k in range(theta.shape[1]):
        step = widths[:, k : k + 1] * (np.arange(theta.shape[1]) == k)
        above, below = _clipped(theta + step), _clipped(theta - step)
        fall = models.evaluate(below)[1] - models.evaluate(above)[1]
        matrix[:, k] = fall / (above - below)[:, k : k + 1]
    result: np.ndarray = 0.5 * (matrix + matrix.transpose(0, 2, 1))
    return result


def _widths(models: LinearModels, theta: np.ndarray) -> np.ndarray:
    """Return steps of differences: a part of rough standard errors."""
    scale = np.exp(theta[:, 3])[:, None]
    result = np.full(theta.shape, 1.0) * scale
    result[:, 0], result[:, 1], result[:, 3] = 1.0, 2.0, 1.0
    return result * _DIFFERENCE * 2.0 / math.sqrt(models.size)


def _information(models: LinearModels, theta: np.ndarray) -> np.ndarray:
    """Return positive definite matrices like the information, to start with."""
    matrix = _observed(models, theta, _widths(models, theta))
    size = np.sqrt(np.abs(np.diagonal(matrix, axis1=1, axis2=2))) + 1e-300
    unit = matrix / (size[:, :, None] * size[:, None, :])
    values, vectors = np.linalg.eigh(np.nan_to_num(unit))
    values = np.maximum(np.abs(values), 1e-2)
    unit = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)
    result: np.ndarray = unit * size[:, :, None] * size[:, None, :]
    return result


def _covariance(models: LinearModels, theta: np.ndarray) -> np.ndarray:
    """Return the inverse of the observed information; NaN for parameters at a bound."""
    matrix = _observed(models, theta, _widths(models, theta))
    fixed = np.zeros(theta.shape, bool)
    fixed[:, 0] = theta[:, 0] >= ALPHA_RANGE[1] - 1e-6
    fixed[:, 0] |= theta[:, 0] <= ALPHA_RANGE[0] + 1e-6
    fixed[:, 1] = (np.abs(theta[:, 1]) >= 1.0 - 1e-6) | (theta[:, 0] >= ALPHA_RANGE[1] - 1e-6)
    pairs = ~fixed[:, :, None] & ~fixed[:, None, :]
    matrix = np.where(pairs, matrix, np.eye(theta.shape[1]))
    values = np.linalg.eigvalsh(np.nan_to_num(matrix))
    good = np.isfinite(matrix).all(axis=(1, 2)) & (values > 0.0).all(axis=1)
    inverse = np.linalg.inv(np.where(good[:, None, None], matrix, np.eye(theta.shape[1])))
    return np.where(good[:, None, None] & pairs, inverse, np.nan)
