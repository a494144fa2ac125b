"""The risk of fitted distributions, as `stablegpu fit --var --es` reports it."""

from __future__ import annotations

import argparse
import math
from typing import Any

from stablegpu.distributions.risk import KupiecTest, RiskEstimate, kupiec_test
from stablegpu.results import FitResult


def estimate_risks(result: FitResult, options: argparse.Namespace) -> list[RiskEstimate]:
    """Return the estimates that --var and --es ask for; none of data that could not be fitted."""
    if not math.isfinite(result.alpha):
        return []
    settings: dict[str, Any] = {"confidence": options.confidence, "method": options.risk_interval}
    return [result.value_at_risk(level, **settings) for level in options.var] + [
        result.expected_shortfall(level, **settings) for level in options.es
    ]


def run_kupiec_tests(result: FitResult, levels: list[float]) -> dict[float, KupiecTest]:
    """Return Kupiec's tests of the values at risk of these levels, on the fitted data.

    There are none of truncated data: what was not recorded would have to be counted.
    """
    if result.intervals is not None and result.intervals.truncation is not None:
        return {}
    return {
        level: kupiec_test(result.data, result.distribution.value_at_risk(level), level)
        for level in levels
    }


def describe_risks(estimates: list[RiskEstimate]) -> list[str]:
    """Return a line for each estimate."""
    return [
        f"{100.0 * one.level:.6g} % {one.measure.replace('_', ' ')}  {one.value:.6g}  "
        f"({100.0 * one.confidence:g} % interval {one.low:.6g} to {one.high:.6g}, {one.method})"
        for one in estimates
    ]


def risk_columns(risks: list[list[RiskEstimate]]) -> dict[str, list[float]]:
    """Return the estimates of all fits as columns: value, standard error, ends of the interval."""
    columns: dict[str, list[float]] = {}
    asked = max(risks, key=len)
    for k, one in enumerate(asked):
        name = f"{'var' if one.measure == 'value_at_risk' else 'es'}_{one.level!r}"
        for key in ("value", "stderr", "low", "high"):
            heading = name if key == "value" else f"{name}_{key}"
            columns[heading] = [getattr(row[k], key) if row else math.nan for row in risks]
    return columns
