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
from collections.abc import Iterator

import numpy as np

import rode
from studies.study import Study

T_SPAN, H = (0.0, 4.0), 2.0**-4
TAU, C = 0.2, 4.0

THRESHOLDS = {"displacement": (0.6, 0.8), "force": (2.5, 3.2)}
"""Levels of the displacement, which is smooth, and of the process itself, which is rough."""

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
    "output", "threshold", "method", "probability", "standard error",
    "coefficient of variation of a run", "path steps of a run", "its square x path steps", "s",
)  # fmt: skip


def duffing(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return x'."""
    return x[1], -4.0 * x[0] - 4.0 * x[0] * x[0] * x[0] - 0.4 * x[1] + O


def displacement(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return a smooth output."""
    return (x[0],)


def force(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return a rough output."""
    return (O,)


def problem_of(excitation: rode.Excitation, output: str) -> rode.Problem:
    """Return the oscillator with one output."""
    return rode.general(
        duffing,
        dimension=2,
        excitation=excitation,
        observe={"displacement": displacement, "force": force}[output],
        outputs=output,
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


def peaks_of(numbers: np.ndarray, output: str, study: Study) -> np.ndarray:
    """Return the largest |output| of each path, for numbers (.., steps + 1)."""
    values = process_of(numbers.reshape(-1, numbers.shape[-1]))
    result = rode.solve(
        problem_of(rode.Record(values, H), output), "heun", t_span=T_SPAN, h=H, paths=len(values),
        sampling="exact", reduction="peaks", device=study.device,
    )  # fmt: skip
    assert result.peaks is not None
    return result.peaks[0].reshape(numbers.shape[:-1])


def subset_runs(
    output: str, threshold: float, paths: int, runs: int, study: Study
) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimates of independent runs, and the path steps of each."""
    rng, steps = np.random.default_rng(1), round((T_SPAN[1] - T_SPAN[0]) / H)
    seeds = round(SHARE * paths)
    numbers = rng.standard_normal((runs, paths, steps + 1))
    peaks = peaks_of(numbers, output, study)
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
            found = peaks_of(candidate, output, study)
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
    output: str, threshold: float, paths: int, runs: int, study: Study
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of `rode.rare_event`."""
    found = rode.rare_event(
        problem_of(rode.OU(TAU, C), output), "heun", threshold, t_span=T_SPAN, h=H, paths=paths,
        coefficient_of_variation=1e-9, max_runs=runs, rng=1, device=study.device,
    )  # fmt: skip
    return found.runs, np.full(runs, found.path_steps / runs)


def run(study: Study) -> dict:
    """Compare both for two thresholds of each output."""
    paths, runs = (50, 10) if study.quick else (PATHS, RUNS)
    title = f"Probability that the largest |output| exceeds a threshold: {runs} runs, {paths} paths"
    rows = study.table(title, HEADS, estimates(study, paths, runs))
    return {
        "work of subset simulation over that of splitting at equal errors": {
            f"{a[0]} {a[1]}": b[7] / a[7] if a[7] > 0.0 else None
            for a, b in zip(rows[::2], rows[1::2], strict=True)
        }
    }


def estimates(study: Study, paths: int, runs: int) -> Iterator[tuple]:
    """Yield a row for each output, threshold and method."""
    methods = {"splitting": splitting_runs, "subset simulation": subset_runs}
    outputs = list(THRESHOLDS)[: 1 if study.quick else None]
    for output in outputs:
        for estimate in methods.values():  # compiled before it is timed
            estimate(output, THRESHOLDS[output][0], 10, 10, study)
        for threshold in THRESHOLDS[output][: 1 if study.quick else None]:
            for name, estimate in methods.items():
                start = time.perf_counter()
                values, cost = estimate(output, threshold, paths, runs, study)
                seconds, mean = time.perf_counter() - start, float(values.mean())
                variation = float(values.std(ddof=1)) / mean if mean > 0.0 else math.inf
                error, steps = mean * variation / math.sqrt(runs), float(cost.mean())
                yield (
                    *(output, threshold, name, mean, error, variation, steps),
                    *(variation**2 * steps, seconds),
                )
