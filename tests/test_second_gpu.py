"""Public functions of all packages on cuda:1, in a thread whose current GPU is cuda:0.

A kernel that is launched on the current GPU instead reads and writes addresses of another one: the
results are wrong, or the process has lost its GPUs (CUDA_ERROR_ILLEGAL_ADDRESS).
"""

import functools
import importlib
import inspect

import numpy as np
import pytest

import hetero
import lbm
import rode
import sbth
import stablegpu
import tmd
from hetero import philox
from hetero.cuda.driver import SIMULATOR
from hetero.devices import device_of

GPU = hetero.Device("cuda", 1)
X = np.linspace(-3.0, 3.0, 65)
P = np.linspace(0.01, 0.99, 33)
BAND = np.random.default_rng(1).standard_normal((5, 64))
BATCH = np.random.default_rng(3).standard_normal((3, 20, 20))
BATCH += BATCH.transpose(0, 2, 1)
WIDE_BAND = np.random.default_rng(2).standard_normal((90, 200))
PARAMETERS = 1.7, 0.3, 0.5, 2.0
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
    **{f"stable.{name}": lambda d, n=name: getattr(law(d), n)(X)
       for name in ("pdf", "cdf", "sf", "logpdf", "logcdf", "logsf", "pdf_cdf", "dlogpdf")},
    **{f"stable.{name}": lambda d, n=name: getattr(law(d), n)(P) for name in ("ppf", "isf")},
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

NEEDS_CUPY = {"sbth.full_to_band", "sbth.eigvalsh", "sbth.eigsh"}
"""Calls that need CuPy on a GPU."""

LOOSE = {"stablegpu.fit, ml": 1e-5, "stablegpu.fit_windows": 1e-5, "stablegpu.FitResult": 1e-4,
         "stablegpu.bootstrap": 1e-4, "stablegpu.goodness_of_fit": 1e-4,
         "stablegpu.fit, koutrouvelis": 1e-6, "stable.rvs": 1e-8}  # fmt: skip
"""Tolerances of calls with iterations or a sensitive transform, of the largest value."""

TOLERANCE = 1e-9
"""Tolerance of all others: between devices only rounding differs."""

ARRAYS = {
    "stable.pdf": lambda x: stablegpu.stable(*PARAMETERS).pdf(x),
    "stable.ppf": lambda x: stablegpu.stable(*PARAMETERS).ppf(x),
    "stablegpu.pdf": lambda x: stablegpu.pdf(x, *PARAMETERS),
    "stablegpu.log_ndtr": stablegpu.log_ndtr,
    "stablegpu.logsumexp": stablegpu.logsumexp,
    "rode.average": lambda x: rode.average(x, 4),
    "sbth.eigvals_banded": lambda x: sbth.eigvals_banded(x.reshape(4, -1)),
}
"""Functions of an array with 64 elements in (0, 1), whose results are on its device."""


def flatten(result):
    """Return the numbers of a result, as one array or a tuple of several."""
    parts = result if isinstance(result, tuple | list) else (result,)
    return [np.asarray(part, np.float64).ravel() for part in parts]


@pytest.fixture
def current_gpu(require_cuda):
    """Make cuda:0 current, and let it be current at the end of the test."""
    from hetero.cuda.driver import cuda

    if SIMULATOR or len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    with cuda.gpus[0]:
        yield
        assert cuda.current_context().device.id == 0


@pytest.mark.cuda
@pytest.mark.several_gpus
@pytest.mark.parametrize("name", CALLS)
def test_values_on_the_second_gpu_are_those_of_the_cpu(name, current_gpu):
    from hetero.cuda.driver import cuda

    if name in NEEDS_CUPY:
        pytest.importorskip("cupy")
    expected = flatten(CALLS[name]("cpu"))
    computed = flatten(CALLS[name](str(GPU)))
    assert cuda.current_context().device.id == 0
    assert len(computed) == len(expected)
    for values, true in zip(computed, expected, strict=True):
        unit = max(1e-300, np.abs(true[np.isfinite(true)]).max(initial=0.0))
        scale = LOOSE.get(name, TOLERANCE) * unit
        np.testing.assert_allclose(values, true, rtol=0.0, atol=scale)


def make_numba(values):
    from hetero.cuda.driver import cuda

    with cuda.gpus[GPU.index]:
        return cuda.to_device(values), lambda array: array.copy_to_host()


def make_cupy(values):
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(GPU.index):
        return cupy.asarray(values), cupy.asnumpy


def make_torch(values):
    torch = pytest.importorskip("torch")
    return torch.tensor(values, device=str(GPU)), lambda tensor: tensor.cpu().numpy()


@pytest.mark.cuda
@pytest.mark.several_gpus
@pytest.mark.parametrize("make", [make_numba, make_cupy, make_torch])
@pytest.mark.parametrize("name", ARRAYS)
def test_results_are_on_the_gpu_that_holds_the_argument(name, make, current_gpu):
    from hetero.cuda.driver import cuda

    values = np.random.default_rng(3).uniform(0.05, 0.95, 64)
    array, to_host = make(values)
    result = ARRAYS[name](array)
    assert cuda.current_context().device.id == 0
    assert device_of(result) == GPU
    true = np.asarray(ARRAYS[name](values))
    np.testing.assert_allclose(to_host(result), true, rtol=0.0, atol=TOLERANCE * np.abs(true).max())


@pytest.mark.cuda
@pytest.mark.several_gpus
@pytest.mark.parametrize("clock", ["wall", "device"])
def test_work_on_the_second_gpu_is_timed(clock, current_gpu):
    from hetero.cuda.driver import cuda

    timing = hetero.benchmark(
        lambda: stablegpu.ndtr(X, device=GPU), clock=clock, device=GPU, min_time=0.0
    )
    assert timing.median > 0.0
    array, _ = make_numba(np.linspace(-3.0, 3.0, 1 << 20))
    with hetero.profile() as profile:
        stablegpu.stable(*PARAMETERS).pdf(array)
    assert profile.children["stable density"].gpu > 0.0
    assert cuda.current_context().device.id == 0


@pytest.mark.cuda
@pytest.mark.several_gpus
def test_a_flow_on_the_second_gpu_is_saved_and_restored(tmp_path, current_gpu):
    one = cavity(str(GPU)).run(6)
    one.save(tmp_path / "a.state")
    one.run(5)
    two = cavity(str(GPU)).restore(tmp_path / "a.state").run(5)
    np.testing.assert_array_equal(one.populations(), two.populations())


@pytest.mark.cuda
@pytest.mark.several_gpus
def test_a_flow_returns_to_a_good_state_on_the_second_gpu(current_gpu):
    s = lbm.Simulation((16, 16, 4), collision=lbm.BGK(0.5001), check=50, device=str(GPU),
                       u=lambda x, y, z: (0.2 * np.sin(y), 0.2 * np.sin(x), 0.0 * z))  # fmt: skip
    with pytest.raises(lbm.UnstableError):
        s.run(5000)
    assert np.isfinite(s.u).all()


@pytest.mark.cuda
@pytest.mark.several_gpus
def test_the_performance_of_the_second_gpu_is_measured(current_gpu):
    from lbm._performance.cavity import cavity_problem
    from lbm._performance.measurement import measure_machine

    machine = measure_machine(cavity_problem((64, 64, 64)), [GPU], links=False)
    assert machine.gpu.cells(1e6) > 0.0


def test_every_public_function_with_a_device_is_called():
    """The table above names what users can run on a chosen device."""
    called = {name.partition(",")[0] for name in CALLS}
    public = set()
    for package in ("stablegpu", "rode", "sbth", "tmd", "lbm"):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value) or (inspect.isclass(value) and issubclass(value, Exception)):
                continue
            if {"device", "devices"} & set(inspect.signature(value).parameters):
                public.add(f"{package}.{name}")
    public -= {"sbth.solver_for", "sbth.forecast_eigsh"}  # they compute nothing
    assert public <= called
