"""Storage of band matrices: LAPACK's, and the working matrix of a reduction.

A working matrix is a C-contiguous array (n, 2 d): row j holds column j of the matrix from the
diagonal downward, with space for the d - 1 rows of fill-in of a sweep (Riesinger 2017, eq. 5.3).
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from hetero import validation
from hetero.arrays import Workspace, as_real
from hetero.devices import device_of, resolve
from hetero.measurement import profiling
from sbth._sparse_matrices import is_sparse

_KEPT_REAL = np.dtype(np.float64), np.dtype(np.float32)
_KEPT = *_KEPT_REAL, np.dtype(np.complex128), np.dtype(np.complex64)
"""Types of arrays that are computed with as they are, the most frequent ones first."""

_REAL_KINDS = ("float", "bfloat", "int", "uint", "bool")


def validate_band(ab: ArrayLike, name: str = "ab", *, allow_complex: bool = False) -> Any:
    """Validate an array in band storage and return it.

    An array in host memory is returned as a NumPy array of float32 or float64 (or with
    `allow_complex` complex64 or complex128), an array on a GPU unchanged.

    Raises
    ------
    TypeError
        It holds complex numbers, strings or objects, or is a ragged sequence.
    ValueError
        It does not have two dimensions, or has no rows.
    """
    if type(ab) is np.ndarray or device_of(ab) is None:
        ab = validate_numbers(name, ab) if allow_complex else validate_real(name, ab)
        shape = ab.shape
    else:
        shape, _ = shape_and_dtype(name, ab, allow_complex=allow_complex)
    if shape == (0, 0) and isinstance(ab, np.ndarray):  # the band of an empty matrix in SciPy
        return ab.reshape(1, 0)
    if len(shape) != 2 or shape[0] == 0:
        raise ValueError(f"{name} must have the shape (bandwidth + 1, n), got {shape}")
    return ab


def validate_numbers(name: str, values: ArrayLike) -> np.ndarray:
    """Return real numbers as `validate_real` does, and complex ones as complex64 or complex128.

    Raises
    ------
    TypeError, ValueError
        As `validate_real`, except for complex numbers.
    """
    if type(values) is np.ndarray and values.dtype in _KEPT:
        return values
    validation.require_unmasked(name, values)  # also in a list, where masks would be lost
    if not isinstance(getattr(values, "dtype", None), np.dtype):
        if hasattr(values, "detach"):  # a PyTorch tensor may carry a gradient
            values = values.detach()
        if hasattr(values, "resolve_conj"):  # or wait for its conjugation
            values = values.resolve_conj()
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            values = np.asarray(values)
    if getattr(getattr(values, "dtype", None), "kind", "") != "c" or is_sparse(values):
        return validate_real(name, values)
    array = np.asarray(values)
    single = array.dtype.newbyteorder("=") == np.complex64
    return array.astype(np.complex64 if single else np.complex128, copy=False)


def real_dtype(dtype: DTypeLike) -> np.dtype:
    """Return the type of the eigenvalues of a matrix."""
    dtype = np.dtype(dtype)
    return dtype if dtype in _KEPT_REAL else np.dtype(dtype.char.lower())


def magnitudes(a: Any) -> Any:
    """Return real numbers as they are, of complex ones the larger part, without its sign."""
    return a if a.dtype.kind != "c" else np.maximum(np.abs(a.real), np.abs(a.imag))


def validate_real(name: str, values: ArrayLike) -> np.ndarray:
    """Copy real numbers to a NumPy array: float32 if they are float32, else float64.

    Raises
    ------
    TypeError
        They are complex numbers, strings or objects, or a ragged sequence.
    """
    if type(values) is np.ndarray and values.dtype in _KEPT_REAL:
        return values
    if device_of(values) is not None:
        return copy_to_host(name, values)
    if is_sparse(values):
        raise TypeError(
            f"{name} is a SciPy sparse matrix, which sbth.eigvalsh and sbth.spectrum take; "
            "sbth.band_from_sparse returns its band storage"
        )
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        _refuse_complex(name)
    return as_real(name, values, None)


def validate_bool(name: str, value: object) -> bool:
    """Validate a flag; only booleans are accepted, because a text such as "upper" would be true."""
    if value is False or value is True:
        return value
    if not isinstance(value, np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _refuse_complex(name: str) -> NoReturn:
    """Raise the error for complex arrays."""
    raise TypeError(
        f"{name} must be real: complex Hermitian matrices are solved by sbth.eigh, eigvalsh, "
        "eig_banded and eigvals_banded"
    )


def shape_and_dtype(
    name: str, array: Any, *, allow_complex: bool = False
) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape of an array on a GPU, and the dtype to compute in: float32 or float64.

    With `allow_complex` it is complex64 or complex128 for complex arrays.

    Raises
    ------
    TypeError
        The array holds complex numbers, or something other than numbers.
    """
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    if shape is None or dtype is None:
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            raise TypeError(f"{name} must have a shape and a dtype, got {type(array).__name__}")
        shape, dtype = interface["shape"], np.dtype(interface["typestr"])
    computed = _dtype_to_compute_in(dtype)
    if computed is None:
        text = str(dtype).removeprefix("torch.")
        raise TypeError(f"{name} must hold real numbers, got dtype {text}")
    if computed.kind == "c" and not allow_complex:
        _refuse_complex(name)
    return tuple(shape), computed


@functools.lru_cache(maxsize=64)
def _dtype_to_compute_in(dtype: Any) -> np.dtype | None:
    """Return the type to compute in for a type of NumPy or PyTorch; None if it has no numbers."""
    text = str(dtype).removeprefix("torch.")
    if text.startswith("complex"):
        return np.dtype(np.complex64 if text == "complex64" else np.complex128)
    if text.rstrip("0123456789") not in _REAL_KINDS:
        return None
    return np.dtype(np.float32 if text == "float32" else np.float64)


def order_and_dtype(band: Any) -> tuple[int, np.dtype]:
    """Return the order of a validated band, and the type to compute in."""
    if isinstance(band, np.ndarray):
        return band.shape[1], band.dtype
    shape, dtype = shape_and_dtype("a_band", band, allow_complex=True)
    return shape[1], dtype


def copy_to_host(name: str, array: Any) -> np.ndarray:
    """Copy an array from a GPU to host memory."""
    shape, dtype = shape_and_dtype(name, array)
    device = resolve(None, array)
    with device.active():
        space = Workspace(device, array)
        return host_workspace(space).result(space.input(name, array, dtype), shape)


def host_workspace(space: Workspace) -> Workspace:
    """Return a workspace on the same device and stream whose results are NumPy arrays."""
    plain = Workspace(space.device)
    plain.stream = space.stream
    return plain


def copy_like(host: np.ndarray, like: Any) -> Any:
    """Copy a NumPy array to the GPU that holds `like`, as an array of the library of `like`.

    If `like` is in host memory, `host` itself is returned.
    """
    device = device_of(like)
    if device is None:
        return host
    from hetero.cuda.ready_arrays import fill_from_host, ready

    with device.active():
        space = Workspace(device, like)
        array = space.output(host.shape, host.dtype)
        if host.size:
            flat = np.ascontiguousarray(host).reshape(-1)
            fill_from_host(ready(array), flat, space.stream)
            profiling.count_transfer(to_device=host.nbytes)
        return space.result(array, host.shape)


def require_host(name: str, values: Any, routine: str) -> None:
    """Raise TypeError for arrays on a GPU, in routines that only rearrange NumPy arrays."""
    if (device := device_of(values)) is not None:
        raise TypeError(
            f"{name} is on {device}, but {routine} works in host memory: copy it there first "
            "(CuPy: .get(), PyTorch: .cpu(), Numba: .copy_to_host())"
        )


def diagonals(ab: np.ndarray, lower: bool) -> list[np.ndarray]:
    """Return the diagonal and the subdiagonals of a validated `ab`, as views of it."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    width = min(d, max(n - 1, 0))
    return [ab[k, : n - k] if lower else ab[d - k, k:] for k in range(width + 1)]


def first_diagonals(ab: np.ndarray, lower: bool) -> tuple[np.ndarray, ...]:
    """Return the diagonal and the first subdiagonal, if there is one, as views of `ab`."""
    rows, n = ab.shape
    main = ab[0 if lower else -1]
    if rows == 1 or n < 2:
        return (main,)
    return main, ab[1, : n - 1] if lower else ab[-2, 1:]


def safe_scale(largest: float, dtype: DTypeLike) -> float:
    """Return a power of two that scales `largest` so that sums of squares stay within range.

    `low` is eps^-2 times the magnitude at which squares begin to lose digits: reflections neglect
    smaller elements.
    """
    low, high = _safe_range(np.dtype(dtype))
    if largest == 0.0 or low < largest < high:
        return 1.0
    return 2.0 ** min(-math.frexp(largest)[1], int(np.finfo(dtype).maxexp) - 2)


def unscale(values: np.ndarray, *factors: float) -> np.ndarray:
    """Return eigenvalues of a matrix from those of it multiplied by powers of two, the factors.

    They are float64 if a factor is not 1, and infinite where they overflow.
    """
    for factor in factors:
        if factor != 1.0:
            with np.errstate(over="ignore"):
                values = values.astype(float, copy=False) / factor
    return values


def matrix_of_batch(names: Iterable[str], index: int, lead: Sequence[int]) -> str:
    """Return how errors call matrix number `index` of arrays with leading dimensions `lead`."""
    place = tuple(int(i) for i in np.unravel_index(index, tuple(lead)))
    return f"{', '.join(names)}, matrix {place} of the batch"


def require_finite_triangle(largest: float, lower: bool, name: str = "a") -> None:
    """Raise ValueError if the largest magnitude in a triangle of a matrix is not finite."""
    if not math.isfinite(largest):
        which = "lower" if lower else "upper"
        raise ValueError(f"{name} must be finite: its {which} triangle holds NaN or infinity")


def is_plainly_safe(everything: np.ndarray, inside: complex) -> bool:
    """Return whether all elements are finite, and `safe_scale` is surely 1; False tells nothing.

    `inside` is an element of the matrix, to which not all of `everything` need belong. It is large
    enough nearly always, which saves another pass.
    """
    low, high = _safe_range(everything.dtype)
    return bool(_sum_of_squares(everything) < high * high and abs(inside) > low)


_MOST_FOR_ONE_THREAD = 10_000
"""Elements up to which OpenBLAS takes one thread for a scalar product."""


def _sum_of_squares(x: np.ndarray) -> Any:
    """Return the sum of |x|^2 of an array of floats, without a warning if it overflows.

    A large array is not given to NumPy's BLAS: its threads would go on waiting for work on the
    cores that LAPACK needs next, whose BLAS is SciPy's. On two cores, the eigenvalues of a full
    matrix with n = 200 then took 4 to 49 ms, not 2.
    """
    flat = x.ravel("K")  # which copies no array without gaps
    if x.size <= _MOST_FOR_ONE_THREAD:
        return np.vdot(flat, flat).real
    parts = flat.view(flat.real.dtype)
    return np.einsum("i,i->", parts, parts)


def is_surely_finite(x: np.ndarray) -> bool:
    """Return whether all elements of a real array (n,) are finite; False tells nothing.

    A sum of squares takes a third of the time of np.isfinite(x).all(); large elements overflow.
    """
    return math.isfinite(_sum_of_squares(x))


@functools.lru_cache(maxsize=16)
def _safe_range(dtype: np.dtype) -> tuple[float, float]:
    """Return the range of largest elements for which sums of squares stay within range."""
    info = np.finfo(dtype)
    eps = float(info.eps)
    return math.sqrt(float(info.tiny) / eps) / eps**2, math.sqrt(float(info.max)) * 1e-6


def band_from_dense(
    a: ArrayLike, bandwidth: int | None = None, *, lower: bool = False
) -> np.ndarray:
    """Copy one triangle of a dense symmetric or Hermitian matrix to LAPACK band storage.

    Parameters
    ----------
    a : array_like (n, n)
    bandwidth : int, optional
        Number of subdiagonals to store; by default all up to the last one that is not 0.
    lower : bool
        Read the lower triangle and return lower storage, rather than the upper ones.

    Raises
    ------
    TypeError
        `a` holds something other than numbers, or is on a GPU.
    ValueError
        `a` is not square, or has nonzero elements outside `bandwidth`.
    """
    lower = validate_bool("lower", lower)
    require_host("a", a, "band_from_dense")
    a = np.asarray(a)
    if a.dtype.kind not in "fiubc":
        raise TypeError(f"a must hold numbers, got dtype {a.dtype}")
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    a = a if lower else a.T
    rows, columns = np.nonzero(np.tril(a))
    widest = int(np.max(rows - columns, initial=0))
    most = max(len(a) - 1, 0)
    d = widest if bandwidth is None else validation.check_integer("bandwidth", bandwidth, 0, most)
    if d < widest:
        raise ValueError(f"bandwidth={d} is too small: a has {widest} nonzero subdiagonals")
    ab = np.zeros((d + 1, len(a)), a.dtype)
    for k in range(min(d, len(a) - 1) + 1):
        ab[k if lower else d - k, slice(len(a) - k) if lower else slice(k, None)] = np.diag(a, -k)
    return ab


def band_from_sparse(a: Any, *, lower: bool = False) -> np.ndarray:
    """Copy the lower triangle of a SciPy sparse matrix to LAPACK band storage.

    For a small bandwidth, permute the matrix first with
    `scipy.sparse.csgraph.reverse_cuthill_mckee(a, symmetric_mode=True)`.

    Parameters
    ----------
    a : SciPy sparse matrix or array (n, n), symmetric or Hermitian
    lower : bool
        Return lower storage rather than upper storage.

    Raises
    ------
    TypeError
        `a` is not a SciPy sparse matrix.
    ValueError
        `a` is not square.
    """
    lower = validate_bool("lower", lower)
    if not hasattr(a, "tocoo") or not isinstance(getattr(a, "dtype", None), np.dtype):
        raise TypeError(
            f"a must be a SciPy sparse matrix, got {type(a).__name__}; for dense matrices there is "
            "band_from_dense"
        )
    a = a.tocoo()
    require_host("a", a.data, "band_from_sparse")
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    stored = (a.row >= a.col) & (a.data != 0)
    k, column, data = (a.row - a.col)[stored], a.col[stored], a.data[stored]
    d = int(np.max(k, initial=0))
    ab = np.zeros((d + 1, a.shape[0]), np.result_type(a.dtype, np.float32))
    if lower:
        np.add.at(ab, (k, column), data)
    else:
        np.add.at(ab, (d - k, column + k), data.conj())
    return ab


def dense_from_band(ab: ArrayLike, *, lower: bool = False) -> np.ndarray:
    """Expand LAPACK band storage, upper unless `lower`, to the symmetric or Hermitian matrix.

    Raises
    ------
    TypeError, ValueError
        `ab` does not hold numbers, is not two-dimensional, or is on a GPU.
    """
    lower = validate_bool("lower", lower)
    require_host("ab", ab, "dense_from_band")
    band: np.ndarray = validate_band(ab, allow_complex=True)
    n = band.shape[1]
    a = np.zeros((n, n), band.dtype)
    for k, diagonal in enumerate(diagonals(band, lower)):
        j = np.arange(n - k)
        a[j + k, j] = diagonal if lower else diagonal.conj()
        a[j, j + k] = a[j + k, j].conj()
    return a
