"""The layer of threads on which parallel loops run: TBB, OpenMP or Numba's own."""

from __future__ import annotations

import importlib

from numba.np.ufunc import parallel


def chosen_layer() -> str | None:
    """Return the name of the layer that Numba has started, or None before the first loop."""
    return str(parallel.threading_layer()) if parallel._is_initialized else None


def can_load(layer: str) -> bool:
    """Return whether Numba can load this layer here."""
    try:
        if layer == "tbb":
            parallel._check_tbb_version_compatible()
        name = {"tbb": "tbbpool", "omp": "omppool"}.get(layer, layer)
        importlib.import_module(f"numba.np.ufunc.{name}")
    except ImportError:
        return False
    return True
