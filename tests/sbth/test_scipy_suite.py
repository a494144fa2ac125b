"""SciPy's own tests pass with functions of this package, which have the arguments of SciPy's."""

import inspect
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse

import sbth
from sbth import reference

PLUGIN = """
import scipy.linalg.tests.test_decomp as tests
import sbth

for name in ("eigh", "eigvalsh", "eig_banded", "eigvals_banded", "eigh_tridiagonal",
             "eigvalsh_tridiagonal"):
    setattr(tests, name, getattr(sbth, name))
"""

EXCEPTIONS = {"TestEigh::test_eigh_of_sparse"}
"""Tests that fail on purpose: `sbth.eigh` takes sparse matrices, which SciPy refuses."""


@pytest.mark.skipif(find_spec("scipy.linalg.tests") is None, reason="this SciPy has no tests")
def test_the_tests_of_scipy_pass(tmp_path):
    (tmp_path / "in_place_of_scipy.py").write_text(PLUGIN)
    command = [sys.executable, "-c", "import sys, pytest; sys.path.insert(0, '.'); "
               "sys.exit(pytest.main(sys.argv[1:]))", "-p", "in_place_of_scipy", "-q",
               "-p", "no:cacheprovider", "--pyargs", "scipy.linalg.tests.test_decomp",
               "-k", "TestEigh or TestEigBanded or TestEigTridiagonal"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    failed = set(re.findall(r"^FAILED \S*?::(\S+)", done.stdout, re.M))
    assert failed == EXCEPTIONS, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 50


@pytest.fixture
def pencil():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 9, 9))
    return a + a.T, b @ b.T + np.eye(9)


@pytest.mark.parametrize("lower", [True, False])
def test_eigvalsh_takes_what_eigh_takes(pencil, lower):
    a, b = pencil
    triangle = np.tril(a) if lower else np.triu(a)
    for arguments, expected in (
        ({"subset_by_index": (2, 4)}, scipy.linalg.eigvalsh(a)[2:5]),
        ({"b": b}, scipy.linalg.eigvalsh(a, b)),
        ({"b": b, "subset_by_index": (0, 1)}, scipy.linalg.eigvalsh(a, b)[:2]),
        ({"b": b, "type": 3}, np.sort(np.linalg.eigvals(b @ a).real)),
        ({"driver": "ev"}, scipy.linalg.eigvalsh(a)),
    ):
        values = sbth.eigvalsh(triangle, lower=lower, **arguments)
        np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-12)
        if "driver" not in arguments and "type" not in arguments:
            batch = sbth.eigvalsh(np.stack([triangle, 2 * triangle]), lower=lower, **arguments)
            np.testing.assert_allclose(batch, [expected, 2 * expected], rtol=1e-11, atol=1e-12)
    inside = sbth.eigvalsh(a, subset_by_value=(-1.0, 1.0))
    np.testing.assert_allclose(inside, [x for x in scipy.linalg.eigvalsh(a) if -1 < x <= 1])


RNG = np.random.default_rng(8)
BAND = RNG.standard_normal((4, 30))
EPS = np.finfo(float).eps


def assert_close(computed, true):
    """Check eigenvalues to a few eps."""
    np.testing.assert_allclose(computed, true, rtol=0, atol=100 * EPS * np.max(np.abs(BAND)))


def test_signature_of_eigvals_banded_is_scipys():
    ours = inspect.signature(sbth.eigvals_banded).parameters
    scipys = inspect.signature(scipy.linalg.eigvals_banded).parameters
    assert list(ours)[: len(scipys)] == list(scipys)
    for name, parameter in scipys.items():
        assert ours[name].default == parameter.default, name
        assert ours[name].kind == parameter.kind, name
    assert list(ours)[len(scipys) :] == ["b_band", "tol", "method", "progress", "device"]


@pytest.mark.parametrize("select", ["a", "v", "i", "all", "value", "index", "Index", 0, 1, 2])
def test_selections_are_words_letters_and_numbers(select):
    kind = {"a": 0, "v": 1, "i": 2}.get(str(select)[0].lower(), select)
    window = (None, (-1.0, 1.5), (2, 5))[kind]
    true = scipy.linalg.eigvals_banded(BAND, select=select, select_range=window)
    assert true.size
    assert_close(sbth.eigvals_banded(BAND, select=select, select_range=window), true)
    d, e = BAND[0], BAND[1, :-1]
    true = scipy.linalg.eigvalsh_tridiagonal(d, e, select=select, select_range=window)
    assert_close(sbth.eigvalsh_tridiagonal(d, e, select=select, select_range=window), true)
    full = reference.dense_from_band(BAND)
    computed = sbth.eigvalsh(full, select=select, select_range=window, device="cpu")
    assert_close(computed, scipy.linalg.eigvals_banded(BAND, select=select, select_range=window))


@pytest.mark.parametrize("lower", [False, True, np.True_])
def test_all_functions_agree_on_storage(lower):
    full = reference.dense_from_band(BAND)
    true = np.linalg.eigvalsh(full)
    for ab in (
        sbth.band_from_dense(full, lower=lower),
        sbth.band_from_sparse(sparse.csr_array(full), lower=lower),
        sbth.full_to_band(full, 2, lower=lower, device="cpu"),
    ):
        assert_close(scipy.linalg.eigvals_banded(ab, lower=bool(lower)), true)
    ab, true = reference.cosine_matrix([1.0, -0.5, 0.25], 20, lower=lower)
    assert_close(scipy.linalg.eigvals_banded(ab, lower=bool(lower)), true)


def test_a_tolerance_stops_the_bisection_early(device):
    true = scipy.linalg.eigvals_banded(BAND)
    for tol in (1e-3, 1e-8):
        computed = sbth.eigvals_banded(BAND, tol=tol, method="sbth", device=device)
        assert np.max(np.abs(computed - true)) <= tol
    computed = sbth.eigvals_banded(BAND, tol=0.1, method="sbth", device=device)
    assert np.max(np.abs(computed - true)) > 1e-9
    for default in (None, 0.0, -1.0):
        assert_close(sbth.eigvals_banded(BAND, tol=default, device=device), true)
    with pytest.raises(TypeError, match="tol must be a real number"):
        sbth.eigvals_banded(BAND, tol="small", device=device)
