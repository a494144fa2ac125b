"""Random distributions and points, most of them where evaluators break, against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import Device
from stablegpu._parameters import zeta
from studies.stablegpu.evaluators import OURS, values
from studies.stablegpu.true_values import FIELDS, fair, truths
from studies.study import Study

Point = tuple[float, float, float]
"""alpha, beta, x"""

POINTS = 10_000
_EVERY = {"polynomials": 5}  # their preparation takes a tenth of a second
_SHOWN = 12
_TINY = 1e-290


def random_point(seed: int) -> tuple[float, float, float]:
    """Return alpha, beta and x (S0) of the point of this number.

    alpha: anywhere, next to 1 and 2, small, at 1; beta: anywhere, next to +-1 and 0, at +-1, 0;
    x: near the centre, over many scales, next to zeta.
    """
    rng = np.random.default_rng([20, seed])
    alpha = (
        rng.uniform(0.1, 2.0),
        rng.uniform(0.1, 2.0),
        1.0 + rng.choice([-1, 1]) * 10 ** rng.uniform(-15, -1),
        2.0 - 10 ** rng.uniform(-12, -1),
        rng.uniform(0.1, 0.3),
        1.0,
    )[rng.integers(6)]
    tiny = 10 ** rng.uniform(-12, -1)
    skews = (rng.uniform(-1, 1), rng.uniform(-1, 1), 1.0 - tiny, tiny, 1.0, 0.0)
    beta = skews[rng.integers(6)] * rng.choice([-1, 1])
    sign = rng.choice([-1, 1])
    end = zeta(float(alpha), float(beta))
    x = (
        rng.uniform(-10.0, 10.0),
        sign * 10 ** rng.uniform(-8, 8),
        sign * 10 ** rng.uniform(0, 4),
        end + sign * 10 ** rng.uniform(-15, 1) * max(abs(end), 1.0),
    )[rng.integers(4)]
    return float(alpha), float(beta), float(x)


def run(study: Study) -> dict:
    """Compute errors of the exact evaluators at 10,000 random points, over the fair tolerance."""
    points = [random_point(i) for i in range(100 if study.quick else POINTS)]
    true = truths(points, study.cache / "random.jsonl", processes=study.processes)
    resolved = np.isfinite(true[:, 0])
    results = {name: _errors(points, true, resolved, name, study.device) for name in OURS}
    tolerance = fair(true)
    rows: list[list] = []
    result: dict[str, Any] = {"points": len(points), "unresolved": int((~resolved).sum())}
    result["unresolved, but not tiny here"] = _visible(points, ~resolved, study.device)
    result["oracle_error"] = float(np.nanmax(true[:, FIELDS.index("error")]))
    for name, errors in results.items():
        finite = np.isfinite(errors)
        if not finite.any():
            continue
        ratio = errors[finite] / tolerance[finite]
        order = np.argsort(-ratio)[:_SHOWN]
        worst = np.flatnonzero(finite)[order]
        result[name] = {
            "points": int(finite.sum()),
            "median_error": float(np.median(errors[finite])),
            "max_error": float(errors[finite].max()),
            "median_ratio": float(np.median(ratio)),
            "max_ratio": float(ratio.max()),
            "above_tolerance": int((ratio > 1).sum()),
            "worst": [
                dict(zip(("alpha", "beta", "x"), points[i], strict=True))
                | {"error": float(errors[i]), "tolerance": float(tolerance[i])}
                | {"logpdf": float(true[i, FIELDS.index("logpdf")])}
                for i in worst
            ],
        }
        rows.append([name, *(result[name][key] for key in list(result[name])[:-1])])
    heads = ("evaluator", "points", "median", "max", "median/fair", "max/fair", "above fair")
    study.table("Relative error at random points: pdf, cdf and sf, the worst one", heads, rows)
    return result


def _visible(points: list[Point], chosen: np.ndarray, device: Device) -> list[Point]:
    """Return points that the oracle gives up as underflow although nothing underflows here."""
    chosen_points = [points[i] for i in np.flatnonzero(chosen)]
    results = [values(chosen_points, name, "quadrature", device) for name in ("pdf", "cdf", "sf")]
    return (
        [chosen_points[i] for i in np.flatnonzero(~(np.min(results, axis=0) < _TINY))]
        if chosen_points
        else []
    )


def _errors(
    points: list[Point], true: np.ndarray, resolved: np.ndarray, evaluator: str, device: Device
) -> np.ndarray:
    """Return the largest relative error of pdf, cdf and sf; NaN for unsupported points."""
    chosen = np.flatnonzero(resolved)[:: _EVERY.get(evaluator, 1)]
    chosen_points = [points[i] for i in chosen]
    results = np.array(
        [values(chosen_points, name, evaluator, device) for name in ("pdf", "cdf", "sf")]
    )
    errors = np.full(len(points), np.nan)
    errors[chosen] = np.abs(results / true[chosen, :3].T - 1.0).max(axis=0)
    return errors
