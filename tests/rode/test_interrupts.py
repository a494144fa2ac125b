"""Long fills run in pieces, between which Ctrl-C is answered; the pieces change no number."""

import numpy as np
import pytest

from rode import normal, ornstein_uhlenbeck
from rode.normals import METHODS


def use_small_pieces(monkeypatch, modules, most: int):
    """Cut loops into pieces of at most `most` items (or what their `multiple` asks for)."""

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
    modules = ("rode._normals_cpu", "rode._ziggurat_cpu", "rode._wallace_cpu")
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
    use_small_pieces(monkeypatch, ["rode._ou_cpu"], 7)
    np.testing.assert_array_equal(draw(), whole)


def test_pieces_change_no_path_of_given_noise(monkeypatch):
    noise = normal(200_001, rng=1, device="cpu")
    whole = ornstein_uhlenbeck(None, 0.01, noise=noise, start=0.5, device="cpu")
    use_small_pieces(monkeypatch, ["rode._ou_cpu"], 7)
    again = ornstein_uhlenbeck(None, 0.01, noise=noise, start=0.5, device="cpu")
    np.testing.assert_array_equal(again, whole)
