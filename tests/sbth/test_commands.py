"""`sbth eigvals`, and spectra that show themselves."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import sbth
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


def run(capsys, *arguments):
    """Return exit code, standard output and standard error of a command."""
    try:
        code = main(["eigvals", *(str(argument) for argument in arguments)])
    except SystemExit as ended:
        code = ended.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("name", ["matrix.mtx", "matrix.npy"])
@pytest.mark.parametrize("chosen", [[], ["--index", 3, 7], ["--interval", 0.5, 1.0]])
def test_eigenvectors(name, chosen, files, capsys):
    vectors = files / "vectors.npy"
    arguments = ["eigh", files / name, "--vectors", vectors, *chosen, "--device", "cpu", "--json"]
    assert main([str(argument) for argument in arguments]) == 0
    result, v = json.loads(capsys.readouterr().out), np.load(vectors)
    w, a = np.array(result["eigenvalues"]), laplacian(seed=1).toarray()
    assert v.shape == (N, len(w))
    np.testing.assert_allclose(a @ v, v * w, atol=1e-13)
    np.testing.assert_allclose(v.T @ v, np.eye(len(w)), atol=1e-13)
    expected = EIGENVALUES[3:8] if "--index" in chosen else EIGENVALUES
    if "--interval" in chosen:
        expected = EIGENVALUES[(EIGENVALUES > 0.5) & (EIGENVALUES <= 1.0)]
    np.testing.assert_allclose(w, expected, atol=1e-13)


@pytest.mark.parametrize("method", ["lanczos", "band"])
def test_a_few_eigenpairs(method, files, capsys):
    vectors, out = files / "vectors.npy", files / "values.csv"
    arguments = ["eigsh", files / "matrix.mtx", "-k", 4, "--which", "SA", "--method", method]
    assert main([str(x) for x in [*arguments, "--vectors", vectors, "--json", "--quiet"]]) == 0
    w, v = np.array(json.loads(capsys.readouterr().out)["eigenvalues"]), np.load(vectors)
    np.testing.assert_allclose(w, EIGENVALUES[:4], atol=1e-13)
    np.testing.assert_allclose(laplacian(seed=1) @ v, v * w, atol=1e-13)
    assert main([str(x) for x in [*arguments, "--sigma", 2.0, "--out", out, "--quiet"]]) == 0
    assert "4 eigenvalues of a matrix of order 60" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 5


def test_the_forecast_of_eigsh(files, capsys):
    arguments = ["eigsh", str(files / "matrix.npz"), "--forecast"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("band: an order of at most 300")
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bandwidth"] == 1


def test_mistakes_of_eigsh_have_exit_code_2(files, capsys):
    for options, message in {
        ("-k", "60"): "k must be less than the order of a, 60",
        ("--vectors", "v.csv"): "--vectors: the name must end with .npy",
        ("--sigma", "nan"): "sigma must",
    }.items():
        assert main(["eigsh", str(files / "matrix.mtx"), *options]) == 2
        assert message in capsys.readouterr().err


def test_eigenvectors_need_a_file(files, capsys):
    with pytest.raises(SystemExit):
        main(["eigh", str(files / "matrix.npy")])
    assert "--vectors" in capsys.readouterr().err
    code = main(["eigh", str(files / "matrix.npy"), "--vectors", "vectors.csv"])
    assert code == 2
    assert "--vectors: the name must end with .npy" in capsys.readouterr().err


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
    np.save(files / "wide.npy", np.ones((2, 3)))
    np.save(files / "nan.npy", np.full((2, 2), np.nan))
    np.savez(files / "two.npz", a=np.eye(2), b=np.eye(2))
    (files / "bad.mtx").write_text("this is no matrix\n")
    cases = {
        ("none.mtx",): "none.mtx: No such file",
        ("matrix.mtx", "--device", "banana"): "got 'banana'",
        ("matrix.mtx", "--out", "x.xlsx"): "--out must end with",
        ("matrix.mtx", "--plot", "none/x.svg"): "--plot must be a file in an existing folder",
        ("matrix.mtx", "--interval", "-2", "-1", "--plot", files / "x.svg"): (
            "--plot: there is no eigenvalue to draw"
        ),
        ("matrix.mtx", "--index", "5", "1"): "select_range must hold indices",
        ("bad.mtx",): "the matrix cannot be read",
        ("two.npz",): "must hold one array",
        ("asymmetric.npy",): "a must be symmetric: 1 and 0 are mirror images, at (0, 2)",
        ("complex.npy",): "must be Hermitian",
        ("wide.npy",): "square",
        ("nan.npy",): "finite",
        ("matrix.txt",): "the name must end with .mtx",
    }
    for (name, *options), message in cases.items():
        code, out, err = run(capsys, files / name, *options)
        assert (code, out) == (2, ""), name
        assert message in err
        assert "Traceback" not in err


def test_sparse_mistakes():
    matrix = laplacian().tolil()
    matrix[0, 5] = 3.0
    with pytest.raises(ValueError, match="a must be symmetric"):
        sbth.spectrum(matrix)
    matrix[0, 5] = matrix[5, 0] = np.inf
    with pytest.raises(ValueError, match="a must be finite, got inf"):
        sbth.spectrum(matrix)
    with pytest.raises(ValueError, match="a must be Hermitian"):
        sbth.spectrum(laplacian() * 1j)


def test_help_has_examples(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "examples:\n  sbth eigvals matrix.mtx\n" in out
    assert run(capsys, "--version")[1].startswith("sbth ")


def test_a_spectrum_shows_itself():
    result = sbth.spectrum(laplacian(), device="cpu")
    np.testing.assert_array_equal(np.asarray(result), result.values)
    assert len(result) == N
    assert "<img" in result._repr_html_()
    assert f"{N} of {N}" in result.summary()
    from hetero.display.figures import new_figure

    ax = new_figure().subplots()
    assert result.plot(ax) is ax.figure
    assert len(result.plot().axes) == 2
    none = sbth.spectrum(laplacian(), select="v", select_range=(-2.0, -1.0), device="cpu")
    assert "0 of" in none._repr_html_()
    assert len(sbth.spectrum(np.eye(3), select="i", select_range=(0, 0)).plot().axes) == 2


def test_progress_reaches_every_stage(monkeypatch):
    stages = {}

    class Bars:
        def add(self, description, total):
            stages[description] = 0.0
            self.description, self.total = description, total
            return 0

        def update(self, bar, done):
            stages[self.description] = done / self.total

        def remove(self, bar):
            pass

        def close(self):
            pass

    monkeypatch.setattr("hetero.display.progress_bar._make_bars", lambda transient=False: Bars())
    monkeypatch.setattr("hetero.display.progress_bar.SECONDS_BEFORE_LOOP", 0.0)
    monkeypatch.setattr("sbth._bulge_chasing.cpu._FIRST_PIECE", 1)
    monkeypatch.setattr("sbth._bisection.cpu._FIRST_PIECE", 1)
    a = np.random.default_rng(0).standard_normal((200, 200))
    sbth.eigvalsh(a + a.T, progress=True, device="cpu", method="sbth")
    assert set(stages) == {"dense to band", "band to tridiagonal", "bisection"}
    assert stages["band to tridiagonal"] == 1.0
    wide = sbth.band_from_dense(a + a.T)
    stages.clear()
    monkeypatch.setattr("sbth.tridiagonalization.TWO_STAGE_BANDWIDTH", {"cpu": 100})
    sbth.tridiagonalize(wide, progress=True, device="cpu")
    assert stages == {"band to tridiagonal": 1.0}
