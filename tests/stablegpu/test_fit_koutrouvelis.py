"""Koutrouvelis' regression: exact on the exact function, nearly efficient on samples."""

import math

import numpy as np
import pytest

import stablegpu
from stablegpu import stable
from stablegpu._fit.estimators.koutrouvelis import estimate as koutrouvelis_estimate
from stablegpu._fit.estimators.koutrouvelis import formulas

PARAMETERS = ("alpha", "beta", "loc", "scale")


def characteristic(t, alpha, beta, loc, scale):
    """phi of S0."""
    st = scale * t
    return np.exp(-(st**alpha) + 1j * (beta * formulas.eta(st, alpha) + loc * t))


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.4, 0.3), (0.9, -0.8), (1.0, 0.5), (1.3, 0.0), (1.7, 0.9)]
)
def test_the_exact_function_gives_the_parameters_back(alpha, beta):
    true = (alpha, beta, 0.7, 1.2)
    estimate = (alpha + 0.1, 0.5 * beta, 0.5, 1.4)  # the start
    for _ in range(12):
        at = [formulas.point(k, estimate[0]) / estimate[3] for k in range(formulas.POINTS)]
        phi = [characteristic(t, *true) * np.exp(-1j * formulas.origin(*estimate) * t) for t in at]
        sums = 100.0 * np.array([p.real for p in phi] + [p.imag for p in phi])
        estimate = formulas.regress(estimate, sums, 100.0, np.empty(formulas.SCRATCH), True)
    np.testing.assert_allclose(estimate, true, rtol=1e-9, atol=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("alpha", "beta", "most"),
    [
        (1.5, 0.5, 1.2),
        pytest.param(0.5, 0.3, 1.8, marks=pytest.mark.slow),
        pytest.param(1.0, 0.2, 1.35, marks=pytest.mark.slow),
        pytest.param(1.8, 0.0, 1.3, marks=pytest.mark.slow),
    ],
)
def test_variances_are_near_the_bound(device, alpha, beta, most):
    x = stable(alpha, beta, parameterization="S0").rvs((500, 1000), random_state=1)
    result = stablegpu.fit(x, method="koutrouvelis", parameterization="S0", device=device)
    bound = np.diag(np.linalg.inv(1000 * stablegpu.fisher_information(alpha, beta)))
    for name, true, least in zip(PARAMETERS, (alpha, beta, 0.0, 1.0), bound, strict=True):
        values = getattr(result, name)
        assert 0.8 < values.var() / least < most
        error = 5 * values.std() / math.sqrt(500) + 0.1 * math.sqrt(least)
        assert abs(values.mean() - true) < error


@pytest.mark.parametrize("parameterization", ["S0", "S1"])
def test_sets_are_fitted_as_each_alone_in_any_number_of_parts(
    device, monkeypatch, parameterization
):
    distribution = stable(1.4, 0.3, 5.0, 2.0, parameterization="S0")
    parts = [distribution.rvs(n, random_state=n) for n in (20_000, 300, 30)]
    options = {"method": "koutrouvelis", "parameterization": parameterization, "device": device}
    ragged = stablegpu.fit(parts, **options)
    monkeypatch.setattr(koutrouvelis_estimate, "PART_SIZE", 1000)
    for k, part in enumerate(parts):
        alone = stablegpu.fit(part, **options)
        for name in PARAMETERS:
            assert getattr(alone, name) == pytest.approx(getattr(ragged, name)[k], rel=1e-9)
        assert np.isnan(alone.stderr["alpha"])
    assert ragged.alpha[0] == pytest.approx(1.4, abs=0.05)
    cpu = stablegpu.fit(parts, **options | {"device": "cpu"})
    np.testing.assert_allclose(ragged.beta, cpu.beta, rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.1, 0.15, 0.2, 0.4, 0.7, 1.0, 1.3, 1.9, 2.0])
@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_rounding_is_not_amplified(device, alpha, beta):
    """Other orders, units and signs of the data differ by rounding errors alone."""
    options = {"method": "koutrouvelis", "parameterization": "S0", "device": device}
    rows = stable(alpha, beta).rvs((40, 300), rng=3)
    first = stablegpu.fit(rows, **options)
    for factor, data in [
        (1.0, rows[:, ::-1]),
        *((factor, factor * rows) for factor in (1.0 / 3.0, 1e-9, 1e3 * math.pi, -1.7)),
    ]:
        other = stablegpu.fit(data, **options)
        errors = (
            other.alpha - first.alpha,
            math.copysign(1.0, factor) * other.beta - first.beta,
            other.scale / abs(factor) / first.scale - 1.0,
            (other.loc / factor - first.loc) / first.scale,
        )
        assert np.abs(errors).max() < 1e-11


@pytest.mark.parametrize("alpha", [0.1, 0.4])
def test_streams_of_heavy_tails_are_those_of_data_in_memory(device, alpha):
    x = stable(alpha, 0.3).rvs(20_000, rng=2)
    options = {"method": "koutrouvelis", "device": device}
    expected = stablegpu.fit(x, **options)
    found = stablegpu.fit_stream(lambda: np.array_split(x, 7), **options)
    for name in PARAMETERS:
        unit = 1.0 if name in ("alpha", "beta") else expected.scale
        assert abs(getattr(found, name) - getattr(expected, name)) <= 1e-11 * unit


def test_information_of_a_cauchy_law():
    information = stablegpu.fisher_information(1.0, 0.0, 2.0)
    np.testing.assert_allclose(information[2:, 2:], 0.125 * np.eye(2), atol=1e-6)
    np.testing.assert_allclose(information, information.T, atol=1e-12)
