"""Functionals of paths, and probabilities of exceedance with their intervals."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg

import rode
from rode.__main__ import main

RUN = {"t_span": (0, 2), "h": 0.02, "sampling": "exact", "rng": 5}


def begin(t, y):
    return y, y


def widen(state, t, y, h):
    return min(state[0], y), max(state[1], y)


def width(state):
    return state[1] - state[0]


def test_functionals_are_those_of_the_paths(device):
    """All of them in one run, whose states stand beside each other, and in parts."""
    level, problem = 0.4, rode.kanai_tajimi(outputs=("displacement", "velocity", "acceleration"))
    spread = rode.Functional("spread", begin, widen, width)
    wanted = (
        "paths", rode.first_passage(10.0 * level), rode.up_crossings(level), "peaks",
        rode.dwell_time(level), rode.energy(), spread,
    )  # fmt: skip
    settings = RUN | {"paths": 70, "reduction": wanted, "device": device}
    result = rode.solve(problem, "3-rode-taylor", **settings)
    y, t, h = result.paths, result.t[:, None, None], RUN["h"]
    passed = np.abs(y) >= 10.0 * level
    expected = {
        "first_passage": np.where(passed, t, math.inf).min(axis=0),
        "up_crossings": ((y[:-1] < level) & (y[1:] >= level)).sum(axis=0),
        "dwell_time": h * (y[1:] >= level).sum(axis=0),
        "energy": np.trapezoid(y**2, dx=h, axis=0),
        "spread": np.ptp(y, axis=0),
        "peaks": np.abs(y).max(axis=0),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(result.values[name], values, rtol=1e-11, err_msg=name)
    passage = result.values["first_passage"]
    assert 0 < np.isin(passage, result.t).sum() == np.isfinite(passage).sum() < 210
    assert result["velocity"].values["spread"].shape == (70,)
    parts = rode.solve(problem, "3-rode-taylor", parts=3, **settings)
    for name, values in result.values.items():
        np.testing.assert_array_equal(parts.values[name], values)
    # Functionals of one name would replace each other, or be joined as if they were one.
    two = rode.up_crossings(level), rode.up_crossings(2 * level)
    with pytest.raises(ValueError, match="several of the name 'up_crossings': give them names"):
        rode.solve(problem, "3-rode-taylor", **settings | {"reduction": two})
    other = [two[1] if one is two[0] else one for one in result.reductions]
    other = replace(result, reductions=tuple(other), path_ranges=(range(70, 140),))
    with pytest.raises(ValueError, match="equal reductions, but up_crossings differs"):
        rode.join_results([result, other])
    other = replace(result, path_ranges=(range(70, 140),))  # another process sends it
    joined = rode.join_results([result, pickle.loads(pickle.dumps(other))])
    assert joined.values["spread"].shape == (3, 140)


def survival(level, t):
    """Return the probability that |O| stays below a level up to t, for dO = -O dt + dW, O_0 = 0.

    The generator on a grid of central differences, whose error is of second order, with O absorbed
    at both ends; Richardson's step removes the leading error.
    """

    def on_grid(n):
        x, dx = np.linspace(-level, level, n + 1, retstep=True)
        down, up = 0.5 / dx**2 + x / (2 * dx), 0.5 / dx**2 - x / (2 * dx)
        inner = slice(1, n)
        G = np.diag(-np.full(n - 1, 1.0 / dx**2))
        G += np.diag(up[inner][:-1], 1) + np.diag(down[inner][1:], -1)
        return linalg.expm(t * G)[n // 2 - 1].sum()

    coarse, fine = on_grid(200), on_grid(400)
    return fine + (fine - coarse) / 3.0


@pytest.mark.statistical
def test_first_passage_of_the_process(device):
    """The level is lowered by the correction for what lies between steps; 20 seeds."""
    problem = rode.additive(
        lambda x, p: (-x[0],), lambda p: (1.0,), dimension=1, start_process=0.0,
        observe=lambda t, x, O, p: (O,),
    )  # fmt: skip
    level, h, paths = 1.4, 2.0**-9, 4000
    settings = {"t_span": (0, 3), "h": h, "sampling": "exact", "device": device, "paths": paths}
    correction = rode.peak_correction(problem, h)[0, 0]
    wanted, scores = ("peaks", rode.first_passage(level - correction)), []
    exact = {t: 1.0 - survival(level, t) for t in (1.0, 3.0)}
    for seed in range(20):
        result = rode.solve(problem, "euler", rng=seed, reduction=wanted, **settings)
        passage = result.values["first_passage"][0]
        for t, p in exact.items():
            scores.append((np.mean(passage <= t) - p) / math.sqrt(p * (1.0 - p) / paths))
        exceedance = result.exceedance("y0", level - correction)
        assert exceedance.counts[0] == np.sum(passage <= 3.0)
    scores = np.array(scores).reshape(20, 2)
    assert np.abs(scores).max() < 5.0
    assert np.abs(scores.mean(axis=0)).max() * math.sqrt(20.0) < 4.0


def test_exceedance_has_the_intervals_of_wilson():
    problem = rode.kanai_tajimi()
    result = rode.solve(problem, "3-rode-taylor", paths=200, reduction="peaks", device="cpu", **RUN)
    peaks = np.sort(result.peaks[2])
    levels = [peaks[49], peaks[-1] + 1.0, 0.0]
    found = result.exceedance("acceleration", levels, confidence=0.9)
    np.testing.assert_array_equal(found.counts, [150, 0, 200])
    np.testing.assert_array_equal(found.probability, [0.75, 0.0, 1.0])
    z, n, p = 1.6448536269514722, 200, found.probability
    centre, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    np.testing.assert_allclose(found.low, (centre - half) / (1 + z**2 / n), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.high, (centre + half) / (1 + z**2 / n), rtol=1e-10)
    with pytest.raises(ValueError, match="output must be one of"):
        result.exceedance("drift", 1.0)
    with pytest.raises(ValueError, match="levels must be numbers"):
        result.exceedance("acceleration", math.nan)


def test_the_command_prints_probabilities(capsys):
    arguments = ["solve", "kanai-tajimi", "--t-span", "0", "2", "--h", "0.015625", "--paths", "50"]
    arguments += ["--peaks", "--seed", "1", "--device", "cpu", "--quiet"]
    levels = ["--exceed", "acceleration=12", "--exceed", "velocity=100"]
    assert main([*arguments, *levels, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["exceedance"]
    assert (first["output"], first["probability"]) == ("acceleration", first["count"] / 50)
    assert first["low"] < first["probability"] < first["high"]
    assert (second["count"], second["low"]) == (0, 0.0)
    assert main([*arguments, *levels]) == 0
    assert "intervals of Wilson" in capsys.readouterr().out
    for wrong, words in (("drift=1", "must be one of"), ("acceleration", "must be OUTPUT=LEVEL")):
        assert main([*arguments, "--exceed", wrong]) == 2
        assert words in capsys.readouterr().err
