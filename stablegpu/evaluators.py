"""Evaluators of densities and distribution functions: their settings, and their result.

Three evaluators agree to a few 1e-15, and the fastest one that fits is taken
(`stablegpu/_density/choose.py`):

- "quadrature": fixed panels for each point, after Julian-Moreno et al. (2016), around the peak,
  which is searched for as in libstable; all parameters, and an estimate of the error;
- "nodes": sums over nodes prepared for (alpha, beta), |alpha - 1| >= 0.07;
- "polynomials": interpolation prepared for (alpha, beta).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from hetero.display.notebook import html_table
from hetero.validation import check_in_range, check_integer, describe
from stablegpu._parameters import NAMES

__all__ = [
    "EVALUATORS",
    "NAMES",
    "Evaluation",
    "Interpolation",
    "InterpolationError",
    "Quadrature",
    "check_evaluator",
]

EVALUATORS = ("quadrature", "nodes", "polynomials")


@dataclass(frozen=True)
class Quadrature:
    """Settings of the evaluator "quadrature".

    Attributes
    ----------
    panels : int
        Number of panels that the interval around the peak is cut into, 8 to 16.
    order : int
        Points of the Gauss rule, odd, 7 to 15; Kronrod's extension has 2 order + 1 points.
    tolerance : float
        A panel is evaluated again when Gauss's and Kronrod's sums differ by more than this
        fraction of the integral. The error of Kronrod's sum is far smaller.
    """

    panels: int = 16
    order: int = 11
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        object.__setattr__(self, "panels", check_integer("panels", self.panels, 8, 16))
        object.__setattr__(self, "order", check_integer("order", self.order, 7, 15))
        if self.order % 2 == 0:
            raise ValueError(f"order must be odd and lie in 7..15, got {self.order!r}")
        _check_tolerance(self)


@dataclass(frozen=True)
class Interpolation:
    """Settings of the evaluator "polynomials".

    Attributes
    ----------
    tolerance : float
        Largest relative error of pdf, cdf and sf; 1e-13 to 1e-2. Below pdf = 1e-290 the error is
        absolute.
    """

    tolerance: float = 1e-13

    def __post_init__(self) -> None:
        _check_tolerance(self)


def _check_tolerance(settings: Quadrature | Interpolation) -> None:
    """Replace the tolerance of settings by a float in [1e-13, 1e-2], or raise an error."""
    tolerance = check_in_range("tolerance", settings.tolerance, 1e-13, 1e-2)
    object.__setattr__(settings, "tolerance", tolerance)


class InterpolationError(ValueError):
    """The distribution cannot be interpolated to the tolerance."""


@dataclass(frozen=True)
class Evaluation:
    """Values at points, arrays of one shape. Functions that were not requested are None.

    Attributes
    ----------
    pdf, cdf, sf : density, distribution function and 1 - cdf, each to full relative accuracy
    logpdf, logcdf, logsf : their logarithms, also where they underflow
    error : estimated relative error of a quadrature, the largest of the integrals'; pessimistic
    """

    pdf: Any = None
    cdf: Any = None
    sf: Any = None
    logpdf: Any = None
    logcdf: Any = None
    logsf: Any = None
    error: Any = None

    def _repr_html_(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        rows = [(name, str(array)) for name, array in values if array is not None]
        return html_table("Evaluation", rows)


def check_evaluator(evaluator: Any) -> Quadrature | Interpolation | str | None:
    """Return the settings that a user's `evaluator` stands for: None, "nodes", or an object.

    Parameters
    ----------
    evaluator : None, "quadrature", "nodes", "polynomials", Quadrature or Interpolation
        None takes the fastest. The objects carry settings, for example a tolerance.

    Raises
    ------
    ValueError
    """
    if evaluator is None or isinstance(evaluator, Quadrature | Interpolation):
        return evaluator
    named: dict[str, Quadrature | Interpolation | str] = {
        "quadrature": Quadrature(),
        "nodes": "nodes",
        "polynomials": Interpolation(),
    }
    if not isinstance(evaluator, str) or evaluator not in named:
        raise ValueError(
            f"evaluator must be None, one of {', '.join(map(repr, EVALUATORS))}, a Quadrature or "
            f"an Interpolation, got {describe(evaluator)}"
        )
    return named[evaluator]
