"""Linear models with stable errors: data that go to the device once, and log-likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.arrays import Workspace
from hetero.devices import resolve
from stablegpu._fit.ascents import OVER_SPIKE, OVER_SPIKE_OF_TIES
from stablegpu._fit.batch import fit_batch
from stablegpu._fit.datasets import BatchFit, constants
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._inference.linear_models import loops, preparation_loops

_BREAK_EVEN = 10_000  # observations from which on a GPU is faster (not tuned)
_ROUNDING = 1e-13  # scale of residuals over the size of y below which they are rounding errors
_CERTAINLY_INDEPENDENT = 1e-6  # least eigenvalue of products over the largest
_ON_PLANE = 1e-11  # residual of observations on one plane, for y of size 1
_BODY = 0.8  # share of the observations whose shortest interval tells how dense residuals are
_DENSE = 0.2  # share of that interval, for as many residuals, below which these are a cluster
_LEAST_SHARE = ALPHA_RANGE[0] / (OVER_SPIKE_OF_TIES + ALPHA_RANGE[0])
"""Share k/n of the observations on one plane beyond which 2 k/(n - k) exceeds the least alpha."""


class LinearModels:
    """Models y = X b + error with regressors scaled to unit size and without means.

    y is (models, n), and x (models, n, p), or (1, n, p) for all models.
    """

    def __init__(self, y: np.ndarray, x: np.ndarray, device: Any) -> None:
        (self.models, self.size), (rows, _, columns) = y.shape, x.shape
        self.centre, self.unit = np.empty((2, rows, columns))
        scaled, gram = np.empty((rows, columns, self.size)), np.empty((rows, columns, columns))
        x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)  # loops are compiled for these
        preparation_loops.scale_columns(x, self.centre, self.unit, scaled, gram)
        if not (self.unit > 0.0).all():
            raise ValueError("X must not have a constant column: the intercept is always fitted")
        eigenvalues = np.linalg.eigvalsh(gram)
        doubtful = eigenvalues[:, 0] < _CERTAINLY_INDEPENDENT * eigenvalues[:, -1]
        if doubtful.any() and (np.linalg.matrix_rank(scaled[doubtful]) < columns).any():
            raise ValueError("X must not have collinear columns: leave one of them out")
        # A power of two, so that squares of scales stay in the range of floats.
        self.unit_of_y = np.ldexp(1.0, np.frexp(np.abs(y).max(axis=1))[1])
        self.y, self.scaled = y / self.unit_of_y[:, None], scaled
        self.coefficients = np.empty((self.models, columns))
        preparation_loops.fit_deviations(scaled, self.y, self.coefficients)
        self.on_plane = np.zeros(self.models, np.int64)
        preparation_loops.count_equal(self.y, self.on_plane)
        self._has_ties = self.on_plane > 1
        self.least_alpha = _least_alpha(self.on_plane, self.size, columns)
        device = resolve(device, work=y.size, break_even=_BREAK_EVEN)
        self._loops = loops(device)
        with device.active():
            self._workspace = workspace = Workspace(device)
            self._x = workspace.input("x", scaled).reshape(scaled.shape)
            self._y = workspace.input("y", self.y).reshape(y.shape)
            self._residuals = workspace.output(y.shape, flat=False)

    def _subtract(self, which: np.ndarray, theta: np.ndarray) -> tuple[Any, Any, Any]:
        """Return the numbers of models, their parameters and residuals on the device."""
        workspace, residuals = self._workspace, self._residuals[: which.size]
        numbers = workspace.input("which", which, np.int64)
        parameters = workspace.input("theta", theta).reshape(theta.shape)
        self._loops.subtract(self._x, self._y, numbers, parameters, residuals, workspace.stream)
        return numbers, parameters, residuals

    def fit_residuals(self) -> np.ndarray:
        """Return alpha, beta, S0's location and log scale of residuals at the first coefficients.

        The coefficients follow.
        """
        theta = np.zeros((self.models, 4 + self.coefficients.shape[1]))
        theta[:, 4:] = self.coefficients
        with self._workspace.device.active():
            workspace = self._workspace
            _, _, residuals = self._subtract(np.arange(self.models), theta)
            starts = np.arange(self.models) * self.size
            batch = BatchFit("ml", "S0", {}, workspace, workspace)
            none = workspace.output((0,), reuse="none")
            data = residuals.reshape(self.models * self.size)
            fits = fit_batch(data, none, starts, starts + self.size, batch)
        bad = ~np.isfinite(fits.alpha)
        if bad.any():
            raise ValueError(
                f"the residuals of {int(bad.sum())} models cannot be fitted: {fits.message[bad][0]}"
            )
        tiny = np.flatnonzero(fits.scale < _ROUNDING)
        if (fits.scale[tiny] < _ROUNDING * np.median(np.abs(self.y[tiny]), axis=1)).any():
            raise ValueError(
                "y must not be a linear function of X, nor half of its values: their residuals are "
                "rounding errors"
            )
        theta[:, :4] = np.stack([fits.alpha, fits.beta, fits.loc, np.log(fits.scale)], axis=1)
        return theta

    def raise_least_alpha(self, theta: np.ndarray) -> np.ndarray:
        """Raise the least alphas of models with parameters `theta` that follow one plane.

        Rounded data have planes through many observations, which are found where an ascent follows
        them. Return the numbers of the models whose least alpha was raised.
        """
        doubtful = np.flatnonzero(self._has_ties | (theta[:, 0] < 1.0))
        found = self.on_plane.copy()
        for m in doubtful:
            x = self.scaled[m if len(self.scaled) > 1 else 0]
            found[m] = max(found[m], _count_on_plane(x, self.y[m], theta[m, 4:]))
        raised = np.flatnonzero(found > self.on_plane)
        self.on_plane = found
        if raised.size:
            self.least_alpha = _least_alpha(found, self.size, self.scaled.shape[1])
        return raised

    def evaluate(self, which: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods of the models `which` and their (m, 4 + p) gradients."""
        shape = which.size, 1 + theta.shape[1]
        with self._workspace.device.active():
            workspace, table = self._workspace, constants(self._workspace).table
            numbers, parameters, residuals = self._subtract(which, theta)
            outcomes = workspace.output(shape, flat=False)
            arguments = self._x, residuals, numbers, parameters, table, outcomes
            self._loops.score(*arguments, workspace.stream)
            result = workspace.result(outcomes, shape)
        return result[:, 0].copy(), result[:, 1:].copy()


def _least_alpha(equal: np.ndarray, size: int, columns: int) -> np.ndarray:
    """Return the least alpha of each model, above which the likelihood is bounded, as in `fit`.

    A plane passes through p + 1 observations, or through all `equal` ones: see `examine_sets`.
    """
    if (equal >= 0.5 * size).any():
        raise ValueError(
            "y must vary: at least half of the values of a model are equal, or lie on one plane"
        )
    points = np.maximum(equal, columns + 1)
    factor = np.where(equal > columns + 1, OVER_SPIKE_OF_TIES, OVER_SPIKE)
    least = factor * points / np.maximum(size - points, 1)
    return np.asarray(least.clip(ALPHA_RANGE[0], ALPHA_RANGE[1] - 2e-3))


def _count_on_plane(x: np.ndarray, y: np.ndarray, slopes: np.ndarray) -> int:
    """Return how many observations lie on the plane near which most residuals are closest, or 0.

    `x` is (p, n), `slopes` (p,). The largest cluster of residuals counts whose observations lie on
    one plane, among those large enough to raise the least alpha.
    """
    residuals = y - slopes @ x
    order, rows = np.argsort(residuals), np.concatenate([np.ones((1, y.size)), x])
    ordered, least = residuals[order], max(int(_LEAST_SHARE * y.size) + 1, len(x) + 2)

    def shortest(count: int) -> tuple[int, float]:
        widths = ordered[count - 1 :] - ordered[: y.size - count + 1]
        first = int(np.argmin(widths))
        return first, float(widths[first])

    body = shortest(int(_BODY * y.size))[1] / _BODY
    count = y.size // 2
    while count >= least:
        first, width = shortest(count)
        if width <= _DENSE * body * count / y.size:
            cluster, middle = order[first : first + count], ordered[first]
            # The shortest correction keeps slopes of which these observations tell nothing.
            change = np.linalg.lstsq(rows[:, cluster].T, residuals[cluster] - middle)[0]
            is_on = np.abs(residuals - middle - change @ rows) <= _ON_PLANE
            if is_on[cluster].all():
                return int(is_on.sum())
        count = int(0.8 * count)
    return 0
