"""Runs: callbacks, statistics, interrupts, instability, VTK files."""

import pickle
import signal
from threading import current_thread, main_thread

import numpy as np
import pytest

import lbm
from flows import FLOWS, SHAPE, noisy

OPTIONS = {"collision": lbm.TRT(0.7), "dtype": "float64"}


def flow(device, **options):
    rho, u = noisy(SHAPE)
    options = FLOWS["cavity with bodies"] | OPTIONS | options
    return lbm.Simulation(SHAPE, rho=rho, u=u, device=device, **options)


def test_statistics_are_those_of_the_samples(device, monkeypatch):
    monkeypatch.setattr("lbm._domain.domain.SLAB_CELLS", 12 * 9 * 3)  # three slabs
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


def test_callbacks_say_what_they_have_seen():
    callbacks = [lbm.Statistics(2), lbm.Probe([(1, 2, 3)]), lbm.SteadyState(1e-9, 1)]
    assert repr(callbacks[2]) == "<SteadyState tolerance=1e-09, every=1: not reached, change inf>"
    flow("cpu").run(4, callbacks=callbacks)
    assert repr(callbacks[0]) == "<Statistics every=2, start=0: 2 samples>"
    assert repr(callbacks[1]) == "<Probe [(1, 2, 3)], every=1: 4 samples>"
    assert f"not reached, change {callbacks[2].change:.3g}>" in repr(callbacks[2])
    assert repr(lbm.Every(3, print)) == "Every(3, <built-in function print>)"


def test_a_callback_stops_the_run():
    s = flow("cpu")
    s.run(100, callbacks=[lbm.Every(7, lambda s: s.steps >= 14)])
    assert s.steps == 14


def test_running_in_pieces_is_running_at_once(device):
    one, two = flow(device).run(9), flow(device)
    for steps in (1, 0, 3, 5):
        two.run(steps)
    assert np.array_equal(one.populations(), two.populations())


@pytest.mark.parametrize("pattern", ["ab", "aa", "esoteric"])
@pytest.mark.skipif(current_thread() is not main_thread(), reason="signals are the main thread's")
def test_an_interrupt_waits_for_the_end_of_the_step(pattern, monkeypatch):
    """Python handles Ctrl-C when compiled code returns: after a step, before it is counted."""
    s = flow("cpu", pattern=pattern)
    step = s.domain.step

    def interrupted(t):
        step(t)
        if t == 6:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(s.domain, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        s.run(20)
    assert s.steps == 7
    expected = flow("cpu", pattern=pattern).run(12)
    assert np.array_equal(s.run(5).populations(), expected.populations())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(current_thread() is not main_thread(), reason="signals are the main thread's")
def test_a_handler_may_set_another(monkeypatch):
    """The first Ctrl-C asks to stop, the second stops, even between a step and its count."""
    s, calls = flow("cpu"), []
    step, handler = s.domain.step, signal.getsignal(signal.SIGINT)

    def asked(number, frame):
        calls.append(s.steps)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(t):
        step(t)
        for _ in range({3: 1, 6: 2}.get(t, 0)):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(s.domain, "step", interrupted)
    try:
        signal.signal(signal.SIGINT, asked)
        with pytest.raises(KeyboardInterrupt):
            s.run(20)
        assert calls == [4]
        assert s.steps == 7
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)


def test_fields_cannot_be_changed_by_mistake():
    s = flow("cpu").run(2)
    with pytest.raises(ValueError, match="read-only"):
        s.u[0] *= 340.0


def test_statistics_belong_to_one_kind_of_simulation():
    statistics = lbm.Statistics(every=1)
    flow("cpu").run(2, callbacks=[statistics])
    before = statistics.mean_u
    with pytest.raises(ValueError, match="use a new"):
        lbm.Simulation((16, 16, 16), device="cpu").run(1, callbacks=[statistics])
    assert statistics.samples == 2
    assert np.array_equal(statistics.mean_u, before)


@pytest.mark.parametrize("every", [0, -1, 1.5, None])
def test_callbacks_have_whole_periods(every):
    for make in (
        lambda: lbm.Every(every, print),
        lambda: lbm.Statistics(every),
        lambda: lbm.Probe([(0, 0, 0)], every),
        lambda: lbm.SteadyState(1e-3, every),
    ):
        with pytest.raises((TypeError, ValueError), match="every must be an integer"):
            make()

    def callback(simulation):
        raise AssertionError("called")

    callback.every = every
    with pytest.raises((TypeError, ValueError), match="every must be an integer"):
        flow("cpu").run(2, callbacks=[callback])


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


@pytest.mark.parametrize("options", [{"keep_good_state": False}, {}])
def test_without_room_for_a_copy_the_check_tells_when_it_looked(options, monkeypatch):
    s = unstable("cpu", check=50, **options)
    monkeypatch.setattr(
        "lbm._fields.stability.free_bytes", lambda device: s.domain.engine.state_bytes
    )
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


def test_nan_is_found_where_it_is(device):
    s = flow(device)
    rho = np.ones(SHAPE)
    s.set(rho=rho)
    data = np.zeros((4, 7, 9, 12))
    data[1, 5, 6, 1] = np.nan
    s.domain.write("write_equilibrium", 0, 0, data)
    with pytest.raises(lbm.UnstableError, match="not finite") as caught:
        s.require_stable()
    assert caught.value.cell == (1, 6, 5)


def test_vtk_holds_the_fields(tmp_path):
    s = flow("cpu").run(3)
    file = s.write_vtk(tmp_path / "flow", spacing=0.5)
    assert file.suffix == ".vti"
    text = file.read_bytes()
    assert b'WholeExtent="0 12 0 9 0 7"' in text
    for values in (s.rho, np.ascontiguousarray(s.u.transpose(3, 2, 1, 0))):
        assert np.ascontiguousarray(values.T if values.ndim == 3 else values).tobytes() in text


def test_a_force_needs_a_body():
    with pytest.raises(ValueError, match="no solid 'wing'"):
        flow("cpu").force_on("wing")
