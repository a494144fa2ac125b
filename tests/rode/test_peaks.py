"""Peaks between steps: the correction is that of Brownian motion, and removes the error in h."""

import numpy as np
import pytest
from scipy import stats

import rode


def test_the_constant_is_that_of_siegmund():
    """-zeta(1/2)/sqrt(2 pi), by mpmath."""
    mpmath = pytest.importorskip("mpmath")
    (correction,) = rode.peak_correction(only_the_process(), 1.0)[:, 0]
    assert correction == pytest.approx(float(-mpmath.zeta(0.5) / mpmath.sqrt(2 * mpmath.pi)))


def only_the_process(tau=1.0, c=1.0, start_process=0.0):
    return rode.additive(
        lambda x, p: (0.0 * x[0],), lambda p: (1.0,), dimension=1, start_process=start_process,
        observe=lambda t, x, o, p: (o,), process=rode.Process(tau, c),
    )  # fmt: skip


@pytest.mark.statistical
def test_corrected_peaks_of_a_brownian_path_have_its_distribution():
    """With a long relaxation time O is Brownian motion, whose largest |O| has a known median.

    P(max |W| < a) over unit time is 4/pi sum (-1)^k/(2k+1) exp(-(2k+1)^2 pi^2 / (8 a^2)).
    """

    def probability(a):
        k = np.arange(50)
        terms = (-1.0) ** k / (2 * k + 1) * np.exp(-(((2 * k + 1) * np.pi / a) ** 2) / 8)
        return 4 / np.pi * terms.sum()

    problem, h = only_the_process(tau=1e6), 2.0**-7
    result = rode.solve(
        problem, "euler", t_span=(0, 1), h=h, paths=20_000, sampling="exact", reduction="peaks",
        rng=1, device="cpu",
    )  # fmt: skip
    median = np.median(result.peaks + rode.peak_correction(problem, h))
    error = 0.5 / np.sqrt(20_000)
    assert abs(probability(median) - 0.5) < 4 * error
    assert abs(probability(np.median(result.peaks)) - 0.5) > 8 * error  # the correction is needed


def test_each_set_of_parameters_has_its_correction():
    zeta = np.array([0.3, 0.6])
    quake = rode.kanai_tajimi(zeta=zeta, c=4.0)
    correction = rode.peak_correction(quake, 0.25)
    assert correction.shape == (3, 2)
    size = 0.5825971579390107 * 2.0 * 0.5  # sqrt(c) = 2, sqrt(h) = 0.5
    np.testing.assert_array_equal(correction[0], 0.0)  # displacements have a derivative
    np.testing.assert_allclose(correction[1], size, rtol=1e-9)
    np.testing.assert_allclose(correction[2], size * 2.0 * zeta * 15.56, rtol=1e-9)


def test_excitations_have_the_correction_of_their_white_noise():
    def problem(excitation, observe, columns=((1.0,),)):
        return rode.additive(
            lambda x, p: (-x[0],), lambda p: columns[0] if len(columns) == 1 else columns,
            dimension=1, observe=observe, excitation=excitation,
        )  # fmt: skip

    def show(t, x, o, p):
        return o, x[0]

    size = 0.5825971579390107 * 0.5  # sqrt(h) = 0.5
    kt = rode.Filtered.kanai_tajimi(0.5, 12.0, c=4.0)
    found = rode.peak_correction(problem(kt, show), 0.25)
    np.testing.assert_allclose(found[:, 0], [size * 2.0 * 2 * 0.5 * 12.0, 0.0], rtol=1e-12)
    shaken = rode.Filtered.kanai_tajimi(envelope=([0.0, 1.0], [0.0, 1.0]))
    assert rode.peak_correction(problem(shaken, lambda t, x, o, p: (x[0],)), 0.25) == 0.0
    smooth = rode.Filtered(kt.F, kt.L, [1.0, 0.0])  # the displacement of the filter
    for one in (smooth, rode.Record([0.0, 1.0, 0.0], 1.0), rode.Spectrum([1.0, 2.0], [1.0, 1.0])):
        assert not rode.peak_correction(problem(one, lambda t, x, o, p: (x[0] * o,)), 0.25).any()
    pair = rode.OU(1.0, [1.0, 4.0], correlation=[[1.0, 0.5], [0.5, 1.0]])
    two = problem(pair, lambda t, x, o, p: (2.0 * o[0] - o[1],), ((1.0,), (1.0,)))
    noise = 4.0 + 4.0 - 2 * 2.0 * 0.5 * 2.0  # of 2 dW_1 - 2 dW_2
    assert rode.peak_correction(two, 0.25) == pytest.approx(size * noise**0.5, rel=1e-9)
    smooth = rode.Filtered(kt.F, kt.L, [[0.0, -24.0], [1.0, 0.0]])  # rough, and a smooth component
    power = problem(smooth, lambda t, x, o, p: (o[0], x[0] * o[1]), ((1.0,), (1.0,)))
    found = rode.peak_correction(power, 0.25)
    np.testing.assert_allclose(found[:, 0], [size * 2.0 * 24.0, 0.0], rtol=1e-9)
    both = problem(shaken, show)
    assert rode.peak_correction(both, 0.25, output=both.outputs[1]) == 0.0
    with pytest.raises(ValueError, match="white noise with an envelope"):
        rode.peak_correction(both, 0.25, output=both.outputs[0])


def test_intervals_of_quantiles_are_those_of_order_statistics():
    """For the median of 100 numbers the ranks 40 and 61 (Conover 1999, section 3.2)."""
    from rode._commands.peaks import PeakQuantiles

    work = rode.Work(100, 1, 1, 1)
    numbers = np.random.default_rng(1).permutation(100.0 + np.arange(100))
    result = rode.Result(np.zeros(0), ("y",), work, "success", "", {"peaks": numbers[None]})
    quantiles = PeakQuantiles.of(result, (0.5, 1.0))
    below, above = quantiles.low[0, 0] - 100, 199 - quantiles.high[0, 0]
    assert stats.binom.cdf(below - 1, 100, 0.5) <= 0.025
    assert stats.binom.cdf(above - 1, 100, 0.5) <= 0.025
    assert 38 <= below <= 41
    assert 38 <= above <= 41
    assert np.isnan(quantiles.low[0, 1])
