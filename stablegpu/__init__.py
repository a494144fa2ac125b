"""Alpha-stable distributions on the CPU and on NVIDIA GPUs."""

from stablegpu.conversions import from_r, from_scipy
from stablegpu.distribution import Stable, stable

_BROADCAST = ("cdf", "logcdf", "logpdf", "logsf", "pdf", "pdf_cdf", "sf")
_SPECIAL = ("expn", "log_ndtr", "logsumexp", "ndtr")  # found at first use

__all__ = ["Stable", "fit", "from_r", "from_scipy", "stable", "dlogpdf", *_BROADCAST, *_SPECIAL]

__version__ = "0.1.0"


def __getattr__(name: str):
    if name == "fit":
        from stablegpu.estimate import fit

        return fit
    if name == "dlogpdf":
        from stablegpu.derivatives import dlogpdf

        return dlogpdf
    if name in _BROADCAST:
        from stablegpu import broadcast

        return getattr(broadcast, name)
    if name in _SPECIAL:
        from stablegpu import special

        return getattr(special, name)
    raise AttributeError(f"module 'stablegpu' has no attribute {name!r}")
