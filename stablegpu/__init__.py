"""Alpha-stable distributions on the CPU and on NVIDIA GPUs."""

from hetero.lazy import lazy_attributes
from hetero.version import VERSION as __version__
from stablegpu.distribution import Stable, stable

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "stablegpu.broadcast": ("cdf", "logcdf", "logpdf", "logsf", "pdf", "pdf_cdf", "sf"),
        "stablegpu.conversions": ("from_r", "from_scipy"),
        "stablegpu.derivatives": ("dlogpdf",),
        "stablegpu.estimate": ("fit", "fit_windows"),
        "stablegpu.fisher": ("fisher_information",),
        "stablegpu.special": ("expn", "log_ndtr", "logsumexp", "ndtr"),
    },
)
__all__ += ["Stable", "__version__", "stable"]
