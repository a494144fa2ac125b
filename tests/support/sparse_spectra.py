"""Sparse matrices with exact spectra, and the checks of their eigenpairs."""

import numpy as np
import scipy.sparse as sp

THRESHOLD = 20.0
"""Largest ratio of LAPACK's test programs, in units of eps and, for residuals, the norm and n."""


def laplacian(*shape):
    """Return the Laplacian of a grid with zeros around it."""
    total = sp.csr_matrix((1, 1))
    for n in shape:
        total = sp.kronsum(total, sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))).tocsr()
    return total


def laplacian_spectrum(*shape):
    """Return all eigenvalues of `laplacian`, ascending."""
    total = np.zeros(1)
    for n in shape:
        of_path = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
        total = np.add.outer(total, of_path).ravel()
    return np.sort(total)


def cycle(n):
    """Return the Laplacian of a cycle and its eigenvalues, all but two of them double."""
    ones = np.ones(n - 1)
    a = sp.diags([-ones, 2.0 * np.ones(n), -ones], [-1, 0, 1]).tolil()
    a[0, n - 1] = a[n - 1, 0] = -1.0
    return a.tocsr(), np.sort(2.0 - 2.0 * np.cos(2.0 * np.pi * np.arange(n) / n))


def hypercube(dimension):
    """Return the Laplacian of a hypercube and its eigenvalues 2 j, as often as j out of d."""
    path = sp.csr_matrix([[1.0, -1.0], [-1.0, 1.0]])
    total = sp.csr_matrix((1, 1))
    for _ in range(dimension):
        total = sp.kronsum(total, path).tocsr()
    ones = [bin(i).count("1") for i in range(2**dimension)]
    return total, np.sort(2.0 * np.array(ones))


def kac(n):
    """Return Kac's matrix of order n + 1, made symmetric, and its eigenvalues -n, ..., n."""
    i = np.arange(1.0, n + 1)
    e = np.sqrt(i * (n + 1 - i))
    return sp.diags([e, e], [-1, 1]), np.arange(-n, n + 1.0, 2.0)


def path_graph(n):
    """Return the Laplacian of a path and its eigenvalues."""
    d = np.full(n, 2.0)
    d[[0, -1]] = 1.0
    a = sp.diags([-np.ones(n - 1), d, -np.ones(n - 1)], [-1, 0, 1])
    return a, 2.0 - 2.0 * np.cos(np.pi * np.arange(n) / n)


def select(spectrum, k, which):
    """Return the eigenvalues that `which` means, out of all."""
    low = {"SA": k, "LA": 0, "BE": k // 2}.get(which)
    if low is not None:
        return np.concatenate([spectrum[:low], spectrum[len(spectrum) - (k - low) :]])
    order = np.argsort(np.abs(spectrum), kind="stable")
    return np.sort(spectrum[order[:k] if which == "SM" else order[-k:]])


def require_pairs(a, values, vectors, norm):
    """Assert that LAPACK's ratios of residuals and orthogonality are small."""
    n, eps = a.shape[0], np.finfo(vectors.dtype).eps
    residual = np.linalg.norm(a @ vectors - vectors * values, axis=0).max()
    assert residual / ((norm or 1.0) * n * eps) < THRESHOLD
    gram = vectors.conj().T @ vectors
    assert np.abs(gram - np.eye(len(values))).max() / (n * eps) < THRESHOLD
