"""Bias and scatter of maximum likelihood over the parameter space, and the time of a fit.

As figure 13 and table 9 of Julian-Moreno et al. (2016): sets of 1000 observations for each
distribution, bias of alpha and beta; the mean and the 95th percentile of the time of a fit alone.
The paper also varies location and scale, 17,400 distributions in all, and draws box plots of the
bias (figure 14); here are 90 distributions with location 0 and scale 1. The paper has 20 sets for
each, too few to tell bias from scatter; so has this on a CPU, but 1000 on a GPU.
"""

from __future__ import annotations

import time

import numpy as np

from stablegpu import stable
from stablegpu.fitting import fit
from studies.study import Study

PAPER_MS = {
    "libstable": (11291.476, 18244.981),
    "libstable, density on an M2090": (628.2777, 1134.724),
    "GPU grid, M2090": (82.73002, 168.3666),
    "GPU grid, K40": (20.07744, 27.97425),
    "GPU grid, R9 290X": (120.3731, 180.3383),
    "densities precomputed, MATLAB": (257.0785, 585.6634),
}
"""Mean and 95th percentile in ms (Julian-Moreno et al. 2016, table 9).

libstable ran on a Xeon E5-2630 v2."""

SIZE = 1000
REPLICAS = {"cpu": 20, "cuda": 1000}


def run(study: Study) -> dict:
    """Return biases by distribution, and times; the figure is `fit-bias.png`."""
    alphas = np.linspace(0.6, 2.0, 3 if study.quick else 15)
    betas = np.linspace(0.0, 1.0, 2 if study.quick else 6)
    replicas = 4 if study.quick else REPLICAS[study.device.kind]
    result = biases(study, alphas, betas, replicas)
    draw(study, alphas, betas, result)
    times = seconds_of_fits(study, alphas, betas) * 1e3
    rows = [("here", float(times.mean()), float(np.percentile(times, 95)))]
    rows += [(f"paper, {name}", *both) for name, both in PAPER_MS.items()]
    study.table("ML fit of 1000 observations, ms", ("", "mean", "95th percentile"), rows)
    return {
        "alpha": alphas.tolist(),
        "beta": betas.tolist(),
        "replicas": replicas,
        "bias": {name: result[name].tolist() for name in result},
        "ms": {"mean": rows[0][1], "percentile95": rows[0][2]},
    }


def biases(
    study: Study, alphas: np.ndarray, betas: np.ndarray, replicas: int
) -> dict[str, np.ndarray]:
    """Return the mean and root mean square of the errors of alpha and beta, by alpha and beta."""
    shape = alphas.size, betas.size, replicas
    pairs = [(a, b) for a in alphas for b in betas]
    data = np.stack(
        [
            stable(a, b, parameterization="S0", device="cpu").rvs((replicas, SIZE), rng=k)
            for k, (a, b) in enumerate(pairs)
        ]
    )
    fits = fit(data.reshape(-1, SIZE), parameterization="S0", device=study.device)
    off = {
        "alpha": np.asarray(fits.alpha).reshape(shape) - alphas[:, None, None],
        "beta": np.asarray(fits.beta).reshape(shape) - betas[:, None],
    }
    result = {f"{name}_mean": error.mean(axis=2) for name, error in off.items()}
    return result | {f"{name}_rms": np.sqrt((e**2).mean(axis=2)) for name, e in off.items()}


def seconds_of_fits(study: Study, alphas: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Return the wall clock of fits one by one, data from the host, after one that compiles."""
    seconds = []
    pairs = [(a, b) for a in alphas for b in betas]
    for k, (alpha, beta) in enumerate([pairs[0], *pairs]):
        x = stable(alpha, beta, parameterization="S0", device="cpu").rvs(SIZE, rng=k)
        start = time.perf_counter()
        fit(x, device=study.device)
        seconds.append(time.perf_counter() - start)
    return np.array(seconds[1:])


def draw(
    study: Study, alphas: np.ndarray, betas: np.ndarray, result: dict[str, np.ndarray]
) -> None:
    """Draw the biases of the estimates over alpha and beta."""
    from matplotlib.colors import CenteredNorm

    figure = study.figure((10.0, 4.0))
    for axes, name in zip(figure.subplots(1, 2), ("alpha", "beta"), strict=True):
        bias = result[f"{name}_mean"].copy()
        if name == "beta":
            bias[alphas == 2.0] = np.nan  # normal, whatever beta is
        image = axes.pcolormesh(
            betas, alphas, bias, cmap="RdBu", norm=CenteredNorm(), shading="nearest"
        )
        figure.colorbar(image, ax=axes, label=f"mean error of {name}")
        axes.set(xlabel="beta", ylabel="alpha")
    study.save(figure, "fit-bias.png")
