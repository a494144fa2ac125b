"""Subset simulation (Au and Beck 2001) beside the splitting of `rode.rare_event`.

A Duffing oscillator is pushed by an Ornstein-Uhlenbeck process, which Heun's scheme sees at the
ends of its steps only. Splitting draws the process in the solver; subset simulation holds the
normal numbers of each path in NumPy, and hands the process to `rode.solve` as records. So both
estimate the probability of the same event. Their costs for equal errors are compared by the
squared coefficient of variation of a run times the path steps that it takes.
"""

from __future__ import annotations

import math
import time

import numpy as np

import rode
from studies.study import Study

T_SPAN, H = (0.0, 4.0), 2.0**-4
TAU, C = 0.2, 4.0

THRESHOLDS = 0.6, 0.8
"""Largest displacements: probabilities of some 1e-3 and 1e-5."""

PATHS = 500
"""Paths of a run."""

RUNS = 50
"""Independent runs, whose spread is compared."""

SHARE = 0.1
"""Share of the paths above a level of subset simulation, as Au and Beck take it."""

WIDTH = 1.0
"""Half of the range of a proposal for a normal number, as Au and Beck take it."""

MAX_LEVELS = 20

HEADS = (
    "threshold", "method", "probability", "standard error", "coefficient of variation of a run",
    "path steps of a run", "its square x path steps", "s",
)  # fmt: skip


def duffing(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return x'."""
    return x[1], -4.0 * x[0] - 4.0 * x[0] * x[0] * x[0] - 0.4 * x[1] + O


def problem_of(excitation: rode.Excitation) -> rode.Problem:
    """Return the oscillator."""
    return rode.general(
        duffing,
        dimension=2,
        excitation=excitation,
        observe=lambda t, x, O, p: (x[0],),
        outputs="displacement",
    )


def process_of(numbers: np.ndarray) -> np.ndarray:
    """Return paths of the process at the steps from standard normal numbers, (paths, steps + 1)."""
    deviation, decay = math.sqrt(C * TAU / 2.0), math.exp(-H / TAU)
    noise = deviation * math.sqrt(1.0 - decay**2)
    result = np.empty_like(numbers)
    result[:, 0] = deviation * numbers[:, 0]
    for k in range(1, numbers.shape[1]):
        result[:, k] = decay * result[:, k - 1] + noise * numbers[:, k]
    return result


def peaks_of(numbers: np.ndarray, study: Study) -> np.ndarray:
    """Return the largest |displacement| of each path, for numbers (.., steps + 1)."""
    values = process_of(numbers.reshape(-1, numbers.shape[-1]))
    result = rode.solve(
        problem_of(rode.Record(values, H)), "heun", t_span=T_SPAN, h=H, paths=len(values),
        sampling="exact", reduction="peaks", device=study.device,
    )  # fmt: skip
    assert result.peaks is not None
    return result.peaks[0].reshape(numbers.shape[:-1])


def subset_runs(
    threshold: float, paths: int, runs: int, study: Study
) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimates of independent runs, and the path steps of each."""
    rng, steps = np.random.default_rng(1), round((T_SPAN[1] - T_SPAN[0]) / H)
    seeds = round(SHARE * paths)
    numbers = rng.standard_normal((runs, paths, steps + 1))
    peaks = peaks_of(numbers, study)
    estimates, cost = np.ones(runs), np.full(runs, paths * steps)
    active = np.arange(runs)
    for _ in range(MAX_LEVELS):
        order = np.argsort(-peaks, axis=1)
        best = np.take_along_axis(peaks, order, axis=1)
        levels = 0.5 * (best[:, seeds - 1] + best[:, seeds])
        done = levels >= threshold
        estimates[active[done]] *= np.mean(peaks[done] > threshold, axis=1)
        estimates[active[~done]] *= SHARE
        active, levels = active[~done], levels[~done]
        if not active.size:
            return estimates, cost
        chosen = order[~done][:, :seeds]
        state = np.take_along_axis(numbers[~done], chosen[:, :, None], axis=1)
        value = np.take_along_axis(peaks[~done], chosen, axis=1)
        chains, values = [state], [value]
        for _ in range(paths // seeds - 1):
            candidate = state + rng.uniform(-WIDTH, WIDTH, state.shape)
            ratio = np.exp(0.5 * (state**2 - candidate**2))
            candidate = np.where(rng.random(state.shape) < ratio, candidate, state)
            found = peaks_of(candidate, study)
            moves = found > levels[:, None]
            state = np.where(moves[:, :, None], candidate, state)
            value = np.where(moves, found, value)
            chains.append(state)
            values.append(value)
        cost[active] += (paths - seeds) * steps
        numbers, peaks = np.concatenate(chains, axis=1), np.concatenate(values, axis=1)
    estimates[active] = 0.0
    return estimates, cost


def splitting_runs(
    threshold: float, paths: int, runs: int, study: Study
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of `rode.rare_event`."""
    found = rode.rare_event(
        problem_of(rode.OU(TAU, C)), "heun", threshold, t_span=T_SPAN, h=H, paths=paths,
        coefficient_of_variation=1e-9, max_runs=runs, rng=1, device=study.device,
    )  # fmt: skip
    return found.runs, np.full(runs, found.path_steps / runs)


def run(study: Study) -> dict:
    """Compare both for two thresholds."""
    paths, runs = (50, 10) if study.quick else (PATHS, RUNS)
    thresholds = THRESHOLDS[:1] if study.quick else THRESHOLDS
    methods = {"splitting": splitting_runs, "subset simulation": subset_runs}
    for estimate in methods.values():  # compiled before it is timed
        estimate(THRESHOLDS[0], 10, 10, study)
    rows = []
    for threshold in thresholds:
        for name, estimate in methods.items():
            start = time.perf_counter()
            values, cost = estimate(threshold, paths, runs, study)
            seconds = time.perf_counter() - start
            mean = float(values.mean())
            variation = float(values.std(ddof=1)) / mean if mean > 0.0 else math.inf
            rows.append(
                (threshold, name, mean, mean * variation / math.sqrt(runs), variation,
                 float(cost.mean()), variation**2 * float(cost.mean()), seconds)
            )  # fmt: skip
    title = f"Probability of a displacement: {runs} runs of {paths} paths"
    study.table(title, HEADS, rows)
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return {
        "work of subset simulation over that of splitting at equal errors": [
            b[6] / a[6] for a, b in pairs
        ]
    }
