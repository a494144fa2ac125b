"""Reduction of a full matrix to a band, panel by panel, by NumPy or on a GPU."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from hetero.display.progress_bar import report_loop
from sbth._back.compact_wy import qr_compact_wy, symmetric_update_factor
from sbth._problem.arrays import shape_and_dtype
from sbth._problem.inspection import require_finite_triangle, safe_scale
from sbth._vendor.array_modules import as_module_array
from sbth._vendor.products import add_product


def reduce_to_band(xp: ModuleType, a: Any, bandwidth: int, lower: bool) -> Any:
    """Reduce a validated matrix, of which the lower triangle is read, to band storage.

    Raises
    ------
    ValueError
        An element of the band overflows.
    """
    a, factor = reduce_panels(xp, a, bandwidth)
    n = len(a)
    d = min(bandwidth, max(n - 1, 0))
    ab = xp.zeros((d + 1, n), a.dtype)
    with np.errstate(over="ignore"):
        for k in range(d + 1):
            row = ab[k, : n - k] if lower else ab[d - k, k:]
            row[...] = xp.diagonal(a, -k) / a.dtype.type(factor)
    if factor < 1.0 and not bool(xp.isfinite(ab).all()):
        raise ValueError(
            f"a is too large: its band form exceeds the largest {ab.dtype}, "
            f"{np.finfo(ab.dtype).max:.4g}. Divide the matrix by a power of two"
        )
    return ab


def reduce_panels(
    xp: ModuleType, a: Any, bandwidth: int, *, lower: bool = True, panels: list | None = None
) -> tuple[Any, float]:
    """Reduce a validated matrix to a band B, scaled by a power of two.

    Returns an array (n, n) of `xp` whose lower triangle holds the band, and something else below
    it, and the power of two. The triangle that `lower` chooses is read. `panels` takes the pairs
    (v, u) of the factors 1 - u v^H of Q in A = Q B Q^H; that of panel i acts on the rows from
    (i + 1) bandwidth on.
    """
    _, dtype = shape_and_dtype("a", a, allow_complex=True)
    a, factor = _mirror_triangle(xp, as_module_array(xp, a).astype(dtype, copy=False), lower)
    n = a.shape[0]
    with report_loop(float(n) ** 3) as advance, _panel_steps(xp, a, bandwidth, panels) as reduce:
        for start in range(0, n - bandwidth - 1, bandwidth):
            panel = reduce(start)
            if panels is not None:
                panels.append(panel)
            left, next_left = n - start, max(n - start - bandwidth, 0)
            advance(float(left) ** 3 - float(next_left) ** 3)  # each panel updates what is left
    return a, factor


def _mirror_triangle(xp: ModuleType, a: Any, lower: bool) -> tuple[Any, float]:
    """Return the Hermitian matrix that a triangle defines, scaled by a power of two.

    Imaginary parts of the diagonal are left out.
    """
    if not isinstance(a, np.ndarray):
        from sbth._reduction.dense_to_band import triangles  # imports CUDA

        if a.dtype.kind == "c":  # transposed, its rows would be those of the conjugate matrix
            return triangles.mirror_triangle(xp, xp.ascontiguousarray(a), lower)
        return triangles.mirror_triangle(xp, *triangles.as_rows(xp, a, lower))
    a = np.tril(a if lower else a.conj().T)
    largest = float(abs(a).max()) if a.size else 0.0
    require_finite_triangle(largest, lower)
    factor = safe_scale(largest, a.dtype)
    below = np.tril(a, -1)
    whole = np.diag(np.diagonal(a).real) + below + below.conj().T
    return np.ascontiguousarray(whole * a.real.dtype.type(factor)), factor


@contextlib.contextmanager
def _panel_steps(
    xp: ModuleType, a: Any, bandwidth: int, panels: list | None
) -> Iterator[Callable[[int], tuple[Any, Any]]]:
    """Yield the function that reduces the panel that begins in a column of `a`, in place."""
    if not isinstance(a, np.ndarray):
        from sbth._reduction.dense_to_band.panels import (  # imports CUDA
            PanelReduction,
            suits_panels,
        )

        if suits_panels(len(a), bandwidth, a.dtype):
            reduction = PanelReduction(xp, a, bandwidth, keeps_factors=panels is not None)
            yield reduction.reduce
            reduction.finish()
            return
    yield functools.partial(reduce_panel, xp, a, bandwidth)


def reduce_panel(xp: ModuleType, a: Any, b: int, start: int) -> tuple[Any, Any]:
    """Eliminate the elements below the band in columns start, ..., start + b - 1 of a, in place.

    Returns (v, u) of the transformation 1 - u v^H.
    """
    below = start + b
    v, u, r, _ = qr_compact_wy(xp, a[below:, start:below])
    a[below:, start:below] = r
    a[start:below, below:] = r.conj().T
    trailing = a[below:, below:]
    x = xp.empty_like(u)
    add_product(x, trailing, u, 1.0, keep=0.0)
    w = symmetric_update_factor(x, v, u)
    add_product(trailing, xp.hstack((w, v)), xp.hstack((v, w)), -1.0, adjoint="y")
    return v, u
