"""Random matrices that are hard for eigenvalue solvers: makers (n, rng) -> real matrix (n, n).

The order of the result may differ a little from n. Tridiagonal ones are recognized by their zeros.
"""

import numpy as np
import scipy.linalg

EPS = np.finfo(float).eps


def spectrum(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n values of a type of LAPACK's test program, with random signs or without."""
    kind = rng.integers(7)
    i, small = np.arange(n), 10.0 ** -rng.uniform(0, 16)
    values = [
        np.linspace(1.0, small, n), small ** (i / max(n - 1, 1)), np.where(i == 0, 1.0, small),
        np.where(i == n - 1, small, 1.0), rng.standard_normal(n),
        10.0 ** rng.uniform(np.log10(small), 0.0, n),
        rng.choice(rng.standard_normal(max(1, n // 10)), n) + small * 1e-8 * rng.standard_normal(n),
    ][kind]  # fmt: skip
    return values * rng.choice((-1.0, 1.0), n) if rng.random() < 0.5 else values


def symmetric(a: np.ndarray) -> np.ndarray:
    """Return the symmetric part of a matrix."""
    return 0.5 * (a + a.T)


def orthonormal(n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return m random orthonormal columns."""
    return np.linalg.qr(rng.standard_normal((n, m)))[0]


def rotated(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a full matrix with a spectrum of LAPACK's types."""
    q = orthonormal(n, n, rng)
    return symmetric((q * spectrum(n, rng)) @ q.T)


def tridiagonal(d: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the matrix of a diagonal and a subdiagonal."""
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def reduced(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a tridiagonal matrix with a spectrum of LAPACK's types."""
    t = scipy.linalg.hessenberg(rotated(n, rng))
    return tridiagonal(np.diag(t), np.diag(t, -1))


def glued_wilkinson(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return copies of Wilkinson's matrix, coupled weakly."""
    block = int(rng.choice([5, 11, 21, 31]))
    i, glue = np.arange(n), 10.0 ** -rng.uniform(0, 17)
    e = np.where(i[1:] % block == 0, glue, 1.0)
    return tridiagonal(np.abs(i % block - block // 2).astype(float), e)


def repeated_diagonal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a diagonal of few values, with small off-diagonals."""
    values = np.round(4.0 * rng.standard_normal(int(rng.integers(1, 6))))
    size = 10.0 ** -rng.uniform(0, 17)
    e = np.full(n - 1, size) if rng.random() < 0.5 else size * rng.standard_normal(n - 1)
    return tridiagonal(np.resize(values, n), e)


def graded(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a tridiagonal matrix whose rows differ in magnitude."""
    sizes = 2.0 ** np.linspace(0.0, -rng.uniform(1, 120), n)[:: int(rng.choice([-1, 1]))]
    return tridiagonal(rng.standard_normal(n) * sizes, rng.standard_normal(n - 1) * sizes[1:])


def random_tridiagonal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random tridiagonal matrix, perhaps of blocks."""
    e = rng.standard_normal(n - 1)
    e[rng.random(n - 1) < rng.choice([0.0, 0.2])] = 0.0
    return tridiagonal(rng.standard_normal(n), e)


def laplace(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return Laplace's matrix with one of three kinds of ends."""
    d = np.full(n, 2.0)
    d[[0, -1]] = [(2.0, 2.0), (1.0, 1.0), (1.0, 2.0)][rng.integers(3)]
    return tridiagonal(d, np.full(n - 1, -1.0))


def clement(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return Clement's matrix, whose eigenvalues are integers."""
    i = np.arange(1.0, n)
    return tridiagonal(np.zeros(n), np.sqrt(i * (n - i)))


def random_band(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random band matrix."""
    width = int(rng.integers(1, max(2, min(n, 12))))
    return symmetric(np.triu(np.tril(rng.standard_normal((n, n)), width), -width))


def grid(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the Laplacian of a grid, with several kinds of sides."""
    side = int(rng.integers(2, max(3, round(n**0.5) + 1)))
    a, b = (laplace(m, rng) if m > 1 else np.zeros((1, 1)) for m in (side, max(1, n // side)))
    return np.kron(a, np.eye(len(b))) + np.kron(np.eye(len(a)), b)


def hypercube(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the adjacency matrix or the Laplacian of a hypercube."""
    dimension = max(1, round(np.log2(max(n, 2))))
    a = np.zeros((1, 1))
    for _ in range(dimension):
        a = np.kron(a, np.eye(2)) + np.kron(np.eye(len(a)), [[0.0, 1.0], [1.0, 0.0]])
    return a if rng.random() < 0.5 else dimension * np.eye(len(a)) - a


def low_rank(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a reflection, or a projection, or what is left of the identity beside a vector."""
    kind = rng.integers(4)
    if kind == 0:
        return np.eye(n) - np.full((n, n), 1.0 / n)
    q = orthonormal(n, int(rng.integers(1, max(2, min(n, 5)))), rng)
    return symmetric([np.eye(n) - 2.0 * q @ q.T, q @ q.T, np.eye(n) - q @ q.T][kind - 1])


def graph(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the Laplacian of a random graph, which may have several components."""
    edges = rng.random((n, n)) < rng.uniform(0.5, 4.0) / n
    a = np.triu(edges, 1).astype(float)
    a += a.T
    return np.diag(a.sum(axis=0)) - a


def copies(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return copies of one small matrix along the diagonal."""
    m = int(rng.integers(1, max(2, n // 2)))
    block = symmetric(rng.standard_normal((m, m)))
    return np.kron(np.eye(max(1, n // m)), block)


def diagonal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a diagonal matrix, perhaps of few values, or of zeros."""
    return np.diag([np.ones(n), np.zeros(n), spectrum(n, rng)][rng.integers(3)])


def random(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random full matrix."""
    return symmetric(rng.standard_normal((n, n)))


MAKERS = (
    *(rotated, reduced, glued_wilkinson, repeated_diagonal, graded, random_tridiagonal, laplace),
    *(clement, random_band, grid, hypercube, low_rank, graph, copies, diagonal, random),
)


def is_tridiagonal(a: np.ndarray) -> bool:
    """Return whether all elements beside three diagonals are 0."""
    return not np.any(np.tril(a, -2))
