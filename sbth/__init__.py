"""Eigenvalues of banded symmetric matrices on the CPU and on NVIDIA GPUs."""

import importlib

# Found at first use, so that importing the package costs nothing.
_FUNCTIONS = {
    "sbth.dense": ("eigvalsh", "full_to_band"),
    "sbth.eigenvalues": ("eigvals_banded", "eigvalsh_tridiagonal"),
    "sbth.reduction": ("tridiagonalize",),
    "sbth.reflections": ("Reflections",),
    "sbth.storage": ("band_from_dense", "band_from_sparse", "dense_from_band"),
}
_MODULE_OF = {name: module for module, names in _FUNCTIONS.items() for name in names}

__all__ = [*_MODULE_OF]


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sbth' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
