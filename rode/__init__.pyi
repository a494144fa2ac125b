"""The public names of rode, for its `__init__.py` and for type checkers."""

from . import scalars as scalars
from ._solver.reductions import Quantiles as Quantiles
from .averages import average as average
from .averages import double_average as double_average
from .averages import riemann_sums as riemann_sums
from .exceedance import Exceedance as Exceedance
from .excitations import OU as OU
from .excitations import Excitation as Excitation
from .excitations import Filtered as Filtered
from .excitations import Record as Record
from .excitations import Sum as Sum
from .fitting import ProcessFit as ProcessFit
from .fitting import fit_process as fit_process
from .frames import BoucWen as BoucWen
from .frames import shear_frame as shear_frame
from .functionals import Functional as Functional
from .functionals import dwell_time as dwell_time
from .functionals import energy as energy
from .functionals import first_passage as first_passage
from .functionals import up_crossings as up_crossings
from .joining import join_results as join_results
from .normals import Generator as Generator
from .normals import normal as normal
from .paths import ornstein_uhlenbeck as ornstein_uhlenbeck
from .peaks import peak_correction as peak_correction
from .problems import Problem as Problem
from .problems import additive as additive
from .problems import separable as separable
from .process import Process as Process
from .rare_events import RareEvent as RareEvent
from .rare_events import rare_event as rare_event
from .records import read_record as read_record
from .results import Output as Output
from .results import Result as Result
from .results import Work as Work
from .solving import solve as solve
from .spectra import ResponseSpectrum as ResponseSpectrum
from .spectra import response_spectrum as response_spectrum
from .spectra import rotd as rotd
from .standard_problems import growth as growth
from .standard_problems import kanai_tajimi as kanai_tajimi
from .standard_problems import relaxation as relaxation

__version__: str
