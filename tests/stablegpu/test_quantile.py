"""Quantiles against 25-digit values, and against the distribution function."""

import csv
from pathlib import Path

import numpy as np
import pytest

from stablegpu import nodes, stable

# Facts: x with P(X <= x) = p ("lower") or P(X > x) = p ("upper"), S0.
with (Path(__file__).parent / "quantile_reference.csv").open() as file:
    ROWS = list(csv.DictReader(file))


@pytest.mark.parametrize(("evaluator", "count"), [(None, 338), ("polynomials", 218)])
def test_every_reference_quantile(device, evaluator, count):
    """Within 1e-12 of x, and what 8 roundings of p and 2 of x - zeta bring where x is near 0."""
    laws = {}
    for row in ROWS:
        laws.setdefault((row["alpha"], row["beta"], row["tail"]), []).append(row)
    errors = []
    for (alpha, beta, tail), rows in laws.items():
        if evaluator == "polynomials" and not nodes.has_nodes(float(alpha)):
            continue  # those take seconds to prepare
        law = stable(
            float(alpha), float(beta), parameterization="S0", evaluator=evaluator, device=device
        )
        p = np.array([float(row["p"]) for row in rows])
        found = law.ppf(p) if tail == "lower" else law.isf(p)
        for x, q, row in zip(found, p, rows, strict=True):
            true, density = float(row["x"]), float(row["pdf_at_x"] or 0.0)
            conditioning = 8 * 2.0**-52 * q / (density or 0.3)  # none is given where x is 0
            assert abs(x - true) <= 1e-12 * abs(true) + conditioning, row
            errors.append(abs(x - true) / abs(true) if true else abs(x))
    assert len(errors) == count
    assert np.median(errors) <= 2e-15


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.3, 0.4), (0.5, 1.0), (0.9, -1.0), (1.0, 0.6), (1.3, -0.8), (2.0, 0.0)]
)
@pytest.mark.parametrize("parameterization", ["S0", "S1"])
@pytest.mark.filterwarnings("ignore:overflow")  # 3 x 10^308
def test_inverse_of_the_distribution_function(device, alpha, beta, parameterization):
    law = stable(alpha, beta, 0.5, 3.0, parameterization=parameterization, device=device)
    p = np.array([1e-300, 1e-40, 1e-9, 0.01, 0.2, 0.5, 0.8, 0.999])
    standard = stable(alpha, beta, parameterization=parameterization, device=device)
    if alpha != 1.0:
        np.testing.assert_allclose(law.ppf(p), 0.5 + 3.0 * standard.ppf(p), rtol=1e-13)
    for quantile, function in ((standard.ppf, standard.cdf), (standard.isf, standard.sf)):
        x = quantile(p)
        seen = np.isfinite(x) & (np.abs(x) < 1e300)
        # x has 53 bits: allow for the steepness of the function there.
        with np.errstate(over="ignore", invalid="ignore"):
            slope = np.nan_to_num(np.abs(x) * standard.pdf(x) / p)
        assert np.all(np.abs(function(x) - p)[seen] <= (p * (1e-13 + 4e-16 * slope))[seen])


def test_middles_that_turn_into_tails(device):
    """Between the two, Newton's method on logarithms alone goes back and forth for ever."""
    p = np.array([0.02, 0.05, 0.1, 0.2, 0.8, 0.9, 0.95, 0.98])
    for alpha in (1.3, 1.575, 1.6, 1.775, 1.9, 1.925, 1.95, 1.975, 1.99, 1.9999):
        for beta in (0.0, 0.13, -0.38, 0.71, -0.79, 0.8660254037844386, 0.97, 1.0):
            law = stable(alpha, beta, parameterization="S0", device=device)
            np.testing.assert_allclose(law.cdf(law.ppf(p)), p, rtol=1e-13)


@pytest.mark.simulator
def test_ends_and_nonsense(device):
    law = stable(1.5, 0.5, device=device)
    p = [0.0, 1.0, -0.1, 1.1, np.nan]
    np.testing.assert_array_equal(law.ppf(p), [-np.inf, np.inf, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(law.isf(p), [np.inf, -np.inf, np.nan, np.nan, np.nan])
    assert law.ppf([]).shape == (0,)
    assert isinstance(law.ppf(0.3), float)
    with pytest.raises(TypeError, match="p must"):
        law.ppf("half")


@pytest.mark.parametrize("evaluator", ["quadrature", "nodes", "polynomials"])
def test_quantiles_in_the_place_of_probabilities(device, evaluator):
    law = stable(1.4, 0.3, 2.0, 3.0, evaluator=evaluator, device=device)
    p = np.linspace(0.01, 0.99, 50)
    found = law.ppf(p)
    assert law.ppf(p, out=p) is p
    np.testing.assert_array_equal(p, found)
