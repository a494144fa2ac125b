"""Eigenvalues of sparse matrices are those of dense ones; errors name the right function."""

import numpy as np
import pytest
import scipy.sparse

import sbth


def chain(n, rng):
    """A tridiagonal matrix whose rows and columns are permuted: its band is narrow again after."""
    e = rng.standard_normal(n - 1)
    a = scipy.sparse.diags([e, rng.standard_normal(n), e], [-1, 0, 1], format="csr")
    order = rng.permutation(n)
    return a[order][:, order]


MATRICES = {
    "permuted chain": lambda rng: chain(60, rng),
    "wide": lambda rng: scipy.sparse.csr_matrix(np.add.outer(*2 * [rng.standard_normal(20)])),
    "diagonal": lambda rng: scipy.sparse.diags([rng.standard_normal(9)], [0]),
    "zero": lambda rng: scipy.sparse.csr_matrix((5, 5)),
    "integers": lambda rng: scipy.sparse.diags([1, 2, 1], [-1, 0, 1], shape=(30, 30), dtype=int),
    "array": lambda rng: scipy.sparse.csr_array(chain(30, rng)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_are_those_of_the_dense_matrix(name):
    a = MATRICES[name](np.random.default_rng(1))
    expected = np.linalg.eigvalsh(a.toarray().astype(float))
    scale = np.abs(expected).max() + 1e-300
    np.testing.assert_allclose(sbth.eigvalsh(a, device="cpu"), expected, atol=1e-13 * scale)
    chosen = sbth.eigvalsh(a, select="i", select_range=(1, 2), device="cpu")
    np.testing.assert_allclose(chosen, expected[1:3], atol=1e-13 * scale)


@pytest.mark.parametrize(
    ("a", "error", "message"),
    [
        (scipy.sparse.csr_matrix((3, 4)), ValueError, "square"),
        (scipy.sparse.eye(4, format="csr") * 1j, TypeError, "must be real"),
        (scipy.sparse.diags([[1.0, np.nan, 2.0, 1.0, 1.0]], [0]), ValueError, "a must be finite"),
    ],
)
def test_what_is_no_symmetric_real_matrix_is_refused(a, error, message):
    with pytest.raises(error, match=message):
        sbth.eigvalsh(a)


def test_functions_of_other_storage_name_the_right_one():
    a = scipy.sparse.eye(4, format="csr")
    for call in (sbth.eigvals_banded, sbth.tridiagonalize, sbth.full_to_band):
        with pytest.raises(TypeError, match=r"sparse matrix, which sbth\.eigvalsh and sbth\.spec"):
            call(a)
