"""Alpha-stable distributions on the CPU and on NVIDIA GPUs.

`stable` is one distribution as a frozen object; `pdf`, `cdf`, ... take arrays of parameters; `fit`
and `fit_windows` estimate parameters, and `bootstrap`, `profile_likelihood` and `goodness_of_fit`
say how well they are known.
"""

from hetero.lazy import lazy_attributes
from hetero.moved import redirect_modules
from hetero.version import VERSION as __version__
from stablegpu.distribution import Stable, stable

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "stablegpu.conversions": ("from_r", "from_scipy", "to_r", "to_scipy"),
        "stablegpu.derivatives": ("Gradient", "dlogpdf"),
        "stablegpu.evaluators": ("Evaluation", "Interpolation", "InterpolationError", "Quadrature"),
        "stablegpu.fit_results": ("FitResult", "FitResults"),
        "stablegpu.fitting": ("fit", "fit_windows"),
        "stablegpu.functions": ("cdf", "logcdf", "logpdf", "logsf", "pdf", "pdf_cdf", "sf"),
        "stablegpu.inference": (
            "Bootstrap",
            "GoodnessOfFit",
            "ProfileLikelihood",
            "bootstrap",
            "fisher_information",
            "goodness_of_fit",
            "profile_likelihood",
        ),
        "stablegpu.modes": ("mode",),
        "stablegpu.risk": ("expected_shortfall", "value_at_risk"),
        "stablegpu.special": ("expn", "log_ndtr", "logsumexp", "ndtr"),
    },
)
__all__ += ["Stable", "__version__", "stable"]

redirect_modules(
    {
        "stablegpu.broadcast": "stablegpu.functions",
        "stablegpu.density": "stablegpu.evaluators",
        "stablegpu.estimate": "stablegpu.fitting",
        "stablegpu.fisher": "stablegpu.inference",
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
