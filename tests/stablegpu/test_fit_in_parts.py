"""Fits by several devices, executors and ranks: the same results, however the sets are split."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest

import stablegpu
from hetero.arrays import on_host


def assert_equal_fits(found, expected):
    """Compare everything but the times."""
    assert found.labels == expected.labels
    np.testing.assert_equal(dict(found.fixed), dict(expected.fixed))
    for name in (f.name for f in fields(expected)):
        if name in ("timings", "labels", "fixed"):
            continue
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@pytest.fixture(scope="module")
def sets():
    """Data sets of 5 to 9000 observations; some cannot be fitted."""
    rng = np.random.default_rng(1)
    samples = [rng.standard_t(3, n) for n in (9000, 5, 300, 17, 40, 80, 8, 33)]
    return [*samples, np.ones(20), np.full(6, np.nan), rng.standard_cauchy(50)]


@pytest.mark.parametrize("parts", [1, 2, 3, 20])
def test_results_do_not_depend_on_the_number_of_parts(sets, parts):
    alone = stablegpu.fit(sets, device="cpu")
    assert {"converged", "constant", "not finite"} <= {*alone.status}
    assert_equal_fits(stablegpu.fit(sets, device=["cpu"] * parts), alone)


@pytest.mark.parametrize("method", ["mcculloch", "koutrouvelis"])
def test_other_methods_and_windows(sets, method):
    shared = {"method": method, "device": ["cpu"] * 3}
    alone = shared | {"device": "cpu"}
    assert_equal_fits(stablegpu.fit(sets, **shared), stablegpu.fit(sets, **alone))
    one = stablegpu.fit(sets[2], **shared)
    expected = stablegpu.fit(sets[2], **alone)
    assert (one.params, one.loglik) == (expected.params, expected.loglik)
    options = {"step": 7, "index": range(300)}
    windows = (stablegpu.fit_windows(sets[2], 40, **options, **x) for x in (shared, alone))
    assert_equal_fits(*windows)


def test_options_and_labels_go_with_their_sets(sets):
    names = [f"set {k}" for k in range(len(sets))]
    data = dict(zip(names, sets, strict=True))
    rng = np.random.default_rng(2)
    weights = [rng.integers(0, 3, one.size) + (np.arange(one.size) < 5) for one in sets]
    options = {
        "weights": weights,
        "fixed": {"beta": np.linspace(-0.5, 0.5, len(sets))},
        "parameterization": "S0",
    }
    alone = stablegpu.fit(data, device="cpu", **options)
    with ThreadPoolExecutor(1) as executor:
        found = stablegpu.fit(data, executor=executor, device="cpu", **options)
    assert found.labels == tuple(names)
    assert_equal_fits(found, alone)


def test_data_on_a_gpu_stay_there(require_cuda):
    from hetero.cuda.driver import cuda

    data = cuda.to_device(np.random.default_rng(1).standard_t(3, (3, 50)))
    with pytest.raises(TypeError, match="data on a GPU are fitted there"):
        stablegpu.fit(data, device=["cpu", "cpu"])
    assert np.isfinite(on_host(stablegpu.fit(data).alpha)).all()


@pytest.mark.parametrize("method", ["parametric", "nonparametric"])
def test_bootstraps(sets, method):
    result = stablegpu.fit(sets[2], method="mcculloch", device="cpu")
    alone = stablegpu.bootstrap(result, 8, rng=2, method=method)
    found = stablegpu.bootstrap(result, 8, rng=2, method=method, device=["cpu"] * 3)
    assert found.intervals == alone.intervals
    assert_equal_fits(found.replicas, alone.replicas)
    assert np.unique(found.replicas.loc).size == 8


def test_a_nonparametric_bootstrap_draws_from_the_data(sets):
    result = stablegpu.fit(sets[2], method="mcculloch", device="cpu")
    moved = replace(result, loc=result.loc + 1e6)
    replicas = stablegpu.bootstrap(moved, 8, rng=2, method="nonparametric").replicas
    assert (abs(replicas.loc - result.loc) < 10.0 * result.scale).all()
    replicas = stablegpu.bootstrap(moved, 8, rng=2).replicas
    assert (abs(replicas.loc - moved.loc) < 10.0 * result.scale).all()
    with pytest.raises(ValueError, match="method must be"):
        stablegpu.bootstrap(result, 8, method="bayesian")
