"""Products of vectors by the transformations of the panels that were reduced."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from sbth._vendor.products import add_product

_PANELS = 4
"""Panels whose transformations are applied at once: fewer passes over the vectors, which limit
products with the 64 columns of one panel on a GPU (not tuned)."""


def join_panels(
    xp: ModuleType, panels: Sequence[tuple[Any, Any]], bandwidth: int
) -> list[tuple[int, Any, Any]]:
    """Join the factors 1 - u v^H of `reduce_panels`, some at a time.

    Returns (row, V, U) of each product 1 - U V^H, which acts on the rows from `row` on. The columns
    of V are those of the v, and those of U are u - U' (V'^H u) with U' and V' of the panels before.
    """
    firsts = range(0, len(panels), _PANELS)
    return [
        ((first + 1) * bandwidth, *_join(xp, panels[first : first + _PANELS], bandwidth))
        for first in firsts
    ]


def apply_panels(xp: ModuleType, joined: Sequence[tuple[int, Any, Any]], vectors: Any) -> None:
    """Replace `vectors` (n, m) by Q times them, for the factors that `join_panels` returns."""
    for row, v, u in reversed(joined):
        rows = vectors[row:]
        product = xp.empty((v.shape[1], rows.shape[1]), rows.dtype)
        add_product(product, v, rows, 1.0, keep=0.0, adjoint="x")
        add_product(rows, u, product, -1.0)


def _join(xp: ModuleType, panels: Sequence[tuple[Any, Any]], bandwidth: int) -> tuple[Any, Any]:
    """Return (V, U) of the product of the factors of consecutive panels."""
    if len(panels) == 1:
        v, u = panels[0]
        return v.copy(), u.copy()  # views would keep the memory of all panels
    rows, width = len(panels[0][0]), sum(v.shape[1] for v, _ in panels)
    v_all, u_all = (xp.zeros((rows, width), panels[0][0].dtype) for _ in range(2))
    end = 0
    for i, (v, u) in enumerate(panels):
        begin, end = end, end + v.shape[1]
        below = i * bandwidth
        v_all[below:, begin:end] = v
        u_all[below:, begin:end] = u
        if begin:
            overlap = xp.empty((begin, end - begin), u.dtype)
            add_product(overlap, v_all[below:, :begin], u, 1.0, keep=0.0, adjoint="x")
            add_product(u_all[:, begin:end], u_all[:, :begin], overlap, -1.0)
    return v_all, u_all
