"""Long loops run in pieces, or check a flag, so that Ctrl-C is answered; no number changes."""

import signal
import threading
import time

import numpy as np
import pytest

import rode
from rode import normal, ornstein_uhlenbeck
from rode._solver import cpu as solver_cpu
from rode._solver import cuda as solver_cuda
from rode._solver.kernel_arguments import Counter, RunParameters, Saving, part_of
from rode.normals import METHODS


def use_small_pieces(monkeypatch, modules, most: int):
    """Cut loops into pieces of at most `most` items (or the least that their `multiple` allows)."""

    def small_ranges(total, *, first, multiple=1):
        step = max(multiple, most // multiple * multiple)
        for begin in range(0, total, step):
            yield begin, min(begin + step, total)

    for module in modules:
        monkeypatch.setattr(f"{module}.ranges", small_ranges)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_pieces_change_no_normal_number(method, dtype, monkeypatch):
    if method == "box-muller-fast" and dtype == np.float64:
        pytest.skip("float32 only")
    numbers = [normal(300_001, method=method, dtype=dtype, rng=3, strips=256, device="cpu")]
    modules = ("rode._normals.cpu", "rode._normals.ziggurat.cpu", "rode._normals.wallace.cpu")
    use_small_pieces(monkeypatch, modules, 5000)
    numbers.append(normal(300_001, method=method, dtype=dtype, rng=3, strips=256, device="cpu"))
    np.testing.assert_array_equal(*numbers)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "method"), [((50, 300), "scan"), (200_001, "scan"), (200_001, "bridge")]
)
def test_pieces_change_no_path(shape, method, dtype, monkeypatch):
    def draw():
        return ornstein_uhlenbeck(
            shape, 0.01, method=method, start=0.5, dtype=dtype, rng=3, device="cpu"
        )

    whole = draw()
    use_small_pieces(monkeypatch, ["rode._paths.cpu"], 7)
    np.testing.assert_array_equal(draw(), whole)


def test_pieces_change_no_path_of_given_noise(monkeypatch):
    noise = normal(200_001, rng=1, device="cpu")
    whole = ornstein_uhlenbeck(None, 0.01, noise=noise, start=0.5, device="cpu")
    use_small_pieces(monkeypatch, ["rode._paths.cpu"], 7)
    again = ornstein_uhlenbeck(None, 0.01, noise=noise, start=0.5, device="cpu")
    np.testing.assert_array_equal(again, whole)


def test_pieces_change_no_mean(monkeypatch):
    path = normal(100_000, rng=1, device="cpu")
    whole = rode.average(path, 10, device="cpu"), rode.riemann_sums(path[:99_991], 10, 0.1, 2)
    use_small_pieces(monkeypatch, ["rode._paths.averages.cpu"], 7)
    monkeypatch.setattr("rode._paths.averages.cpu.FIRST_ELEMENTS", 0)
    again = rode.average(path, 10, device="cpu"), rode.riemann_sums(path[:99_991], 10, 0.1, 2)
    np.testing.assert_array_equal(again[0], whole[0])
    np.testing.assert_array_equal(again[1], whole[1])


def test_pieces_change_no_sweep(monkeypatch):
    noise = normal(1_100_000, rng=1, device="cpu")

    def sweep():
        return ornstein_uhlenbeck(None, 0.01, noise=noise, start=0.5, method="sweeps", device="cpu")

    whole = sweep()
    use_small_pieces(monkeypatch, ["rode._paths.prefix_sum.cpu"], 7)
    np.testing.assert_array_equal(sweep(), whole)


# ---- the solver --------------------------------------------------------------------------------

QUAKE = rode.kanai_tajimi(outputs="acceleration", start_process=0.3)
EVERYTHING = ("paths", "moments", "peaks", rode.Quantiles(0.5))


def solve(device, **changes):
    settings = {"t_span": (0, 1), "h": 2.0**-5, "delta": 2.0**-7, "paths": 50, "rng": 2}
    settings |= {"reduction": EVERYTHING, "save_every": 3, "device": device}
    return rode.solve(QUAKE, "averaged-euler", **(settings | changes))


def assert_same(result, expected):
    for name in ("t", "paths", "mean", "variance", "peaks", "quantiles"):
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name))


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_launches_change_no_bit(device, steps, monkeypatch):
    expected = solve(device)
    if device == "cpu":  # which takes all steps in one call: cut as the GPU's twin does
        integrate = solver_cpu.integrate

        def integrate_in_parts(spec, run, *others):
            for begin in range(0, run.coarse_steps, steps):
                integrate(spec, part_of(run, begin, min(steps, run.coarse_steps - begin)), *others)

        monkeypatch.setattr(solver_cpu, "integrate", integrate_in_parts)
    else:
        use_small_pieces(monkeypatch, ["rode._solver.cuda"], steps)
    assert_same(solve(device), expected)


def test_windows_of_rows_change_no_statistic(monkeypatch):
    expected = solve("cpu")
    use_small_pieces(monkeypatch, ["rode._solver.reductions.cpu"], 2)
    assert_same(solve("cpu"), expected)


def interrupted(call) -> float:
    """Press Ctrl-C 0.2 s after the start of a call; return the seconds until it was answered."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.perf_counter() - pressed[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


LONG = {
    "fine steps": {"delta": 2.0**-35, "reduction": "peaks"},
    "coarse steps": {"t_span": (0, 2**24), "save_every": 2**20},
    "exact": {"t_span": (0, 2**24), "sampling": "exact", "reduction": "peaks"},
    "saved steps": {"t_span": (0, 2**22), "save_every": 64, "reduction": "moments"},
}
"""Runs of minutes or hours."""


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_a_run(name):
    """Ten seconds are for busy machines; without an answer the call takes minutes."""
    long = LONG[name]
    expected = solve("cpu")
    solve("cpu", **long | {"t_span": (0, 1), "save_every": 3, "delta": 2.0**-7})  # compiles
    assert interrupted(lambda: solve("cpu", **long)) < 10.0
    assert_same(solve("cpu"), expected)


def test_ctrl_c_ends_averages_of_fields():
    settings = {"t_span": (0, 1), "h": 2.0**-5, "paths": 50, "rng": 1, "device": "cpu"}
    rode.solve(rode.growth(), "averaged-heun", **settings)
    settings["delta"] = 2.0**-27
    assert interrupted(lambda: rode.solve(rode.growth(), "averaged-heun", **settings)) < 10.0


def test_ctrl_c_ends_all_parts():
    settings = {"t_span": (0, 2**24), "h": 2.0**-5, "delta": 2.0**-7, "paths": 50, "rng": 2}
    solve("cpu")

    def call():
        rode.solve(
            QUAKE, "averaged-euler", parts=2, device=("cpu", "cpu"), reduction="peaks", **settings
        )

    assert interrupted(call) < 10.0
    assert not [t.name for t in threading.enumerate() if t.name.startswith("heterokit-device")]


def test_first_launches_are_short():
    """Launches are bounded in fine steps of one thread, and of all threads of a small GPU."""
    T = np.float64
    for fine, width, paths in ((1, 1, 1 << 20), (1 << 10, 4, 100), (1 << 24, 32, 7), (5, 1, 1)):
        word = np.uint32(1)
        counter, saving = Counter(word, word, word, word), Saving(0, -1, 0, peaks=True)
        run = RunParameters(counter, 0, 10, fine, width, saving, True, *(T(1),) * 5)
        steps = solver_cuda._first_launch(run, paths, 40)
        assert steps == 1 or steps * fine / width <= 1 << 20
        assert steps == 1 or steps * fine * paths <= 40 << 25
        assert steps >= 1
