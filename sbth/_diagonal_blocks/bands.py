"""Eigenvalues and eigenvectors of a band matrix, block by block if it falls into blocks."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from sbth._diagonal_blocks.partition import is_coupled_band, partition_band
from sbth._eigenpairs import band_eigenvectors
from sbth._request import Request
from sbth.band_storage import diagonals, order_and_dtype
from sbth.tridiagonalization import choose_scale


def solve_band_blocks(
    xp: ModuleType, band: Any, lower: bool, request: Request
) -> tuple[np.ndarray, Any]:
    """Return values and vectors of a band, block by block if it is on the host and has blocks."""
    solve: Callable[..., tuple[np.ndarray, Any]] = band_eigenvectors
    if request.device.kind == "cuda" and order_and_dtype(band)[1].kind == "c":
        from sbth._gpu_stages.solver import band_pairs  # imports CUDA

        solve = band_pairs
    if not isinstance(band, np.ndarray) or is_coupled_band(band, lower):
        return solve(xp, "a_band", band, lower, request)
    partition = partition_band(band, lower)
    if partition.is_whole:
        return solve(xp, "a_band", band, lower, request)
    choose_scale(band, lower, "a_band")  # refuses NaN and infinity
    values, blocks = [diagonals(band, lower)[0][partition.single].real.astype(float)], []
    for rows in partition.groups:
        part = np.ascontiguousarray(band[:, rows])
        pairs = solve(xp, "a_band", part, lower, request.for_part(all_values=True))
        values.append(pairs[0])
        blocks.append((rows, pairs[1]))
    everything = np.concatenate(values)
    order = np.argsort(everything, kind="stable")
    chosen = order[slice(*request.selection.bounds(everything[order]))]
    target = np.full(everything.size, -1)
    target[chosen] = np.arange(chosen.size)
    vectors = xp.zeros((band.shape[1], chosen.size), band.dtype)
    s = partition.single.size
    single = np.flatnonzero(target[:s] >= 0)
    vectors[xp.asarray(partition.single[single]), xp.asarray(target[single])] = 1
    for rows, of_block in blocks:
        targets = target[s : s + rows.size]
        s += rows.size
        kept = np.flatnonzero(targets >= 0)
        places = xp.asarray(rows)[:, None], xp.asarray(targets[kept])[None, :]
        vectors[places] = of_block[:, xp.asarray(kept)]
    return everything[chosen], vectors
