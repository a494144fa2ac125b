"""Eigenvalues of banded symmetric matrices on the CPU and on NVIDIA GPUs."""

from hetero.lazy import lazy_attributes
from hetero.version import VERSION as __version__

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "sbth.dense": ("eigvalsh", "full_to_band"),
        "sbth.eigenvalues": ("eigvals_banded", "eigvalsh_tridiagonal"),
        "sbth.reduction": ("tridiagonalize",),
        "sbth.reflections": ("Reflections",),
        "sbth.storage": ("band_from_dense", "band_from_sparse", "dense_from_band"),
    },
)
__all__ += ["__version__"]
