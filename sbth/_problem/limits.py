"""Limits and crossovers: the numbers by which `sbth._route` chooses devices and methods.

Crossovers on one thread of a CPU are those of processor time on an AMD EPYC with SciPy 1.17 and
NumPy 2.4 (OpenBLAS 0.3.31), at the orders 20, 100, 200, 400, 1000, 2000 and 4000, those on two
threads of times of `python -m studies run sbth-plane` on an Intel Xeon, which compares what they
choose with SciPy. Those on three and more are estimates from them. A method that is slower than
another one by a tenth may be chosen.
"""

from __future__ import annotations

METHODS = {
    ("cpu", "band"): ("auto", "sbth", "lapack"),
    ("cpu", "tridiagonal"): ("auto", "sbth", "lapack"),
    ("cpu", "full"): ("auto", "lapack"),
    ("cuda", "band"): ("auto", "sbth"),
    ("cuda", "tridiagonal"): ("auto", "sbth"),
    ("cuda", "full"): ("auto", "sbth", "cusolver"),
}
"""Values of `method` for each kind of device and storage of the matrix. On a CPU the reduction of
full matrices by this package was faster than LAPACK at no order."""

METHOD_NAMES = tuple(dict.fromkeys(name for names in METHODS.values() for name in names))
"""All of them."""

DEVICES = {"lapack": "cpu", "cusolver": "cuda"}
"""The kind of device that a method implies if none is named."""

BREAK_EVEN = {
    ("tridiagonal", False): 300,
    ("band", False): 500,
    ("full", False): 1000,
    ("tridiagonal", True): 1000,
    ("band", True): 1000,
    ("full", True): 1000,
}
"""Order from which on "auto" takes a GPU, by storage, for eigenvalues (False) and for eigenvectors,
too (True): for eigenvalues measured on an H200 beside two CPU cores, transfers included."""

NEVER = 1 << 62
"""Order above those of all matrices."""

TRIDIAGONAL = {
    **{(1, False): NEVER, (2, False): NEVER, (3, False): 300},
    **{(1, True): 1500, (2, True): 1500, (3, True): 700},
}
"""Order from which on this package is faster for all eigenvalues of a tridiagonal matrix (False) or
all eigenvectors, too (True), on one thread, on two, and on three or more. On two threads bisection
takes 1.05 to 1.15 times as long as LAPACK, for n = 500 to 4000, with a fraction of its errors."""

SMALLEST_TRIDIAGONAL = {
    vectors: min(order for key, order in TRIDIAGONAL.items() if key[1] == vectors)
    for vectors in (False, True)
}
"""The smallest of these orders over all numbers of threads."""

SOME_VALUES = 150
"""Order from which on bisection computes a part of the eigenvalues, not LAPACK all of them."""

BANDS: dict[tuple[int, bool], tuple[tuple[int, int, int], ...]] = {
    (1, False): ((1000, 48, 126), (2000, 48, 512), (4000, 20, 1000)),
    (2, False): ((1000, 64, 126), (2000, 24, 256), (4000, 20, 512)),
    (3, False): ((1000, 24, 126), (2000, 12, 256), (4000, 12, 512)),
    (1, True): ((2000, 24, 96),),
    (2, True): ((1000, 24, 256), (2000, 12, 512)),
    (3, True): ((1000, 24, 256), (2000, 12, 512)),
}
"""From each order on, the least number of subdiagonals for which this package is faster than LAPACK
and the least one for which it no longer is; keys as in `TRIDIAGONAL`."""

SMALLEST_BAND = min(first for entries in BANDS.values() for first, *_ in entries)
"""The smallest of these orders."""

PARALLEL_ORDER = 300
"""Order from which on several threads of BLAS solve a full matrix at least as fast as one."""

PARALLEL_VECTORS = 1000
"""Order from which on they compute its eigenvectors faster than one."""

TWO_STAGE_BANDWIDTH = {"cpu": 384, "cuda": 65}
"""Number of subdiagonals from which on a band is reduced in two stages."""

MAX_GPU_BANDWIDTH = 64
"""Most subdiagonals that a GPU reduces in one stage, the height of its tallest tile."""

NARROW_BANDWIDTH = 32
"""Number of subdiagonals that the first of two stages leaves."""

SERIAL_ORDER = 1000
"""Order below which the threads of a CPU would spend most of their time waiting for each other."""

LARGEST_ONE_STAGE = {
    False: {"float64": 2700, "float32": 3500},
    True: {"float64": 2800, "float32": 3500},
}
"""Orders up to which one stage is faster than two on an H200, for eigenvalues (False) and for
eigenvectors (True), whose back-transformation takes one step less. They lie between measurements
at n = 2500, 3000, 3500 and 4000; of larger matrices most rows do not fit in shared memory."""

LARGEST_CUSOLVER = {
    "float": {False: 250, True: 450},
    "complex64": {False: 2500, True: 4500},
    "complex128": {False: 2000, True: 3300},
}
"""Orders up to which cuSOLVER is faster, for eigenvalues (False) and for all eigenvectors (True):
for real matrices between measurements on an H200 at n = 200 and 500, and 100 and 500, for complex
ones on an H100 at 2000, 2500, 3000 and 5000, which have no record."""

LEAST_INVERSE_ORDER = {"cpu": 200, "cuda": 2000}
"""Order from which on inverse iteration computes a few eigenvectors.

`python -m benchmarks run sbth-vectors` measures it beside divide and conquer.
On two threads of an AMD EPYC, one vector takes 1.1 ms for n = 200, LAPACK 0.9; for n = 500, 1.3 and
4.8. On an H200, 10 vectors take 3.8 to 5.1 ms for n = 1000, divide and conquer 2.9 to 4.1; for
n = 3000, 4.8 to 5.2 and 5.4 to 9.2: below, both methods are limited by some 40 launches.
"""

LARGEST_INVERSE_SHARE = {"cpu": 1 / 12, "cuda": 1 / 20}
"""Largest share m / n of the eigenvectors that inverse iteration computes.

On two threads of an AMD EPYC, for n = 2000 and m = 166, it takes 35 ms; divide and conquer takes 99
ms for the Laplace matrix, and 22 for a random one, of which deflation removes nearly everything. On
an H200, for n = 10,000 and m = 500, it takes 17 ms; divide and conquer 37 for the Laplace matrix
and 16 for a random one. For n = 3000 and m = 500 these are 8, 9 and 6 ms.
"""

DENSE_BANDWIDTH = 0.25
"""Share of the order from which on a band is treated as a full matrix. A band of d subdiagonals
takes 6 n^2 d operations, a full matrix about 2 n^3, but those in matrix products. Not tuned."""

LARGEST_SPARSE_PENCIL = 2000
"""Order up to which `eigh` treats sparse pencils as full ones, which takes seconds and 0.3 GiB. The
time grows with its third power, and few pairs of sparse pencils take a hundredth of it."""

LARGEST_THREADED_BATCH = 128
"""Order up to which threads of a CPU solve matrices of a batch each; BLAS uses threads for larger
ones."""

LARGEST_GPU_BATCH = 512
"""Largest order of a matrix of a batch that a block of a GPU solves, with a thread for each row:
more threads would leave too few registers to each. Larger ones are solved one after the other."""

BATCH_BREAK_EVEN = 1 << 18
"""Elements of all matrices of a batch from which on "auto" takes a GPU (not measured)."""

LANCZOS_ORDER = 300
"""Order up to which `eigsh` reduces the matrix without a forecast, which takes as long."""
