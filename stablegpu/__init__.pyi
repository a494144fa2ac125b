"""The public names of stablegpu, for its `__init__.py` and for type checkers."""

from .batch_results import FitResults as FitResults
from .conversions import from_r as from_r
from .conversions import from_scipy as from_scipy
from .conversions import to_r as to_r
from .conversions import to_scipy as to_scipy
from .derivatives import Gradient as Gradient
from .derivatives import dlogpdf as dlogpdf
from .distribution import Stable as Stable
from .distribution import stable as stable
from .evaluators import Evaluation as Evaluation
from .evaluators import Interpolation as Interpolation
from .evaluators import InterpolationError as InterpolationError
from .evaluators import Quadrature as Quadrature
from .fit_results import FitResult as FitResult
from .fitting import fit as fit
from .fitting import fit_windows as fit_windows
from .functions import cdf as cdf
from .functions import logcdf as logcdf
from .functions import logpdf as logpdf
from .functions import logsf as logsf
from .functions import pdf as pdf
from .functions import pdf_cdf as pdf_cdf
from .functions import sf as sf
from .inference import Bootstrap as Bootstrap
from .inference import GoodnessOfFit as GoodnessOfFit
from .inference import ProfileLikelihood as ProfileLikelihood
from .inference import bootstrap as bootstrap
from .inference import fisher_information as fisher_information
from .inference import goodness_of_fit as goodness_of_fit
from .inference import profile_likelihood as profile_likelihood
from .modes import mode as mode
from .risk import KupiecTest as KupiecTest
from .risk import RiskEstimate as RiskEstimate
from .risk import RiskEstimates as RiskEstimates
from .risk import expected_shortfall as expected_shortfall
from .risk import kupiec_test as kupiec_test
from .risk import value_at_risk as value_at_risk
from .special import expn as expn
from .special import log_ndtr as log_ndtr
from .special import logsumexp as logsumexp
from .special import ndtr as ndtr
from .streaming import fit_stream as fit_stream

__version__: str
