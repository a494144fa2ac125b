"""Eigenvalues and eigenvectors of dense symmetric matrices."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import Device, region
from hetero.arrays import Workspace
from hetero.devices import CPU, device_of
from hetero.display.progress_bar import loop_progress
from sbth._array_module import as_library_array, as_module_array, module_on
from sbth._batches import over_batches
from sbth._cusolver import solve_by_vendor
from sbth._dense_to_band.back_transformation import apply_panels, join_panels
from sbth._dense_to_band.reduction import reduce_to_band
from sbth._diagonal_blocks.full import solve_full
from sbth._divide_and_conquer.merge_tree import require_memory
from sbth._eigenpairs import (
    LAPACK_MATRICES,
    band_eigenvectors,
    band_memory,
    full_memory,
    tridiagonal_eigenvectors,
)
from sbth._lapack.choice import requested_device
from sbth._one_stage import reduce_for_vectors, suits_one_stage
from sbth._pencils.full import module_arrays, reduce_full_pencil
from sbth._request import Request
from sbth._selection import Selection
from sbth._sparse_matrices import is_sparse, mirrored, require_moderate_order
from sbth.band_storage import (
    copy_like,
    host_workspace,
    shape_and_dtype,
    validate_bool,
)
from sbth.dense import (
    BANDWIDTH,
    choose_driver,
    full_eigenvalues,
    narrow_band,
    resolve_device,
    solve_stack,
    validate_matrix,
)
from sbth.eigenvalues import band_eigenvalues, round_to_dtype


def _stack_pairs(arguments: dict[str, Any]) -> Any:
    """Return the eigenvalues and eigenvectors of a batch at once, if LAPACK solves its matrices."""
    lower = validate_bool("lower", arguments.get("lower", True))
    vectors = not validate_bool("eigvals_only", arguments.get("eigvals_only", False))
    subset = arguments.get("subset_by_index")
    select = "a" if subset is None else "i", subset
    name = "subset_by_index"
    return solve_stack(arguments, *select, lower=lower, vectors=vectors, name=name)


@over_batches("full", _stack_pairs, has_vectors=True, a=2, b=2)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    subset_by_value: tuple[float, float] | None = None,
    driver: str | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues and eigenvectors of a dense symmetric or Hermitian matrix.

    Parameters
    ----------
    a : array_like (n, n) of float or complex, or a real SciPy sparse matrix
        Only one triangle is read, and it is not modified; imaginary parts of the diagonal are
        ignored. A sparse matrix is treated as a dense one. An array on a GPU is reduced there.
    b : array_like (n, n) of float or complex, or a real SciPy sparse matrix, optional
        A positive definite matrix B, for the problem A x = lambda B x. The same triangle is read.
        If `a` or `b` is sparse, the order is at most 2000.
    lower : bool
        Whether the lower triangle is read, as by default in SciPy, or the upper one.
    eigvals_only : bool
        Compute no eigenvectors.
    overwrite_a, overwrite_b, check_finite : bool
        Accepted for compatibility with SciPy. Neither `a` nor `b` is modified, and NaN and infinity
        are always refused.
    type : {1, 2, 3}
        The problem with `b`: A x = lambda B x, A B x = lambda x or B A x = lambda x. The last two
        are solved by SciPy, on a CPU.
    subset_by_index : (int, int), optional
        First and last index of the eigenvalues to compute, both included, counted from 0.
    subset_by_value : (float, float), optional
        Only those with eigenvalues in the half-open interval (low, high].
    driver : str, optional
        Name of a routine of LAPACK, as in SciPy, which then calls it, on a CPU: "ev", "evd", "evr"
        or "evx", with `b` "gv", "gvd" or "gvx".
    method : {"auto", "sbth", "lapack", "cusolver"}
        "sbth" are the stages of this package; "lapack", on a CPU, is LAPACK through NumPy, for
        n <= 64 and for up to a sixth of the eigenvectors (n > 300: a quarter) through SciPy;
        "cusolver", on a GPU, is the vendor's solver through CuPy. "auto" takes what is faster for
        the order and the threads, which `sbth.solver_for` says. On a CPU complex matrices are
        solved by LAPACK.
    progress : bool
        Show how far long computations on the CPU, and batches, are.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU requires CuPy (cuBLAS and cuSOLVER); without CuPy, "auto" chooses the CPU.

    Returns
    -------
    w : array (m,) of float64 (float32 if `a` is, or complex64)
        The m selected eigenvalues, in ascending order; multiple ones are repeated.
    v : array (n, m)
        Column i is the eigenvector of w[i], normalized so that v^H v = 1, or with `b` v^H B v = 1.
        Only if not `eigvals_only`. NumPy arrays, or
        for an `a` on a GPU arrays of its library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        `a` is not square, holds NaN or infinity, or an eigenvalue overflows; a subset does not suit
        it, or both subsets are given; `b` is of another order or not positive definite; `method`
        does not suit the device.
    numpy.linalg.LinAlgError
        LAPACK did not converge, which has not been seen.
    MemoryError
        The device has too little memory; the message says how much is needed.

    Notes
    -----
    The stages of this package are those of `full_to_band` and `eig_banded`. The blocks of
    reflections of the first one are kept and applied to the m selected vectors, which takes n^2 m
    multiply-adds in matrix products.

    With `b`, the problem is that of L^-1 A L^-H, where B = L L^H is the Cholesky factorization, and
    errors of eigenvalues are of the order of eps (|A| |B^-1| + cond(B) |lambda|).

    Arrays (..., n, n) are batches of matrices; see `eigvalsh_tridiagonal`.
    """
    lower = validate_bool("lower", lower)
    validate_bool("overwrite_a", overwrite_a)
    validate_bool("check_finite", check_finite)
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("subset_by_index and subset_by_value must not be given both")
    device = requested_device(method, device, a, b)
    if b is not None:
        require_moderate_order(a, b)
    a = validate_matrix(_as_full(a, lower), allow_complex=True)
    (n, _), dtype = shape_and_dtype("a", a, allow_complex=True)
    select, name = "a", ""
    subset: tuple | None = None
    if subset_by_index is not None:
        select, subset, name = "i", subset_by_index, "subset_by_index"
    elif subset_by_value is not None:
        select, subset, name = "v", subset_by_value, "subset_by_value"
    selection = Selection.create(select, subset, None, n, name)
    values_only = validate_bool("eigvals_only", eigvals_only)
    if b is not None:
        options: dict[str, Any] = {"method": method, "progress": progress}
        return _solve_pencil(a, b, lower, selection, values_only, device, options)
    if values_only:
        return full_eigenvalues(a if lower else a.T, selection, device, method, progress)
    device = resolve_device(a, device)
    driver = choose_driver(method, dtype, device, n, vectors=True)
    if driver == "lapack":
        return _solve_by_lapack(a, lower, selection)
    with module_on(device, a, "sbth.eigh") as xp:
        if driver == "cusolver":
            pairs = solve_by_vendor(xp, a, lower, selection, vectors=True)
            return tuple(as_library_array(xp, x, a) for x in pairs)
        request = Request(selection, device, method, progress)
        if suits_one_stage(device, n, dtype, vectors=True):
            values, vectors = _solve_in_one_stage(xp, a, lower, request)
        else:
            values, vectors = _solve_by_band(xp, a, dtype, lower, request)
        values = round_to_dtype("a", values, dtype)
        return copy_like(values, a), as_library_array(xp, vectors, a)


def _stack_values(arguments: dict[str, Any]) -> Any:
    """Return the eigenvalues of all matrices of a batch at once, if LAPACK solves them."""
    lower = validate_bool("lower", arguments.get("lower", True))
    if (subset := arguments.get("subset_by_index")) is not None:
        name = "subset_by_index"
        return solve_stack(arguments, "i", subset, lower=lower, vectors=False, name=name)
    select = arguments.get("select", "a"), arguments.get("select_range")
    return solve_stack(arguments, *select, lower=lower, vectors=False)


@over_batches("full", _stack_values, a=2, b=2)
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    subset_by_value: tuple[float, float] | None = None,
    driver: str | None = None,
    select: str | int = "a",
    select_range: tuple | None = None,
    tol: float | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues of a symmetric or Hermitian matrix.

    `a` may be a sparse matrix of SciPy; it is permuted if that narrows its band (`sbth.spectrum`
    also tells how), and a narrow band is reduced as such.

    `method` is "sbth" (`full_to_band` and `eigvals_banded`), on a CPU "lapack", and on a GPU
    "cusolver" (through CuPy). "auto" takes what is faster for the order, which `sbth.solver_for`
    says; complex matrices are solved by "lapack" on a CPU. `b` and the parameters after it, up to
    `driver`, are those of `eigh`; `select`, `select_range` and `tol` those of `eigvals_banded`,
    which may not be given beside a subset or `b`. Results and errors are those of `eigvals_banded`.
    An array (..., n, n) is a batch of matrices; see `eigvalsh_tridiagonal`.
    """
    lower = validate_bool("lower", lower)
    is_selected = not isinstance(select, str) or select != "a" or tol is not None
    if any(x is not None for x in (b, subset_by_index, subset_by_value)):
        if is_selected:
            raise ValueError("select and tol must not be given beside a subset or b")
        return eigh(
            *(a, b), lower=lower, eigvals_only=True,
            subset_by_index=subset_by_index, subset_by_value=subset_by_value,
            method=method, progress=progress, device=device,
        )  # fmt: skip
    device = requested_device(method, device, a)
    if is_sparse(a):
        band = narrow_band(a, lower)
        if band is not None:
            chosen = Selection.create(select, select_range, tol, band.shape[1])
            return band_eigenvalues(
                "a", band, True, chosen, device, progress=progress, method=method
            )
    a = validate_matrix(_as_full(a, lower), allow_complex=True)
    (n, _), _ = shape_and_dtype("a", a, allow_complex=True)
    selection = Selection.create(select, select_range, tol, n)
    matrix = a if lower else a.T
    return full_eigenvalues(matrix, selection, device, method, progress)


def _as_full(a: Any, lower: bool) -> Any:
    """Return a sparse matrix as an array, by the triangle that is read; all else unchanged."""
    return mirrored(a, lower).toarray() if is_sparse(a) else a


def _solve_by_lapack(
    a: np.ndarray, lower: bool, selection: Selection
) -> tuple[np.ndarray, np.ndarray]:
    """Compute eigenvalues and eigenvectors of a validated matrix in host memory by LAPACK."""
    require_memory(len(a), CPU, LAPACK_MATRICES * a.dtype.itemsize)
    values, vectors = solve_full(a, lower, selection, vectors=True)
    assert vectors is not None
    return round_to_dtype("a", values, a.dtype), vectors


def _solve_by_band(
    xp: ModuleType, a: Any, dtype: np.dtype, lower: bool, request: Request
) -> tuple[np.ndarray, Any]:
    """Compute eigenvalues and eigenvectors by this package, by way of a band."""
    bar = loop_progress("dense to band", enabled=request.progress)
    if xp is not np:
        from sbth._gpu_stages.solver import full_pairs  # imports CUDA

        matrix = as_module_array(xp, a).astype(dtype, copy=False)
        with bar:
            return full_pairs(xp, matrix, lower, request)
    with region("dense to band"), bar:
        require_memory(len(a), request.device, full_memory(dtype))
        panels: list[tuple[Any, Any]] = []
        ab, factor = reduce_to_band(xp, a, BANDWIDTH, lower=lower, panels=panels)
    values, vectors = band_eigenvectors(xp, "a", ab, True, request, factor)
    with region("back-transformation"):
        apply_panels(xp, join_panels(xp, panels, BANDWIDTH), vectors)
    return values, vectors


def _solve_in_one_stage(
    xp: ModuleType, a: Any, lower: bool, request: Request
) -> tuple[np.ndarray, Any]:
    """Compute eigenvalues and eigenvectors on a GPU by a single reduction."""
    from sbth._one_stage.back_transformation import apply_reflections  # imports CUDA

    (n, _), dtype = shape_and_dtype("a", a)
    space = host_workspace(Workspace(request.device, a))
    require_memory(n, request.device, band_memory(dtype, stages=1))
    reduced, blocks = reduce_for_vectors(xp, a, lower)
    read, vectors = tridiagonal_eigenvectors(xp, reduced, request, space, dtype)
    if vectors.size:
        with region("back-transformation"):
            apply_reflections(xp, blocks, vectors)
    return read(), vectors


def _solve_pencil(
    a: Any,
    b: Any,
    lower: bool,
    selection: Selection,
    values_only: bool,
    device: Any,
    options: dict[str, Any],
) -> Any:
    """Solve A x = lambda B x for a validated `a`."""
    b = validate_matrix(_as_full(b, lower), "b", allow_complex=True)
    shapes = [shape_and_dtype(x, y, allow_complex=True)[0] for x, y in (("a", a), ("b", b))]
    if shapes[0] != shapes[1]:
        raise ValueError(f"b must have the shape of a, {shapes[0]}, got {shapes[1]}")
    if (device_of(a) is None) != (device_of(b) is None):
        raise ValueError("a and b must be in one memory: one is on a GPU, the other is not")
    device = resolve_device(a, device)
    subset = {"i": "subset_by_index", "v": "subset_by_value"}
    if selection.kind in subset:
        options[subset[selection.kind]] = selection.low, selection.high
    with module_on(device, a, "sbth.eigh") as xp:
        first, second = module_arrays(xp, a, b)
        c, transform = reduce_full_pencil(xp, first, second, lower)
        solution = eigh(c, eigvals_only=values_only, device=device, **options)
        if values_only:
            return copy_like(xp_to_host(solution), a)
        values, vectors = solution
        x = transform(xp.ascontiguousarray(vectors))
        return copy_like(xp_to_host(values), a), as_library_array(xp, x, a)


def xp_to_host(values: Any) -> np.ndarray:
    """Return eigenvalues as a NumPy array."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.get())
