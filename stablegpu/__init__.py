"""Alpha-stable distributions on the CPU and on NVIDIA GPUs.

`stable` is one distribution as a frozen object; `pdf`, `cdf`, ... take arrays of parameters; `fit`
and `fit_windows` estimate parameters, and `bootstrap`, `profile_likelihood` and `goodness_of_fit`
say how well they are known.
"""

from typing import TYPE_CHECKING

from hetero.compile_cache.sources import register
from hetero.public_names.lazy import lazy_attributes
from hetero.public_names.moved import redirect_modules
from hetero.version import VERSION as __version__
from stablegpu.distribution import Stable as Stable
from stablegpu.distribution import stable as stable

register(__name__, __path__[0])

if TYPE_CHECKING:  # type checkers do not see the names that `__getattr__` finds
    from stablegpu.batch_results import FitResults as FitResults
    from stablegpu.conversions import from_r as from_r
    from stablegpu.conversions import from_scipy as from_scipy
    from stablegpu.conversions import to_r as to_r
    from stablegpu.conversions import to_scipy as to_scipy
    from stablegpu.derivatives import Gradient as Gradient
    from stablegpu.derivatives import dlogpdf as dlogpdf
    from stablegpu.evaluators import Evaluation as Evaluation
    from stablegpu.evaluators import Interpolation as Interpolation
    from stablegpu.evaluators import InterpolationError as InterpolationError
    from stablegpu.evaluators import Quadrature as Quadrature
    from stablegpu.fit_results import FitResult as FitResult
    from stablegpu.fitting import fit as fit
    from stablegpu.fitting import fit_windows as fit_windows
    from stablegpu.functions import cdf as cdf
    from stablegpu.functions import logcdf as logcdf
    from stablegpu.functions import logpdf as logpdf
    from stablegpu.functions import logsf as logsf
    from stablegpu.functions import pdf as pdf
    from stablegpu.functions import pdf_cdf as pdf_cdf
    from stablegpu.functions import sf as sf
    from stablegpu.inference import Bootstrap as Bootstrap
    from stablegpu.inference import GoodnessOfFit as GoodnessOfFit
    from stablegpu.inference import ProfileLikelihood as ProfileLikelihood
    from stablegpu.inference import bootstrap as bootstrap
    from stablegpu.inference import fisher_information as fisher_information
    from stablegpu.inference import goodness_of_fit as goodness_of_fit
    from stablegpu.inference import profile_likelihood as profile_likelihood
    from stablegpu.modes import mode as mode
    from stablegpu.risk import KupiecTest as KupiecTest
    from stablegpu.risk import RiskEstimate as RiskEstimate
    from stablegpu.risk import expected_shortfall as expected_shortfall
    from stablegpu.risk import kupiec_test as kupiec_test
    from stablegpu.risk import value_at_risk as value_at_risk
    from stablegpu.special import expn as expn
    from stablegpu.special import log_ndtr as log_ndtr
    from stablegpu.special import logsumexp as logsumexp
    from stablegpu.special import ndtr as ndtr

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "stablegpu.conversions": ("from_r", "from_scipy", "to_r", "to_scipy"),
        "stablegpu.derivatives": ("Gradient", "dlogpdf"),
        "stablegpu.evaluators": ("Evaluation", "Interpolation", "InterpolationError", "Quadrature"),
        "stablegpu.batch_results": ("FitResults",),
        "stablegpu.fit_results": ("FitResult",),
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
        "stablegpu.risk": (
            "KupiecTest",
            "RiskEstimate",
            "expected_shortfall",
            "kupiec_test",
            "value_at_risk",
        ),
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
        "stablegpu.fit_plots": "stablegpu._inference.plots",
        "stablegpu.fit_result": "stablegpu.fit_results",
        "stablegpu.nodes": "stablegpu._density.nodes.evaluate",
        "stablegpu.polynomials": "stablegpu._density.polynomials.evaluate",
        "stablegpu.quadrature": "stablegpu._density.quadrature.evaluate",
        "stablegpu.quantile": "stablegpu._quantiles.quantile",
        "stablegpu.sample": "stablegpu._sampling.sample",
    }
)
