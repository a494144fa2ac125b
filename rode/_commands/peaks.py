"""`rode solve --peaks`: the largest |output| of each path; `--exceed`: that it exceeds a level."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetero import validation
from rode.problems.peak_correction import peak_correction
from rode.problems.problem import Problem
from rode.results.result import Result

CONFIDENCE = 0.95
"""Probability with which the intervals of the quantiles contain them."""


def print_rows(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print a table of numbers under their names."""
    print("".join(name.rjust(12) for name in names))
    for row in rows:
        print("".join(f"{value:.4g}".rjust(12) for value in row))


@dataclass(frozen=True)
class PeakQuantiles:
    """Quantiles over paths of the peaks of each output.

    Attributes
    ----------
    outputs : names of the outputs
    probabilities : those of the quantiles
    values, low, high : (outputs, probabilities) arrays
        The quantiles, and the ends of their 95 % intervals; NaN for too few paths.
    """

    outputs: tuple[str, ...]
    probabilities: tuple[float, ...]
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, result: Result, probabilities: tuple[float, ...]) -> PeakQuantiles:
        """Compute the quantiles of the peaks of a result."""
        assert result.peaks is not None  # it is requested where this is called
        values = np.quantile(result.peaks, probabilities, axis=1).T
        ends = [[_interval(peaks, p) for p in probabilities] for peaks in result.peaks]
        low, high = np.moveaxis(np.array(ends).reshape(*values.shape, 2), -1, 0)
        return cls(result.outputs, probabilities, values, low, high)

    def as_dict(self) -> dict[str, object]:
        """Return the quantiles for JSON."""
        tables = {"quantiles": self.values, "low": self.low, "high": self.high}
        named = {
            name: dict(zip(self.outputs, table, strict=True)) for name, table in tables.items()
        }
        return {"probabilities": list(self.probabilities), "confidence": CONFIDENCE} | named

    def print(self) -> None:
        """Print a table for each output."""
        for k, output in enumerate(self.outputs):
            print(f"\nlargest |{output}| of a path")
            columns = self.probabilities, self.values[k], self.low[k], self.high[k]
            print_rows(("p", "quantile", "low", "high"), zip(*columns, strict=True))
        print(f"\nlow, high: {100 * CONFIDENCE:g} % intervals of the quantiles for this many paths")


def _interval(peaks: np.ndarray, p: float) -> tuple[float, float]:
    """Return the interval of a quantile by order statistics, whatever the distribution is."""
    from scipy.stats import quantile_test

    if not 0.0 < p < 1.0 or np.isnan(peaks).any():
        return np.nan, np.nan
    low, high = quantile_test(peaks, p=p).confidence_interval(CONFIDENCE)
    return float(low), float(high)


def correct_peaks(
    result: Result, problem: Problem, h: float
) -> tuple[Result, dict[str, float | np.ndarray]]:
    """Return the result with corrected peaks, and the correction of each output.

    Where there is none, it is 0, and a line on standard error says so.
    """
    assert result.peaks is not None  # they are requested where this is called
    try:
        correction = peak_correction(problem, h)
    except ValueError as error:
        print(f"peaks are not corrected: {error}", file=sys.stderr)
        correction = np.zeros((len(result.outputs), 1))
    added = (row[0] if row.size == 1 else row for row in correction)
    named = dict(zip(result.outputs, added, strict=True))
    return replace(result, values={"peaks": result.peaks + correction}), named


def parse_level(text: str, outputs: tuple[str, ...]) -> tuple[str, float]:
    """Return output and level of an argument OUTPUT=LEVEL; raise ValueError if it is not one."""
    output, equals, number = text.rpartition("=")
    try:
        level = float(number)
    except ValueError:
        equals = ""
    if not equals:
        raise ValueError(f"--exceed must be OUTPUT=LEVEL, such as {outputs[0]}=0.1, got {text!r}")
    validation.check_choice("--exceed", output, outputs)
    return output, validation.check_finite("--exceed", level)


def exceedances_of(result: Result, levels: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return the probability of each level with its interval, as values of JSON."""
    rows = []
    for output, level in levels:
        one = result.exceedance(output, level)
        numbers = {name: float(getattr(one, name)[0]) for name in ("probability", "low", "high")}
        row: dict[str, Any] = {"output": output, "level": level, "count": int(one.counts[0])}
        rows.append(row | numbers | {"confidence": one.confidence})
    return rows


def print_exceedances(rows: list[dict[str, Any]]) -> None:
    """Print a table with a line for each level."""
    if not rows:
        return
    print("\nprobability that the largest |output| of a path exceeds a level")
    names = ("level", "paths", "probability", "low", "high")
    print("".join(name.rjust(12) for name in names), " output")
    for row in rows:
        numbers = (row["level"], row["count"], row["probability"], row["low"], row["high"])
        print("".join(f"{value:.4g}".rjust(12) for value in numbers), f" {row['output']}")
    print("\nlow, high: 95 % intervals of Wilson for this many paths")
