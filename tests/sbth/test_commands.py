"""`sbth eigvals`, and spectra that show themselves."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import sbth
from commands import call_main
from hetero.cpu import interruptible
from recorded_bars import RecordedBars
from sbth.__main__ import main

N = 60


def laplacian(seed=None):
    """Return a chain's Laplacian, its nodes in random order if there is a seed."""
    matrix = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (N, N)).tocsr()
    if seed is None:
        return matrix
    order = np.random.default_rng(seed).permutation(N)
    return matrix[order][:, order]


EIGENVALUES = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, N + 1) / (N + 1))


@pytest.fixture
def files(tmp_path):
    """Write a matrix in every format and return the folder."""
    matrix = laplacian(seed=1)
    scipy.io.mmwrite(tmp_path / "matrix.mtx", matrix, symmetry="symmetric")
    scipy.sparse.save_npz(tmp_path / "matrix.npz", matrix)
    np.savez(tmp_path / "dense.npz", a=matrix.toarray())
    np.save(tmp_path / "matrix.npy", matrix.toarray())
    return tmp_path


def run(capsys, *arguments, command="eigvals"):
    return call_main(main, capsys, command, *arguments)


@pytest.mark.parametrize("name", ["matrix.mtx", "matrix.npy"])
@pytest.mark.parametrize("chosen", [[], ["--index", 3, 7], ["--interval", 0.5, 1.0]])
def test_eigenvectors(name, chosen, files, capsys):
    options = ["--vectors", files / "vectors.npy", *chosen, "--device", "cpu", "--json"]
    code, out, _ = run(capsys, files / name, *options, command="eigh")
    assert code == 0
    w, v = np.array(json.loads(out)["eigenvalues"]), np.load(files / "vectors.npy")
    assert v.shape == (N, len(w))
    np.testing.assert_allclose(laplacian(seed=1) @ v, v * w, atol=1e-13)
    np.testing.assert_allclose(v.T @ v, np.eye(len(w)), atol=1e-13)
    expected = EIGENVALUES[3:8] if "--index" in chosen else EIGENVALUES
    if "--interval" in chosen:
        expected = EIGENVALUES[(EIGENVALUES > 0.5) & (EIGENVALUES <= 1.0)]
    np.testing.assert_allclose(w, expected, atol=1e-13)


@pytest.mark.parametrize("method", ["lanczos", "band"])
def test_a_few_eigenpairs(method, files, capsys):
    vectors, table = files / "vectors.npy", files / "values.csv"
    options = [files / "matrix.mtx", "-k", 4, "--which", "SA", "--method", method, "--quiet"]
    code, out, _ = run(capsys, *options, "--vectors", vectors, "--json", command="eigsh")
    assert code == 0
    w, v = np.array(json.loads(out)["eigenvalues"]), np.load(vectors)
    np.testing.assert_allclose(w, EIGENVALUES[:4], atol=1e-13)
    np.testing.assert_allclose(laplacian(seed=1) @ v, v * w, atol=1e-13)
    code, out, _ = run(capsys, *options, "--sigma", 2.0, "--out", table, command="eigsh")
    assert code == 0
    assert "4 eigenvalues of a matrix of order 60" in out
    assert len(table.read_text().splitlines()) == 5


def test_the_forecast_of_eigsh(files, capsys):
    options = [files / "matrix.npz", "--forecast"]
    text, record = (run(capsys, *options, *x, command="eigsh")[1] for x in ([], ["--json"]))
    assert text.startswith("band: an order of at most 300")
    assert json.loads(record)["bandwidth"] == 1


@pytest.mark.parametrize("name", ["matrix.mtx", "matrix.npz", "dense.npz", "matrix.npy"])
def test_every_format_gives_the_same_eigenvalues(name, files, capsys):
    code, out, err = run(capsys, files / name, "--device", "cpu", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    np.testing.assert_allclose(result["eigenvalues"], EIGENVALUES, atol=1e-13)
    assert result["order"] == N


def test_the_band_of_a_sparse_matrix_is_narrowed():
    result = sbth.spectrum(laplacian(seed=2), device="cpu")
    assert (result.bandwidth, result.method, result.permuted) == (1, "band", True)
    assert not sbth.spectrum(laplacian(), device="cpu").permuted
    full = sbth.spectrum(np.ones((N, N)), device="cpu")
    assert full.method == "dense"
    assert full.values[-1] == pytest.approx(N)


def test_parts_of_the_spectrum_and_files(files, capsys):
    path = files / "out.npy"
    page = files / "spectrum.html"
    options = ("--index", 0, 9, "--out", path, "--plot", page, "--device", "cpu")
    code, out, _ = run(capsys, files / "matrix.mtx", *options)
    assert code == 0
    assert f"10 of {N}" in out
    np.testing.assert_allclose(np.load(path), EIGENVALUES[:10], atol=1e-13)
    assert "data:image/svg+xml;base64," in page.read_text()
    code, out, _ = run(capsys, files / "matrix.mtx", "--interval", "-1e-1", "1")
    assert out.splitlines()[0] == "eigenvalue"
    assert len(out.splitlines()) == 1 + (EIGENVALUES <= 1.0).sum()


def test_mistakes_are_explained_with_exit_code_2(files, capsys):
    asymmetric = np.eye(3)
    asymmetric[0, 2] = 1.0
    np.save(files / "asymmetric.npy", asymmetric)
    np.save(files / "complex.npy", np.eye(3) * 1j)
    np.savez(files / "two.npz", a=np.eye(2), b=np.eye(2))
    (files / "bad.mtx").write_text("this is no matrix\n")
    cases = {
        ("eigvals", "none.mtx"): "none.mtx: No such file",
        ("eigvals", "matrix.mtx", "--out", "x.xls"): "--out must end with",
        ("eigvals", "matrix.mtx", "--plot", "none/x.svg"): "--plot must be a file in an existing",
        ("eigvals", "matrix.mtx", "--interval", "-2", "-1", "--plot", files / "x.svg"): (
            "--plot: there is no eigenvalue to draw"
        ),
        ("eigvals", "matrix.mtx", "--index", "5", "1"): "select_range must hold indices",
        ("eigvals", "bad.mtx"): "the matrix cannot be read",
        ("eigvals", "two.npz"): "must hold one array",
        ("eigvals", "asymmetric.npy"): "a must be symmetric: 1 and 0 are mirror images, at (0, 2)",
        ("eigvals", "complex.npy"): "must be Hermitian",
        ("eigvals", "matrix.txt"): "the name must end with .mtx",
        ("eigh", "matrix.npy", "--vectors", "v.csv"): "--vectors: the name must end with .npy",
        ("eigsh", "matrix.mtx", "-k", "60"): "k must be less than the order of a, 60",
    }
    for (command, name, *options), message in cases.items():
        code, out, err = run(capsys, files / name, *options, command=command)
        assert (code, out) == (2, ""), name
        assert message in err
        assert "Traceback" not in err


def test_a_spectrum_shows_itself():
    assert len(sbth.spectrum(laplacian(), device="cpu").plot().axes) == 2
    none = sbth.spectrum(laplacian(), select="v", select_range=(-2.0, -1.0), device="cpu")
    assert "0 of" in none._repr_html_()


def test_progress_reaches_every_stage(monkeypatch):
    bars = RecordedBars(monkeypatch)
    monkeypatch.setattr(interruptible, "LARGEST_RANGE", 1)  # each step of a loop is shown
    a = np.random.default_rng(0).standard_normal((200, 200))

    def stages(function, *arguments, **options):
        bars.steps.clear()
        function(*arguments, progress=True, device="cpu", **options)
        return [step[0] for step in bars.steps if isinstance(step, tuple)]

    assert set(stages(sbth.full_to_band, a + a.T)) == {"dense to band"}
    wide = sbth.band_from_dense(a + a.T)
    names = stages(sbth.eigvals_banded, wide, method="sbth")
    assert set(names) == {"band to tridiagonal", "bisection"}
    assert set(stages(sbth.tridiagonalize, wide, stages=2)) == {"band to tridiagonal"}
