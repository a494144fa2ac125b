"""Small calls of the public functions on the CPU, whose results `tools/guard.py` compares."""

import numpy as np

import lbm
import rode
import sbth
import stablegpu
import tmd
from hetero import philox
from rode.normals import METHODS
from stablegpu import stable

POINTS = np.concatenate([np.linspace(-8.0, 8.0, 41), [-1e6, -1e3, 1e3, 1e6]])
PAIRS = [(1.5, 0.5), (0.5, 1.0), (1.0, 0.3), (2.0, 0.0), (0.999, -0.7), (1.05, 1.0)]


def _densities(evaluator=None):
    for alpha, beta in PAIRS:
        distribution = stable(alpha, beta, evaluator=evaluator, device="cpu")
        yield from (distribution.pdf(POINTS), distribution.cdf(POINTS), distribution.sf(POINTS))
        yield from (
            distribution.logpdf(POINTS),
            distribution.logcdf(POINTS),
            distribution.logsf(POINTS),
        )


def _plans():
    for alpha, beta in PAIRS[:2]:
        plan = stable(alpha, beta, device="cpu").plan()
        yield from plan.pdf_cdf(POINTS)
        yield plan.ppf(np.linspace(0.01, 0.99, 25))


def _quantiles():
    p = np.concatenate([np.linspace(0.01, 0.99, 25), [1e-12, 1e-3]])
    for alpha, beta in PAIRS:
        distribution = stable(alpha, beta, device="cpu")
        yield from (distribution.ppf(p), distribution.isf(p))


def _samples():
    for alpha, beta in PAIRS:
        for dtype in (np.float64, np.float32):
            yield stable(alpha, beta, device="cpu").rvs(2000, random_state=1, dtype=dtype)


def _fits():
    x = stable(1.6, 0.4, 2.0, 3.0, device="cpu").rvs((3, 300), random_state=2)
    for method in ("ml", "mcculloch", "koutrouvelis"):
        fits = stablegpu.fit(x, method=method, device="cpu")
        yield from (fits.alpha, fits.beta, fits.loc, fits.scale)
    result = stablegpu.fit(x[0], fixed={"beta": 0.0}, device="cpu")
    yield from (result.alpha, result.scale, result.loglik)
    large = stable(1.2, -0.3, device="cpu").rvs(20_000, random_state=3)
    result = stablegpu.fit(large, device="cpu")
    yield from (result.alpha, result.beta, result.loc, result.scale, result.loglik)


def _special():
    x = np.linspace(-30.0, 30.0, 101)
    for dtype in (np.float64, np.float32):
        v = x.astype(dtype)
        yield from (stablegpu.log_ndtr(v, device="cpu"), stablegpu.ndtr(v, device="cpu"))
        yield stablegpu.expn(2, abs(v), device="cpu")


def _normals():
    for method in METHODS:
        for dtype in (np.float32, np.float64):
            if method != "box-muller-fast" or dtype is np.float32:
                yield rode.normal(3000, method=method, dtype=dtype, rng=1, device="cpu")


def _paths():
    for dtype in (np.float32, np.float64):
        yield rode.ornstein_uhlenbeck(5000, 0.01, dtype=dtype, rng=1, device="cpu")
        path = rode.ornstein_uhlenbeck((3, 500), 0.01, dtype=dtype, rng=1, device="cpu")
        yield path
    yield rode.average(path[0][:256], steps=64, device="cpu")
    yield rode.double_average(path[0][:256], steps=64, device="cpu")


def _solutions():
    settings = {"t_span": (0.0, 1.0), "h": 2.0**-4, "paths": 50, "rng": 1, "device": "cpu"}
    for method, problem in (
        ("averaged-euler", rode.kanai_tajimi()),
        ("averaged-heun", rode.growth()),
        ("3-rode-taylor", rode.kanai_tajimi()),
    ):
        result = rode.solve(problem, method, delta=2.0**-8, reduction="paths", **settings)
        yield result.paths


def _flows():
    for pattern in ("ab", "aa", "esoteric"):
        for precision in ("float32", "float64"):
            flow = lbm.Simulation(
                (20, 12, 10),
                collision=lbm.TRT(0.6, 3 / 16),
                boundaries={
                    "x-": lbm.VelocityInlet((0.05, 0.0, 0.0)),
                    "x+": lbm.PressureOutlet(),
                    "y": lbm.NoSlip(),
                    "ball": lbm.Solid(lbm.geometry.sphere((20, 12, 10), (8, 6, 5), 2.5)),
                },
                pattern=pattern,
                dtype=precision,
                device="cpu",
            )
            flow.run(10)
            yield from (flow.rho, flow.u)


def _eigenvalues():
    rng = np.random.default_rng(1)
    for d in (3, 40):
        band = rng.standard_normal((d + 1, 150))
        yield from sbth.tridiagonalize(band, lower=True, device="cpu")[:2]
        yield sbth.eigvals_banded(band, lower=True, device="cpu")
    full = rng.standard_normal((120, 120))
    yield sbth.eigvalsh(full + full.T, device="cpu")


def _hard_cases():
    for algorithm in ("clipped", "lefevre", "regular"):
        result = tmd.search(
            "exp", (1.0, 1.0 + 2.0**-30), bits=14, algorithm=algorithm, device="cpu"
        )
        yield np.array([float(case.argument) for case in result.cases])


def _words():
    yield philox.words(1000, rng=5, device="cpu")


OUTPUTS = {
    "densities by quadrature": lambda: _densities("quadrature"),
    "densities": _densities,
    "piecewise polynomials": _plans,
    "quantiles": _quantiles,
    "samples": _samples,
    "fits": _fits,
    "special functions": _special,
    "random words": _words,
    "normal numbers": _normals,
    "paths": _paths,
    "random ODEs": _solutions,
    "flows": _flows,
    "eigenvalues": _eigenvalues,
    "hard cases": _hard_cases,
}
"""Functions by name; each returns the numbers that are compared."""
