"""Band matrices of the types of LAPACK's test program (dchksb): makers (n, d) -> matrix, spectrum.

The spectrum is None if it is not known.
"""

import numpy as np

import sbth

EPS = np.finfo(float).eps
LARGE, SMALL = np.finfo(float).max ** 0.5, np.finfo(float).tiny ** 0.5


def spaced(n):
    """Return n values from 1 to eps in arithmetic progression."""
    return np.linspace(1.0, EPS, n)


def geometric(n):
    """Return n values from 1 to eps in geometric progression."""
    return EPS ** (np.arange(n) / max(n - 1, 1))


def clustered(n):
    """Return n values, of which the first is 1 and the others are eps."""
    return np.where(np.arange(n) == 0, 1.0, EPS)


def rotated(values, d, scale=1.0):
    """Return a band matrix with these eigenvalues, with random signs, and the eigenvalues."""
    n, rng = len(values), np.random.default_rng(len(values))
    q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = values * rng.choice((-1.0, 1.0), n) * scale
    full = (q * values) @ q.T
    return sbth.full_to_band(full, d, lower=True, device="cpu"), np.sort(values)


def random(n, d, scale=1.0):
    """Return a random band matrix."""
    ab = np.random.default_rng(n + d).uniform(-1.0, 1.0, (d + 1, n)) * scale
    return ab, None


def diagonal(values, d):
    """Return a diagonal matrix in band storage, and its eigenvalues."""
    ab = np.zeros((d + 1, len(values)))
    ab[0] = values
    return ab, np.sort(values)


TYPES = {
    "zero": lambda n, d: diagonal(np.zeros(n), d), "identity": lambda n, d: diagonal(np.ones(n), d),
    "diagonal, spaced": lambda n, d: diagonal(spaced(n), d),
    "diagonal, geometric": lambda n, d: diagonal(geometric(n), d),
    "diagonal, clustered": lambda n, d: diagonal(clustered(n), d),
    "spaced": lambda n, d: rotated(spaced(n), d),
    "geometric": lambda n, d: rotated(geometric(n), d),
    "clustered": lambda n, d: rotated(clustered(n), d),
    "geometric, large": lambda n, d: rotated(geometric(n), d, LARGE),
    "geometric, small": lambda n, d: rotated(geometric(n), d, SMALL), "random": random,
    "random, large": lambda n, d: random(n, d, LARGE),
    "random, small": lambda n, d: random(n, d, SMALL),
    "small beside the diagonal": lambda n, d: small_beside_the_diagonal(n, d),
    "powers of a Toeplitz matrix": lambda n, d: toeplitz_power(n, d),
    "Clement": lambda n, d: clement(n, d),
}  # fmt: skip


def toeplitz_power(n, d):
    """Return the d-th power of tridiag(-1, 2.1, -1), whose eigenvalues are powers of known ones."""
    t = 2.1 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    values = (2.1 - 2.0 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))) ** min(d, 6)
    power = np.linalg.matrix_power(t, min(d, 6))
    return sbth.band_from_dense(np.tril(power), d, lower=True), np.sort(values)


def small_beside_the_diagonal(n, d, size=SMALL * 1e-3, dtype=float):
    """Return a matrix whose eliminated elements have squares with few digits."""
    ab, _ = random(n, d, size)
    ab[0] /= size
    return ab.astype(dtype), None


def clement(n, d):
    """Return the Clement matrix and its eigenvalues."""
    k = np.arange(1, n)
    ab = np.zeros((d + 1, n))
    ab[1, :-1] = np.sqrt(k * (n - k))
    return ab, np.arange(1.0 - n, n, 2.0)
