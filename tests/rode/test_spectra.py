"""Response spectra against solutions in 50 digits; records from files."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

import rode
from hetero.cuda.driver import SIMULATOR


def exact_peaks(a, dt, period, damping):
    """Return the largest responses by the solution of each interval in 50 digits.

    x = -(a_0 + s t)/w^2 + 2 zeta s/w^3 + e^(-zeta w t) (C cos(w_d t) + D sin(w_d t)).
    """
    with mp.workdps(50):
        w, z, h = 2 * mp.pi / mpf(period), mpf(damping), mpf(dt)
        wd, decay = w * mp.sqrt(1 - z**2), mp.exp(-z * w * h)
        c, s = mp.cos(wd * h), mp.sin(wd * h)
        x, v, peaks = mpf(0), mpf(0), [mpf(0)] * 3
        for before, after in itertools.pairwise(a):
            slope = (mpf(after) - mpf(before)) / h
            C = x + mpf(before) / w**2 - 2 * z * slope / w**3
            D = (v + slope / w**2 + z * w * C) / wd
            x = -mpf(after) / w**2 + 2 * z * slope / w**3 + decay * (C * c + D * s)
            v = -slope / w**2 + decay * ((wd * D - z * w * C) * c - (wd * C + z * w * D) * s)
            sizes = abs(x), abs(v), abs(w**2 * x + 2 * z * w * v)
            peaks = [max(pair) for pair in zip(peaks, sizes, strict=True)]
        return [float(one) for one in peaks]


MOTION = np.sin(0.5 * np.arange(160)) * np.exp(-0.02 * np.arange(160)) + 0.1
PERIODS = [0.0047, 0.1, 0.37, 2.0, 30.0, 300.0]


@pytest.mark.simulator
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 2e-5)])
def test_spectra_are_those_in_50_digits(device, dtype, tolerance):
    records = np.array([MOTION, 9.81 * MOTION[::-1]])[:, : 8 if SIMULATOR else 60]
    for damping in (0.05,) if SIMULATOR else (0.0, 0.05, 0.7):
        spectrum = rode.response_spectrum(
            records, 0.01, PERIODS, damping, dtype=dtype, device=device
        )
        assert spectrum.displacement.shape == (2, 6)
        for k, record in enumerate(records):
            expected = np.array([exact_peaks(record, 0.01, T, damping) for T in PERIODS]).T
            names = ("displacement", "velocity", "acceleration")
            result = [getattr(spectrum, name)[k] for name in names]
            np.testing.assert_allclose(result, expected, rtol=tolerance)


def test_long_records_and_many_periods(device):
    """Groups of oscillators and tiles of samples are cut; float32 keeps slow oscillators."""
    motion, periods = np.resize(MOTION, 5000), np.geomspace(0.05, 20.0, 131)
    spectrum = rode.response_spectrum(motion, 0.005, periods, device=device)
    expected = exact_peaks(motion, 0.005, periods[130], 0.05)
    assert spectrum.displacement[130] == pytest.approx(expected[0], rel=1e-9)
    assert spectrum.acceleration[130] == pytest.approx(expected[2], rel=1e-9)
    alone = [rode.response_spectrum(motion, 0.005, [one], device=device) for one in periods[::65]]
    found = [one.displacement[0] for one in alone]
    np.testing.assert_allclose(spectrum.displacement[::65], found, rtol=1e-12)
    single = rode.response_spectrum(motion, 0.005, periods, dtype="float32", device=device)
    np.testing.assert_allclose(single.velocity, spectrum.velocity, rtol=1e-4)
    pseudo = (2 * math.pi / periods) ** 2 * spectrum.displacement
    np.testing.assert_array_equal(spectrum.pseudo_acceleration, pseudo)


def test_peaks_between_samples():
    """A sine of period 8 dt in resonance: peaks between samples are those of finer steps."""
    dt, period = 0.01, 0.08
    motion = np.sin(2 * math.pi / period * dt * np.arange(400) + 0.3)
    coarse, fine = (
        rode.response_spectrum(motion, dt, [period], subdivide=k).displacement[0] for k in (1, 64)
    )
    assert coarse < fine < coarse / math.cos(math.pi / 8) * 1.001


def test_values_over_all_directions():
    """Components (s, 0) and (s, s): RotD100 is the spectrum of s, or sqrt(2) times it."""
    zero, periods = np.zeros_like(MOTION), [0.2, 0.5]
    alone = rode.response_spectrum(MOTION, 0.01, periods).pseudo_acceleration
    largest = rode.rotd(MOTION, zero, 0.01, periods)
    np.testing.assert_allclose(largest[1], alone, rtol=1e-12)
    np.testing.assert_allclose(largest[0], alone * math.cos(math.pi / 4), rtol=0.02)
    both = rode.rotd(MOTION, MOTION, 0.01, periods, percentiles=[100.0])
    np.testing.assert_allclose(both[0], math.sqrt(2.0) * alone, rtol=1e-12)


AT2 = """PEER NGA STRONG MOTION DATABASE RECORD
A motion typed in by hand
ACCELERATION TIME SERIES IN UNITS OF G
NPTS=   7, DT=   .0100 SEC,
  .1000000E+00  -.2000000E+00   .3000000E+00  -.4000000E+00   .5000000E+00
  -.6000000E+00   .7000000E+00
"""


def test_records_are_read(tmp_path):
    file = tmp_path / "motion.AT2"
    file.write_text(AT2)
    values = 9.80665 * np.array([0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7])
    record = rode.read_record(file)
    assert (record.dt, record.values.shape) == (0.01, (1, 7))
    np.testing.assert_allclose(record.values[0], values, rtol=1e-15)
    old = AT2.replace("NPTS=   7, DT=   .0100 SEC,", "   7    1.00D-02   NPTS, DT")
    file.write_text(old.replace("E+00", "D+00"))
    record = rode.read_record(file)
    np.testing.assert_allclose(record.values[0], values, rtol=1e-15)
    assert record.dt == 0.01
    text = tmp_path / "motion.txt"
    rows = [f"{0.01 * k:.3f}, {x:.6f}" for k, x in enumerate(values)]
    text.write_text("\n".join(["# t, a", "time acceleration", *rows, ""]))
    other = rode.read_record(text, units="m/s2")
    np.testing.assert_allclose(other.values[0], values, atol=1e-6)
    assert other.dt == pytest.approx(0.01)
    scaled = rode.read_record(text, units="cm/s2").values
    np.testing.assert_allclose(scaled, other.values / 100.0, rtol=1e-12)
    spectrum = rode.response_spectrum(other, periods=[0.3])
    assert spectrum.velocity.shape == (1,)
    text.write_text("\n".join(rows[:3] + rows[4:]))
    with pytest.raises(ValueError, match=r"line 4 must be a step of .* fill the gap"):
        rode.read_record(text, units="g")
    text.write_text("\n".join([*rows, "NaN, NaN"]))
    with pytest.raises(ValueError, match="line 8 must have finite numbers"):
        rode.read_record(text, units="g")
    for change, words in (
        (("NPTS=   7", "NPTS=   8"), "must have 8 samples as line 4 says, but has 7"),
        ((".7000000E+00", "NaN"), "line 6 must have finite numbers, got 'NaN'"),
        (("UNITS OF G", "UNITS OF CM/S/S"), "line 3 says that the unit is CM/S/S, not g: pass"),
        (("ACCELERATION", "VELOCITY"), "line 3 must be about accelerations"),
        (("NPTS=", "N="), "line 4 must say NPTS= and DT="),
    ):
        file.write_text(AT2.replace(*change))
        with pytest.raises(ValueError, match=words):
            rode.read_record(file)
