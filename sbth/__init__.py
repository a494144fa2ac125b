"""Eigenvalues of banded symmetric matrices on the CPU and on NVIDIA GPUs."""

import warnings

from hetero.lazy import lazy_attributes
from hetero.moved import redirect_modules
from hetero.version import VERSION as __version__

_get_attribute, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "sbth.dense": ("eigvalsh", "full_to_band"),
        "sbth.eigenvalues": ("eigvals_banded", "eigvalsh_tridiagonal"),
        "sbth.tridiagonalization": ("tridiagonalize",),
        "sbth.reflectors": ("Reflectors",),
        "sbth.band_storage": ("band_from_dense", "band_from_sparse", "dense_from_band"),
    },
)
__all__ += ["__version__"]


def __getattr__(name: str) -> object:
    if name == "Reflections":
        warnings.warn("sbth.Reflections is now sbth.Reflectors", DeprecationWarning, stacklevel=2)
        return _get_attribute("Reflectors")
    return _get_attribute(name)


redirect_modules(
    {
        "sbth.reduction": "sbth.tridiagonalization",
        "sbth.reflections": "sbth.reflectors",
        "sbth.storage": "sbth.band_storage",
    }
)
