"""Fits of data that are read piece by piece: those of the same data in memory."""

import itertools
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stablegpu
from hetero.devices import Device
from hetero.distributed.engines import Engine
from stablegpu._fit.observations.streams.pieces import observations_of
from stablegpu._fit.observations.streams.read_ahead import read_ahead
from stablegpu._fit.observations.streams.sample import StreamedSample

PIECE = 7000


@pytest.fixture(scope="module")
def data():
    return stablegpu.stable(1.6, 0.4, 2.0, 3.0, device="cpu").rvs(50_000, rng=1)


@pytest.fixture(scope="module")
def path(data, tmp_path_factory):
    file = tmp_path_factory.mktemp("stream") / "data.npy"
    np.save(file, data)
    return file


def sample_of(source, piece=PIECE, parts=1):
    engine = Engine.create(["cpu"] * parts, None, None)
    return StreamedSample(observations_of(source, piece), engine, Device("cpu"), False)


def assert_same_fit(found, expected, tolerance):
    """Compare estimates in units of the standard errors that the sample size implies."""
    for name, value in expected.params.items():
        unit = 1.0 if name in ("alpha", "beta") else expected.scale
        assert getattr(found, name) == pytest.approx(value, abs=tolerance * unit, rel=0.0), name
    assert (found.size, found.nobs, found.ties) == (expected.size, expected.nobs, expected.ties)
    assert (found.method, found.status, found.message) == (
        expected.method, expected.status, expected.message,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("method", "tolerance"), [("ml", 1e-7), ("mcculloch", 0.0), ("koutrouvelis", 1e-11)]
)
def test_fits_are_those_of_data_in_memory(data, path, method, tolerance):
    expected = stablegpu.fit(data, method=method, device="cpu")
    options = {"method": method, "piece": PIECE}
    sources = {
        "path": path,
        "memory map": np.load(path, mmap_mode="r"),
        "function": lambda: np.array_split(data, 13),
        "list": [data[:1], data[1:1], data[1:]],
    }
    for source in sources.values():
        found = stablegpu.fit_stream(source, device="cpu", **options)
        assert_same_fit(found, expected, tolerance)
    found = stablegpu.fit_stream(path, device=["cpu"] * 3, **options)
    assert_same_fit(found, expected, tolerance)
    with ThreadPoolExecutor(1) as executor:
        found = stablegpu.fit_stream(path, executor=executor, device="cpu", **options)
    assert_same_fit(found, expected, tolerance)
    assert found.loglik == pytest.approx(expected.loglik, rel=1e-12)
    if method == "ml":
        for name, error in expected.stderr.items():
            assert found.stderr[name] == pytest.approx(error, rel=1e-5)


def test_fixed_parameters_and_parameterization(data, path, device):
    options = {"fixed": {"alpha": 1.5}, "parameterization": "S0", "device": device}
    found = stablegpu.fit_stream(str(path), piece=PIECE, **options)
    assert found.alpha == 1.5
    assert_same_fit(found, stablegpu.fit(data, **options), 1e-7)


@pytest.mark.parametrize("parts", [1, 3])
def test_order_statistics_of_hard_data(parts):
    rng = np.random.default_rng(3)
    data = rng.standard_cauchy(4000)
    data[:7] = [1e308, -1e308, 0.0, -0.0, 5e-324, -5e-324, np.nextafter(1.0, 2.0)]
    data[1000:2500] = 1.0  # more equal ones than are collected, if the limit is small
    data[2500:3000] = 1.0 + np.arange(500) * 2.0**-52
    ranks = np.array([0, 1, 2, 1999, 2000, 2700, 3998, 3999, 5])
    for order in (data, np.sort(data), np.sort(data)[::-1]):
        found = sample_of(order, 170, parts)
        np.testing.assert_array_equal(found.select(ranks), np.sort(data)[ranks])
        assert found.count(np.array([1.0, 7.5])).tolist() == [np.sum(data == 1.0), 0]


def test_digits_that_do_not_end_early(monkeypatch):
    monkeypatch.setattr("stablegpu._fit.observations.streams.sample.COLLECTED", 0)
    data = np.random.default_rng(3).standard_cauchy(1000)
    ranks = np.arange(0, 1000, 99)
    np.testing.assert_array_equal(sample_of(data, 170).select(ranks), np.sort(data)[ranks])


def test_bad_sources(tmp_path, data):
    (tmp_path / "text.npy").write_text("1 2 3")
    np.savez(tmp_path / "several.npz", data)
    for source, error, message in (
        (iter([data]), TypeError, "pass the function that returns it"),
        (3, TypeError, r"source must be the path of a \.npy file, an array"),
        (data.reshape(2, -1), ValueError, "source must have one dimension, got 2"),
        (lambda: [data.reshape(2, -1)], ValueError, "a piece of source must have one dimension"),
        (tmp_path / "missing.npy", FileNotFoundError, ""),
        (tmp_path / "text.npy", ValueError, r"is not a \.npy file of numbers"),
        (tmp_path / "several.npz", ValueError, "got an archive of several"),
        (lambda: [data, [np.nan], data], ValueError, "must be finite"),
        (np.zeros(10_000), ValueError, "must vary"),
        (list, ValueError, "at least 5 values, got 0"),
    ):
        with pytest.raises(error, match=message or None):
            stablegpu.fit_stream(source, device="cpu", method="mcculloch")
    with pytest.raises(ValueError, match="piece must"):
        stablegpu.fit_stream(data, piece=0)
    with ThreadPoolExecutor(1) as executor, pytest.raises(TypeError, match="with an executor"):
        stablegpu.fit_stream(data, executor=executor)
    with pytest.raises(TypeError, match="has no ranges"):
        stablegpu.fit_stream([data], device=["cpu", "cpu"])


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is on Linux's private memory")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of 128 MiB is fitted with 60 MiB more of private memory than a file of 8 MiB."""
    code = """if True:
        import resource, sys
        import numpy as np
        import stablegpu
        small, large = sys.argv[1:]
        def fit(path):
            return stablegpu.fit_stream(path, method="mcculloch", piece=1 << 18, device="cpu")
        fit(small)
        used, _ = resource.getrlimit(resource.RLIMIT_DATA)
        pages = int(open("/proc/self/statm").read().split()[5])
        resource.setrlimit(resource.RLIMIT_DATA, (pages * 4096 + (60 << 20),) * 2)
        try:
            np.ones(1 << 24)
        except MemoryError:
            print(fit(large).size)
    """
    sizes = {"small": 1 << 20, "large": 1 << 24}
    for name, size in sizes.items():
        np.save(tmp_path / name, np.random.default_rng(1).standard_cauchy(size))
    paths = [str(tmp_path / f"{name}.npy") for name in sizes]
    run = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == str(1 << 24), run.stderr


@pytest.mark.parametrize("size", [20, 20_000])
@pytest.mark.parametrize("method", ["ml", "mcculloch", "koutrouvelis"])
def test_passes_of_other_sizes_are_seen(size, method):
    """A function whose iterator ends after the first pass, or that gives fewer numbers later."""
    x = np.random.default_rng(1).standard_cauchy(size)
    exhausted = iter([x])
    passes = itertools.count()
    for source in (lambda: exhausted, lambda: [x[: -1 if next(passes) else None]]):
        with pytest.raises(ValueError, match=f"same numbers each time, got {size} in the first"):
            stablegpu.fit_stream(source, method=method, device="cpu")


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
