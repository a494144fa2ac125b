"""Runs: callbacks, statistics, the stop at a steady state, trouble, files."""

import pickle
import signal
from threading import current_thread, main_thread

import numpy as np
import pytest

import lbm
from flows import FLOWS, SHAPE, noisy

OPTIONS = {"collision": lbm.TRT(0.7), "precision": "float64"}


def flow(device, **options):
    rho, u = noisy(SHAPE)
    given = FLOWS["cavity with bodies"] | OPTIONS | options
    return lbm.Simulation(SHAPE, rho=rho, u=u, device=device, **given)


def test_statistics_are_those_of_the_samples(device, monkeypatch):
    monkeypatch.setattr("lbm.simulation.SLAB", 12 * 9 * 3)  # three slabs
    s, found, seen = flow(device), lbm.Statistics(3, start=5), []
    s.run(20, callbacks=[found, lbm.Every(3, lambda s: seen.append((s.rho, s.u)))])
    rho, u = (np.array(x)[1:] for x in zip(*seen, strict=True))
    assert found.samples == len(rho) == 5
    np.testing.assert_allclose(found.mean_rho, rho.mean(0), atol=1e-14)
    np.testing.assert_allclose(found.mean_u, u.mean(0), atol=1e-14)
    np.testing.assert_allclose(found.variance_u, u.var(0), atol=1e-15)
    np.testing.assert_allclose(found.variance_rho, rho.var(0), atol=1e-15)


def test_probes_and_the_order_of_calls(device):
    s, probe, calls = flow(device), lbm.Probe([(1, 2, 3), (0, 0, 0)], every=4), []
    s.run(10, callbacks=[probe, lbm.Every(5, lambda s: calls.append(s.steps))])
    assert probe.steps == [4, 8]
    assert calls == [5, 10]
    assert probe.values[0].shape == (2, 4)
    again = flow(device).run(8)
    expected = [again.rho[1, 2, 3], *again.u[:, 1, 2, 3]]
    np.testing.assert_allclose(probe.values[1][0], expected, atol=1e-15)


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
    """Ctrl-C is handled when compiled code returns, between a step and its count."""
    s = flow("cpu", pattern=pattern)
    step = s._domain.step

    def interrupted(t):
        step(t)
        if t == 6:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(s._domain, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        s.run(20)
    assert s.steps == 7
    expected = flow("cpu", pattern=pattern).run(12)
    assert np.array_equal(s.run(5).populations(), expected.populations())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(current_thread() is not main_thread(), reason="signals are the main thread's")
def test_a_handler_may_set_another(monkeypatch):
    """The first Ctrl-C asks to stop, the second stops: also between a step and its count."""
    s, calls = flow("cpu"), []
    step, kept = s._domain.step, signal.getsignal(signal.SIGINT)

    def asked(number, frame):
        calls.append(s.steps)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(t):
        step(t)
        for _ in range({3: 1, 6: 2}.get(t, 0)):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(s._domain, "step", interrupted)
    try:
        signal.signal(signal.SIGINT, asked)
        with pytest.raises(KeyboardInterrupt):
            s.run(20)
        assert calls == [4]
        assert s.steps == 7
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, kept)


def test_fields_cannot_be_changed_by_mistake():
    s = flow("cpu").run(2)
    with pytest.raises(ValueError, match="read-only"):
        s.u[0] *= 340.0


def test_statistics_belong_to_one_kind_of_simulation():
    found = lbm.Statistics(every=1)
    flow("cpu").run(2, callbacks=[found])
    before = found.mean_u
    with pytest.raises(ValueError, match="take new ones"):
        lbm.Simulation((16, 16, 16), device="cpu").run(1, callbacks=[found])
    assert found.samples == 2
    assert np.array_equal(found.mean_u, before)


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

    def own(simulation):
        raise AssertionError("called")

    own.every = every
    with pytest.raises((TypeError, ValueError), match="every must be an integer"):
        flow("cpu").run(2, callbacks=[own])


def test_a_flow_that_blows_up_is_found(device):
    s = flow(device, collision=lbm.TRT(0.7), check=10)
    u = np.zeros((3, *SHAPE))
    u[0, 6, 7, 5] = 3.0
    s.set(u=u)
    with pytest.raises(lbm.UnstableError, match=r"tau|speed") as caught:
        s.run(200)
    assert caught.value.step == s.steps
    copied = pickle.loads(pickle.dumps(caught.value))  # as a process of a pool does
    assert vars(copied) == vars(caught.value)
    assert str(copied) == str(caught.value)
    assert all(0 <= c < n for c, n in zip(caught.value.cell, SHAPE, strict=True))


def test_nan_is_found_where_it_is(device):
    s = flow(device)
    rho = np.ones(SHAPE)
    s.set(rho=rho)
    data = np.zeros((4, 7, 9, 12))
    data[1, 5, 6, 1] = np.nan
    s._domain.put("fill", 0, 0, data)
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
