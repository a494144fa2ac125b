"""Excitations: their laws against moment equations, and recorded ones against exact solutions."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, linalg, signal

import rode
from rode._paths.process import Process
from rode._solver.path_sums import filter_distribution, integrals_distribution
from rode.excitations.excitation import stationary, values_of

A = np.array([[0.0, 1.0], [-40.0, -1.0]])
RUN = {"sampling": "exact", "h": 2.0**-6, "rng": 1}


def oscillate(x, p):
    return x[1], -40.0 * x[0] - x[1]


def push(p):
    return 0.0, -1.0


def push_by_three(p):
    return (0.0, -1.0), (0.5, 1.0), (0.0, 2.0)


def show(t, x, u, p):
    return x[0], x[1], u


def show_three(t, x, u, p):
    return x[0], x[1], u[0] + 2.0 * u[2]


def oscillator(excitation):
    several = excitation.components == 3
    return rode.additive(
        oscillate, push_by_three if several else push, dimension=2, linear=True,
        observe=show_three if several else show, outputs=("x", "v", "u"), excitation=excitation,
    )  # fmt: skip


RISE = ([0.0, 1.0, 3.0], [0.0, 1.0, 0.25])
CORRELATION = [[1.0, 0.8, 0.0], [0.8, 1.0, -0.5], [0.0, -0.5, 1.0]]
EXCITATIONS = {
    "correlated": rode.OU([0.1, 0.5, 1.0], [2.0, 1.0, 0.5], correlation=CORRELATION),
    "envelope": rode.Filtered.kanai_tajimi(c=0.3, envelope=RISE),
    "sum": rode.Sum(
        rode.OU(theta=3.0, sigma=2.0, mean=0.7, start="mean", envelope=RISE),
        rode.Filtered.clough_penzien(c=0.1, start="rest"),
    ),
}


def moments(excitation, t_end):
    """Return means and variances of (x, v, u) by the moment equations of x and all filters."""
    sources, n = excitation.sources(), 2
    B = np.array(push_by_three(()) if excitation.components == 3 else [push(())]).T
    F = linalg.block_diag(*(one.F for one in sources))
    L = linalg.block_diag(*(one.L for one in sources))
    size = n + len(F)

    def output(t):
        columns = (values_of(one.envelope, np.array([t]))[0] * one.C for one in sources)
        return np.hstack(list(columns))

    def rates(t, y):
        M = np.zeros((size, size))
        M[:n, :n], M[:n, n:], M[n:, n:] = A, B @ output(t), F
        P, m = y[size:].reshape(size, size), y[:size]
        noise = np.zeros((size, size))
        noise[n:, n:] = L @ L.T
        return np.concatenate([M @ m, (M @ P + P @ M.T + noise).ravel()])

    P = linalg.block_diag(np.zeros((n, n)), *(one.covariance for one in sources))
    mean = np.concatenate([np.zeros(n), *(one.mean for one in sources)])
    knots = sorted({0.0, *[t for t in RISE[0] if 0.0 < t < t_end], t_end})
    y = np.concatenate([mean, P.ravel()])
    for span in itertools.pairwise(knots):
        y = integrate.solve_ivp(rates, span, y, rtol=1e-9, atol=1e-12).y[:, -1]
    u = output(t_end)
    rows = np.zeros((3, size))
    rows[:2, :2] = np.eye(2)
    rows[2, n:] = u[0] + 2.0 * u[2] if len(u) == 3 else u[0]
    P = y[size:].reshape(size, size)
    return rows @ y[:size], np.diag(rows @ P @ rows.T)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name", ["envelope", *(pytest.param(n, marks=pytest.mark.slow) for n in ("correlated", "sum"))]
)
def test_moments_are_those_of_the_moment_equations(device, name):
    """Scores of 20 seeds, at a time within the fall of the envelope and at its end."""
    excitation, paths = EXCITATIONS[name], 2000
    problem, scores = oscillator(excitation), []
    expected = [moments(excitation, t) for t in (1.5, 3.0)]
    for seed in range(20):
        settings = RUN | {"h": 2.0**-5, "rng": seed, "reduction": "moments", "save_every": 48}
        settings |= {"t_span": (0, 3), "paths": paths, "device": device}
        result = rode.solve(problem, "4-rode-taylor", **settings)
        for row, (mean, variance) in enumerate(expected, 1):
            spread = (result.variance[row] / variance - 1.0) / math.sqrt(2.0 / (paths - 1))
            scores.append([(result.mean[row] - mean) / np.sqrt(variance / paths), spread])
    scores = np.array(scores)
    assert np.abs(scores).max() < 5.0
    assert np.abs(scores.reshape(20, -1).mean(axis=0)).max() * math.sqrt(20) < 4.0
    assert 0.6 < scores.std() < 1.4


def test_stationary_laws():
    kt, cp = rode.Filtered.kanai_tajimi(0.5, 12.0, c=3.0), rode.Filtered.clough_penzien()
    assert kt.deviation[0] ** 2 == pytest.approx(3.0 * 12.0 * (1 + 4 * 0.25) / 2.0, rel=1e-12)
    w = np.linspace(1e-3, 4000.0, 2_000_001)  # rad/s; the tail falls as w^-2
    soil = (15.56**4 + (2 * 0.64 * 15.56 * w) ** 2) / (
        (15.56**2 - w**2) ** 2 + (2 * 0.64 * 15.56 * w) ** 2
    )
    density = soil * w**4 / ((1.556**2 - w**2) ** 2 + (2 * 0.6 * 1.556 * w) ** 2)
    for k in (300, 900, 8000, 50_000):
        response = cp.C @ np.linalg.solve(1j * w[k] * np.eye(4) - cp.F, cp.L)
        assert abs(response[0, 0]) ** 2 == pytest.approx(density[k], rel=1e-9)
    variance = np.trapezoid(density, w) / math.pi + (2 * 0.64 * 15.56) ** 2 / (math.pi * w[-1])
    assert cp.deviation[0] ** 2 == pytest.approx(variance, rel=1e-4)
    three = EXCITATIONS["correlated"].sources()[0]
    residual = three.F @ three.covariance + three.covariance @ three.F.T + three.L @ three.L.T
    assert np.abs(residual).max() < 1e-12
    np.testing.assert_allclose(stationary(three.F, three.L), three.covariance, atol=1e-12)
    same = rode.OU(1.0, [2.0, 2.0], correlation=[[1.0, -1.0], [-1.0, 1.0]]).sources()[0]
    np.testing.assert_allclose(same.L @ same.L.T, [[2.0, -2.0], [-2.0, 2.0]], rtol=1e-14)


def test_records_begin_and_end_at_their_samples():
    """0.1 * 3 is larger than 0.3, and 0.3 * 3 less than 0.1 * 9."""
    begins, ends = rode.Record([3.0, 1.0], 0.1, t0=0.1 * 3), rode.Record([0.0, 1.0, 2.0, 3.0], 0.3)
    np.testing.assert_allclose(begins.integrals(0.3, 0.1, 1, 0)[0, 0, :, 0], [3.0, 1.0, 0.2])
    np.testing.assert_allclose(ends.integrals(0.0, 0.1, 9, 0)[-1, 0, 1, 0], 3.0)


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_records_give_the_exact_response(device, dtype):
    """Samples and coarse steps end at different times; each path has a record of its own."""
    dt, samples = 0.02, np.random.default_rng(3).standard_normal((3, 101))
    problem = oscillator(rode.Record(samples, dt, envelope=([0.0, 1.0], [0.5, 1.0])))
    scaled = samples * np.interp(dt * np.arange(101), [0.0, 1.0], [0.5, 1.0])
    settings = RUN | {"h": 1.0 / 64, "paths": 3, "dtype": dtype, "device": device}
    result = rode.solve(problem, "6-rode-taylor", t_span=(0, 2), **settings)
    system = (A, np.array([[0.0], [-1.0]]), np.eye(2), np.zeros((2, 1)))
    for path in range(3):
        _, _, x = signal.lsim(system, scaled[path], dt * np.arange(101))
        chosen = result.paths[32::32, :2, path]  # at 0.5, 1, 1.5 and 2 s
        tolerance = 1e-9 if dtype == "float64" else 2e-5
        np.testing.assert_allclose(chosen, x[25::25], rtol=0, atol=tolerance)
    parts = rode.solve(problem, "6-rode-taylor", t_span=(0, 2), parts=3, **settings)
    np.testing.assert_array_equal(parts.paths, result.paths)
    with pytest.raises(ValueError, match="has 3 records, but paths=4"):
        rode.solve(problem, "6-rode-taylor", t_span=(0, 2), **settings | {"paths": 4})


@pytest.mark.parametrize("envelope", [None, ([0.0, 1.0, 4.0], [0.0, 1.0, 0.5])])
def test_spectra_give_the_process_that_they_say(device, envelope):
    """Over its period the periodogram is the density, and the response that of the same cosines."""
    steps, h, count = 256, 1.0 / 64, 40
    omega = 2.0 * math.pi / (steps * h) * np.arange(count + 1)
    density = np.exp(-0.002 * (omega - 6.0) ** 2)
    excitation = rode.Spectrum(omega, density, envelope=envelope)
    settings = RUN | {"h": h, "paths": 300, "device": device, "t_span": (0, steps * h)}
    found = rode.solve(oscillator(excitation), "6-rode-taylor", **settings).paths
    # Frequencies that are not equidistant: the product of matrices instead of a fast transform.
    many = np.append(np.linspace(1.0, 60.0, 401), 60.1)  # with density 0 in the last two
    slow, fast = (
        rode.Spectrum(w, np.where(w < 60.0, 1.0, 0.0), envelope=envelope) for w in (many, many[:-1])
    )
    slow, fast = (
        rode.solve(oscillator(one), "6-rode-taylor", **settings).paths for one in (slow, fast)
    )
    np.testing.assert_allclose(slow, fast, atol=1e-11)
    plain = rode.solve(oscillator(rode.Spectrum(omega, density)), "6-rode-taylor", **settings).paths
    parts = rode.solve(oscillator(excitation), "6-rode-taylor", parts=3, **settings).paths
    np.testing.assert_array_equal(parts, found)
    waves = np.fft.rfft(plain[:-1, 2], axis=0)[: count + 1] * (2.0 / steps)  # A exp(i phi)
    squares = np.abs(waves[1:]) ** 2 / 2.0  # the cosine of frequency 0 is a constant
    expected = density[1:] * omega[1] * np.append(np.ones(count - 1), 0.5)
    np.testing.assert_allclose(
        squares, np.broadcast_to(expected[:, None], squares.shape), rtol=1e-9
    )
    assert np.abs(np.mean(waves[1:] / np.abs(waves[1:]))) < 4.0 / math.sqrt(300 * count)
    assert excitation.variance == pytest.approx(np.trapezoid(density, omega), rel=1e-12)
    # Path 0 by another method.
    waves[0] = plain[0, 2] - waves[1:].real.sum(axis=0)
    factor = values_of(envelope, h * np.arange(steps + 1))
    np.testing.assert_allclose(found[:, 2], factor[:, None] * plain[:, 2], atol=1e-12)

    def rates(t, y):
        u = np.interp(t, h * np.arange(steps + 1), factor) * (waves[:, 0] @ np.exp(1j * omega * t))
        return A @ y + np.array([0.0, -u.real])

    times = np.array([0.0, 1.0, steps * h])  # the envelope has its bend at 1
    y = np.zeros(2)
    for low, high in itertools.pairwise(times):
        y = integrate.solve_ivp(rates, (low, high), y, rtol=1e-10, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(found[round(high / h), :2, 0], y, atol=1e-7)


def test_several_spectra_have_their_cross_spectra(device):
    """Over a period the waves of components have products whose mean is the cross spectrum."""
    steps, h, count, paths, delay = 128, 1.0 / 32, 24, 2000, 0.3
    omega = 2.0 * math.pi / (steps * h) * np.arange(1, count + 1)
    density = np.array([np.exp(-0.1 * omega), 2.0 * np.exp(-0.05 * omega), np.full(count, 0.1)])
    density[:, -1] = 0.0

    def coherence(w):  # the second component is behind the first; the third is the first
        result = np.tile(np.eye(3, dtype=complex), (w.size, 1, 1))
        result[:, 0, 1] = result[:, 2, 1] = np.exp(-0.05 * w + 1j * delay * w)
        result[:, 1, 0] = result[:, 1, 2] = result[:, 0, 1].conj()
        result[:, 0, 2] = result[:, 2, 0] = 1.0
        return result

    problem = rode.additive(
        lambda x, p: (0.0 * x[0], 0.0 * x[1], 0.0 * x[2]),
        lambda p: ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        dimension=3, linear=True, observe=lambda t, x, u, p: (*u, x[0], x[1], x[2]),
        excitation=rode.Spectrum(omega, density, coherence=coherence),
    )  # fmt: skip
    settings = RUN | {"h": h, "t_span": (0, steps * h), "paths": paths, "device": device}
    found = rode.solve(problem, "1-rode-taylor", **settings).paths
    waves = np.fft.rfft(found[:-1, :3], axis=0)[1 : count + 1] * (2.0 / steps)
    gap = omega[1] - omega[0]
    cross = coherence(omega) * np.sqrt(density.T[:, :, None] * density.T[:, None, :])
    products = np.einsum("kip,kjp->kijp", waves, waves.conj()) / (2.0 * gap)
    error = np.abs(products.mean(axis=-1) - cross)[1:-1]
    size = np.sqrt(density.T[:, :, None] * density.T[:, None, :])[1:-1] / math.sqrt(paths)
    assert (error / size).max() < 5.0
    same = np.broadcast_to(cross[1:-1, 2, 0, None], (count - 2, paths))
    np.testing.assert_allclose(products[1:-1, 2, 0], same, rtol=1e-9)
    turns = (np.exp(1j * np.outer(h * np.arange(steps + 1), omega)) - 1.0) / (1j * omega)
    integral = np.einsum("nk,kip->nip", turns, waves).real
    np.testing.assert_allclose(found[:, 3:], integral, atol=1e-11)


def test_spectra_say_how_far_from_gaussian_they_are():
    """The fourth cumulant of A cos(phi) is -3/8 A^4; phases of sums are drawn for each term."""
    assert rode.Spectrum([1.0, 2.0], [1.0, 0.0]).excess_kurtosis == pytest.approx(-1.5)
    omega = np.linspace(0.0, 20.0, 41)
    two = rode.Spectrum(omega, np.exp(-omega))
    u = rode.solve(
        oscillator(rode.Sum(two, two)), "6-rode-taylor", t_span=(0, 1), paths=20_000, save_every=64,
        device="cpu", **RUN,
    ).paths[-1, 2]  # fmt: skip
    assert np.var(u) == pytest.approx(2.0 * two.variance, rel=0.05)
    kurtosis = np.mean(u**4) / np.var(u) ** 2 - 3.0
    assert kurtosis == pytest.approx(0.5 * two.excess_kurtosis, abs=4 * math.sqrt(24 / 20_000))


def test_the_law_of_a_step_is_that_of_one_process():
    tau, c, h = 0.3, 2.0, 0.7
    power, factor = filter_distribution(
        np.array([[-1.0 / tau]]), np.array([[math.sqrt(c)]]), np.eye(1), h, 2
    )
    expected = integrals_distribution(Process(tau, c), h, 2)
    np.testing.assert_allclose(power[:, 0], expected.mean, rtol=1e-12)
    np.testing.assert_allclose(factor @ factor.T, expected.covariance, rtol=1e-12)
