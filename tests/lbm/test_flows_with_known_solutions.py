"""Channels, ducts and vortices: exact solutions, and orders of convergence by regression."""

import numpy as np
import pytest

import lbm
from flows import wave

FORCED = {"precision": "float64", "collision": lbm.TRT(0.9)}
NU = 0.4 / 3


def steady(shape, device, *, force=0.0, tolerance=1e-12, **options):
    stop = lbm.SteadyState(tolerance, 100)
    # A vanishing force keeps all of these to one compiled kernel.
    s = lbm.Simulation(shape, force=(force or 1e-300, 0.0, 0.0), device=device,
                       **FORCED | options)  # fmt: skip
    s.run(40000, callbacks=[stop])
    assert stop.reached
    return s


def test_poiseuille_is_exact_with_the_magic_three_sixteenths(device):
    n, g = 12, 1e-6
    s = steady((2, n, 2), device, force=g, boundaries={"y": lbm.NoSlip()})
    y = np.arange(n) + 0.5
    exact = g * y * (n - y) / (2 * NU)
    assert np.abs(s.u[0, 0, :, 0] / exact - 1).max() < 1e-10


def test_couette_is_exact(device):
    n = 9
    walls = {"y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.02))}
    s = steady((4, n, 2), device, boundaries=walls)
    y = (np.arange(n) + 0.5) / n
    assert np.abs(s.u[0, 1, :, 0] - 0.05 * y).max() < 1e-11
    assert np.abs(s.u[2, 1, :, 0] - 0.02 * y).max() < 1e-11


def test_free_slip_carries_half_a_channel_exactly(device):
    n, g = 12, 1e-6
    walls = {"y-": lbm.NoSlip(), "y+": lbm.FreeSlip()}
    s = steady((2, n, 2), device, force=g, boundaries=walls)
    y = np.arange(n) + 0.5
    exact = g * y * (2 * n - y) / (2 * NU)
    assert np.abs(s.u[0, 0, :, 0] / exact - 1).max() < 1e-9


def test_duct_converges_with_order_two(device):
    sizes, errors = [6, 10, 16], []
    for n in sizes:
        g = 1e-2 / n**3
        s = steady((2, n, n), device, force=g, tolerance=1e-9,
                   boundaries={"y": lbm.NoSlip(), "z": lbm.NoSlip()})  # fmt: skip
        centre = s.u[0, 0, n // 2 - 1 : n // 2 + 1, n // 2 - 1 : n // 2 + 1].mean()
        exact = 0.0736713 * g * n**2 / NU
        # The four cells around the axis lie half a cell off: their mean is lower by u'' / 4.
        errors.append(abs(centre + g / NU / 8 - exact) / exact)
    slope = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert 1.7 < slope < 2.6
    assert errors[-1] < 0.01


def test_taylor_green_decays_and_converges_with_order_two(device):
    sizes, errors = [8, 16, 32], []
    for n in sizes:  # diffusive scaling: speed ~ 1/n, time ~ n^2
        shape, rho, u = wave(n, speed=0.32 / n)
        s = lbm.Simulation(shape, rho=rho, u=u, force=(1e-300, 0.0, 0.0), device=device, **FORCED)
        steps = n * n // 8
        s.run(steps)
        decay = np.exp(-NU * 2 * (2 * np.pi / n) ** 2 * steps)
        errors.append(np.abs(s.u - decay * u).max() / (decay * np.abs(u).max()))
    slope = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert 1.8 < slope < 2.4
    assert errors[-1] < 0.01


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_low_precision_on_taylor_green(precision, device):
    """The error of the storage against float64: stated in the documentation."""
    shape, rho, u = wave(32, speed=0.05)
    runs = {
        p: lbm.Simulation(shape, collision=lbm.TRT(0.7), rho=rho, u=u, precision=p,
                          force=(1e-300, 0.0, 0.0), device=device).run(200).u
        for p in ("float64", precision)
    }  # fmt: skip
    error = np.abs(runs[precision] - runs["float64"]).max() / np.abs(runs["float64"]).max()
    assert error < {"float32": 1e-5, "float16": 1e-2}[precision]
    assert error > 0


def test_inlet_and_outlet_carry_a_uniform_flow(device):
    walls = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.0)}
    s = steady((24, 2, 2), device, tolerance=1e-8, boundaries=walls)
    assert np.abs(s.u[0] - 0.05).max() < 1e-4
    assert np.abs(s.rho - 1.0).max() < 1e-4
