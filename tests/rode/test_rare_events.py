"""Small probabilities against exact ones: of a discrete process, and of a Gaussian end."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erfc

import rode

H = 2.0**-5


def process(noise=1.0):
    """Return a problem whose output is O or, without noise, a decay from 1; they share code."""
    return rode.additive(
        lambda x, p: (-x[0],), lambda p: (p[0],), dimension=1, start=(1.0 - noise,),
        start_process=0.0, parameters=(noise,),
        observe=lambda t, x, O, p: (p[0] * O + (1.0 - p[0]) * x[0],),
    )  # fmt: skip


def exit_probability(level, steps):
    """Return the probability that |O_n| exceeds a level for some n <= steps, O_0 = 0.

    The density of paths that have stayed inside is followed at Gauss-Legendre nodes; what leaves
    in a step is the tail of the normal law of that step.
    """
    mu, sigma = math.exp(-H), math.sqrt(-0.5 * math.expm1(-2.0 * H))
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x, w = level * nodes, level * weights
    kernel = np.exp(-0.5 * ((x[:, None] - mu * x) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
    tails = sum(erfc((level - s * mu * x) / (sigma * math.sqrt(2.0))) / 2.0 for s in (1.0, -1.0))
    left = erfc(level / (sigma * math.sqrt(2.0)))
    density = np.exp(-0.5 * (x / sigma) ** 2) / (sigma * math.sqrt(2.0 * math.pi))
    for _ in range(steps - 1):
        left += tails @ (w * density)
        density = kernel @ (w * density)
    return left


@pytest.mark.statistical
@pytest.mark.parametrize("level", [1.5, pytest.param(3.9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", ["splitting", "subset", "importance"])
def test_probabilities_are_those_of_the_process(device, algorithm, level):
    """Probabilities of 0.2 (20 seeds) and 2.4e-7 (8 seeds); 15 % of the intervals may miss.

    Runs have few paths, and take more of them where they scatter.
    """
    exact, problem, estimates, hits = exit_probability(level, 64), process(), [], 0
    paths, seeds = 500 if algorithm == "importance" else 50, 8 if level > 3.0 else 20
    for seed in range(seeds):
        found = rode.rare_event(
            problem, "euler", level, t_span=(0, 2), h=H, paths=paths, rng=seed, device=device,
            coefficient_of_variation=0.2, algorithm=algorithm,
        )  # fmt: skip
        assert found.reached
        estimates.append(found.probability)
        hits += found.low <= exact <= found.high
        assert found.levels[0][-1] == level
        assert found.paths >= (8 * paths if level > 3.0 and algorithm == "subset" else paths)
        assert found.path_steps > 64 * paths * len(found.runs)
    scores = (np.array(estimates) / exact - 1.0) / np.std(np.array(estimates) / exact, ddof=1)
    assert abs(scores.mean()) * math.sqrt(seeds) < 3.5
    assert hits >= 0.85 * seeds
    assert (exact < 3e-7) == (level > 3.0)


def test_runs_that_scatter_too_much_are_refused(monkeypatch):
    monkeypatch.setattr("rode.rare_events.MAX_PILOTS", 1)
    options = {"t_span": (0, 2), "h": H, "paths": 50, "rng": 1, "device": "cpu"}
    with pytest.raises(ValueError, match=r"of runs of 50 paths spread by .* use more paths"):
        rode.rare_event(process(), "euler", 2.7, **options)


def integrate_acceleration(x, p):
    return x[1], -25.0 * x[0] - 0.5 * x[1]


@pytest.mark.statistical
@pytest.mark.parametrize(("level", "seeds", "paths", "scatter", "hits"), [
    (4.0, 5, 500, 0.4, 4), pytest.param(5.0, 10, 300, 0.6, 7, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_gaussian_end_far_out(device, level, seeds, paths, scatter, hits):
    """An oscillator on the ground of Kanai and Tajimi, which an envelope lets swell.

    The output is 0 before the end. Its variance there is that of the moment equations, and the
    probability 6.3e-5 or 5.7e-7. It takes a bent envelope, a filter of two states and three
    integrals. At least `hits` intervals of the `seeds` hold the exact value.
    """
    envelope = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.5])
    ground = rode.Filtered.kanai_tajimi(envelope=envelope)
    problem = rode.additive(
        integrate_acceleration, lambda p: (0.0, -1.0), dimension=2, linear=True,
        excitation=ground, observe=lambda t, x, u, p: (x[0] if t > 1.99 else 0.0 * x[0],),
    )  # fmt: skip

    def rates(t, y):
        M, P = np.zeros((4, 4)), y.reshape(4, 4)
        M[0, 1], M[1, :2], M[2:, 2:] = 1.0, (-25.0, -0.5), ground.F
        M[1, 2:] = -np.interp(t, *envelope) * ground.C[0]
        noise = np.zeros((4, 4))
        noise[2:, 2:] = ground.L @ ground.L.T
        return (M @ P + P @ M.T + noise).ravel()

    start = np.zeros((4, 4))
    start[2:, 2:] = ground.covariance
    run = {"rtol": 1e-9, "atol": 1e-12, "max_step": 0.1}
    deviation = math.sqrt(solve_ivp(rates, (0.0, 2.0), start.ravel(), **run).y[0, -1])
    exact, found = erfc(level / math.sqrt(2.0)), []
    for seed in range(seeds):
        one = rode.rare_event(
            problem, "3-rode-taylor", level * deviation, t_span=(0, 2), h=H, paths=paths,
            rng=seed, coefficient_of_variation=0.3, device=device,
        )  # fmt: skip
        assert one.reached
        found.append(one)
    ratios = np.array([one.probability for one in found]) / exact
    assert abs(ratios.mean() - 1.0) < 3.5 * ratios.std(ddof=1) / math.sqrt(seeds)
    assert ratios.std(ddof=1) < scatter
    assert sum(one.low <= exact <= one.high for one in found) >= hits


@pytest.mark.parametrize("algorithm", ["splitting", "subset", "importance"])
def test_a_threshold_that_is_never_reached_is_said(algorithm):
    options = {"t_span": (0, 1), "h": H, "paths": 20, "max_runs": 10, "rng": 1}
    found = rode.rare_event(process(0.0), "euler", 2.0, algorithm=algorithm, **options)
    assert (found.probability, found.low, found.reached) == (0.0, 0.0, False)
    assert math.isnan(found.high)
    assert math.isinf(found.coefficient_of_variation)


@pytest.mark.parametrize("algorithm", ["splitting", "subset"])
def test_probabilities_near_one_and_memory(algorithm):
    """Intervals end at 1 and are not empty where no path stays below; remedies can be used."""
    options = {"t_span": (0, 2), "h": H, "paths": 20, "rng": 1, "algorithm": algorithm}
    found = rode.rare_event(process(), "euler", 0.0, **options, device="cpu")
    assert found.probability == found.high == 1.0
    assert found.low == pytest.approx(0.025 ** (1.0 / 200.0))
    few = {"max_runs": 10, "coefficient_of_variation": 1e-3, "device": "cpu"}
    with pytest.warns(UserWarning, match="max_runs=10 runs are too few for coefficient_of_va"):
        found = rode.rare_event(process(), "euler", 0.6, **options, **few)
    assert 0.9 < found.low <= exit_probability(0.6, 64) <= found.high <= 1.0
    options |= {"h": H / 64.0, "t_span": (0, 256), "paths": 1 << 20}
    with pytest.raises(MemoryError, match=r"Remedy: use fewer paths; use a[^;]*$"):
        rode.rare_event(process(), "euler", 1.0, **options)
