"""Bias and scatter of maximum likelihood over the parameter space, and the time of a fit.

As figures 13 and 14 and table 9 of Julian-Moreno et al. (2016): 20 sets of 1000 observations for
each of 17,400 distributions (on a CPU for 96), the errors of all four parameters, and the mean and
the 95th percentile of the time of a fit alone, by likelihood and by both contracting grids.
Parameters are of the parameterization S0, in which the location does not diverge at alpha = 1.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from stablegpu import stable
from stablegpu.fitting import fit
from studies.papers.printed import FIT_MILLISECONDS
from studies.study import Study

SIZE = 1000
SETS = 20
"""Observations of a set, and sets of a distribution."""

METHODS = ("ml", "grid", "grid2")
NAMES = ("alpha", "beta", "loc", "scale")
PERCENTILES = (2.5, 25.0, 50.0, 75.0, 97.5)


class Grid(NamedTuple):
    """Values of the four parameters; every combination is a distribution."""

    alpha: np.ndarray
    beta: np.ndarray
    loc: np.ndarray
    scale: np.ndarray


def grid_of(study: Study) -> Grid:
    """Return the grid of distributions, within the bounds of the paper."""
    counts = (29, 6, 10, 10) if study.device.kind == "cuda" else (8, 3, 2, 2)
    counts = (3, 2, 1, 1) if study.quick else counts
    bounds = ((0.6, 2.0), (0.0, 1.0), (-1.0, 1.0), (0.5, 3.0))
    return Grid(*(np.linspace(*ends, count) for ends, count in zip(bounds, counts, strict=True)))


def run(study: Study) -> dict:
    """Return errors and times; the figures are `fit-bias.png` and `fit-errors.png`."""
    grid = grid_of(study)
    errors = errors_of_fits(study, grid, 4 if study.quick else SETS)
    errors["beta"][grid.alpha == 2.0] = np.nan  # normal, whatever beta is
    draw_bias(study, grid, errors)
    draw_boxes(study, grid, errors)
    heads = ("parameter", "mean", *(f"{p:g} %" for p in PERCENTILES))
    rows = [
        (name, float(np.nanmean(error)), *map(float, np.nanpercentile(error, PERCENTILES)))
        for name, error in errors.items()
    ]
    distributions = int(np.prod([axis.size for axis in grid]))
    study.table(f"Errors of ML fits over {distributions:,} distributions", heads, rows)
    times = []
    for method in METHODS[:1] if study.quick else METHODS:
        milliseconds = seconds_of_fits(study, method) * 1e3
        times.append((method, float(milliseconds.mean()), float(np.percentile(milliseconds, 95))))
    times += [(f"paper, {name}", *both) for name, both in FIT_MILLISECONDS.items()]
    study.table("Fit of 1000 observations, ms", ("", "mean", "95th percentile"), times)
    bias = {name: error.mean(axis=(2, 3, 4)) for name, error in errors.items()}
    return {
        "grid": {name: axis.tolist() for name, axis in grid._asdict().items()},
        "bias over alpha and beta": {
            name: [[None if np.isnan(b) else float(b) for b in row] for row in values]
            for name, values in bias.items()
        },
    }


def errors_of_fits(study: Study, grid: Grid, sets: int) -> dict[str, np.ndarray]:
    """Return estimates less true values; each array has axes alpha, beta, loc, scale, set."""
    shape = (grid.loc.size, grid.scale.size, sets)
    errors = {name: np.empty((grid.alpha.size, grid.beta.size, *shape)) for name in NAMES}
    loc, scale = grid.loc[:, None, None, None], grid.scale[:, None, None]
    for i, alpha in enumerate(grid.alpha):
        for j, beta in enumerate(grid.beta):
            distribution = stable(alpha, beta, parameterization="S0", device=study.device)
            data = loc + scale * distribution.rvs((*shape, SIZE), rng=i * grid.beta.size + j)
            fits = fit(data.reshape(-1, SIZE), parameterization="S0", device=study.device)
            true = (alpha, beta, loc[..., 0], scale[..., 0])
            for name, value in zip(NAMES, true, strict=True):
                estimate = np.asarray(getattr(fits, name)).reshape(shape)
                errors[name][i, j] = estimate - value
    return errors


def seconds_of_fits(study: Study, method: str) -> np.ndarray:
    """Return the wall clock of fits one by one, data from the host, after one that compiles."""
    alphas, betas = ((0.6, 1.4), (0.0,)) if study.quick else (np.linspace(0.6, 2, 15), (0, 0.5, 1))
    pairs = [(alpha, beta) for alpha in alphas for beta in betas]
    seconds = []
    for k, (alpha, beta) in enumerate([pairs[0], *pairs]):
        x = stable(alpha, beta, parameterization="S0", device="cpu").rvs(SIZE, rng=k)
        start = time.perf_counter()
        fit(x, method=method, device=study.device)
        seconds.append(time.perf_counter() - start)
    return np.array(seconds[1:])


def draw_bias(study: Study, grid: Grid, errors: dict[str, np.ndarray]) -> None:
    """Draw the mean errors of alpha and beta over alpha and beta."""
    from matplotlib.colors import CenteredNorm

    figure = study.figure((10.0, 4.0))
    for axes, name in zip(figure.subplots(1, 2), ("alpha", "beta"), strict=True):
        bias = errors[name].mean(axis=(2, 3, 4))
        image = axes.pcolormesh(
            grid.beta, grid.alpha, bias, cmap="RdBu", norm=CenteredNorm(), shading="nearest"
        )
        figure.colorbar(image, ax=axes, label=f"mean error of {name}")
        axes.set(xlabel="beta", ylabel="alpha")
    study.save(figure, "fit-bias.png")


def draw_boxes(study: Study, grid: Grid, errors: dict[str, np.ndarray]) -> None:
    """Draw the distributions of the errors of each parameter over alpha."""
    figure = study.figure((10.0, 7.0))
    panels: Any = figure.subplots(2, 2, sharex=True).ravel()
    for axes, (name, error) in zip(panels, errors.items(), strict=True):
        columns = [row[np.isfinite(row)] for row in error.reshape(grid.alpha.size, -1)]
        axes.boxplot(columns, positions=grid.alpha, widths=0.03, whis=(2.5, 97.5), showfliers=False)
        axes.set(xlabel="alpha", ylabel=f"error of {name}")
        ticks = grid.alpha[:: max(1, grid.alpha.size // 7)]
        axes.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
    study.save(figure, "fit-errors.png")
