"""Maps of the error over alpha and x: this library and SciPy against the oracle."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.stablegpu.evaluators import SCIPY, distribution_of, values
from studies.stablegpu.true_values import truths
from studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETAS = (0.0, 0.5, 1.0)
_FLOOR = 1e-16


def run(study: Study) -> dict:
    """Draw a picture for each function, with a row for each program and a column for each beta."""
    count = 3 if study.quick else 27
    alpha = np.linspace(0.1, 2.0, count).round(6)
    if not study.quick:
        alpha = np.unique([*alpha, 0.999, 1.0, 1.001])
    s = np.linspace(-1.0, 1.0, 5 if study.quick else 25)
    x = (0.5 * np.sinh(8.0 * s)).round(6)  # to about 745, fine near 0
    points = [
        (float(a), beta, float(v))
        for beta in BETAS
        for a in alpha
        for v in x
        if _inside(float(a), beta, float(v))
    ]
    true = truths(points, study.cache / "map.jsonl", processes=study.processes, slopes=False)
    result: dict[str, Any] = {
        "alpha": alpha.tolist(),
        "x": x.tolist(),
        "points": len(points),
        "errors": {},
    }
    for k, name in enumerate(("pdf", "cdf")):
        errors: dict[str, np.ndarray] = {}
        for program in ("stablegpu", SCIPY):
            evaluator = None if program == "stablegpu" else SCIPY
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = values(points, name, evaluator, study.device)
            errors[program] = np.abs(results / true[:, k] - 1.0)
        study.save(_picture(study, points, true, errors, alpha, x, name), f"map-{name}.png")
        result["errors"][name] = {
            p: _summary(e[np.isfinite(true[:, 0])]) for p, e in errors.items()
        }
    rows = [
        [name, program, *summary.values()]
        for name, both in result["errors"].items()
        for program, summary in both.items()
    ]
    study.table("Relative error over the map", ("function", "program", *_summary(np.ones(1))), rows)
    return result


def _inside(alpha: float, beta: float, x: float) -> bool:
    low, high = distribution_of(alpha, beta, None).support()
    return low < x < high


def _summary(errors: np.ndarray) -> dict[str, float]:
    failed = ~np.isfinite(errors)
    return {
        "median": float(np.median(errors[~failed])),
        "max": float(errors[~failed].max()),
        "share below 1e-12": float(np.mean(errors < 1e-12)),
        "failed": int(failed.sum()),
    }


def _picture(
    study: Study,
    points: list[tuple[float, float, float]],
    true: np.ndarray,
    errors: dict[str, np.ndarray],
    alpha: np.ndarray,
    x: np.ndarray,
    name: str,
) -> Figure:
    """Draw maps of the relative error over alpha and x, a row for each program."""
    figure = study.figure((10.0, 5.6))
    axes = figure.subplots(len(errors), len(BETAS), sharex=True, sharey=True, squeeze=False)
    for row, (program, wrong) in zip(axes, errors.items(), strict=True):
        for axis, beta in zip(row, BETAS, strict=True):
            grid = np.full((len(x), len(alpha)), np.nan)
            for (a, b, v), error, true_pdf in zip(points, wrong, true[:, 0], strict=True):
                if b == beta and np.isfinite(true_pdf):
                    value = error if np.isfinite(error) else 1.0
                    cell = np.searchsorted(x, v), np.searchsorted(alpha, a)
                    grid[cell] = np.log10(min(max(value, _FLOOR), 1.0))
            image = axis.pcolormesh(
                np.arange(len(alpha)), np.arange(len(x)), grid, vmin=-16, vmax=0, cmap="magma"
            )
            axis.set_facecolor("0.85")
            axis.set_title(f"{program}, beta = {beta:g}", fontsize=10)
    ticks = np.linspace(0, len(alpha) - 1, 5).astype(int)
    axes[0, 0].set_xticks(ticks, [f"{alpha[i]:.3g}" for i in ticks])
    ticks = np.linspace(0, len(x) - 1, 5).astype(int)
    axes[0, 0].set_yticks(ticks, [f"{x[i]:.3g}" for i in ticks])
    figure.supxlabel("alpha")
    figure.supylabel("x (S0)")
    figure.colorbar(image, ax=axes, label=f"log10 of the relative error of {name}")
    return figure
