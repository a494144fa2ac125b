"""Alpha-stable distributions on the CPU and on NVIDIA GPUs."""

import importlib

from stablegpu.distribution import Stable, stable

# Found at first use, so that importing the package costs nothing.
_FUNCTIONS = {
    "stablegpu.broadcast": ("cdf", "logcdf", "logpdf", "logsf", "pdf", "pdf_cdf", "sf"),
    "stablegpu.conversions": ("from_r", "from_scipy"),
    "stablegpu.derivatives": ("dlogpdf",),
    "stablegpu.estimate": ("fit", "fit_windows"),
    "stablegpu.fisher": ("fisher_information",),
    "stablegpu.special": ("expn", "log_ndtr", "logsumexp", "ndtr"),
}
_MODULE_OF = {name: module for module, names in _FUNCTIONS.items() for name in names}

__all__ = ["Stable", "stable", *_MODULE_OF]

__version__ = "0.1.0"


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'stablegpu' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
