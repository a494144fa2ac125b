"""Runs: callbacks, statistics, interrupts, instability, VTK files."""

import pickle
import signal
import sys
from threading import current_thread, main_thread

import numpy as np
import pytest

import lbm
from flows import FLOWS, PATTERNS, SHAPE, noisy

OPTIONS = {"collision": lbm.TRT(0.7), "dtype": "float64"}


def flow(device, **options):
    rho, u = noisy(SHAPE)
    options = FLOWS["cavity with bodies"] | OPTIONS | options
    return lbm.Simulation(SHAPE, rho=rho, u=u, device=device, **options)


def test_statistics_are_those_of_the_samples(device, monkeypatch):
    monkeypatch.setattr("lbm._parallel.domain.domain.SLAB_CELLS", 12 * 9 * 3)  # three slabs
    s, statistics, samples = flow(device), lbm.Statistics(3, start=5), []
    s.run(20, callbacks=[statistics, lbm.Every(3, lambda s: samples.append((s.rho, s.u)))])
    rho, u = (np.array(x)[1:] for x in zip(*samples, strict=True))
    assert statistics.samples == len(rho) == 5
    np.testing.assert_allclose(statistics.mean_rho, rho.mean(0), atol=1e-14)
    np.testing.assert_allclose(statistics.mean_u, u.mean(0), atol=1e-14)
    np.testing.assert_allclose(statistics.variance_u, u.var(0), atol=1e-15)
    np.testing.assert_allclose(statistics.variance_rho, rho.var(0), atol=1e-15)


def test_probes_and_the_order_of_calls(device):
    s, probe, calls = flow(device), lbm.Probe([(1, 2, 3), (0, 0, 0)], every=4), []
    s.run(10, callbacks=[probe, lbm.Every(5, lambda s: calls.append(s.steps))])
    assert probe.steps == [4, 8]
    assert calls == [5, 10]
    assert probe.values[0].shape == (2, 4)
    again = flow(device).run(8)
    expected = [again.rho[1, 2, 3], *again.u[:, 1, 2, 3]]
    np.testing.assert_allclose(probe.values[1][0], expected, atol=1e-15)


@pytest.fixture
def let_ctrl_c_arrive(monkeypatch):
    """Return a function that lets Ctrl-C arrive in steps of a flow, {step: how often}.

    Python handles it when compiled code returns: after a step, before it is counted.
    """
    if current_thread() is not main_thread():
        pytest.skip("signals are the main thread's")
    handler = signal.getsignal(signal.SIGINT)

    def let_arrive(s, counts):
        step = s.domain.step

        def interrupted(t):
            step(t)
            for _ in range(counts.get(t, 0)):
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(s.domain, "step", interrupted)

    yield let_arrive
    signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_interrupt_waits_for_the_end_of_the_step(pattern, let_ctrl_c_arrive):
    s = flow("cpu", pattern=pattern)
    let_ctrl_c_arrive(s, {6: 1})
    with pytest.raises(KeyboardInterrupt):
        s.run(20)
    assert s.steps == 7
    expected = flow("cpu", pattern=pattern).run(12)
    assert np.array_equal(s.run(5).populations(), expected.populations())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_may_set_another(let_ctrl_c_arrive):
    """The first Ctrl-C asks to stop, the second stops, even between a step and its count."""
    s, calls = flow("cpu"), []

    def asked(number, frame):
        calls.append(s.steps)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    let_ctrl_c_arrive(s, {3: 1, 6: 2})
    signal.signal(signal.SIGINT, asked)
    with pytest.raises(KeyboardInterrupt):
        s.run(20)
    assert (calls, s.steps) == ([4], 7)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_fields_cannot_be_changed_and_statistics_belong_to_one_kind_of_simulation():
    statistics = lbm.Statistics(every=1)
    s = flow("cpu").run(2, callbacks=[statistics])
    with pytest.raises(ValueError, match="read-only"):
        s.u[0] *= 340.0
    before = statistics.mean_u
    with pytest.raises(ValueError, match="use a new"):
        lbm.Simulation((16, 16, 16), device="cpu").run(1, callbacks=[statistics])
    assert statistics.samples == 2
    assert np.array_equal(statistics.mean_u, before)


def unstable(device, **options):
    """A flow between a fast lid and walls with far too few cells for its tau."""
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.3, 0.0, 0.0))}
    return flow(device, boundaries=walls, collision=lbm.TRT(0.5005), force=(1e-300, 0.0, 0.0),
                **options)  # fmt: skip


def first_bad_step(s, most=2000):
    """Return (step, worst cell), from a look at every step with NumPy."""
    for _ in range(most):
        s.run(1)
        with np.errstate(all="ignore"):
            speed = np.where(np.isfinite(s.rho) & (s.rho > 0), (s.u**2).sum(axis=0), np.inf)
        speed[np.isnan(speed)] = np.inf
        if speed.max() > 0.8**2 / 3:
            return s.steps, np.unravel_index(speed.argmax(), speed.shape)
    raise AssertionError("it never blows up")


@pytest.mark.parametrize("pattern", ["ab", "esoteric"])
def test_the_first_bad_step_is_found_and_the_last_good_state_kept(pattern, device):
    step, cell = first_bad_step(unstable(device, pattern=pattern, check=0))
    check = max(2, step * 2 // 5)
    s = unstable(device, pattern=pattern, check=check)
    with pytest.raises(lbm.UnstableError, match=r"lbm\.TRT|magic") as caught:
        s.run(10 * step)
    assert caught.value.step == step
    assert caught.value.cell == cell
    assert s.steps == 2 * check < step
    good = unstable(device, pattern=pattern, check=0).run(s.steps)
    assert np.array_equal(s.populations(), good.populations())
    assert np.array_equal(s.u, good.u)
    s.run(step - 1 - s.steps)
    copied = pickle.loads(pickle.dumps(caught.value))  # as a process of a pool does
    assert vars(copied) == vars(caught.value)
    assert str(copied) == str(caught.value)


@pytest.mark.parametrize(("kept", "free", "ranks"), [(0, 9e9, 1), (1, 1, 1), (1, 9e9, 9e8)])
def test_without_a_copy_of_the_state_the_check_tells_when_it_looked(kept, free, ranks, monkeypatch):
    s = unstable("cpu", check=50, keep_good_state=bool(kept))
    monkeypatch.setattr("lbm._post.stability.free_bytes", lambda device, sharers: free / sharers)
    monkeypatch.setattr("lbm._post.stability.count_sharers", lambda _, d: dict.fromkeys(d, ranks))
    with pytest.raises(lbm.UnstableError, match="no earlier state was kept") as caught:
        s.run(5000)
    assert caught.value.step == s.steps
    assert s.steps % 50 == 0


def test_a_copy_of_the_state_is_discarded_with_it(device):
    """After `set` an earlier copy of the state is not used any more."""
    s = unstable(device, check=10).run(20)
    u = np.zeros((3, *SHAPE))
    s.set(u=u)
    with pytest.raises(lbm.UnstableError) as caught:
        s.run(5000)
    again = unstable(device, check=0)
    again.set(u=u)
    assert caught.value.step == first_bad_step(again)[0]


def test_forces_before_the_first_step_are_an_error():
    """Populations of the start hold no return of a wall: the number had the wrong sign."""
    shape = (10, 8, 8)
    walls = {"ball": lbm.Solid(lbm.geometry.sphere(shape, (5, 4, 4), 2))}
    s = lbm.Simulation(shape, boundaries=walls, u=(0.05, 0.0, 0.0), device="cpu")
    for call in (lambda: s.force_on("ball"), lambda: s.torque_on("ball", (5, 4, 4))):
        with pytest.raises(ValueError, match="no force on 'ball' at step 0"):
            call()
    assert s.run(1).force_on("ball")[0] > 0.0
    s.set(u=(0.05, 0.0, 0.0))
    with pytest.raises(ValueError, match="at step 0"):
        s.force_on("ball")


@pytest.mark.parametrize("units", [None, lbm.Units(dx=2e-3, dt=5e-4, density=998.0, tau=0.6)])
def test_a_dataset_has_the_fields_with_their_coordinates_and_units(units, monkeypatch):
    xarray = pytest.importorskip("xarray")
    s = flow("cpu").run(3)
    data = s.to_xarray(units=units, derived=["vorticity", "q"])
    assert isinstance(data, xarray.Dataset)
    assert dict(data.sizes) == {"component": 3, "x": 12, "y": 9, "z": 7}
    cell, step = (1.0, 1.0) if units is None else (2e-3, 5e-4)
    np.testing.assert_allclose(data.x, (np.arange(12) + 0.5) * cell)
    assert float(data.time) == pytest.approx(3 * step)
    place = {"x": 4.4 * cell, "y": 2.6 * cell, "z": 0.3 * cell}
    speed = data.u.sel(component="y").sel(place, method="nearest")
    assert float(speed) == pytest.approx(float(s.u[1, 4, 2, 0]) * cell / step)
    named = {name: variable.attrs["units"] for name, variable in data.data_vars.items()}
    lattice = {"rho": "1", "drho": "1", "u": "cells/step", "vorticity": "1/step",
               "q": "1/step^2", "fluid": "1"}  # fmt: skip
    si = {"pressure": "Pa", "u": "m/s", "vorticity": "1/s", "q": "1/s^2", "fluid": "1"}
    assert named == (lattice if units is None else si)
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="to_xarray needs xarray: pip install xarray"):
        s.to_xarray()


def test_statistics_continue_from_their_sums(device):
    """Bit for bit, as if there had been no interruption; on the device they go on as they were."""
    whole, first, second = (lbm.Statistics(1) for _ in range(3))
    one = flow(device).run(6, callbacks=[whole])
    two = flow(device).run(3, callbacks=[first])
    second.resume(first.samples, first.sums())
    np.testing.assert_array_equal(second.mean_u, first.mean_u)
    two.run(3, callbacks=[second])
    assert second.samples == whole.samples == 6
    np.testing.assert_array_equal(one.u, two.u)
    np.testing.assert_array_equal(second.mean_drho, whole.mean_drho)
    np.testing.assert_array_equal(second.variance_u, whole.variance_u)


def test_sums_of_other_cells_are_refused():
    statistics = lbm.Statistics(1)
    with pytest.raises(ValueError, match=r"sums must have the shape \(2, 4, x, y, z\)"):
        statistics.resume(3, np.zeros((4, 2, 2, 2)))
    statistics.resume(3, np.zeros((2, 4, 2, 2, 2)))
    with pytest.raises(ValueError, match="sums must be of this rank's"):
        flow("cpu").run(1, callbacks=[statistics])
    with pytest.raises(ValueError, match="have samples already"):
        statistics.resume(3, np.zeros((2, 4, 2, 2, 2)))
