"""The public names of tmd, for its `__init__.py` and for type checkers."""

from .certificates import read_certificates as read_certificates
from .certificates import verify as verify
from .certificates import verify_cases as verify_cases
from .errors import CertificateError as CertificateError
from .errors import CheckpointError as CheckpointError
from .exhaustive import ExhaustiveScore as ExhaustiveScore
from .exhaustive import exhaust as exhaust
from .formats import Format as Format
from .functions import register as register
from .functions.function import Function as Function
from .library_check import LibraryScore as LibraryScore
from .library_check import check_libraries as check_libraries
from .periodic_searches import PeriodicResult as PeriodicResult
from .periodic_searches import search_periodic as search_periodic
from .results import Case as Case
from .results import Result as Result
from .searches import search as search

__version__: str
