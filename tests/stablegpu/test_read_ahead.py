"""Pieces that a thread reads ahead: their values, their memory, and errors of the file."""

import threading

import numpy as np
import pytest

from hetero.devices import Device
from stablegpu._fit.observations.streams.cpu_digits import find_extremes_and_count
from stablegpu._fit.observations.streams.pieces import observations_of
from stablegpu._fit.observations.streams.read_ahead import read_ahead

CPU = Device("cpu")
DATA = np.random.default_rng(2).standard_cauchy(1000)


def readers():
    return [t for t in threading.enumerate() if t.name.startswith("heterokit-reader")]


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i2", "?"])
@pytest.mark.parametrize("is_map", [False, True])
@pytest.mark.parametrize("piece", [7, 100, 999, 1000, 5000])
def test_pieces_are_those_of_the_file(tmp_path, dtype, is_map, piece):
    data = DATA.clip(-1e4, 1e4).astype(dtype)
    path = tmp_path / "data.npy"
    np.save(path, data)
    source = np.load(path, mmap_mode="r") if is_map else path
    observations = observations_of(source, piece)
    for part in (observations, *observations.split(3)):
        pieces = [p.copy() for p in read_ahead(part, CPU)]
        expected = data[part.begin : part.end].astype(float)
        assert [p.size for p in pieces] == [p.size for p in part]
        np.testing.assert_array_equal(np.concatenate(pieces), expected)
    assert not readers()


def test_two_buffers_serve_a_file_and_none_data_in_memory(tmp_path):
    np.save(tmp_path / "data.npy", DATA)
    pieces = read_ahead(observations_of(tmp_path / "data.npy", 10), CPU)
    assert len({piece.__array_interface__["data"][0] for piece in pieces}) == 2
    for source in (DATA, [DATA]):
        (piece,) = read_ahead(observations_of(source, 1 << 20), CPU)
        assert np.shares_memory(piece, DATA)
    threads = []

    def function():
        threads.append(threading.current_thread())
        yield DATA

    list(read_ahead(observations_of(function, 10), CPU))
    assert threads == [threading.current_thread()]


def test_a_file_that_becomes_shorter_is_an_error(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, DATA)
    observations = observations_of(path, 300)
    np.save(path, DATA[:500])
    with pytest.raises(ValueError, match=r"data\.npy has become shorter while it was read"):
        list(read_ahead(observations, CPU))
    assert not readers()


@pytest.mark.cuda
def test_buffers_for_a_gpu(require_cuda, tmp_path):
    np.save(tmp_path / "data.npy", DATA)
    device = Device("cuda", 0)
    with device.active():
        pieces = [p.copy() for p in read_ahead(observations_of(tmp_path / "data.npy", 70), device)]
    np.testing.assert_array_equal(np.concatenate(pieces), DATA)


def test_extremes_and_digits_of_a_piece():
    (low, high), counts = find_extremes_and_count(DATA)
    assert (low, high) == (DATA.min(), DATA.max())
    bits = DATA.view(np.int64)
    keys = np.where(bits < 0, ~bits, bits ^ np.int64(-(2**63))).view(np.uint64)
    expected = np.bincount((keys >> np.uint64(48)).astype(np.int64), minlength=1 << 16)
    np.testing.assert_array_equal(counts, expected[None])
    for place in (0, 500, 999):
        data = DATA.copy()
        data[place] = np.nan
        assert np.isnan(find_extremes_and_count(data)[0]).all()
    assert find_extremes_and_count(np.array([-np.inf, 1.0, np.inf]))[0] == (-np.inf, np.inf)
