"""Derivatives of the log-density against 12-digit values, an oracle, and each other."""

import numpy as np
import pytest

import stablegpu
from stable_references import DENSITIES, column
from stablegpu import reference, stable


def test_x_and_alpha_at_reference_points(device):
    """Next to zeta the table has few digits of its own, and S0 few of x - zeta."""
    x, alpha, beta = (column(n) for n in ("x", "alpha", "beta"))
    zeta = -beta * np.tan(0.5 * np.pi * alpha)
    apart = (np.abs(x - zeta) > 1e-4) | (np.abs(beta) < 1e-10)
    rows = [row for row, keep in zip(DENSITIES, apart, strict=True) if keep][::4]
    x, alpha, beta = (column(n, rows) for n in ("x", "alpha", "beta"))
    result = stablegpu.dlogpdf(x, alpha, beta, parameterization="S0", device=device)
    for value, name in ((result.x, "dlogpdf_dx"), (result.alpha, "dlogpdf_dalpha")):
        true = column(name, rows)
        seen = np.isfinite(true)
        assert seen.sum() > 200
        error = np.abs(value - true)[seen] / np.maximum(1.0, np.abs(true[seen]))
        assert error.max() < 1e-9
        assert np.median(error) < 1e-11


@pytest.mark.parametrize("alpha", [1.0, 1.6])
def test_beta_against_fourier_inversion(alpha):
    x, beta, h = 0.7, 0.3, 1e-6
    high, low = (reference.pdf_cdf(x, alpha, beta + d)[0] for d in (h, -h))
    expected = float((high - low) / (high + low)) * 2.0 / (2.0 * h)
    result = stablegpu.dlogpdf(x, alpha, beta, parameterization="S0").beta
    assert result == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("parameterization", ["S0", "S1"])
@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.7, 0.4), (1.01, -0.8), (0.6, 0.9), (1.0, 0.5), (0.99, 0.2)]
)
def test_all_five_against_differences(parameterization, alpha, beta):
    """Differences of the scalar distribution's values in the same parameterisation."""
    distribution = np.array([1.3, alpha, beta, 0.2, 1.5])
    result = stablegpu.dlogpdf(*distribution, parameterization=parameterization)
    for k, name in enumerate(result._fields):
        if parameterization == "S1" and alpha == 1.0 and name == "alpha":
            assert np.isnan(result.alpha)
            continue
        h = 2e-5
        moved = []
        for d in (-2, -1, 1, 2):
            changed = distribution.copy()
            changed[k] += d * h
            one = stable(*changed[1:], parameterization=parameterization)
            moved.append(one.logpdf(changed[0]))
        expected = (moved[0] - 8 * moved[1] + 8 * moved[2] - moved[3]) / (12 * h)
        assert result[k] == pytest.approx(expected, rel=1e-6, abs=1e-8), name


# d log pdf / d alpha at alpha = 2 in S1, by quadrature of the derivative of the Fourier integral in
# mpmath: (1/pi) int e^-t^2 (-t^2 log(t) cos(xt) + beta pi/2 t^2 sin(xt)) dt over pdf.
SLOPES_AT_TWO = {
    (0.3, 0.0): 0.00245338977155126, (6.0, 0.0): -211.216240730315,
    (10.0, 0.0): -291601372.163453, (30.0, 0.0): -6.92387438751079e93,
    (10.0, 0.5): -437402077.584568, (2.0, -1.0): -0.796195031486755,
    (10.0, -1.0): 38.6787765427658, (30.0, -1.0): 607.206992983555,
    (10.0, 1.0): -583202783.005683,
}  # fmt: skip


def test_light_tails_grow_a_power_law_below_alpha_two(device):
    (x, beta), slopes = np.array(list(SLOPES_AT_TWO)).T, np.array(list(SLOPES_AT_TWO.values()))
    result = stablegpu.dlogpdf(x, 2.0, beta, device=device).alpha
    error = np.abs(result - slopes) / np.maximum(1.0, np.abs(slopes))
    assert error.max() < 1e-10
    assert stable(2.0, 0.0).dlogpdf(60.0).alpha == -np.inf


def test_slopes_next_to_the_ends_follow_on_from_those_at_the_ends():
    """Differences within the distance to the end are rounding; those to the inside are not."""
    gaps = np.array([1e-9, 1e-12, 4e-16])
    inside = stablegpu.dlogpdf([6.0, 6.0, 6.0], 2.0 - gaps, 0.0).alpha
    np.testing.assert_allclose(inside, -211.216240730315, rtol=3e-7)
    np.testing.assert_allclose(inside[1:], -211.216240730315, rtol=1e-9)
    # d log pdf / d beta by the same quadrature, of -i t^alpha tan(pi alpha/2) phi(t).
    for beta, x, slope, tolerance in (
        (-1.0, 2.0, -0.7197959368639, 1e-11),
        (-1.0, 5.0, 224.0957836985, 1e-11),
        (-1.0, 9.0, 5.710897826935e20, 1e-11),
        (-1.0 + 1e-9, 2.0, -0.7197959381248, 1e-10),
    ):
        assert stable(1.5, beta).dlogpdf(x).beta == pytest.approx(slope, rel=tolerance)
    assert np.isnan(stable(0.7, -1.0).dlogpdf(2.0).beta)  # outside the support


def test_shapes_and_the_frozen_object():
    distribution = stable(1.4, 0.3, 1.0, 2.0)
    x = np.array([[0.5], [3.0]])
    result = distribution.dlogpdf(x)
    assert all(v.shape == x.shape for v in result)
    np.testing.assert_array_equal(result.loc, -result.x)
    assert isinstance(distribution.dlogpdf(0.5).scale, float)
    assert distribution.dlogpdf(0.5).alpha == pytest.approx(result.alpha[0, 0], rel=1e-9)
    outside = stablegpu.dlogpdf(-1.0, 0.5, 1.0)
    assert np.isnan(outside.x)
    with pytest.raises(ValueError, match="beta"):
        stablegpu.dlogpdf(0.0, 1.5, 2.0)
