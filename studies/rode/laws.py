"""Laws of excitations and of a yielding frame against oracles that share no code with the package.

Variances of an oscillator that each excitation pushes are compared with those of the moment
equations (for a spectrum: with the sum over its cosines), and the probability that a yielding frame
exceeds a drift with that of Heun's scheme in displacements of floors, by NumPy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import integrate, linalg

import rode
from studies.study import Study

SEEDS, PATHS = 20, 2000
TIMES, H = (1.5, 3.0), 2.0**-5
A = np.array([[0.0, 1.0], [-40.0, -1.0]])
RISE = ([0.0, 1.0, 3.0], [0.0, 1.0, 0.25])
CORRELATION = [[1.0, 0.8, 0.0], [0.8, 1.0, -0.5], [0.0, -0.5, 1.0]]
THREE: dict[str, Any] = {"tau": [0.1, 0.5, 1.0], "c": [2.0, 1.0, 0.5], "correlation": CORRELATION}
OMEGA = np.linspace(0.25, 40.0, 160)
DENSITY = 4.0 / (1.0 + (OMEGA - 6.0) ** 2)

MEMBERS: dict[str, rode.Excitation] = {
    "OU": rode.OU(0.3, 2.0),
    "OU that begins at its mean": rode.OU(theta=3.0, sigma=2.0, mean=0.7, start="mean"),
    "three correlated OU": rode.OU(**THREE),
    "the same with an envelope": rode.OU(**THREE, envelope=RISE),
    "Kanai-Tajimi": rode.Filtered.kanai_tajimi(c=0.3),
    "Kanai-Tajimi with an envelope": rode.Filtered.kanai_tajimi(c=0.3, envelope=RISE),
    "Clough-Penzien from rest": rode.Filtered.clough_penzien(c=0.1, start="rest"),
    "Spectrum": rode.Spectrum(OMEGA, DENSITY),
    "Spectrum with an envelope": rode.Spectrum(OMEGA, DENSITY, envelope=RISE),
    "Sum": rode.Sum(rode.OU(1.0, 1.0), rode.Filtered.clough_penzien(c=0.1, envelope=RISE)),
}

MASS, STIFFNESS, YIELD, ALPHA = np.array([30.0, 25.0]), np.array([9e3, 7e3]), 0.01, 0.1
DASHPOT, NOISE, T, LIMIT = np.array([40.0, 30.0]), 0.05, 4.0, 0.04

HEADS = ("excitation", "output", "t, s", "variance", "exact", "score")
FRAME_HEADS = ("seeds", "paths of a seed", "probability", "by NumPy", "standard error", "score")


def run(study: Study) -> dict:
    """Compare variances and the probability of a drift."""
    rows = study.table(f"Variances, {SEEDS} seeds of {PATHS} paths", HEADS, variances(study))
    scores = np.array([row[5] for row in rows])
    frame = study.table("Drift of a yielding frame", FRAME_HEADS, [drift(study)])
    return {
        "cases": scores.size,
        "mean score": float(scores.mean()),
        "largest |score|": float(np.abs(scores).max()),
        "score of the probability": frame[0][5],
    }


def variances(study: Study) -> Iterator[tuple]:
    """Yield a row for each excitation, output and time."""
    seeds, paths = (2, 100) if study.quick else (SEEDS, PATHS)
    for number, (name, excitation) in enumerate(list(MEMBERS.items())[:: 7 if study.quick else 1]):
        several = excitation.components == 3
        problem = rode.additive(
            lambda x, p: (x[1], -40.0 * x[0] - x[1]), push_by_three if several else push,
            dimension=2, linear=True, observe=show_three if several else show,
            outputs=("x", "v", "u"), excitation=excitation,
        )  # fmt: skip
        sums = np.zeros((len(TIMES), 3))
        for seed in range(seeds):
            result = rode.solve(
                problem, "4-rode-taylor", t_span=(0.0, TIMES[-1]), h=H, paths=paths,
                rng=100 * number + seed, sampling="exact", reduction="moments",
                save_every=round(TIMES[0] / H), device=study.device,
            )  # fmt: skip
            assert result.variance is not None
            sums += result.variance[1:]
        for k, t in enumerate(TIMES):
            exact = (of_cosines if "Spectrum" in name else of_filters)(excitation, t)
            for output, found, value in zip("xvu", sums[k] / seeds, exact, strict=True):
                score = (found / value - 1.0) / math.sqrt(2.0 / ((paths - 1) * seeds))
                yield name, output, t, float(found), float(value), float(score)


def push(p: Any) -> Any:
    """Return B of one component."""
    return 0.0, -1.0


def push_by_three(p: Any) -> Any:
    """Return B of three components."""
    return (0.0, -1.0), (0.5, 1.0), (0.0, 2.0)


def show(t: Any, x: Any, u: Any, p: Any) -> Any:
    """Return the outputs."""
    return x[0], x[1], u


def show_three(t: Any, x: Any, u: Any, p: Any) -> Any:
    """Return the outputs for three components."""
    return x[0], x[1], u[0] + 2.0 * u[2]


def of_filters(excitation: rode.Excitation, t_end: float) -> np.ndarray:
    """Return variances of x, v and u by the moment equation of x and the states of all filters."""
    sources, components = excitation.sources(), excitation.components
    B = np.array(push_by_three(()) if components == 3 else [push(())]).T
    weights = np.array([1.0, 0.0, 2.0]) if components == 3 else np.ones(1)
    F, L, P = (
        linalg.block_diag(*(getattr(one, name) for one in sources))
        for name in ("F", "L", "covariance")
    )
    size = 2 + len(F)

    def outputs(t: float) -> np.ndarray:
        shaped = [(np.interp(t, *RISE) if one.envelope else 1.0) * one.C for one in sources]
        return np.hstack(shaped)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        M, noise, P = np.zeros((size, size)), np.zeros((size, size)), y.reshape(size, size)
        M[:2, :2], M[:2, 2:], M[2:, 2:], noise[2:, 2:] = A, B @ outputs(t), F, L @ L.T
        return np.asarray((M @ P + P @ M.T + noise).ravel())

    y = linalg.block_diag(np.zeros((2, 2)), P).ravel()
    for span in itertools.pairwise(sorted({0.0, *(t for t in RISE[0] if 0 < t < t_end), t_end})):
        y = integrate.solve_ivp(rates, span, y, rtol=1e-9, atol=1e-12).y[:, -1]
    rows = np.zeros((3, size))
    rows[:2, :2], rows[2, 2:] = np.eye(2), weights @ outputs(t_end)
    return np.diag(rows @ y.reshape(size, size) @ rows.T)


def of_cosines(excitation: Any, t_end: float) -> np.ndarray:
    """Return the same for cosines of independent phases, by SciPy's integration."""
    gap = OMEGA[1] - OMEGA[0]
    power = DENSITY * gap * np.where((OMEGA == OMEGA[0]) | (OMEGA == OMEGA[-1]), 0.5, 1.0)

    def envelope(t: float) -> float:
        return 1.0 if excitation.envelope is None else float(np.interp(t, *RISE))

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        x, v = y.reshape(2, -1)
        return np.concatenate([v, -40.0 * x - v - envelope(t) * np.exp(1j * OMEGA * t)])

    y = np.zeros(2 * OMEGA.size, complex)
    for span in itertools.pairwise(sorted({0.0, *(t for t in RISE[0] if 0 < t < t_end), t_end})):
        y = integrate.solve_ivp(rates, span, y, rtol=1e-8, atol=1e-10).y[:, -1]
    squares = np.abs(y.reshape(2, -1)) ** 2
    return np.array([*(squares @ power), envelope(t_end) ** 2 * power.sum()])


def drift(study: Study) -> tuple:
    """Return the row of the yielding frame."""
    seeds, paths = (2, 200) if study.quick else (SEEDS, 2 * PATHS)
    frame = rode.shear_frame(
        MASS, STIFFNESS, dashpots=DASHPOT, excitation=rode.Filtered.kanai_tajimi(c=NOISE),
        hysteresis=rode.BoucWen(yield_drift=YIELD, alpha=ALPHA, exponent=2), outputs="drift[1]",
    )  # fmt: skip
    found, other = [], []
    for seed in range(seeds):
        result = rode.solve(
            frame, "averaged-heun", t_span=(0.0, T), h=2.0**-9, paths=paths, rng=seed,
            sampling="exact", reduction="peaks", device=study.device,
        )  # fmt: skip
        assert result.peaks is not None
        found.append(float(np.mean(result.peaks[0] > LIMIT)))
        other.append(float(np.mean(largest_drifts(paths, 1000 + seed) > LIMIT)))
    error = math.sqrt((np.var(found, ddof=1) + np.var(other, ddof=1)) / seeds)
    p, q = float(np.mean(found)), float(np.mean(other))
    return seeds, paths, p, q, error, (p - q) / error if error else 0.0


def largest_drifts(paths: int, seed: int, h: float = 2.0**-9) -> np.ndarray:
    """Return the largest |drift| of the first storey of paths, by Heun's scheme.

    The ground is the filter of Kanai and Tajimi, whose law over a step is exact.
    """
    rng, w, zeta = np.random.default_rng(seed), 15.56, 0.64
    F = np.array([[0.0, 1.0], [-w * w, -2.0 * zeta * w]])
    variance = NOISE / (4.0 * zeta * w)
    stationary = np.diag([variance / (w * w), variance])
    carry = linalg.expm(F * h)
    factor = np.linalg.cholesky(stationary - carry @ stationary @ carry.T)
    s = np.sqrt(np.diag(stationary))[:, None] * rng.standard_normal((2, paths))
    y, peak = np.zeros((6, paths)), np.zeros(paths)  # displacements, velocities, hysteretic drifts
    for _ in range(round(T / h)):
        after = carry @ s + factor @ rng.standard_normal((2, paths))
        begin, end = F[1] @ s, F[1] @ after
        slope = frame_rates(y, begin)
        y, s = y + 0.5 * h * (slope + frame_rates(y + h * slope, end)), after
        peak = np.maximum(peak, np.abs(y[0]))
    return peak


def frame_rates(y: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """Return the rates of (u_1, u_2, u_1', u_2', z_1, z_2) on a ground with an acceleration."""
    u, v, z = y[:2], y[2:4], y[4:]
    d, rate = np.array([u[0], u[1] - u[0]]), np.array([v[0], v[1] - v[0]])
    q = STIFFNESS[:, None] * (ALPHA * d + (1.0 - ALPHA) * z) + DASHPOT[:, None] * rate
    force = np.array([q[1] - q[0], -q[1]]) / MASS[:, None]
    grow = rate - 0.5 * (rate + np.abs(rate) * np.sign(z)) * (z / YIELD) ** 2
    return np.concatenate([v, force - ground, grow])
