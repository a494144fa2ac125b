"""The solver: path by path against the schemes written out, and distributions of paths."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import rode
from hetero import philox
from rode import reference
from rode._paths.process import Process
from rode._solver import loops
from rode._solver.kernel_arguments import part_of
from rode._solver.schemes import SCHEMES, find_scheme

QUAKE = rode.kanai_tajimi()
NOISE = rode.kanai_tajimi(start_process=0.3)


def process_values(path, steps, delta, process, start, key_of, first=0):
    """Return O at fine steps of a path of `solve` in float64, from the words of its counter.

    Fine step number s, counted from the start of the run, takes number s mod 2 of the block whose
    counter is (lower word of s/2, higher word of s/2, path, stream).
    """
    from hetero.philox.formulas import philox10
    from rode._normals.box_muller_formulas import box_muller_float64

    @njit
    def numbers(low, high, path, stream, k0, k1):
        a, b, c, d = philox10(low, high, path, stream, k0, k1)
        return box_muller_float64(a, b, c, d, 1.0)

    stream, drawn = np.uint32(philox.STREAMS["rode.solve"]), []
    for s in range(first, first + steps):
        high, low = divmod(s // 2, 2**32)
        pair = numbers(np.uint32(low), np.uint32(high), np.uint32(path), stream, *key_of)
        drawn.append(pair[s % 2])
    return np.append(start, reference.ornstein_uhlenbeck(drawn, start, delta, process))


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_compiled_steps_are_those_of_the_oracle(scheme):
    A, B, _ = reference.kanai_tajimi()
    o, x, h = *np.split(np.random.default_rng(1).standard_normal(11), [9]), 2.0**-6
    parameters = tuple(map(float, QUAKE.parameters[:, 0]))
    step = scheme.make_additive_step(QUAKE.H, QUAKE.B)
    found = step(0.0, tuple(x), o[0], tuple(scheme.reference_forms(o, h)), parameters, h)
    expected = reference.step_by(scheme, lambda v: A @ v, B, x, o, h)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def follow(names, whole):
    """Return cases of schemes; those not in `whole` are slow, because each compiles a solver."""
    slow = [pytest.mark.slow]
    return [pytest.param(name, marks=slow * (name not in whole)) for name in names]


FOLLOWED = [name for name, scheme in SCHEMES.items() if scheme.order <= 3]


@pytest.mark.parametrize("method", follow(FOLLOWED, ("averaged-heun", "3-rode-taylor")))
def test_paths_follow_the_scheme(device, method):
    steps, h, fine, scheme = 5, 2.0**-6, 7, SCHEMES[method]
    result = rode.solve(
        NOISE, method, t_span=(0, steps * h), h=h, delta=h / fine, paths=3, rng=5, device=device
    )
    key = philox.key(5)
    A, B, rows = reference.kanai_tajimi()
    for path in (0, 2):
        o = process_values(path, steps * fine, h / fine, NOISE.process, 0.3, key)
        x = np.array([0.0, -0.3])
        for n in range(steps + 1):
            state = np.append(x, o[n * fine])
            np.testing.assert_allclose(
                result.paths[n, :, path], rows @ state, rtol=1e-10, atol=1e-13
            )
            part = o[n * fine : (n + 1) * fine + 1]
            if n < steps:
                x = reference.step_by(scheme, lambda v: A @ v, B, x, part, h)
    assert result.status == "success"
    assert result.outputs == ("displacement", "velocity", "acceleration")
    np.testing.assert_allclose(result.t, h * np.arange(steps + 1))


SEPARABLE = [name for name in FOLLOWED if SCHEMES[name].make_separable_step]
SEPARABLE += ["averaged-heun-printed"]


def make_separable(*parameters):
    """Return x' = a + b t + c O + (d + e t + f O) (u x + v sin x); parameters have this order.

    It has two components, which differ by their starts. Tests of one scheme share its compiled
    loops.
    """
    return rode.separable(
        lambda t, o, p: (p[0] + p[1] * t + p[2] * o, p[0] + p[1] * t + p[2] * o),
        lambda t, o, p: p[3] + p[4] * t + p[5] * o,
        lambda x, p: (p[6] * x[0] + p[7] * math.sin(x[0]), p[6] * x[1] + p[7] * math.sin(x[1])),
        dimension=2, start=STARTS, start_process=0.3, parameters=parameters,
    )  # fmt: skip


STARTS = 0.5, -1.2


@pytest.mark.parametrize("method", follow(SEPARABLE, ("averaged-euler", "averaged-heun")))
def test_paths_of_separable_noise_follow_the_scheme(device, method):
    """x' = O + (t + 2 O) sin x, whose coefficients change within a coarse step."""
    problem = make_separable(0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 1.0)
    steps, h, fine = 4, 2.0**-3, 7
    settings = {"t_span": (1, 1 + steps * h), "h": h, "delta": h / fine, "paths": 2, "rng": 5}
    result = rode.solve(problem, method, device=device, **settings)
    o = process_values(1, steps * fine, h / fine, problem.process, 0.3, philox.key(5))
    t, x = 1 + h / fine * np.arange(len(o)), np.array(STARTS)
    for n in range(steps + 1):
        np.testing.assert_allclose(result.paths[n, :, 1], x, rtol=1e-10)
        if n < steps:
            part = slice(n * fine, (n + 1) * fine + 1)
            g = t[part] + 2 * o[part]
            x = reference.separable_step_by(find_scheme(method), np.sin, o[part, None], g, x, h)


@pytest.mark.parametrize("method", ["averaged-euler", "averaged-heun"])
def test_averages_of_separable_problems_are_exact_for_linear_functions_of_time(method, device):
    """x' = 1 + 3 t - (2 + t) x with any number of fine steps, beside the step by exact averages."""
    problem = make_separable(1.0, 3.0, 0.0, 2.0, 1.0, 0.0, -1.0, 0.0)
    h, steps = 2.0**-3, 6
    expected, average = [np.array(STARTS)], {1: h / 2, 2: h / 3}  # of t - t_n, by A_1 and A_2
    for n in range(steps):
        x, t = expected[-1], n * h
        G, g = (
            {k: f(t + average[k]) for k in (1, 2)} for f in (lambda t: 1 + 3 * t, lambda t: 2 + t)
        )
        euler = x + h * (G[1] - g[1] * x)
        y = x + h * (G[2] - g[2] * x)
        expected.append(x + h / 2 * (2 * G[1] - g[1] * (x + y)) if "heun" in method else euler)
    settings = {"t_span": (0, steps * h), "h": h, "paths": 1, "rng": 1, "reduction": "paths"}
    for fine in (1, 2, 3, 4, 5, 7, 8, 16, 33, 1000):
        result = rode.solve(problem, method, delta=h / fine, device=device, **settings)
        np.testing.assert_allclose(result.paths[:, :, 0], expected, rtol=1e-12)


def values_of_process(t, x, o, p):
    return (o,)


def test_one_seed_and_fine_step_give_one_process(device):
    """O does not depend on h, whether or not coarse steps end where blocks of numbers end."""
    problem = rode.separable(
        lambda t, o, p: (o,), lambda t, o, p: 1.0, lambda x, p: (-x[0],),
        dimension=1, start=(0.0,), observe=values_of_process,
    )  # fmt: skip
    delta, settings = 2.0**-10, {"paths": 5, "rng": 3, "normals": "float32", "device": device}
    settings |= {"t_span": (0, 60 * delta), "delta": delta}
    finest = rode.solve(problem, "averaged-euler", h=delta, **settings).paths
    for fine in (2, 3, 4, 5, 6, 10, 12, 20, 30):
        paths = rode.solve(problem, "averaged-euler", h=fine * delta, **settings).paths
        np.testing.assert_array_equal(paths, finest[::fine])


def test_blocks_beyond_the_lower_counter_word(device):
    """Fine steps of a path are numbered by 64 bits: here number 2^33 lies within a coarse step."""
    from rode._solver.plan import make_plan
    from rode._solver.runner import Solver

    h, fine, first = 2.0**-28, 12, 2**33 // 12 - 1
    plan = make_plan(
        NOISE, "averaged-heun", t_span=(0, 4), h=h, delta=h / fine, paths=2, rng=5,
        reduction="peaks", device=device,
    )  # fmt: skip
    solver = Solver(plan)
    window = next(solver.windows())
    run = part_of(solver.parameters(window), first, 3)
    ones = np.full(2, 0.3)
    solver.arrays = solver.arrays._replace(o=solver.workspace.input("o", ones, np.float64))
    loops(plan.device).integrate(solver.spec, run, solver.arrays, solver.stop)
    ends = solver.workspace.result(solver.arrays.o, (2,))
    for path in (0, 1):
        o = process_values(
            path, 3 * fine, h / fine, NOISE.process, 0.3, plan.key, first=first * fine
        )
        np.testing.assert_allclose(ends[path] - 0.3, o[-1] - 0.3, rtol=1e-5)


@pytest.mark.parametrize("times", [7, 1])
def test_ranks_windows_and_reductions_agree(device, monkeypatch, times):
    """The buffer holds all paths at seven times, or not even at one."""
    settings = {"t_span": (0, 1), "h": 2.0**-6, "delta": 2.0**-9, "rng": 2, "device": device}
    every = rode.solve(NOISE, "averaged-heun", paths=600, **settings).paths
    part = rode.solve(NOISE, "averaged-heun", paths=100, first_path=500, **settings).paths
    np.testing.assert_array_equal(part, every[:, :, 500:])
    buffer = 3 * 600 * 8 * 7 if times == 7 else 8
    monkeypatch.setattr("rode._solver.memory_forecast.BUFFER", buffer)
    settings |= {"paths": 600}
    requested = ("moments", "peaks", rode.Quantiles(0.0, 0.3, 0.95, 1.0))
    result = rode.solve(NOISE, "averaged-heun", reduction=requested, save_every=2, **settings)
    saved = every[::2]
    np.testing.assert_allclose(result.mean, saved.mean(axis=2), atol=1e-12)
    variance = saved.var(axis=2, ddof=1)
    np.testing.assert_allclose(result.variance, variance, rtol=1e-9, atol=1e-25)
    np.testing.assert_array_equal(result.peaks, np.abs(every).max(axis=0))
    expected = np.quantile(saved, (0.0, 0.3, 0.95, 1.0), axis=2)
    np.testing.assert_allclose(result.quantiles, expected, rtol=1e-12, atol=1e-15)
    assert result.paths is None
    assert result.work.fine_steps == 600 * 64 * 8
    alone = rode.solve(NOISE, "averaged-heun", reduction="peaks", **settings)
    np.testing.assert_array_equal(alone.peaks, result.peaks)


def test_threads_that_share_a_path_agree(require_cuda):
    settings = {"t_span": (0, 0.5), "h": 2.0**-6, "delta": 2.0**-13, "paths": 37, "rng": 2}
    for method in ("averaged-euler", "3-rode-taylor"):
        expected = rode.solve(QUAKE, method, device="cpu", **settings).paths
        for width in (1, 2, 8, 32):
            result = rode.solve(QUAKE, method, device="cuda", threads_per_path=width, **settings)
            np.testing.assert_allclose(result.paths, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize(("method", "sampling"), [
    ("averaged-heun", "path"), ("3-rode-taylor", "path"), ("3-rode-taylor", "exact"),
])  # fmt: skip
def test_variances_of_the_ground(device, method, sampling):
    """They solve the discrete Lyapunov equation of a scheme."""
    paths = 1 << (14 if device == "cpu" else 20)
    settings = {"t_span": (0, 8), "h": 2.0**-5, "delta": 2.0**-9, "rng": 6, "save_every": 256}
    settings |= {"sampling": sampling, "reduction": "moments", "device": device}
    result = rode.solve(QUAKE, method, paths=paths, **settings)
    A, B, rows = reference.kanai_tajimi()
    scheme = find_scheme(method)
    expected = reference.stationary_variance(A, B, scheme, 2.0**-5, 16, Process(), rows)
    np.testing.assert_allclose(result.variance[-1], expected, rtol=5 * math.sqrt(2 / paths))
    deviation = np.sqrt(expected / paths)
    assert np.all(np.abs(result.mean[-1]) < 5 * deviation)


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [2.0**-9, None])
def test_exact_sampling_has_the_distribution_of_paths(device, delta):
    """Distributions are compared by Kolmogorov and Smirnov, also across neighbouring steps."""
    settings = {"t_span": (0, 1), "h": 2.0**-4, "paths": 20_000, "device": device}
    exact = rode.solve(
        NOISE, "3-rode-taylor", sampling="exact", delta=delta, rng=1, **settings
    ).paths
    path = rode.solve(NOISE, "3-rode-taylor", delta=2.0**-9, rng=2, **settings).paths
    for output in range(3):
        for time in (1, 8, 16):
            pair = exact[time, output], path[time, output]
            assert stats.ks_2samp(*pair).pvalue > 1e-4
    combined = [p[16, 2] - 2.0 * p[15, 2] for p in (exact, path)]
    assert stats.ks_2samp(*combined).pvalue > 1e-4


@pytest.mark.statistical
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_distribution_of_the_growth(device, dtype):
    """x' = O x: log x is normal with variance t - 3/2 + 2 e^-t - e^-2t/2."""
    paths, problem = 1 << 14, rode.growth(start_process=0.0)
    settings = {"t_span": (0, 1), "h": 2.0**-5, "rng": 4, "dtype": dtype, "device": device}
    result = rode.solve(problem, "averaged-heun", paths=paths, **settings)
    log = np.log(result.paths[-1, 0].astype(float))
    assert abs(log.mean()) < 5 * math.sqrt(0.168 / paths) + 1e-3
    # The averages lag half a fine step: O(delta) in the variance.
    assert abs(log.var() / 0.16809124072457830 - 1) < 5 * math.sqrt(2 / paths) + 0.01


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_threads_of_a_path_change_no_bit(dtype):
    """The stretches of a coarse step are joined in one order, however threads share them.

    The formulas of the GPU's kernel are called here in the place of its threads.
    """
    from rode._solver.formulas.stretch_formulas import make_join, make_walk_stretches
    from rode._solver.plan import make_plan
    from rode._solver.runner import Solver

    settings = {"t_span": (0, 1), "h": 2.0**-3, "delta": 2.0**-13, "paths": 1, "rng": 2}
    plan = make_plan(QUAKE, "averaged-heun", dtype=dtype, device="cpu", **settings)
    solver, T = Solver(plan), np.dtype(dtype).type
    walk, join, transfers = make_walk_stretches(solver.spec), make_join(3), plan.transfers()
    run, blocks = solver.parameters(next(solver.windows())), plan.fine_steps // (32 * plan.block)
    transfers, waiting, path = transfers.astype(dtype), np.zeros((5, 3), dtype), np.uint32(7)
    results = []
    for threads in (1, 2, 4, 8, 16, 32):
        call = run._replace(
            stretch_blocks=blocks, own_stretches=32 // threads, threads_per_path=threads
        )
        states = [walk(call, 2, path, lane, T(0.3), transfers, waiting) for lane in range(threads)]
        level = (32 // threads).bit_length() - 1
        while len(states) > 1:
            pairs = zip(states[::2], states[1::2], strict=True)
            states, level = [join(transfers, level, a, b) for a, b in pairs], level + 1
        results.append(states[0])
    assert plan.stretches == 32
    assert len(set(results)) == 1
    whole = walk(run, 2, path, 0, T(0.3), transfers, waiting)
    np.testing.assert_allclose(results[0], whole, rtol=2e-3 if dtype == "float32" else 1e-10)
