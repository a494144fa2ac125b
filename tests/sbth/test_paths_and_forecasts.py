"""Ways for every kind of matrix, sparse ones too; what would take ages is refused."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sbth
from hermitian_matrices import random_numbers
from sbth.__main__ import main

ORDER = 60_000
"""Of a tridiagonal matrix; a full matrix takes 29 GB, and the vectors of all blocks 240."""


def band_of(blocks: int = 1) -> np.ndarray:
    """Return the upper band of the matrix with rows -1, 2, -1, which may fall into equal blocks."""
    band = np.stack([np.full(ORDER, -1.0), np.full(ORDER, 2.0)])
    band[0, :: ORDER // blocks] = 0.0
    return band


def smallest(order: int) -> np.ndarray:
    """Return the three smallest eigenvalues of such a matrix."""
    return 4.0 * np.sin(np.arange(1, 4) * np.pi / (2 * order + 2)) ** 2


@pytest.mark.parametrize(
    ("method", "blocks"), [("auto", 1), ("auto", 2), ("sbth", 1), ("sbth", 2), ("lapack", 1)]
)
def test_few_pairs_of_a_long_tridiagonal_matrix_need_no_full_matrices(method, blocks):
    values, vectors = sbth.eig_banded(
        band_of(blocks), select="i", select_range=(0, 2), method=method
    )
    exact = np.sort(np.repeat(smallest(ORDER // blocks), blocks))[:3]
    np.testing.assert_allclose(values, exact, atol=1e-14)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-11)
    low, high = {"select": "v", "method": method}, 0.5 * (exact[1] + exact[2])
    values = sbth.eig_banded(band_of(blocks), select_range=(0.0, high), **low)[0]
    np.testing.assert_allclose(values, exact[exact <= high], atol=1e-14)


@pytest.mark.parametrize("width", [2, 29], ids=["band", "full"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_sparse_matrix_is_read_by_the_triangle_that_is_named(width, dtype):
    a = random_numbers(np.random.default_rng(2), (30, 30), dtype)
    a = np.triu(np.tril(a + a.conj().T, width), -width)
    expected = np.linalg.eigvalsh(a)
    for lower, triangle in ((True, np.tril(a)), (False, np.triu(a))):
        given = sp.csr_array(triangle)
        values, vectors = sbth.eigh(given, lower=lower)
        np.testing.assert_allclose(values, expected, atol=1e-12)
        np.testing.assert_allclose(a @ vectors, vectors * values, atol=1e-12)
        pencil = sbth.eigh(given, sp.eye_array(30), lower=lower)[0]
        for found in (sbth.eigvalsh(given, lower=lower), pencil):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_forecast_of_a_tridiagonal_matrix_is_that_of_its_way():
    band = band_of()
    diagonals = np.stack([band[0], band[1], np.roll(band[0], -1)])
    matrix = sp.dia_array((diagonals, [1, 0, -1]), (ORDER, ORDER))
    forecast = sbth.forecast_eigsh(matrix, 3, which="SA")
    assert forecast.method == "band"
    assert forecast.band_seconds < 1.0
    values = sbth.eigsh(matrix, 3, which="SA", return_eigenvectors=False)
    np.testing.assert_allclose(values, smallest(ORDER), atol=1e-14)


def test_large_sparse_pencils_are_refused_with_what_solves_them():
    stiffness, mass = sp.eye_array(2001, format="csr"), np.eye(2001)
    for a, b in ((stiffness, mass), (mass, stiffness)):
        with pytest.raises(ValueError, match=r"2000, got 2001: .* M=M, .*; for all .* a\.toarray"):
            sbth.eigh(a, b)
    with pytest.raises(NotImplementedError, match=r"^M must be None: .* M=M, sigma=0\.0"):
        sbth.eigsh(stiffness, 5, M=stiffness)
    small = sp.diags_array([1.0, 2.0, 3.0]), sp.diags_array([1.0, 4.0, 9.0])
    np.testing.assert_allclose(sbth.eigh(*small, eigvals_only=True), [1 / 3, 1 / 2, 1.0])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("width", [3, 59], ids=["band", "full"])
def test_spectra_of_hermitian_matrices(form, width):
    rng = np.random.default_rng(1)
    a = rng.standard_normal((60, 60)) + 1j * rng.standard_normal((60, 60))
    a = np.triu(np.tril(a + a.conj().T, width), -width)
    values = sbth.spectrum(form(a)).values
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=1e-12)
    for lower in (True, False):
        band = sbth.band_from_dense(a, lower=lower)
        np.testing.assert_array_equal(sbth.dense_from_band(band, lower=lower), a)
    with pytest.raises(ValueError, match="Hermitian"):
        sbth.spectrum(form(a + np.triu(a, 1)))


def test_commands_take_files_and_intervals_as_they_come(tmp_path, capsys):
    a = np.array([[2.0, 1j], [-1j, 3.0]])
    scipy.io.mmwrite(tmp_path / "hermitian.mtx", sp.coo_array(a), symmetry="hermitian")
    path = str(tmp_path / "hermitian.mtx")
    for interval, count in ((("-inf", "inf"), 2), (("-Infinity", "2"), 1), (("-1e-3", "1e3"), 2)):
        assert main(["eigvals", path, "--interval", *interval]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1 + count
    (tmp_path / "text.mtx.gz").write_bytes((tmp_path / "hermitian.mtx").read_bytes())
    assert main(["eigvals", str(tmp_path / "text.mtx.gz")]) == 2
    assert "cannot be read: Not a gzipped file" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no eigenvalue to draw"):
        sbth.spectrum(np.zeros((0, 0))).plot()


def chain(n, rng):
    """A tridiagonal matrix whose rows and columns are permuted: its band is narrow again after."""
    e = rng.standard_normal(n - 1)
    a = sp.diags([e, rng.standard_normal(n), e], [-1, 0, 1], format="csr")
    order = rng.permutation(n)
    return a[order][:, order]


MATRICES = {
    "permuted chain": lambda rng: chain(60, rng),
    "wide": lambda rng: sp.csr_matrix(np.add.outer(*2 * [rng.standard_normal(20)])),
    "diagonal": lambda rng: sp.diags([rng.standard_normal(9)], [0]),
    "zero": lambda rng: sp.csr_matrix((5, 5)),
    "integers": lambda rng: sp.diags([1, 2, 1], [-1, 0, 1], shape=(30, 30), dtype=int),
    "array": lambda rng: sp.csr_array(chain(30, rng)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_are_those_of_the_dense_matrix(name):
    a = MATRICES[name](np.random.default_rng(1))
    expected = np.linalg.eigvalsh(a.toarray().astype(float))
    scale = np.abs(expected).max() + 1e-300
    np.testing.assert_allclose(sbth.eigvalsh(a, device="cpu"), expected, atol=1e-13 * scale)
    chosen = sbth.eigvalsh(a, select="i", select_range=(1, 2), device="cpu")
    np.testing.assert_allclose(chosen, expected[1:3], atol=1e-13 * scale)
