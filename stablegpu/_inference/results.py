"""Results of `stablegpu.inference`: a profile, a bootstrap, and tests of goodness of fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hetero.display.notebook import html_table
from hetero.equality import equal_by_value
from stablegpu._fit.fitted import FittedSets
from stablegpu._inference.failures import name_failures


@equal_by_value
@dataclass(frozen=True, eq=False)
class ProfileLikelihood:
    """Profile of the likelihood over one parameter, and the interval that follows from it.

    Attributes
    ----------
    name : str
        The parameter.
    low, high : float
        Ends of the interval.
    confidence : float
    points : array
        Values of the parameter, ascending, with the estimate among them.
    drop : array
        2 (largest log-likelihood - largest log-likelihood with the parameter fixed at the point).
    failed : int
        Number of points at which the fit failed; they are left out.
    """

    name: str
    low: float
    high: float
    confidence: float
    points: np.ndarray = field(repr=False)
    drop: np.ndarray = field(repr=False)
    failed: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    def _repr_html_(self) -> str:
        rows = [(self.name, self.low, self.high)]
        title = f"{100 * self.confidence:g} % interval by the profile of the likelihood"
        title += name_failures(self.failed, "points")
        return html_table(title, rows, ("", "low", "high"))


@equal_by_value
@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Result of `bootstrap`.

    Attributes
    ----------
    intervals : dict
        (low, high) by name of the parameter.
    confidence : float
    replicas : FitResults
        The fits of the simulated samples. Those that failed are left out of the intervals.
    """

    intervals: dict[str, tuple[float, float]]
    confidence: float
    replicas: FittedSets = field(repr=False)

    @property
    def failed(self) -> int:
        """Number of simulated samples whose fit failed."""
        return int(np.count_nonzero(~self.replicas.converged))

    def _repr_html_(self) -> str:
        rows = [(name, *ends) for name, ends in self.intervals.items()]
        title = f"{100 * self.confidence:g} % intervals by {len(self.replicas)} replicas"
        title += name_failures(self.failed, "of them")
        return html_table(title, rows, ("", "low", "high"))


@equal_by_value
class GoodnessStatistic(NamedTuple):
    """A test statistic, and the probability of a larger one if the distribution is right."""

    statistic: float
    pvalue: float


@equal_by_value
@dataclass(frozen=True, eq=False)
class GoodnessOfFit:
    """Result of `goodness_of_fit`.

    Attributes
    ----------
    kolmogorov_smirnov, anderson_darling : (statistic, pvalue)
    replicas : int
        Number of simulated samples that could be fitted.
    failed : int
        Number of those that could not; they are left out.
    """

    kolmogorov_smirnov: GoodnessStatistic
    anderson_darling: GoodnessStatistic
    replicas: int
    failed: int = 0

    def _repr_html_(self) -> str:
        rows = [
            ("Kolmogorov-Smirnov", *self.kolmogorov_smirnov),
            ("Anderson-Darling", *self.anderson_darling),
        ]
        title = f"Goodness of fit, by {self.replicas} replicas"
        title += name_failures(self.failed, "more")
        return html_table(title, rows, ("", "statistic", "p-value"))
