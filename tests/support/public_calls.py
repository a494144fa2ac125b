"""What every public function with a device computes, as functions of the device."""

import functools

import numpy as np

import lbm
import rode
import sbth
import stablegpu
import tmd
from hetero import philox

X = np.linspace(-3.0, 3.0, 65)
P = np.linspace(0.01, 0.99, 33)
BAND = np.random.default_rng(1).standard_normal((5, 64))
BATCH = np.random.default_rng(3).standard_normal((3, 20, 20))
BATCH += BATCH.transpose(0, 2, 1)
WIDE_BAND = np.random.default_rng(2).standard_normal((90, 200))
PARAMETERS = 1.7, 0.3, 0.5, 2.0
PAIRS = (1.5, 0.5), (0.5, 1.0), (1.0, 0.3), (2.0, 0.0), (0.999, -0.7), (1.05, 1.0)
FAR = np.concatenate([X, [-1e6, -1e3, 1e3, 1e6]])
HARD = "0x1.62e4p+0", "0x1.62e48p+0"  # about 40 cases
NOISE = np.random.default_rng(3).standard_normal((4, 256))


@functools.cache  # not a constant: compiling takes long, and no test without two GPUs needs it
def data():
    return stablegpu.stable(*PARAMETERS, device="cpu").rvs(2000, rng=1)


def law(device, **options):
    return stablegpu.stable(*PARAMETERS, device=device, **options)


def fit_numbers(results):
    return results.alpha, results.beta, results.loc, results.scale


def solve(device, method="averaged-euler", **options):
    settings = {"t_span": (0.0, 1.0), "h": 2.0**-5, "paths": 40, "rng": 5, "device": device}
    return rode.solve(rode.growth(), method, **settings | options)


def eigenvalues_of(tridiagonal):
    d, e = (np.asarray(values) for values in tridiagonal)
    return sbth.eigvalsh_tridiagonal(d, e, device="cpu")


def cavity(device, shape=(16, 12, 10), **options):
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.0)),
             "post": lbm.Solid(lbm.geometry.sphere(shape, (8, 6, 5), 2))}  # fmt: skip
    return lbm.Simulation(shape, boundaries=walls, dtype="float64", device=device, **options)


def run_cavity(device, **options):
    s = cavity(device, check=4, **options)
    statistics, probe = lbm.Statistics(every=2), lbm.Probe([(2, 2, 2)], every=3)
    s.run(12, callbacks=[statistics, probe, lbm.SteadyState(1e-9, every=5)])
    return (s.u, s.drho, statistics.mean_u, statistics.variance_u, np.array(probe.values),
            s.force_on("post"), s.torque_on("post", (8, 6, 5)), s.momentum())  # fmt: skip


def run_heated_stream(device):
    ball = lbm.Solid(lbm.Sphere((8, 4, 3), 1.6), wall="interpolated")
    walls = {"x-": lbm.NonReflectingInlet((0.05, 0.0, 0.0)), "x+": lbm.NonReflectingOutlet(1.0),
             "ball": ball}  # fmt: skip
    warm = lbm.FixedValue(1.0)
    heat = lbm.Scalar(0.05, {"x-": warm, "ball": warm}, buoyancy=(0.0, 1e-4, 0.0))
    s = lbm.Simulation((24, 8, 6), boundaries=walls, scalars={"heat": heat}, check=4,
                       sponges={"x-": 8, "x+": 10}, dtype="float64", device=device)  # fmt: skip
    s.run(12)
    return s.u, s.scalars["heat"].values, s.scalars["heat"].total()


def run_flow_with_start(device):
    s, exact = lbm.flows.vortices(16, dtype="float64", device=device)
    s.run(20)
    s.set(u=exact(20))
    return s.run(7).u, s.populations()


def search_cases(device):
    result = tmd.search("exp", HARD, bits=30, device=device)
    return np.array([float(case.argument) for case in result.cases])


CALLS = {
    **{f"stablegpu.{name}": lambda d, n=name: getattr(stablegpu, n)(X, *PARAMETERS, device=d)
       for name in ("pdf", "cdf", "sf", "logpdf", "logcdf", "logsf", "pdf_cdf", "dlogpdf")},
    **{f"stablegpu.{name}": lambda d, n=name: getattr(stablegpu, n)(P, *PARAMETERS, device=d)
       for name in ("ppf", "isf")},
    "stablegpu.regress": lambda d: stablegpu.regress(data()[:200], ar=1, device=d).alpha,
    **{f"stable.{name}": lambda d, n=name: getattr(law(d), n)(X)
       for name in ("pdf", "cdf", "sf", "logpdf", "logcdf", "logsf", "pdf_cdf", "dlogpdf")},
    **{f"stable.{name}": lambda d, n=name: getattr(law(d), n)(P) for name in ("ppf", "isf")},
    **{f"stable.{name} of {pair}": lambda d, n=name, p=pair: getattr(stablegpu.stable(
           *p, device=d), n)(FAR)
       for name in ("pdf", "sf") for pair in PAIRS},
    "stable.pdf, quadrature": lambda d: law(d, evaluator=stablegpu.Quadrature()).pdf(X),
    "stable.pdf, polynomials": lambda d: law(d).plan().pdf(X),
    "stable.ppf, polynomials": lambda d: law(d).plan().ppf(P),
    "stable.rvs": lambda d: law(d).rvs(1000, rng=4),
    "stablegpu.stable": lambda d: law(d).median(),
    "stablegpu.Stable": lambda d: law(d).expected_shortfall(0.05),
    "stablegpu.from_r": lambda d: stablegpu.from_r(1.7, 0.3, 2.0, 0.5, device=d).pdf(X),
    "stablegpu.from_scipy": lambda d: stablegpu.from_scipy(*PARAMETERS, device=d).pdf(X),
    "stablegpu.value_at_risk": lambda d: stablegpu.value_at_risk(law(None), 0.05, device=d),
    "stablegpu.log_ndtr": lambda d: stablegpu.log_ndtr(X, device=d),
    "stablegpu.ndtr": lambda d: stablegpu.ndtr(X, device=d),
    "stablegpu.expn": lambda d: stablegpu.expn(2, X + 4.0, device=d),
    "stablegpu.logsumexp": lambda d: stablegpu.logsumexp(NOISE, axis=1, device=d),
    **{f"stablegpu.fit, {method}":
       lambda d, m=method: fit_numbers(stablegpu.fit(data(), method=m, device=d))
       for method in ("ml", "mcculloch", "koutrouvelis")},
    "stablegpu.fit_stream":
        lambda d: fit_numbers(stablegpu.fit_stream(np.tile(data(), 5), piece=4000, device=d)),
    "stablegpu.fit_windows":
        lambda d: fit_numbers(stablegpu.fit_windows(data(), 500, step=300, device=d)),
    "stablegpu.bootstrap": lambda d: stablegpu.bootstrap(
        stablegpu.fit(data(), device="cpu"), 20, rng=6, device=d).replicas.alpha,
    "stablegpu.goodness_of_fit": lambda d: stablegpu.goodness_of_fit(
        stablegpu.fit(data(), device="cpu"), 20, rng=6, device=d).kolmogorov_smirnov.statistic,
    "stablegpu.FitResult": lambda d: stablegpu.bootstrap(
        stablegpu.fit(data(), device=d), 20, rng=6).replicas.alpha,
    "philox.words": lambda d: philox.words(1000, rng=7, device=d),
    "philox.uniform": lambda d: philox.uniform(1000, rng=7, device=d),
    **{f"rode.normal, {method}": lambda d, m=method: rode.normal(3000, method=m, rng=8, device=d)
       for method in ("box-muller", "rational", "ziggurat", "wallace")},
    "rode.Generator": lambda d: rode.Generator(9, device=d).standard_normal(1000),
    **{f"rode.ornstein_uhlenbeck, {method}":
       lambda d, m=method: rode.ornstein_uhlenbeck(
           1024, 2.0**-8, method=m, rng=10, device=d,
           noise=NOISE.ravel() if m == "sweeps" else None)
       for method in ("bridge", "scan", "sweeps")},
    "rode.average": lambda d: rode.average(NOISE.ravel(), 32, device=d),
    "rode.double_average": lambda d: rode.double_average(NOISE.ravel(), 32, device=d),
    "rode.riemann_sums": lambda d: rode.riemann_sums(NOISE.ravel()[:1023], 14, 0.1, 2, device=d),
    "rode.solve": lambda d: solve(d).paths,
    "rode.solve, moments": lambda d: solve(d, reduction="moments").mean,
    "rode.solve, parts": lambda d: rode.solve(
        rode.growth(), "averaged-euler", paths=40, parts=2, rng=5, reduction="moments",
        device=[d], t_span=(0.0, 1.0), h=2.0**-5).mean,
    "rode.response_spectrum": lambda d: rode.response_spectrum(
        NOISE.ravel(), 0.01, [0.1, 0.5, 2.0], device=d).velocity,
    "rode.expectation": lambda d: np.array([one.mean for one in rode.expectation(
        rode.relaxation(), "averaged-heun", "end", t_span=(0.0, 1.0), tolerance=0.1, rng=3,
        device=d).levels]),
    "rode.rare_event": lambda d: rode.rare_event(
        rode.relaxation(start_process=0.0), "averaged-heun", 0.3, t_span=(0.0, 1.0), h=2.0**-4,
        algorithm="splitting", paths=16, max_runs=10, rng=3, device=d).runs,
    "sbth.tridiagonalize": lambda d: eigenvalues_of(sbth.tridiagonalize(BAND, device=d)),
    "sbth.tridiagonalize, two stages":
        lambda d: eigenvalues_of(sbth.tridiagonalize(WIDE_BAND, device=d)),
    "sbth.eigvals_banded": lambda d: sbth.eigvals_banded(BAND, device=d),
    "sbth.eigvalsh_tridiagonal":
        lambda d: sbth.eigvalsh_tridiagonal(BAND[0], BAND[1, :-1], device=d),
    "sbth.spectrum": lambda d: sbth.spectrum(sbth.dense_from_band(BAND), device=d).values,
    "sbth.eigvalsh": lambda d: sbth.eigvalsh(sbth.dense_from_band(BAND), device=d),
    "sbth.eigh_tridiagonal":
        lambda d: sbth.eigh_tridiagonal(BAND[0], BAND[1, :-1], device=d)[0],
    "sbth.eig_banded": lambda d: sbth.eig_banded(BAND, device=d)[0],
    "sbth.eigh": lambda d: sbth.eigh(sbth.dense_from_band(BAND), device=d)[0],
    "sbth.solve_batch": lambda d: sbth.solve_batch(
        sbth.eigvals_banded, np.stack([BAND, 2 * BAND]), device=[d]),
    "sbth.eigh, batch": lambda d: sbth.eigh(BATCH, device=d)[0],
    "sbth.eigh, complex pencils": lambda d: sbth.eigh(
        BATCH + 1j * np.triu(BATCH, 1) - 1j * np.tril(BATCH, -1), 2.0 * np.eye(20), device=d)[0],
    "sbth.eigsh": lambda d: sbth.eigsh(
        sbth.dense_from_band(BAND), 4, which="LA", method="lanczos", device=d)[0],
    "sbth.full_to_band": lambda d: sbth.eigvals_banded(
        sbth.full_to_band(sbth.dense_from_band(BAND), 8, device=d), device="cpu"),
    "tmd.search": search_cases,
    "tmd.search_periodic": lambda d: [float(case.argument) for case in tmd.search_periodic(
        "sin", 100, phases=(0.25, 0.25 + 2.0**-20), bits=36, device=d).cases],
    "tmd.exhaust": lambda d: [*tmd.exhaust(
        "sinh", lambda x: x, domain=(2.0**-10, 2.0**-10 + 2.0**-29), device=d).kinds["nearest"]],
    "tmd.verify": lambda d: list(tmd.verify(
        tmd.search("exp", HARD, bits=30, device="cpu").certificate, device=d).values()),
    **{f"lbm.Simulation, {pattern}": lambda d, p=pattern: run_cavity(d, pattern=p)
       for pattern in ("esoteric", "aa", "ab")},
    "lbm.Simulation, half": lambda d: run_cavity(d, ratio=0.0 if d == "cpu" else 0.5),
    "lbm.Simulation, auto": lambda d: run_cavity(d, ratio=0.0 if d == "cpu" else "auto"),
    "lbm.Simulation, parts": lambda d: run_cavity(
        ["cpu"] if d == "cpu" else ["cuda:1", "cuda:0"],
        decomposition=(1, 1, 1) if d == "cpu" else (1, 1, 2)),
    "lbm.Simulation, sponges and a scalar": run_heated_stream,
    "lbm.flows.vortices": run_flow_with_start,
}  # fmt: skip
"""Functions of a device, by the name of what they call."""
