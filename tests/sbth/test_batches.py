"""Batches give what a loop over their matrices gives."""

import numpy as np
import pytest

import hetero
import sbth

RNG = np.random.default_rng(5)
FULL = RNG.standard_normal((2, 3, 9, 9))
BANDS = RNG.standard_normal((7, 3, 20))
D, E = RNG.standard_normal((4, 1, 15)), RNG.standard_normal((2, 14))
COMPLEX = FULL + 1j * FULL[::-1]
DEFINITE = np.eye(9) * np.array([2.0, 3.0, 4.0])[:, None, None]

METRIC = DEFINITE + 0.1j * np.triu(np.ones((9, 9)), 1)
OF_BANDS = np.array([[0.1] * 20, [9.0] * 20])
SOME = {"select": "i", "select_range": (0, 1)}

CASES = {
    "eigh": (sbth.eigh, (FULL,), {}),
    "eigh, upper triangle": (sbth.eigh, (FULL,), {"lower": False}),
    "eigh, complex": (sbth.eigh, (COMPLEX,), {}),
    "eigh, float32": (sbth.eigh, (FULL.astype("f4"),), {}),
    "eigh, some": (sbth.eigh, (FULL,), {"subset_by_index": (1, 3)}),
    "eigh, values": (sbth.eigh, (FULL,), {"eigvals_only": True, "subset_by_index": (8, 8)}),
    "eigh, pencil": (sbth.eigh, (FULL, np.eye(9) * 2.0), {}),
    "eigh, complex pencil": (
        sbth.eigh, (FULL, METRIC), {"lower": False, "subset_by_index": (2, 4)}),
    "eigh, values of pencils": (
        sbth.eigh, (COMPLEX.astype("c8"), DEFINITE), {"eigvals_only": True}),
    "eigvalsh": (sbth.eigvalsh, (FULL,), {}),
    "eigvalsh, some": (sbth.eigvalsh, (FULL,), SOME),
    "eig_banded": (sbth.eig_banded, (BANDS,), {"lower": True}),
    "eig_banded, this package": (sbth.eig_banded, (BANDS,), {"method": "sbth"}),
    "eigvals_banded": (sbth.eigvals_banded, (BANDS,), {}),
    "eigvals_banded, pencil": (sbth.eigvals_banded, (BANDS,), {"b_band": OF_BANDS}),
    "eigvalsh_tridiagonal": (sbth.eigvalsh_tridiagonal, (D, E), {}),
    "eigvalsh_tridiagonal, this package": (sbth.eigvalsh_tridiagonal, (D, E), {"method": "sbth"}),
    "eigh_tridiagonal": (sbth.eigh_tridiagonal, (D, E), SOME),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_a_loop(name):
    solve, arrays, options = CASES[name]
    computed = as_tuple(solve(*arrays, **options, device="cpu"))
    cores = [1 if "tridiagonal" in name else 2] * len(arrays)
    lead = np.broadcast_shapes(*(x.shape[: x.ndim - k] for x, k in zip(arrays, cores, strict=True)))
    whole = [
        np.broadcast_to(x, lead + x.shape[x.ndim - k :]) for x, k in zip(arrays, cores, strict=True)
    ]
    for place in np.ndindex(lead):
        one = as_tuple(solve(*(x[place] for x in whole), **options, device="cpu"))
        for batch, single in zip(computed, one, strict=True):
            assert batch.dtype == single.dtype
            eps = np.finfo(batch.dtype).eps
            # LAPACK computes a part of the vectors by another method, with other signs.
            same = np.abs if single.ndim == 2 else np.asarray
            np.testing.assert_allclose(
                same(batch[place]), same(single), rtol=0, atol=2000 * eps * np.abs(FULL).max()
            )
    for device in (["cpu", "cpu"], "cpu"):
        shared = as_tuple(sbth.solve_batch(solve, *arrays, **options, device=device))
        for x, y in zip(computed, shared, strict=True):
            np.testing.assert_array_equal(x, y)


def as_tuple(results):
    """Return the results of a solver as a tuple."""
    return results if isinstance(results, tuple) else (results,)


def test_empty_batches_and_matrices():
    w, v = sbth.eigh(np.zeros((0, 4, 4)), device="cpu")
    assert (w.shape, v.shape) == ((0, 4), (0, 4, 4))
    w, v = sbth.eig_banded(np.zeros((2, 0, 3, 5)), device="cpu")
    assert (w.shape, v.shape) == ((2, 0, 5), (2, 0, 5, 5))
    assert sbth.eigvalsh(np.zeros((3, 0, 0)), device="cpu").shape == (3, 0)
    w, v = sbth.eigh(np.zeros((0, 4, 4)), np.eye(4, dtype=complex), device="cpu")
    assert (w.shape, v.shape, v.dtype) == ((0, 4), (0, 4, 4), complex)
    assert sbth.eigh(np.zeros((2, 0, 0)), np.zeros((0, 0)), device="cpu")[1].shape == (2, 0, 0)
    for lower in (True, False):
        w = sbth.eigvals_banded(np.zeros((0, 3, 5)), lower, b_band=np.zeros((2, 5)), device="cpu")
        assert w.shape == (0, 5)
    some = sbth.eigh(np.zeros((0, 4, 4)), subset_by_index=(1, 2), device="cpu")
    assert some[1].shape == (0, 4, 2)
    shared = sbth.solve_batch(sbth.eigh, np.zeros((0, 4, 4)), device=["cpu", "cpu"])
    assert shared[1].shape == (0, 4, 4)


class Tensor:
    """What a complex tensor of PyTorch is like: conjugated when somebody reads it."""

    dtype = "torch.complex128"

    def __init__(self, values, is_resolved=False):
        self.values, self.is_resolved = values, is_resolved
        self.shape = values.shape

    def detach(self):
        return self

    def resolve_conj(self):
        return Tensor(self.values.conj(), is_resolved=True)

    def __array__(self, dtype=None, copy=None):
        if not self.is_resolved:
            raise RuntimeError("the conjugate bit is set")
        return self.values


def test_other_containers_of_complex_matrices():
    expected = sbth.eigvalsh(COMPLEX[0], device="cpu")
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(x) for x in COMPLEX[0]]
    tensor = Tensor(COMPLEX[0].conj())
    for a in (COMPLEX[0].tolist(), frames, tensor, np.asfortranarray(COMPLEX[0])):
        np.testing.assert_allclose(sbth.eigvalsh(a, device="cpu"), expected, rtol=0, atol=1e-13)
    one = sbth.eigvalsh(frames[0], device="cpu")
    np.testing.assert_allclose(one, expected[0], rtol=0, atol=1e-13)


@pytest.mark.cuda
@pytest.mark.usefixtures("require_cuda")
def test_large_matrices_on_a_gpu_follow_each_other():
    cupy = pytest.importorskip("cupy")
    large = np.random.default_rng(6).standard_normal((2, 520, 520))
    here, b = cupy.asarray(large), cupy.eye(520) * 2.0
    for solve, arrays, options in (
        (sbth.eigh, (here,), {}),
        (sbth.eigh, (here + 1j * here[::-1],), {}),
        (sbth.eigh, (here, b), {}),
        (sbth.eigvalsh, (here + 1j * here[::-1],), {}),
        (sbth.eigh, (cupy.asarray(COMPLEX),), {"method": "cusolver"}),
    ):
        values = as_tuple(solve(*arrays, **options))[0]
        assert isinstance(values, cupy.ndarray)
        expected = as_tuple(solve(*(x.get() for x in arrays), device="cpu"))[0]
        np.testing.assert_allclose(values.get(), expected, rtol=0, atol=1e-11)
    w, v = sbth.eigh(cupy.zeros((0, 4, 4), complex), cupy.eye(4))
    assert (w.shape, v.shape, w.dtype, v.dtype) == ((0, 4), (0, 4, 4), float, complex)
    assert isinstance(v, cupy.ndarray)
    assert sbth.eigvalsh(cupy.zeros((3, 0, 0), np.float32)).shape == (3, 0)
    assert sbth.eigvals_banded(np.zeros((0, 2, 5)), device="cuda").shape == (0, 5)


def test_threads_do_not_change_results():
    matrices = RNG.standard_normal((50, 6, 6))
    bands = RNG.standard_normal((50, 3, 12))
    every = sbth.eigvalsh(matrices, device="cpu"), sbth.eigvals_banded(bands, device="cpu")
    with hetero.use_threads(1):
        alone = sbth.eigvalsh(matrices, device="cpu"), sbth.eigvals_banded(bands, device="cpu")
    for x, y in zip(every, alone, strict=True):
        np.testing.assert_array_equal(x, y)


def test_matrices_of_different_magnitudes():
    sizes = np.array([1e-200, 1.0, 1e200])
    a = np.array([[2.0, 1.0], [1.0, 2.0]])
    w = sbth.eigvalsh(a * sizes[:, None, None], device="cpu")
    np.testing.assert_allclose(w, np.outer(sizes, [1.0, 3.0]), rtol=1e-14)
