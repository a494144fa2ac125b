"""Pieces that a thread reads ahead: their values, their memory, and errors of the file."""

import threading

import numpy as np
import pytest

from hetero.devices import Device
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
