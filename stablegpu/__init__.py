"""Alpha-stable distributions on the CPU and on NVIDIA GPUs."""

from hetero.lazy import lazy_attributes
from hetero.moved import redirect_modules
from hetero.version import VERSION as __version__
from stablegpu.distribution import Stable, stable

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "stablegpu.functions": ("cdf", "logcdf", "logpdf", "logsf", "pdf", "pdf_cdf", "sf"),
        "stablegpu.conversions": ("from_r", "from_scipy"),
        "stablegpu.derivatives": ("dlogpdf",),
        "stablegpu.fitting": ("fit", "fit_windows"),
        "stablegpu._fit.fisher": ("fisher_information",),
        "stablegpu.special": ("expn", "log_ndtr", "logsumexp", "ndtr"),
    },
)
__all__ += ["Stable", "__version__", "stable"]

redirect_modules(
    {
        "stablegpu.broadcast": "stablegpu.functions",
        "stablegpu.density": "stablegpu.evaluators",
        "stablegpu.estimate": "stablegpu.fitting",
        "stablegpu.fisher": "stablegpu._fit.fisher",
        "stablegpu.fit_intervals": "stablegpu.inference",
        "stablegpu.fit_plots": "stablegpu._fit.plots",
        "stablegpu.fit_result": "stablegpu.fit_results",
        "stablegpu.nodes": "stablegpu._density.nodes.evaluate",
        "stablegpu.polynomials": "stablegpu._density.polynomials.evaluate",
        "stablegpu.quadrature": "stablegpu._density.quadrature.evaluate",
        "stablegpu.quantile": "stablegpu._quantiles.quantile",
        "stablegpu.sample": "stablegpu._sampling.sample",
    }
)
