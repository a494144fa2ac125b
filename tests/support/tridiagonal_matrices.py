"""Tridiagonal matrices that are hard for eigenvalue solvers: makers n -> diagonal, subdiagonal."""

import mpmath
import numpy as np

from sbth import reference

EPS = np.finfo(float).eps


def dense(d, e):
    """Return the matrix, in units of its largest element: products would over- or underflow."""
    unit = max(np.max(np.abs(d), initial=0.0), np.max(np.abs(e), initial=0.0)) or 1.0
    return np.diag(d / unit) + np.diag(e / unit, 1) + np.diag(e / unit, -1), unit


def random(n):
    rng = np.random.default_rng(n)
    return rng.standard_normal(n), rng.standard_normal(n - 1)


def wilkinson(n):
    """Return Wilkinson's matrix, with pairs of eigenvalues that agree to many digits."""
    return np.abs(np.arange(n) - n // 2).astype(float), np.ones(n - 1)


def glued_wilkinson(n, block=11, glue=1e-9):
    """Return copies of Wilkinson's matrix, coupled weakly: clusters of n / block eigenvalues."""
    d = np.abs(np.arange(n) % block - block // 2).astype(float)
    return d, np.where(np.arange(1, n) % block == 0, glue, 1.0)


def split(n):
    """Return a random matrix that falls into blocks of different magnitudes."""
    d, e = random(n)
    e[::5] = 0.0
    size = np.repeat(10.0 ** (100.0 * ((np.arange(n) + 4) // 5 % 3 - 1)), 1)
    return d * size, e * np.minimum(size[1:], size[:-1])


def known_spectrum(values):
    """Return a full tridiagonal matrix with these eigenvalues, up to rounding (by NumPy)."""
    n, rng = len(values), np.random.default_rng(len(values))
    q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return reference.tridiagonalize_dense((q * values) @ q.T, n)


TYPES = {
    "random": random,
    "zero": lambda n: (np.zeros(n), np.zeros(n - 1)),
    "identity": lambda n: (np.ones(n), np.zeros(n - 1)),
    "Laplace": lambda n: (np.full(n, 2.0), np.full(n - 1, -1.0)),
    "Clement": lambda n: (np.zeros(n), np.sqrt(np.arange(1, n) * np.arange(n - 1.0, 0, -1))),
    "Wilkinson": wilkinson,
    "glued Wilkinson": glued_wilkinson,
    "graded": lambda n: (2.0 ** -np.linspace(0, 300, n), 2.0 ** -np.linspace(1, 301, n)[1:]),
    "graded upwards": lambda n: (
        2.0 ** np.linspace(-300, 0, n),
        2.0 ** np.linspace(-301, -1, n)[1:],
    ),
    "split": split,
    "huge": lambda n: tuple(x * 1e306 for x in random(n)),
    "tiny": lambda n: tuple(x * 1e-306 for x in random(n)),
    "nearly equal eigenvalues": lambda n: (1.0 + EPS * random(n)[0], 4.0 * EPS * random(n)[1]),
    "weak couplings": lambda n: (np.round(random(n)[0]), 1e-12 * random(n)[1]),
}


def exact_pairs(d, e):
    """Return the eigenvalues and eigenvectors of a small matrix, computed with 50 digits."""
    n = d.size
    with mpmath.workdps(50):
        a = mpmath.matrix(n)
        for i in range(n):
            a[i, i] = mpmath.mpf(float(d[i]))
        for i in range(n - 1):
            a[i, i + 1] = a[i + 1, i] = mpmath.mpf(float(e[i]))
        values, vectors = mpmath.eigsy(a)
        w = np.array([float(x) for x in values])
        return w, np.array([[float(vectors[i, j]) for j in range(n)] for i in range(n)])
