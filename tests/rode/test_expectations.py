"""Multilevel Monte Carlo against exact means."""

import math

import numpy as np
import pytest
from scipy import integrate

import rode
from rode._estimators.control_variates import CONTROLS, means_of_controls
from rode._estimators.multilevel import MAX_PATHS, Multilevel, Samples
from rode._estimators.pairs import paired
from rode._solver.plan import make_plan
from rode._solver.runner import step_of

RUN = {"t_span": (0, 2), "tolerance": 1e-3, "device": "cpu"}
QUAKE = rode.kanai_tajimi(outputs="displacement")


def swing(x, p):
    return x[1], -p[0] * x[0] - 0.5 * x[1]


def first_of(t, x, O, p):
    return (x[0],)


PAIRED = {
    "heun": rode.general(
        lambda t, x, O, p: (x[1], t - (p[0] + O) * x[0]), dimension=2, parameters=(9.0,),
        observe=first_of, start=(1.0, -0.5),
    ),
    "2-rode-taylor": rode.additive(
        swing, lambda p: ((0.0, 1.0), (0.5, -2.0)), dimension=2, linear=True, parameters=(9.0,),
        observe=first_of, start=(1.0, -0.5), excitation=rode.OU(1.0, [1.0, 2.0]),
    ),
} | dict.fromkeys(
    ("euler", "averaged-heun", "4-rode-taylor"),
    rode.additive(
        swing, lambda p: (0.5, 1.0), dimension=2, linear=True, parameters=(9.0,),
        observe=first_of, start=(1.0, -0.5),
    ),
)  # fmt: skip


@pytest.mark.parametrize("method", PAIRED)
def test_pairs_take_the_steps_of_both_solutions(method):
    """Steps of h, and of 2 h over the same process, whose polynomials have known integrals."""
    problem, h, p, several = PAIRED[method], 0.05, (9.0,), method == "2-rode-taylor"
    plan = make_plan(
        problem, method, t_span=(0, 1), h=h, paths=1, sampling="exact", rng=1, device="cpu"
    )
    pair = paired(plan)
    step, both = step_of(problem, plan.scheme), step_of(pair.problem, pair.scheme)
    process = [np.poly1d([5.0, -3.0, 0.7]), np.poly1d([-4.0, 2.0, 0.2])][: 1 + several]

    def component_of(row):
        return tuple(row) if several else row[0]

    def take(step, scheme, t, x, h):
        ends = [[O(s) for O in process] for s in (t, t + h)]
        rows, s = ends.copy(), np.poly1d([-1.0, t + h])  # J_d weighs with (t + h - s)^d/d!
        for d in range(scheme.form_count):
            primitives = [np.polyint(O * s**d / math.factorial(d)) for O in process]
            rows.append([F(t + h) - F(t) for F in primitives])
        forms = tuple(map(component_of, scheme.forms(h, None) @ np.array(rows)))
        return step(t, x, component_of(ends[0]), forms, p, h)

    numbers = tuple(map(float, pair.problem.table[:, 0]))
    z = pair.problem.start(component_of([O(0.0) for O in process]), numbers)
    fine = coarse = (1.0, -0.5)
    for n in range(4):
        z = take(both, pair.scheme, n * h, z, h)
        fine = take(step, plan.scheme, n * h, fine, h)
        if n % 2:
            coarse = take(step, plan.scheme, (n - 1) * h, coarse, 2 * h)
        np.testing.assert_allclose(z[:4], [*fine, *coarse], rtol=1e-12)
    assert np.abs(np.subtract(fine, coarse)).max() > 1e-9
    # A run takes as many paths as the numbers allow that an excitation keeps for each, here none.
    assert not several or Multilevel.largest(None, pair) == MAX_PATHS


def energy_of_quake():
    """Return the mean integral of the squared displacement over 2 s, by the moment equations."""
    zeta, omega = 0.64, 15.56
    M = np.array([[0, -1, -1], [omega**2, -2 * zeta * omega, 1 - 2 * zeta * omega], [0, 0, -1]])

    def rates(t, y):
        P = y[:9].reshape(3, 3)
        return np.append((M @ P + P @ M.T + np.diag([0.0, 0.0, 1.0])).ravel(), y[0])

    start = np.array([0.0, -1.0, 1.0])
    y = np.append(0.5 * np.outer(start, start).ravel(), 0.0)
    return integrate.solve_ivp(rates, (0, 2), y, rtol=1e-10, atol=1e-14).y[-1, -1]


@pytest.mark.statistical
def test_errors_are_those_that_are_estimated():
    """20 seeds; the trapezoidal rule leaves a bias at every step. Two of 20 intervals may miss."""
    exact, tolerance = energy_of_quake(), 2e-6
    arguments = QUAKE, "3-rode-taylor", rode.energy()
    found = [
        rode.expectation(*arguments, rng=k, **RUN | {"tolerance": tolerance}) for k in range(20)
    ]
    errors = np.array([one.estimate - exact for one in found])
    assert all(one.reached and one.error <= tolerance for one in found)
    assert 0.5 < np.sqrt(np.mean(errors**2)) / tolerance < 1.4
    assert sum(one.low <= exact <= one.high for one in found) >= 18
    first = found[0]
    assert [one.h for one in first.levels] == [2.0**-k for k in range(4, 4 + len(first.levels))]
    assert first.path_steps >= sum(one.path_steps for one in first.levels)
    assert "tolerance 2e-06 reached" in repr(first)


@pytest.mark.slow
@pytest.mark.statistical
def test_a_general_equation():
    """x' = -(1 + O) x has the mean exp(-t + V/2), V = t - 1 + exp(-t) of the integral of O.

    Differences by Heun's scheme are of the order h, so that their variance falls as h^2.
    """
    problem = rode.general(lambda t, x, O, p: (-(1.0 + O) * x[0],), dimension=1, start=(1.0,))
    exact = math.exp(-2.0 + 0.5 * (1.0 + math.exp(-2.0)))
    scores, slopes = [], []
    for seed in range(10):
        found = rode.expectation(problem, "heun", "end", rng=seed, **RUN | {"tolerance": 2e-3})
        scores.append((found.estimate - exact) / found.error)
        slopes.append(math.log2(found.levels[1].variance / found.levels[2].variance))
    assert abs(np.mean(scores)) < 1.5
    assert np.abs(scores).max() < 4.0
    assert np.mean(slopes) == pytest.approx(2.0, abs=0.5)


@pytest.mark.statistical
def test_control_variates_leave_the_mean_of_the_coarsest_level():
    """20 seeds against many plain paths, for a start, a process and an output that are not 0."""
    problem = rode.additive(
        lambda x, p: (x[1], -9.0 * x[0] - x[1]), lambda p: (0.3, 1.0), dimension=2, linear=True,
        start=(0.4, 0.0), start_process=0.7, observe=lambda t, x, O, p: (x[0] - 0.3 * O + 0.2,),
    )  # fmt: skip
    h, method, levels = 2.0**-6, "averaged-heun", []
    settings = {"t_span": RUN["t_span"], "h": h, "sampling": "exact", "device": "cpu"}

    def values(paths, rng):
        wanted = ("peaks", *CONTROLS)
        result = rode.solve(problem, method, paths=paths, rng=rng, reduction=wanted, **settings)
        return np.concatenate([result.peaks, *(result.values[one.name] for one in CONTROLS)])

    plan = make_plan(problem, method, paths=1, rng=1, **settings)
    expected = means_of_controls(plan, 0)
    for seed in range(20):
        level = Samples(plan, True, expected)
        for part in np.hsplit(values(1000, seed), 2):
            level.add(part)
        levels.append(level)
    plain = values(200_000, 99)
    np.testing.assert_allclose(plain[1:].mean(axis=1), expected, rtol=0.02)
    errors = np.array([one.mean for one in levels]) - plain[0].mean()
    deviations = np.sqrt([one.variance / one.count for one in levels])
    assert abs(np.mean(errors / deviations)) * math.sqrt(20.0) < 3.5
    assert 0.5 < np.std(errors / deviations, ddof=1) < 1.6
    assert np.mean([one.variance for one in levels]) < 0.6 * plain[0].var()


def test_a_budget_that_does_not_suffice_is_said():
    with pytest.warns(UserWarning, match=r"takes .* path steps or more, and max_path_steps=1e\+06"):
        found = rode.expectation(
            QUAKE, "3-rode-taylor", rode.energy(), rng=1, max_path_steps=1e6,
            **RUN | {"tolerance": 1e-9},
        )  # fmt: skip
    assert not found.reached
    assert found.needed_path_steps > 1e6 * found.error / 1e-9
    assert found.error > 1e-9
    assert "not reached" in repr(found)
    assert found.path_steps < 1e6
