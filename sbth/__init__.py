"""Eigenvalues of banded symmetric matrices on the CPU and on NVIDIA GPUs."""

import warnings
from typing import TYPE_CHECKING

from hetero.compile_cache.sources import register
from hetero.public_names.lazy import lazy_attributes
from hetero.public_names.moved import redirect_modules
from hetero.version import VERSION as __version__

register(__name__, __path__[0])

if TYPE_CHECKING:  # for type checkers: the names are imported at their first use
    from sbth.band_storage import band_from_dense as band_from_dense
    from sbth.band_storage import band_from_sparse as band_from_sparse
    from sbth.band_storage import dense_from_band as dense_from_band
    from sbth.dense import eigvalsh as eigvalsh
    from sbth.dense import full_to_band as full_to_band
    from sbth.eigenvalues import eigvals_banded as eigvals_banded
    from sbth.eigenvalues import eigvalsh_tridiagonal as eigvalsh_tridiagonal
    from sbth.reflectors import Reflectors as Reflectors
    from sbth.results import Spectrum as Spectrum
    from sbth.results import Tridiagonal as Tridiagonal
    from sbth.results import TridiagonalReduction as TridiagonalReduction
    from sbth.spectra import spectrum as spectrum
    from sbth.tridiagonalization import tridiagonalize as tridiagonalize

_get_attribute, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "sbth.dense": ("eigvalsh", "full_to_band"),
        "sbth.eigenvalues": ("eigvals_banded", "eigvalsh_tridiagonal"),
        "sbth.results": ("Spectrum", "Tridiagonal", "TridiagonalReduction"),
        "sbth.spectra": ("spectrum",),
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
