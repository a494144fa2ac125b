"""SciPy's own tests of its eigenvalue functions pass with those of this package in their place."""

import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.linalg

import sbth

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


def test_contradictions_about_routines_are_refused(pencil):
    a, b = pencil
    with pytest.raises(ValueError, match=r"^driver='evd' asks for a routine of LAPACK, .* CPU"):
        sbth.eigh(a, driver="evd", method="sbth")
    with pytest.raises(ValueError, match=r"^lapack_driver='stemr' asks for a routine of LAPACK"):
        sbth.eigh_tridiagonal(d=a[0], e=a[0, 1:], lapack_driver="stemr", method="sbth")
    with pytest.raises(ValueError, match=r"^select must not be given beside driver='ev'"):
        sbth.eigvalsh(a, select="i", select_range=(0, 1), driver="ev")
    with pytest.raises(ValueError, match="select and tol must not be given beside a subset or b"):
        sbth.eigvalsh(a, b, tol=1e-3)
    with pytest.raises(np.linalg.LinAlgError, match="b must be positive definite"):
        sbth.eigh(a, -b)
