"""Linear models and autoregressions whose errors are stable, by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from hetero import Device, validation
from hetero.arrays import as_real
from hetero.display.notebook import html_table
from hetero.equality import equal_by_value
from stablegpu._fit.limits import FEWEST_OBSERVATIONS
from stablegpu._inference.linear_models.maximize import maximize
from stablegpu._inference.linear_models.models import LinearModels
from stablegpu._parameters import Parameters
from stablegpu.distributions.stable import Stable

_ERROR_PARAMETERS = ("alpha", "beta", "scale")


@equal_by_value
@dataclass(frozen=True, eq=False)
class Regression:
    """Linear models y = intercept + X coefficients + error; arrays with a row for each model.

    For a single model the arrays lack the first axis.

    Attributes
    ----------
    coefficients : (models, p) array
    intercept : (models,) array
        The location of S0 of the errors, which is their centre.
    alpha, beta, scale : (models,) arrays, of the errors
    stderr : dict
        Standard errors by name, from the observed information; NaN where it is not positive
        definite, and for alpha and beta at the ends of their ranges.
    covariance : (models, p + 4, p + 4) array
        Of alpha, beta, intercept, scale and the coefficients.
    loglik : (models,) array
    converged : (models,) bool array
        Whether the observed information promises a larger log-likelihood by at most 1e-6.
    nobs : int
    order : int
        Order of an autoregression: the coefficients are those of y at lags 1, 2, ...; else 0.
    """

    coefficients: np.ndarray
    intercept: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    scale: np.ndarray
    covariance: np.ndarray = field(repr=False)
    loglik: np.ndarray
    converged: np.ndarray
    nobs: int
    order: int = 0
    last: np.ndarray | None = field(default=None, repr=False)

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Standard errors by name."""
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))
        named = {n: errors[..., k] for k, n in enumerate(("alpha", "beta", "intercept", "scale"))}
        return named | {"coefficients": errors[..., 4:]}

    @property
    def aic(self) -> np.ndarray:
        """Akaike's information criterion."""
        return 2.0 * self.covariance.shape[-1] - 2.0 * self.loglik

    @property
    def bic(self) -> np.ndarray:
        """Schwarz's information criterion."""
        return self.covariance.shape[-1] * math.log(self.nobs) - 2.0 * self.loglik

    @property
    def errors(self) -> Stable:
        """The distribution of the errors of a single model, with the intercept as location (S0)."""
        if np.ndim(self.alpha):
            raise TypeError("errors is that of a single model: take one by regression[k]")
        alpha, beta, loc, scale = (
            float(v) for v in (self.alpha, self.beta, self.intercept, self.scale)
        )
        return Stable(Parameters.checked(alpha, beta, loc, scale, "S0"))

    def __len__(self) -> int:
        return int(np.size(self.alpha))

    def __getitem__(self, k: int) -> Regression:
        """Return one of the models."""
        if not np.ndim(self.alpha):
            raise TypeError("there is a single model")
        arrays = {
            name: getattr(self, name)[k]
            for name in ("coefficients", "intercept", "alpha", "beta", "scale", "covariance",
                         "loglik", "converged")
        }  # fmt: skip
        last = None if self.last is None else self.last[k]
        return Regression(**arrays, nobs=self.nobs, order=self.order, last=last)

    def predict(self, X: ArrayLike | None = None, confidence: float = 0.95) -> Prediction:
        """Return predictions of a single model at new rows of X, with intervals for observations.

        Parameters
        ----------
        X : (rows, p) array_like; for an autoregression None: the next value
        confidence : float in (0, 1)
            The intervals hold the errors alone: those of the estimates, which fall with the number
            of observations, are not in them.

        Raises
        ------
        ValueError : the model did not converge; X has another shape
        """
        confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
        if X is None:
            if not self.order or self.last is None:
                raise TypeError("X is needed: only an autoregression knows its next value")
            X = self.last[None, :]
        rows = as_real("X", X)
        if rows.ndim != 2 or rows.shape[1] != self.coefficients.shape[-1]:
            raise ValueError(
                f"X must have the shape (rows, {self.coefficients.shape[-1]}), got {rows.shape}"
            )
        errors, shift = self.errors, rows @ self.coefficients
        if not self.converged:
            raise ValueError("predictions need a model that converged")
        tail = 0.5 * (1.0 - confidence)
        return Prediction(
            shift + errors.median(), shift + errors.ppf(tail), shift + errors.isf(tail), confidence
        )

    def _repr_html_(self) -> str:
        failed = int(np.count_nonzero(~np.asarray(self.converged)))
        if np.ndim(self.alpha):
            ends = f", {failed} of which did not converge" if failed else ""
            return html_table(f"{len(self)} linear models with stable errors{ends}", [])
        errors = self.stderr
        rows: list[tuple[object, ...]] = [
            (name, float(getattr(self, name)), float(errors[name]))
            for name in ("intercept", *_ERROR_PARAMETERS)
        ]
        both = zip(self.coefficients.tolist(), errors["coefficients"].tolist(), strict=True)
        rows += [(f"coefficient {k}", value, error) for k, (value, error) in enumerate(both)]
        title = "Linear model with stable errors" + ", which did not converge" * failed
        return html_table(title, rows, ("", "estimate", "std. error"))


@equal_by_value
@dataclass(frozen=True, eq=False)
class Prediction:
    """Medians of predicted observations, and the ends of their central intervals."""

    median: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float


def regress(
    y: ArrayLike, X: ArrayLike | None = None, *, ar: int = 0, device: str | Device | None = None
) -> Regression:
    """Fit linear models with stable errors by maximum likelihood, many at once.

    Parameters
    ----------
    y : (n,) or (models, n) array_like of float
    X : (n, p) or (models, n, p) array_like of float, optional
        Regressors without a constant: the intercept is always fitted. One X serves all models.
    ar : int
        Fit an autoregression of this order to y instead of X (conditional likelihood: the first
        `ar` values are given).
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    Regression

    Raises
    ------
    TypeError, ValueError : shapes that do not belong together, too few or not finite data, half of
        y equal or on one plane, regressors that are collinear

    Notes
    -----
    Starts from least absolute deviations and the fit of their residuals, and climbs by a
    quasi-Newton method with the exact gradient (as in `fit`). Where |alpha - 1| < 0.1 the density
    is that of a table (see `fit`). Where a plane passes through k of n observations, as through
    p + 1, through equal ones or through many rounded ones, the likelihood has no bound for
    alpha < k/(n - k): alpha is at least 4/3 of that, twice that for more than p + 1. With heavy
    tails the estimates of the coefficients converge faster than least squares do: like
    n^(-1/alpha) in the regressors' outliers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(500, 2))
    >>> from stablegpu import stable
    >>> model = regress(1.0 + x @ [2.0, -1.0] + stable(1.5, 0.0).rvs(500, rng=2), x)
    >>> bool(np.abs(model.coefficients - [2.0, -1.0]).max() < 0.2)
    True
    """
    y = as_real("y", y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y must have one dimension, or two (a model a row), got {y.ndim}")
    single, y = y.ndim == 1, np.atleast_2d(y)
    ar = validation.check_integer("ar", ar, 0, max(0, y.shape[1] - FEWEST_OBSERVATIONS))
    last = None
    if ar:
        if X is not None:
            raise TypeError("regress() takes X or ar, not both")
        lags = np.stack([y[:, ar - k - 1 : y.shape[1] - k - 1] for k in range(ar)], axis=2)
        last, y = y[:, : -ar - 1 : -1], y[:, ar:]
    elif X is None:
        raise TypeError("regress() needs X, or the order ar of an autoregression")
    else:
        lags = as_real("X", X)
        lags = lags[None] if lags.ndim == 2 else lags
    if lags.ndim != 3 or lags.shape[:2] not in (y.shape, (1, y.shape[1])):
        raise ValueError(
            f"X must have the shape (n, p) or (models, n, p) with n={y.shape[1]}, got {lags.shape}"
        )
    size, columns = y.shape[1], lags.shape[2]
    if not columns or not len(y):
        raise ValueError("y must hold a model and X a column at least")
    if size < columns + FEWEST_OBSERVATIONS:
        raise ValueError(
            f"y must hold at least {columns + FEWEST_OBSERVATIONS} observations for {columns} "
            f"regressors, got {size}"
        )
    if not (np.isfinite(y).all() and np.isfinite(lags).all()):
        raise ValueError("y and X must be finite: leave rows with NaN out")
    models = LinearModels(y, lags, device)
    largest = maximize(models)
    theta = largest.theta if not single else largest.theta[0]

    def pick(values: np.ndarray) -> np.ndarray:
        return values[0] if single else values

    return Regression(
        theta[..., 4:],
        theta[..., 2],
        theta[..., 0],
        theta[..., 1],
        np.exp(theta[..., 3]),
        covariance=pick(largest.covariance),
        loglik=pick(largest.loglik),
        converged=pick(largest.converged),
        nobs=size,
        order=ar,
        last=None if last is None else pick(last),
    )
