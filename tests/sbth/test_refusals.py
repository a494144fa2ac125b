"""What the functions of `sbth` refuse: errors name the argument, its value and what it may be."""

import numpy as np
import pytest
import scipy.sparse as sp

import sbth

RNG = np.random.default_rng(5)
A, AB = np.eye(3), np.ones((2, 5))
BAND = np.random.default_rng(0).standard_normal((4, 9))
FULL = RNG.standard_normal((2, 3, 9, 9))
DEFINITE = np.eye(9) * np.array([2.0, 3.0, 4.0])[:, None, None]
D, E = RNG.standard_normal((4, 1, 15)), RNG.standard_normal((2, 14))
PAIR = [1.0, 2.0], [1.0]
SPARSE = sp.eye(4, format="csr")


def spoiled(array, place, value):
    """Return an array with another element."""
    array = array.copy()
    array[place] = value
    return array


BAD, METRIC = spoiled(FULL, (1, 2, 4, 0), np.nan), spoiled(DEFINITE, (1, 3, 3), -1.0)


def apply_reflectors(x):
    sbth.tridiagonalize(np.ones((4, 12)), keep_reflectors=True, device="cpu")[2].apply(x)


def of_values(d, e, *selection, **options):
    return sbth.eigvalsh_tridiagonal(d, e, *selection, **options)


def share(a, function=sbth.eigh, **options):
    return sbth.solve_batch(function, a, **{"device": ["cpu", "cpu"]} | options)


VALUES = {
    # One matrix, and what is asked of it
    "a must be a square matrix": lambda: sbth.full_to_band(np.ones((2, 3))),
    "bandwidth must be an integer >= 1": lambda: sbth.full_to_band(A, 0, device="cpu"),
    "ab must have the shape": lambda: sbth.tridiagonalize(np.ones(3)),
    r"nan for element \(1, 1\)": lambda: sbth.tridiagonalize([[0.0, 0.0], [1.0, np.nan]]),
    r"a_band holds inf for element \(3, 3\)": lambda: sbth.eigvals_banded([[1, 1, 1, np.inf]]),
    "in_flight must be an integer": lambda: sbth.tridiagonalize(BAND, in_flight=0, device="cpu"),
    "stages must be 1 for": lambda: sbth.tridiagonalize(BAND, stages=2, device="cpu"),
    "method must be one of 'auto', 'sbth'": lambda: sbth.eigh(A, method="fast"),
    "one of 'auto', 'lapack' on cpu": lambda: sbth.eigh(A, method="sbth", device="cpu"),
    "a_band is complex: use 'auto'": lambda: sbth.eig_banded(AB * 1j, method="sbth"),
    "reduces real": lambda: sbth.solver_for(9, 3, dtype=complex, method="sbth"),
    "^a must not be masked": lambda: sbth.band_from_dense(np.ma.array(A, mask=A == 0)),
    "bandwidth=2 is too small": lambda: sbth.band_from_dense(np.ones((9, 9)), 2),
    "x must have 12 rows": lambda: apply_reflectors(np.ones(11)),
    # Parts of a spectrum
    r"shapes \(n,\) and \(n - 1,\)": lambda: of_values([1.0, 2.0], [1.0, 2.0]),
    "d must be finite, got nan at index 1": lambda: of_values([1.0, np.nan], [1.0]),
    "select must be one of": lambda: of_values(*PAIR, "x"),
    "indices 0 <= first <= last < 2": lambda: of_values(*PAIR, "i", (0, 2)),
    "must be ascending": lambda: of_values(*PAIR, "v", (2, 1)),
    "select_range must be a pair": lambda: of_values(*PAIR, "v"),
    "a pair of numbers": lambda: of_values(*PAIR, "i", ("a", 1)),
    "select_range must hold indices": lambda: of_values(*PAIR, "i", (0.5, 1)),
    # Pencils
    "b must have the shape of a": lambda: sbth.eigh(A, np.eye(4)),
    "b must be a square matrix": lambda: sbth.eigh(A, np.ones(3)),
    "b must be positive definite: its Cholesky": lambda: sbth.eigh(A, -A),
    "b must be finite": lambda: sbth.eigh(A, A * np.nan),
    "a must be finite": lambda: sbth.eigh(A * np.nan, A),
    # Routines of LAPACK
    "^driver='evd' asks for": lambda: sbth.eigh(A, driver="evd", method="sbth"),
    "^lapack_driver='stev' asks": lambda: of_values(*PAIR, lapack_driver="stev", method="sbth"),
    "^select must not be": lambda: sbth.eigvalsh(A, select="i", select_range=(0, 1), driver="ev"),
    "select and tol must not be given beside a subset": lambda: sbth.eigvalsh(A, A, tol=1e-3),
    # Batches
    r"matrix \(1, 2\) of the batch: a must be finite": lambda: sbth.eigh(BAD),
    r"matrix \(1, 2\) of the batch: b must be finite": lambda: sbth.eigh(DEFINITE, BAD),
    r"matrix \(0, 1\) of the batch: b must be positive": lambda: sbth.eigh(FULL, METRIC),
    r"matrix \(0, 0\).*b must have the shape": lambda: sbth.eigh(FULL, np.eye(8)),
    "another number of": lambda: sbth.eigh(FULL, subset_by_value=(0, 1)),
    "given both": lambda: sbth.eigh(FULL, subset_by_value=(0, 1), subset_by_index=(0, 1)),
    r"matrix \(0, 0\) of the batch: d and e": lambda: of_values(D, E[:, :-1]),
    "shapes of the batches do not match": lambda: of_values(D[:3, 0], E),
    "a must hold square matrices": lambda: sbth.eigvalsh(np.ones((2, 3, 4))),
    "not be masked": lambda: sbth.eigh([A, np.ma.array(A, mask=True)]),
    r"from matrix \(1, 0\): a, matrix \(2,\) of the batch: a must be": lambda: share(BAD),
    "for one matrix": lambda: share(A),
    "such as sbth.eigh": lambda: share(FULL, np.linalg.eigh),
    "such as sbth.eigh, got \\[\\]": lambda: share(FULL, []),
    # Sparse matrices
    "square": lambda: sbth.eigvalsh(sp.csr_matrix((3, 4))),
    "a holds nan for": lambda: sbth.eigvalsh(sp.diags([[1.0, np.nan, 2.0, 1.0, 1.0]], [0])),
}
"""Words of errors, and calls that raise them."""

TYPES = {
    "ab must be real": lambda: sbth.tridiagonalize(np.ones((2, 3), complex)),
    "ab must hold real numbers": lambda: sbth.tridiagonalize([["a"]]),
    "ab must be an array of real numbers": lambda: sbth.tridiagonalize([[1.0, 2.0], [3.0]]),
    "a must be real": lambda: sbth.full_to_band(A.astype(complex)),
    "a must be a SciPy sparse matrix, got nd": lambda: sbth.band_from_sparse(A),
    "a must hold real numbers": lambda: sbth.band_from_dense([["a"]]),
    "x must hold real numbers": lambda: apply_reflectors(["a"] * 12),
    "tol must be a real number": lambda: sbth.eigvals_banded(BAND, tol="small"),
    "check_finite must be True or False": lambda: sbth.eigvals_banded(BAND, check_finite="no"),
    "progress must be True or False": lambda: sbth.eigh(FULL, progress="yes"),
    "lover": lambda: share(FULL, lover=1),
    "executor": lambda: share(FULL, device=None, executor=3),
    r"which sbth\.eigvalsh and": lambda: sbth.eigvals_banded(SPARSE),
    r"matrix, which sbth\.eigvalsh": lambda: sbth.tridiagonalize(SPARSE),
}


@pytest.mark.parametrize("words", [*VALUES, *TYPES])
def test_wrong_values_and_types(words):
    with pytest.raises(ValueError if words in VALUES else TypeError, match=words):
        (VALUES | TYPES)[words]()
