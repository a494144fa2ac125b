"""Runs of `rode.solve` in parts: any number of them, devices, threads, processes and ranks."""

import numpy as np
import pytest

import rode
from hetero.arrays import Workspace
from hetero.devices import resolve
from rode._solver import statistics

QUAKE = rode.kanai_tajimi()
RUN = {"t_span": (0, 1), "h": 2.0**-6, "delta": 2.0**-10, "rng": 3, "save_every": 16}
WANTED = ("paths", "moments", "peaks", rode.Quantiles(0.0, 0.1, 0.5, 0.999, 1.0))


def assert_same(result, expected):
    np.testing.assert_array_equal(result.paths, expected.paths)
    np.testing.assert_array_equal(result.peaks, expected.peaks)
    np.testing.assert_array_equal(result.quantiles, expected.quantiles)
    assert result.probabilities == expected.probabilities
    np.testing.assert_array_equal(result.mean, expected.mean)
    np.testing.assert_array_equal(result.variance, expected.variance)
    assert result.work == expected.work
    assert (result.status, result.message) == (expected.status, expected.message)


def test_any_number_of_parts_gives_the_same_paths(device):
    settings = RUN | {"paths": 101, "reduction": WANTED}
    expected = rode.solve(QUAKE, "averaged-euler", device=device, **settings)
    for parts in (1, 3, 101):
        devices = (device,) if parts == 1 else (device, device)
        result = rode.solve(QUAKE, "averaged-euler", parts=parts, device=devices, **settings)
        assert_same(result, expected)


@pytest.mark.parametrize("paths", [1, 2047, 2048, 5003])
def test_no_bit_of_moments_depends_on_the_parts(device, paths):
    """Leaves of the tree have one, two or four paths; devices choose their threads per path."""
    settings = RUN | {"t_span": (0, 0.25), "paths": paths, "reduction": "moments", "device": device}
    expected = rode.solve(QUAKE, "averaged-euler", **settings)
    everything = rode.solve(QUAKE, "averaged-euler", **settings | {"reduction": "paths"}).paths
    np.testing.assert_allclose(expected.mean, everything.mean(axis=2), rtol=1e-12, atol=1e-13)
    if paths > 1:
        np.testing.assert_allclose(expected.variance, everything.var(axis=2, ddof=1), rtol=1e-12)
    for parts in range(2, min(paths, 7) + 1):
        result = rode.solve(QUAKE, "averaged-euler", parts=parts, **settings)
        np.testing.assert_array_equal(result.mean, expected.mean)
        np.testing.assert_array_equal(result.variance, expected.variance)


def test_every_gpu(require_cuda):
    """All GPUs of the machine compute a part."""
    settings = RUN | {"paths": 1001, "reduction": WANTED}
    expected = rode.solve(QUAKE, "3-rode-taylor", device="cuda", **settings)
    assert_same(rode.solve(QUAKE, "3-rode-taylor", device="cuda:all", **settings), expected)


def test_fresh_entropy_is_shared_by_all_parts():
    settings = RUN | {"rng": None, "paths": 4, "reduction": "peaks"}
    result = rode.solve(QUAKE, "averaged-euler", parts=4, device="cpu", **settings)
    assert np.unique(result.peaks[2]).size == 4


@pytest.mark.parametrize("kind", ["int64", "generator", "parameters"])
def test_seeds_and_parameters_go_with_their_parts(kind):
    """Seeds may be NumPy's; parameters of each path go with it."""
    seed = {"int64": lambda: np.int64(3), "generator": lambda: np.random.default_rng(3)}
    zeta = np.linspace(0.5, 0.7, 7) if kind == "parameters" else 0.64
    quake = rode.kanai_tajimi(zeta)
    settings = RUN | {"paths": np.int16(7), "reduction": WANTED, "device": "cpu"}
    results = [
        rode.solve(quake, "averaged-euler", **settings | {"rng": seed.get(kind, lambda: 3)()}, **x)
        for x in ({}, {"parts": 3})
    ]
    assert_same(*results)


@pytest.mark.simulator
@pytest.mark.parametrize("leaf", [1, 4, 64])
def test_nodes_have_the_moments_of_their_paths(device, leaf):
    """The last leaf of the row lacks numbers; leaves of 64 have two numbers for each thread."""
    rows, work = np.random.default_rng(1).standard_normal((2, 13 * leaf - leaf // 2)), None
    begins, sizes = np.array([0, 8, 12]), np.array([8, 4, 1])
    work = Workspace(resolve(device))
    arrays = (work.input("nodes", array, np.int64) for array in (begins, sizes))
    mean, squares = (work.output((2, 3), flat=False) for _ in range(2))
    matrix = work.input("rows", rows).reshape(rows.shape)
    statistics.loops(work.device).compute_moments(matrix, leaf, *arrays, mean, squares)
    for k, (begin, size) in enumerate(zip(begins, sizes, strict=True)):
        part = rows[:, begin * leaf : (begin + size) * leaf]
        np.testing.assert_allclose(work.result(mean, (2, 3))[:, k], part.mean(axis=1), atol=1e-15)
        expected = part.shape[1] * part.var(axis=1)
        np.testing.assert_allclose(work.result(squares, (2, 3))[:, k], expected, atol=1e-12)
